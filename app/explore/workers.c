/* workers.c - see workers.h. The compiler runs as for heddle run: options of a run are read as
 * there; tiles and groups are chosen by rule, but as compile does for
 * --around, where differences are small. */
#define _GNU_SOURCE
#include "workers.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/job/job.h"
#include "app/run/answer.h"
#include "app/stats/account.h"
#include "base/interrupt.h"
#include "compiler/systolic/schedule/sched.h"

enum { SECONDS = 60, PAUSE_MS = 1, MESSAGE = 512 };
#define ESTIMATE_BYTES ((size_t)4 << 30) /* of a compilation's memory */

/* The report of a process, in memory that is shared with this one. */
struct slot {
    pid_t pid; /* 0: none */
    struct explore_point *point;
    bool done;
    char message[MESSAGE];
    double cycles[];
};

struct explore_workers {
    const struct explore_space *space;
    uint32_t n;
    bool search;  /* tiles as compile chooses them, else by rule */
    size_t bytes; /* of a slot */
    uint8_t *slots;
};

static struct slot *slot_at(const struct explore_workers *w, uint32_t i)
{
    return (struct slot *)(void *)(w->slots + i * w->bytes);
}

enum status explore_workers_new(struct arena *a, const struct explore_space *s,
                                const struct options *o, struct explore_workers **w, struct diag *d)
{
    struct explore_workers *to = ARENA_NEW(a, struct explore_workers);
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);

    *to = (struct explore_workers){.space = s, .n = o->jobs, .search = o->around != NULL};
    to->bytes = (sizeof(struct slot) + s->n_network * sizeof(double) + page - 1) / page * page;
    to->slots =
        mmap(NULL, to->n * to->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (to->slots == MAP_FAILED)
        return FAIL(d, ST_NO_MEMORY, "out of memory");
    *w = to;
    return ST_OK;
}

/* --- in the child ----------------------------------------------------------------------------- */

/* Set the options of one run: argv is "run", the model, and --NAME[=VALUE]. */
static enum status read_options(struct arena *a, const struct suite_run *r, bool search,
                                struct option_set *set, struct options *o, struct diag *d)
{
    const char *model = NULL;

    TRY(options_init(set, a, o, d));
    for (const char *const *arg = r->argv + 1; *arg; arg++) {
        const char *equal = strchr(*arg, '=');
        if (strncmp(*arg, "--", 2) != 0)
            model = *arg;
        else if (!equal)
            TRY(options_set(set, *arg + 2, NULL, d));
        else
            TRY(options_set(set, arena_printf(a, "%.*s", (int)(equal - *arg) - 2, *arg + 2),
                            equal + 1, d));
    }
    o->model = model; /* set last: what was set before options_set is undone */
    o->command = COMMAND_INSPECT;
    o->no_search = !search;
    return options_select(set, d);
}

/* Set *cycles of one inference: of the accelerator, of external targets, and of the host. */
static enum status estimate(const struct suite_run *r, bool search, double *cycles, struct diag *d)
{
    struct arena *a = arena_new(ESTIMATE_BYTES);
    struct option_set set;
    struct options o;
    struct pipeline p = {.arena = a};
    struct run_measured measured = {0};
    struct job job = {.arena = a, .options = &o, .p = &p};
    const struct account *all;

    TRY(read_options(a, r, search, &set, &o, d));
    TRY(run_load(&job, &measured, d));
    TRY(pipeline_schedule(&p, d));
    all = account_of(a, &p);
    *cycles = (double)p.program->est_cycles + (double)all->host_cycles;
    for (uint32_t i = 0; i < all->n_layer; i++)
        for (uint32_t k = 0; k < all->layer[i].n_part; k++)
            *cycles += all->layer[i].part[k].outside_cycles;
    return ST_OK; /* the process ends: nothing is freed */
}

static _Noreturn void child(const struct explore_workers *w, struct slot *s)
{
    struct diag d = {0};

    interrupt_leave();
    (void)alarm(SECONDS);
    if (chdir(w->space->suite->folder) != 0)
        _exit(1);
    for (uint32_t i = 0; i < w->space->n_network; i++)
        if (estimate(s->point->run[i], w->search, &s->cycles[i], &d) != ST_OK) {
            (void)snprintf(s->message, sizeof s->message, "%.80s: %.400s", w->space->network[i],
                           d.text);
            break;
        }
    s->done = true;
    _exit(0);
}

/* --- in this process -------------------------------------------------------------------------- */

bool explore_busy(const struct explore_workers *w)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < w->n; i++)
        n += slot_at(w, i)->pid != 0;
    return n == w->n;
}

enum status explore_begin(struct explore_workers *w, struct explore_point *p, struct diag *d)
{
    uint32_t i = 0;

    while (slot_at(w, i)->pid)
        i++;
    struct slot *s = slot_at(w, i);
    memset(s, 0, w->bytes);
    s->point = p;
    p->tried = true;
    (void)fflush(NULL);
    const pid_t pid = fork();
    if (pid < 0)
        return FAIL(d, ST_NO_MEMORY, "no child process could be started");
    if (pid == 0)
        child(w, s);
    s->pid = pid;
    return ST_OK;
}

static struct explore_point *finish(const struct explore_workers *w, struct slot *s, int state)
{
    struct explore_point *p = s->point;
    struct arena *a = w->space->arena;

    s->pid = 0;
    if (s->message[0])
        p->wrong = arena_strdup(a, s->message);
    else if (!s->done)
        p->wrong = WIFSIGNALED(state) && WTERMSIG(state) == SIGALRM
                       ? arena_printf(a, "compiling took longer than %d s", SECONDS)
                       : arena_printf(a, "the compiler ended without a result (%d)", state);
    else
        memcpy(p->cycles, s->cycles, w->space->n_network * sizeof *p->cycles);
    return p;
}

struct explore_point *explore_end(struct explore_workers *w)
{
    int state;

    for (bool any = true; any; (void)poll(NULL, 0, PAUSE_MS)) { /* the child has an alarm */
        any = false;
        for (uint32_t i = 0; i < w->n; i++) {
            struct slot *s = slot_at(w, i);
            const pid_t pid = s->pid ? waitpid(s->pid, &state, WNOHANG) : 0;
            any = any || s->pid;
            if (pid > 0)
                return finish(w, s, state);
        }
    }
    return NULL;
}

void explore_workers_stop(struct explore_workers *w)
{
    for (uint32_t i = 0; i < w->n; i++)
        if (slot_at(w, i)->pid) {
            (void)kill(slot_at(w, i)->pid, SIGKILL);
            (void)waitpid(slot_at(w, i)->pid, NULL, 0);
        }
    (void)munmap(w->slots, w->n * w->bytes);
}
