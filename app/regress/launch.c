/* launch.c - see launch.h. Starts runs on this machine, and those of a user's command, `jobs` at a
 * time. A child that is killed with this process (PR_SET_PDEATHSIG) leaves nothing: heddle run
 * handles SIGTERM like Ctrl-C. */
#define _GNU_SOURCE
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "app/job/monotonic.h"
#include "app/regress/suite/result.h"
#include "base/text.h"

enum { GRACE_SECONDS = 10 };

struct slot {
    pid_t pid; /* 0: free */
    uint32_t number;
    double begun;
    bool late; /* it was stopped at its time limit */
};

struct local {
    struct launch *l;
    struct slot *slot;
    uint32_t running;
    uint8_t *tries; /* by run: number of starts of the command */
};

enum status launch_check(const char *launcher, struct diag *d)
{
    if (!launcher || strcmp(launcher, "slurm") == 0 || strstr(launcher, "{}"))
        return ST_OK;
    if (strncmp(launcher, "slurm:", 6) == 0 && strspn(launcher + 6, "0123456789") > 0 &&
        launcher[6 + strspn(launcher + 6, "0123456789")] == '\0' && launcher[6] != '0')
        return ST_OK;
    return FAIL(d, ST_USAGE,
                "--launcher: found '%s', expected slurm, slurm:N (runs in one job element) or a "
                "command with {}, as 'srun {}'",
                launcher);
}

/* --- in the child ----------------------------------------------------------------------------- */

static void redirect(const char *path, int flags, int to)
{
    int fd = open(path, flags, 0666);

    if (fd < 0)
        _exit(126);
    (void)dup2(fd, to);
    if (fd != to)
        (void)close(fd);
}

static void become(const struct launch *l, uint32_t number, const char *const *argv)
{
    char err[4096];
    sigset_t none;

    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    (void)setpgid(0, 0);
    (void)signal(SIGINT, SIG_DFL);
    (void)signal(SIGTERM, SIG_DFL);
    sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    snprintf(err, sizeof err, "%s/%u.err", l->work, number);
    redirect("/dev/null", O_RDONLY, STDIN_FILENO);
    redirect("/dev/null", O_WRONLY, STDOUT_FILENO);
    redirect(err, O_WRONLY | O_CREAT | O_TRUNC, STDERR_FILENO);
    if (chdir(l->suite->folder) != 0)
        _exit(126);
    (void)execv(argv[0], (char *const *)(uintptr_t)argv);
    (void)dprintf(STDERR_FILENO, "%s cannot be started: %s\n", argv[0], strerror(errno));
    _exit(127);
}

/* Return the command with {} replaced by the run's command line. */
static const char *command_of(const struct launch *l, struct arena *a, uint32_t number)
{
    const char *at = strstr(l->launcher, "{}");

    return arena_printf(a, "%.*ssh %s/run %u%s", (int)(at - l->launcher), l->launcher,
                        text_shell_word(a, l->work), number, at + 2);
}

static const char *const *argv_of(const struct launch *l, struct arena *a, uint32_t number)
{
    const char *const *words = l->suite->run[number].argv;
    uint32_t n = 0;

    while (words[n])
        n++;
    const char **argv = ARENA_ARRAY(a, const char *, n + 4u);
    if (l->launcher) {
        argv[0] = "/bin/sh";
        argv[1] = "-c";
        argv[2] = command_of(l, a, number);
        return argv;
    }
    argv[0] = l->program;
    memcpy(argv + 1, words, n * sizeof *argv);
    argv[n + 1] = arena_printf(a, "--stats=%s/%u.json", l->work, number);
    return argv;
}

/* --- in the parent ---------------------------------------------------------------------------- */

static enum status start(struct local *o, uint32_t number, struct diag *d)
{
    struct arena *scratch = arena_beside(o->l->arena);
    const char *const *argv = argv_of(o->l, scratch, number);
    struct slot *s = o->slot;

    while (s->pid)
        s++;
    pid_t pid = vfork(); /* fork would copy the page tables of all results, 3/4 of the time */
    if (pid == 0)
        become(o->l, number, argv);
    arena_free(scratch);
    if (pid < 0)
        return FAIL(d, ST_NO_MEMORY, "no process could be started for a run");
    *s = (struct slot){.pid = pid, .number = number, .begun = monotonic_seconds()};
    o->running++;
    return ST_OK;
}

/* Read the result of the run in `s`, whose process ended in `state`; *again: the launcher lost
 * it. */
