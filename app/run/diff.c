/* diff.c - see diff.h. Two passes, each with the inference on both engines: hashes of every
 * command, then the bytes of the first command whose hash differs. */
#include "diff.h"

#include "again.h"

static void log_submission(void *ctx, struct runner *p, uint32_t k, uint32_t index, uint32_t layer)
{
    (void)p;
    (void)k;
    (void)index;
    (void)layer;
    commit_log_submission(ctx);
}

static void capture_submission(void *ctx, struct runner *p, uint32_t k, uint32_t index,
                               uint32_t layer)
{
    (void)p;
    (void)k;
    (void)index;
    (void)layer;
    commit_capture_submission(ctx);
}

/* Both engines, the functional model first. */
static enum status play_both(struct run_job *job, const struct diff *diff, struct again *again,
                             void *const ctx[2], struct diag *d)
{
    again->so = diff->so;
    again->sim = diff->sim;
    for (uint32_t k = 0; k < 2; k++) {
        again->engine = k ? ENGINE_RTL : ENGINE_FUNC;
        again->commits_ctx = again->ctx = ctx[k];
        TRY(again_run(job, again, d));
    }
    return ST_OK;
}

static enum status first_byte(struct run_job *job, struct commit_place place, struct diff *diff,
                              struct diag *d)
{
    struct commit_capture capture[2] = {{.arena = job->arena, .place = place},
                                        {.arena = job->arena, .place = place}};
    struct again again = {.commits = commit_capture_sink, .submission = capture_submission};
    const struct sched_stream *s = &job->p->program->stream[place.submission];

    TRY(play_both(job, diff, &again, (void *[]){&capture[0], &capture[1]}, d));
    diff->found = commit_capture_compare(&capture[0], &capture[1], &diff->m);
    diff->command = &s->cmd[place.command < s->n ? place.command : s->n - 1];
    diff->device = s->device;
    mismatch_locate(&diff->m, diff->command->w.word, job->p->program->device[s->device].hw->n);
    return ST_OK;
}

enum status diff_engines(struct run_job *job, struct diff *diff, struct diag *d)
{
    struct arena *a = job->arena;
    struct commit_log log[2] = {{.arena = a}, {.arena = a}};
    struct again again = {.commits = commit_log_sink, .submission = log_submission};
    struct commit_place place;

    *diff = (struct diff){0};
    TRY(run_compile(a, job->p->emitted, &diff->so, d));
    for (uint32_t k = 0; k < job->p->program->n_device; k++)
        TRY(device_model(a, job->options, job->p->program->device[k].hw, &diff->sim[k], d));
    TRY(play_both(job, diff, &again, (void *[]){&log[0], &log[1]}, d));
    return commit_log_first(&log[0], &log[1], &place) ? first_byte(job, place, diff, d) : ST_OK;
}
