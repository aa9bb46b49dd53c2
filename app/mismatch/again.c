/* again.c - see again.h. */
#include "again.h"

#include "app/engine/core_targets.h"

struct session {
    const struct again *again;
    struct runner *p;
    bool watched;
    uint32_t submissions;
};

static void enter(void *ctx, uint32_t layer, uint32_t submission)
{
    struct session *s = ctx;

    if (s->watched && s->again->step)
        s->again->step(s->again->ctx, s->p, layer);
    if (submission && s->watched && s->again->submission)
        s->again->submission(s->again->ctx, s->p, submission - 1, s->submissions++, layer);
}

static void watch(struct session *s)
{
    for (uint32_t k = 0; s->again->commits && k < s->p->n_device; k++)
        if (s->again->engine == ENGINE_FUNC)
            hd_func_commits(&s->p->v[k].func, s->again->commits, s->again->commits_ctx);
        else
            s->p->v[k].sim.api->commits(s->p->v[k].sim.sim, s->again->commits,
                                        s->again->commits_ctx);
    s->watched = true;
}

/* Seed stalls as child.c does before each inference. */
static void seed_stalls(struct session *s, uint32_t inference)
{
    uint64_t seed = s->p->job->options->stall_seed;

    for (uint32_t k = 0; seed && s->again->engine == ENGINE_RTL && k < s->p->n_device; k++)
        s->p->v[k].sim.api->seed(s->p->v[k].sim.sim, seed + inference);
    if (seed && s->p->call.ports)
        core_targets_seed(s->again->cores, seed + inference);
}

enum status again_run(const struct again *again, struct diag *d)
{
    struct runner *p = ARENA_NEW(again->job->arena, struct runner);
    struct session s = {.again = again, .p = p};
    const struct runner_setup setup = {again->job, again->cores, again->engine, again->so};
    bool state = false;

    TRY(runner_open(p, &setup, again->sim, enter, &s, d));
    state = p->model->state_bytes > 0 && !again->job->options->reset_state;
    for (uint32_t k = state ? 0 : again->inference; k <= again->inference; k++) {
        if (k == again->inference)
            watch(&s);
        seed_stalls(&s, k);
        (void)runner_infer(p, k);
    }
    if (again->end)
        again->end(again->ctx, p);
    if (p->call.ports)
        core_targets_close(again->cores);
    runner_close(p);
    return ST_OK;
}