static void take_result(struct local *o, struct slot *s, int state, bool *again)
{
    struct launch *l = o->l;
    char stem[4096];
    bool got = false;

    *again = false;
    if (l->launcher) {
        launch_collect(l, s->number, &got);
        *again = !got && ++o->tries[s->number] < LAUNCH_TRIES && !s->late;
        if (got || *again)
            return;
    }
    struct suite_run *r = &l->suite->run[s->number];
    snprintf(stem, sizeof stem, "%s/%u", l->work, s->number);
    bool whole = WIFEXITED(state) && !l->launcher && !s->late;
    result_read(l->arena, stem, whole ? WEXITSTATUS(state) : -1, monotonic_seconds() - s->begun, r);
    if (s->late)
        r->result.message = arena_printf(l->arena, "stopped after %u s", l->suite->seconds);
    else if (l->launcher)
        r->result.message = arena_printf(l->arena, "the launcher ended %d times without it: %s",
                                         LAUNCH_TRIES, r->result.message);
    else if (WIFSIGNALED(state))
        r->result.message = arena_printf(l->arena, "killed: %s", strsignal(WTERMSIG(state)));
    snprintf(stem, sizeof stem, "%s/%u.json", l->work, s->number);
    (void)unlink(stem);
}

static enum status finish(struct local *o, struct slot *s, int state, struct diag *d)
{
    const uint32_t number = s->number;
    bool again;

    o->running--;
    take_result(o, s, state, &again);
    s->pid = 0;
    return again ? start(o, number, d) : o->l->ended(o->l->ctx, number, d);
}

/* Stop a late run by SIGTERM first, so that heddle run leaves no incomplete file. */
static void stop_late(const struct launch *l, struct slot *s)
{
    double late = monotonic_seconds() - s->begun - l->suite->seconds;

    if (late > 0 && (!s->late || late > GRACE_SECONDS))
        (void)kill(-s->pid, s->late ? SIGKILL : SIGTERM);
    s->late = late > 0;
}

/* Collect runs that have ended, and stop one that takes too long. */
static enum status look(struct local *o, bool *any, struct diag *d)
{
    int state;

    *any = false;
    for (uint32_t i = 0; i < o->l->jobs;
         i++) { /* not waitpid(-1), which would reap other children */
        struct slot *s = &o->slot[i];
        if (s->pid && waitpid(s->pid, &state, WNOHANG) == s->pid) {
            *any = true;
            TRY(finish(o, s, state, d));
        } else if (s->pid) {
            stop_late(o->l, s);
        }
    }
    return ST_OK;
}

/* Wait until one has ended: SIGCHLD is blocked, so that none is missed between check and sleep. */
static enum status wait_one(struct local *o, struct diag *d)
{
    const struct timespec tenth = {0, 100000000};
    sigset_t ended;
    bool any;

    sigemptyset(&ended);
    sigaddset(&ended, SIGCHLD);
    for (;;) {
        TRY(look(o, &any, d));
        if (any)
            return ST_OK;
        (void)sigtimedwait(&ended, NULL, &tenth);
        TRY(o->l->idle(o->l->ctx, d));
    }
}

static enum status all_runs(struct local *o, struct diag *d)
{
    for (uint32_t i = 0; i < o->l->n; i++) {
        while (o->running == o->l->jobs)
            TRY(wait_one(o, d));
        TRY(start(o, o->l->number[i], d));
    }
    while (o->running)
        TRY(wait_one(o, d));
    return ST_OK;
}

static enum status launch_here(struct launch *l, struct diag *d)
{
    struct local o = {.l = l,
                      .slot = ARENA_ARRAY(l->arena, struct slot, l->jobs),
                      .tries = ARENA_ARRAY(l->arena, uint8_t, l->suite->n + 1)};
    sigset_t ended, before;

    if (l->launcher)
        TRY(launch_write_script(l, d));
    fflush(NULL);
    sigemptyset(&ended);
    sigaddset(&ended, SIGCHLD);
    pthread_sigmask(SIG_BLOCK, &ended, &before);
    enum status st = all_runs(&o, d);
    for (uint32_t i = 0; i < l->jobs; i++)
        if (o.slot[i].pid) {
            (void)kill(-o.slot[i].pid, SIGTERM);
            (void)waitpid(o.slot[i].pid, NULL, 0);
        }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return st;
}

enum status launch_all(struct launch *l, struct diag *d)
{
    if (l->n == 0)
        return ST_OK;
    if (l->launcher && !strstr(l->launcher, "{}"))
        return launch_slurm(l, d);
    return launch_here(l, d);
}
