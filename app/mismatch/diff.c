/* diff.c - see diff.h. The inference runs twice on both engines: first hashes of every command are
 * compared, then the bytes of the first command whose hash differs. */
#include "diff.h"

#include <string.h>

#include "again.h"
#include "app/build/object.h"
#include "hd_accel_tables.h"

static void log_submission(void *ctx, struct runner *p, uint32_t k, uint32_t index, uint32_t layer)
{
    (void)p;
    (void)k;
    (void)index;
    (void)layer;
    commit_log_submission(ctx);
}

/* The bytes that the command writes, and on the functional model what it read from scratchpad and
 * exponentials. */
struct capturing {
    struct commit_capture capture;
    bool functional;
    struct hd_func *func; /* device of this submission; NULL on RTL */
    struct hd_func before;
};

static void capture_submission(void *ctx, struct runner *p, uint32_t k, uint32_t index,
                               uint32_t layer)
{
    struct capturing *c = ctx;

    (void)index;
    (void)layer;
    commit_capture_submission(&c->capture);
    c->func = c->functional ? &p->v[k].func : NULL;
}

static void capture(void *ctx, const struct hd_sim_commit *commit)
{
    struct capturing *c = ctx;
    static const uint32_t kept[] = {HD_SPACE_SCRATCHPAD, HD_SPACE_EXP};
    const struct hd_func *f = c->func;
    const size_t had = c->capture.n_bytes;

    commit_capture_sink(&c->capture, commit);
    if (!f || had || !c->capture.n_bytes)
        return;
    c->before = *f;
    for (uint32_t i = 0; i < sizeof kept / sizeof *kept; i++)
        c->before.space[kept[i]] =
            arena_memdup(c->capture.arena, f->space[kept[i]], f->n_bytes[kept[i]]);
}

/* Collect the bytes written at n addresses from `address` on; false if some were not written. The
 * capture is sorted. */
static bool found_row(const struct commit_capture *c, uint64_t address, uint32_t n, int8_t *to)
{
    uint32_t written = 0;

    for (size_t i = 0; i < c->n_bytes; i++) {
        const struct commit_byte *b = &c->byte[i];
        if (b->space != 0 || b->address < address || b->address - address >= n)
            continue;
        written += i == 0 || c->byte[i - 1].address != b->address;
        to[b->address - address] = (int8_t)b->value;
    }
    return written == n;
}

/* Describe a wrong byte of a softmax: row, key, and the pass that explains the row. */
static const char *softmax_text(struct arena *a, const struct mismatch *m, const uint32_t *words,
                                const struct hd_func *before, const struct commit_capture *found)
{
    struct hd_cmd_vector c;
    int32_t max, other;
    const int8_t *x;
    int8_t *row;

    memcpy(&c, words, sizeof c);
    if (!m->located || c.common.opcode != HD_OPCODE_VECTOR || !hd_vop_facts[c.op].softmax)
        return NULL;
    const char *where =
        arena_printf(a, "softmax, row %u, key %u", m->row * c.cols + m->column, m->channel);
    x = (const int8_t *)before->space[HD_SPACE_SCRATCHPAD] + (uint32_t)c.a_base + m->row * c.a_row +
        m->column * c.a_col;
    row = arena_array(a, c.channels, 1);
    if (!found_row(found, m->address - m->channel, c.channels, row))
        return arena_printf(a, "%s: the result of a pass is missing", where);
    switch (hd_func_softmax_pass(before, &c, x, row, &max, &other)) {
    case HD_SOFTMAX_MAXIMUM:
        return arena_printf(a,
                            "%s: the pass of the maximum: the row is right for %d as its largest "
                            "byte, which is %d",
                            where, other, max);
    case HD_SOFTMAX_SUM:
        return arena_printf(a,
                            "%s: the pass of the sum: the row's exponentials are right, and all "
                            "multiplied by one wrong factor",
                            where);
    case HD_SOFTMAX_RESULT: break;
    }
    return arena_printf(a,
                        "%s: the pass of the result: no other maximum and no factor explain the "
                        "row",
                        where);
}

/* Run both engines, the functional model first. */
static enum status play_both(const struct diff *diff, struct again *again, void *const ctx[2],
                             struct diag *d)
{
    again->so = diff->so;
    again->sim = diff->sim;
    for (uint32_t k = 0; k < 2; k++) {
        again->engine = k ? ENGINE_RTL : ENGINE_FUNC;
        again->commits_ctx = again->ctx = ctx[k];
        TRY(again_run(again, d));
    }
    return ST_OK;
}

static enum status first_byte(const struct again *of, struct commit_place place, struct diff *diff,
                              struct diag *d)
{
    struct capturing by[2] = {
        {.capture = {.arena = of->job->arena, .place = place}, .functional = true},
        {.capture = {.arena = of->job->arena, .place = place}}};
    struct again again = *of;
    const struct sched_stream *s = &of->job->p->program->stream[place.submission];

    again.commits = capture;
    again.submission = capture_submission;
    TRY(play_both(diff, &again, (void *[]){&by[0], &by[1]}, d));
    diff->found = commit_capture_compare(&by[0].capture, &by[1].capture, &diff->m);
    diff->command = &s->cmd[place.command < s->n ? place.command : s->n - 1];
    diff->device = s->device;
    mismatch_locate(&diff->m, diff->command->w.word, of->job->p->program->device[s->device].hw->n);
    if (by[0].capture.n_bytes)
        diff->softmax = softmax_text(of->job->arena, &diff->m, diff->command->w.word, &by[0].before,
                                     &by[1].capture);
    return ST_OK;
}

enum status diff_engines(const struct again *of, struct diff *diff, struct diag *d)
{
    struct arena *a = of->job->arena;
    struct commit_log log[2] = {{.arena = a}, {.arena = a}};
    struct again again = *of;
    struct commit_place place;

    *diff = (struct diff){0};
    TRY(run_compile(a, of->job->p->emitted, &diff->so, d));
    for (uint32_t k = 0; k < of->job->p->program->n_device; k++)
        TRY(device_model(a, of->job->options, of->job->p->program->device[k].hw, &diff->sim[k], d));
    again.commits = commit_log_sink;
    again.submission = log_submission;
    TRY(play_both(diff, &again, (void *[]){&log[0], &log[1]}, d));
    return commit_log_first(&log[0], &log[1], &place) ? first_byte(of, place, diff, d) : ST_OK;
}
