/* check_restart.c - power the core up again before every third call, so that most calls of a run with random start
 * values begin from some of their own, and others follow a call. */
#include "app/engine/core_targets.h"
#include "app/engine/runner.h"
#include "app/engine/watcher.h"
#include "check_round.h"

enum { EVERY = 3 }; /* calls */

struct restarts {
    struct run_measured *m;
    uint64_t seed, n;
    struct diag d; /* of the first core that could not be opened */
};

static void attach(void *ctx, struct runner *p, struct run_shared *shared)
{
    (void)ctx;
    (void)p;
    (void)shared;
}

static enum status begin(void *ctx, uint32_t k, struct diag *d)
{
    const struct restarts *const r = ctx;

    (void)k;
    return r->d.status == ST_OK ? ST_OK : FAIL(d, r->d.status, "%s", r->d.text);
}

static void enter(void *ctx, uint32_t submission)
{
    struct restarts *const r = ctx;

    (void)submission;
    if (r->n++ % EVERY == 0 && r->d.status == ST_OK)
        (void)core_targets_restart(r->m->cores, r->seed + (r->n << 16), &r->d);
}

static void end(void *ctx)
{
    (void)ctx;
}

const struct watcher *check_restarts(struct arena *a, struct run_measured *m, uint64_t seed)
{
    struct watcher *const w = ARENA_NEW(a, struct watcher);
    struct restarts *const r = ARENA_NEW(a, struct restarts);

    *r = (struct restarts){.m = m, .seed = seed};
    *w = (struct watcher){r, attach, begin, enter, end};
    return w;
}
