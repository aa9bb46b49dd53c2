/* workers.c - see workers.h. The compiler runs as for heddle run: options of a run are read as
 * there; tiles and groups are chosen by rule, but as compile does for
 * --around, where differences are small. */
#define _GNU_SOURCE
#include "workers.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/job/job.h"
#include "app/job/pool.h"
#include "app/run/answer.h"
#include "app/stats/account.h"
#include "compiler/systolic/schedule/sched.h"

enum { SECONDS = 60, MESSAGE = 512 };
#define ESTIMATE_BYTES ((size_t)4 << 30) /* of a compilation's memory */

/* The report of a process, in memory that is shared with this one. */
struct slot {
    struct explore_point *point;
    bool done;
    char message[MESSAGE];
    double cycles[];
};

struct explore_workers {
    const struct explore_space *space;
    bool search; /* tiles as compile chooses them, else by rule */
    struct pool *pool;
};

enum status explore_workers_new(struct arena *a, const struct explore_space *s,
                                const struct options *o, struct explore_workers **w, struct diag *d)
{
    *w = ARENA_NEW(a, struct explore_workers);
    **w = (struct explore_workers){.space = s, .search = o->around != NULL};
    return pool_new(a, o->jobs, sizeof(struct slot) + s->n_network * sizeof(double), &(*w)->pool,
                    d);
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
    *cycles = (double)p.program->est_cycles + (double)all->host_cycles + account_outside(all);
    return ST_OK; /* the process ends: nothing is freed */
}

static void child(void *ctx, void *slot)
{
    const struct explore_workers *w = ctx;
    struct slot *s = slot;
    struct diag d = {0};

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
}

/* --- in this process -------------------------------------------------------------------------- */

static struct explore_point *finish(const struct explore_workers *w, const struct slot *s,
                                    int state)
{
    struct explore_point *p = s->point;
    struct arena *a = w->space->arena;

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

enum status explore_end(struct explore_workers *w, struct explore_point **p, struct diag *d)
{
    void *slot;
    int state;

    TRY(pool_wait(w->pool, &slot, &state, d)); /* the child has an alarm */
    *p = slot ? finish(w, slot, state) : NULL;
    return ST_OK;
}

enum status explore_begin(struct explore_workers *w, struct explore_point *p,
                          struct explore_point **ended, struct diag *d)
{
    struct slot *s = pool_slot(w->pool);

    *ended = NULL;
    if (!s) {
        TRY(explore_end(w, ended, d));
        s = pool_slot(w->pool);
    }
    s->point = p;
    p->tried = true;
    return pool_start(w->pool, s, child, w, d);
}

void explore_workers_stop(struct explore_workers *w)
{
    pool_stop(w->pool);
}
