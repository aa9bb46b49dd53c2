/* diff.c - see diff.h. Two passes, each with the inference on both engines: hashes of every
 * command, then the bytes of the first command whose hash differs. */
#include "diff.h"

#include "../../sim/compare.h"
#include "player.h"

typedef void sink(void *ctx, const struct hd_sim_commit *commit);

/* One engine's pass: what sees its commits, and what hears of each submission. */
struct pass {
    sink *commits;
    void (*submission)(void *ctx);
    void *ctx;
};

static void enter(void *ctx, uint32_t layer, uint32_t submission)
{
    struct pass *pass = ctx;
    (void)layer;
    if (submission)
        pass->submission(pass->ctx);
}

static void log_submission(void *log)
{
    commit_log_submission(log);
}

static void capture_submission(void *capture)
{
    commit_capture_submission(capture);
}

static enum status play(struct run_job *job, enum options_engine engine, const char *so,
                        const struct sim_model *sim, struct pass *pass, struct diag *d)
{
    struct player *p = ARENA_NEW(job->arena, struct player);
    TRY(player_open(p, job, engine, so, sim, enter, pass, d));
    for (uint32_t k = 0; k < p->n_device; k++)
        if (engine == ENGINE_FUNC)
            hd_func_commits(&p->v[k].func, pass->commits, pass->ctx);
        else
            p->v[k].sim.api->commits(p->v[k].sim.sim, pass->commits, pass->ctx);
    (void)player_infer(p, job->first_wrong);
    player_close(p);
    return ST_OK;
}

static enum status first_byte(struct run_job *job, const char *so, const struct sim_model *sim,
                              struct commit_place place, struct text *t, struct diag *d)
{
    struct commit_capture capture[2] = {{.arena = job->arena, .place = place},
                                        {.arena = job->arena, .place = place}};
    const struct sched_stream *s = &job->p->program->stream[place.submission];
    const struct sched_command *c = &s->cmd[place.command < s->n ? place.command : s->n - 1];
    struct mismatch m;
    for (uint32_t k = 0; k < 2; k++) {
        struct pass pass = {commit_capture_sink, capture_submission, &capture[k]};
        TRY(play(job, k ? ENGINE_RTL : ENGINE_FUNC, so, sim, &pass, d));
    }
    if (!commit_capture_compare(&capture[0], &capture[1], &m))
        return ST_OK;
    mismatch_locate(&m, c->w.word, job->p->program->device[s->device].hw->n);
    text_printf(t, "RTL and functional model first differ at %s",
                mismatch_text(job->arena, &m, job->p->graph->row[c->row].name));
    if (c->note)
        text_printf(t, " (%s)", c->note);
    return ST_OK;
}

static enum status find(struct run_job *job, struct text *t, struct diag *d)
{
    struct arena *a = job->arena;
    struct commit_log log[2] = {{.arena = a}, {.arena = a}};
    struct sim_model sim[SCHED_MAX_DEVICES];
    struct commit_place place;
    const char *so;
    TRY(run_compile(a, job->p->emitted, &so, d));
    for (uint32_t k = 0; k < job->p->program->n_device; k++)
        TRY(device_model(a, job->options, job->p->program->device[k].hw, &sim[k], d));
    for (uint32_t k = 0; k < 2; k++) {
        struct pass pass = {commit_log_sink, log_submission, &log[k]};
        TRY(play(job, k ? ENGINE_RTL : ENGINE_FUNC, so, sim, &pass, d));
    }
    if (!commit_log_first(&log[0], &log[1], &place)) {
        text_add(t, "RTL and functional model write the same bytes for every command: look at the "
                    "compiler or at a host kernel, not at the RTL");
        return ST_OK;
    }
    return first_byte(job, so, sim, place, t, d);
}

void diff_engines(struct run_job *job, struct diag *d)
{
    struct diag own = {0};
    struct text t;
    text_init(&t, job->arena);
    if (job->p->program->n_stream && find(job, &t, &own) != ST_OK)
        text_printf(&t, "the engines could not be compared: %s", own.text);
    if (t.length)
        diag_line(d, "%s", t.data);
}
