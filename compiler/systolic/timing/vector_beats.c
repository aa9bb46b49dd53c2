/* vector_beats.c - see vector_beats.h. */
#include "vector_beats.h"

#include <string.h>

#include "banks.h"
#include "compiler/systolic/layout/geometry.h"
#include "cost.h"

/* Return the window cells inside the image along one dimension. */
static void inside(int32_t start, uint32_t kernel, uint32_t size, uint32_t *first, uint32_t *n)
{
    int64_t lo = start < 0 ? -(int64_t)start : 0, hi = (int64_t)size - start;

    hi = hi < (int64_t)kernel ? hi : (int64_t)kernel;
    *first = lo < hi ? (uint32_t)lo : 0;
    *n = lo < hi ? (uint32_t)(hi - lo) : 1;
}

static void set_row(struct vector_beats *b)
{
    const struct hd_cmd_vector *v = b->v;

    inside(v->y_start + (int32_t)(b->y * v->stride_y), v->kernel_h, v->in_h, &b->ky_0, &b->ky_n);
}

static void set_column(struct vector_beats *b)
{
    const struct hd_cmd_vector *v = b->v;

    inside(v->x_start + (int32_t)(b->x * v->stride_x), v->kernel_w, v->in_w, &b->kx_0, &b->kx_n);
}

/* Go to the next window and its first beat. */
static void next_window(struct vector_beats *b)
{
    b->ky = b->kx = 0;
    if (++b->chunk < b->chunks)
        return;
    b->chunk = 0;
    if (++b->x == b->v->cols) {
        b->x = 0;
        b->y = b->y + 1 == b->v->rows ? 0 : b->y + 1; /* first row of the next pass */
        set_row(b);
    }
    set_column(b);
}

static void next_beat(struct vector_beats *b)
{
    if (++b->kx < b->kx_n)
        return;
    b->kx = 0;
    if (++b->ky == b->ky_n)
        next_window(b);
}

/* Return true if values wait for a unit of their own, so that cycles have to be run one by one. */
static bool steps(const struct hd_cmd_vector *v)
{
    return hd_vop_facts[v->op].softmax || hd_vop_facts[v->op].lstm;
}

/* Return the kind of value that the next beat completes. */
static enum vector_beats_value value_of(const struct vector_beats *b)
{
    if (hd_vop_facts[b->v->op].lstm)
        return b->kx + 1 == b->kx_n && b->ky + 1 == b->ky_n ? VECTOR_BEATS_CELL : VECTOR_BEATS_NONE;
    if (hd_vop_facts[b->v->op].softmax && b->left > b->a_pass)
        return b->left <= 2 * b->a_pass && b->chunk + 1 == b->chunks ? VECTOR_BEATS_SUM
                                                                     : VECTOR_BEATS_NONE;
    return b->kx + 1 == b->kx_n && b->ky + 1 == b->ky_n ? VECTOR_BEATS_WRITTEN : VECTOR_BEATS_NONE;
}

/* Go to the beat that `n` beats precede, by whole rows if these are equal. */
static void skip_beats(struct vector_beats *b, uint64_t n)
{
    const struct hd_cmd_vector *v = b->v;

    if (v->kernel_h == 1 && v->kernel_w == 1) {
        uint64_t per_row = (uint64_t)v->cols * b->chunks;
        b->y = (uint32_t)(n / per_row % v->rows);
        b->x = (uint32_t)(n % per_row / b->chunks);
        b->chunk = (uint32_t)(n % b->chunks);
        set_row(b);
        set_column(b);
        return;
    }
    b->y = b->x = b->chunk = b->ky = b->kx = 0;
    set_row(b);
    set_column(b);
    for (uint64_t i = 0; i < n; i++)
        next_beat(b);
}

/* Return true if `b` is at the same point of a row as `old`, in the same pass, with equal pipelines
 * and scales. */
static bool repeats(const struct vector_beats *old, const struct vector_beats *b)
{
    for (uint32_t i = 0; i < 2; i++) {
        uint64_t was = old->scale_until[i] > old->cycle ? old->scale_until[i] - old->cycle : 0,
                 is = b->scale_until[i] > b->cycle ? b->scale_until[i] - b->cycle : 0;
        if (was != is)
            return false;
    }
    return memcmp(&old->pipe, &b->pipe, sizeof b->pipe) == 0 && old->pending == b->pending &&
           old->chunk == b->chunk && old->lead == b->lead && b->left % b->a_pass &&
           old->left % b->a_pass && old->left / b->a_pass == b->left / b->a_pass &&
           old->left > b->left;
}

/* Skip the cycles that repeat since `old`, up to cycle `until` and before the end of the pass. */
static void skip_repeats(struct vector_beats *b, const struct vector_beats *old, uint64_t until)
{
    const uint64_t cycles = b->cycle - old->cycle, beats = old->left - b->left,
                   fit = (until - b->cycle) / cycles, more = (b->left % b->a_pass - 1) / beats,
                   n = fit < more ? fit : more;

    b->cycle += n * cycles;
    for (uint32_t i = 0; i < 2; i++)
        b->scale_until[i] += n * cycles;
    b->near += n * cycles;
    b->left -= n * beats;
    skip_beats(b, cost_passes(b->v) * b->a_pass - b->left);
}

/* Run softmax or an LSTM until cycle `until` or its end without contention. Each pass reaches the same point
 * of a row after HD_TIMING_SOFTMAX_SCALE rows. */
static void run_to(struct vector_beats *b, uint64_t until, const struct hd_config *hw)
{
    const uint64_t period = (uint64_t)HD_TIMING_SOFTMAX_SCALE * b->chunks;
    struct vector_beats old = *b;

    while (b->cycle < until && !vector_beats_ended(b)) {
        uint64_t busy = 0;
        vector_beats_cycle(b, &busy, hw);
        if (b->cycle < old.cycle + period)
            continue;
        if (repeats(&old, b))
            skip_repeats(b, &old, until);
        old = *b;
    }
}

struct vector_beats vector_beats_start(const struct hd_cmd_vector *v, double left, double cost,
                                       const struct hd_config *hw)
{
    struct vector_beats b = {.v = v, .chunks = div_up(v->channels, hw->n)};
    uint64_t all = cost_beats(v, hw);

    b.a_pass = all / cost_passes(v);
    b.two = cost_reads_two(v);
    b.passes = hd_vop_facts[v->op].extremum;
    b.cycles_a_beat = 1 + (double)banks_vector_conflicts(v, all, hw) / (double)all;
    double reading = left - HD_TIMING_VECTOR_VALUE - COST_VECTOR_END + 1,
           full = (double)all * b.cycles_a_beat;
    b.lead = reading > full ? reading - full : 0;
    b.left = reading > full ? all : (uint64_t)(reading > 0 ? reading / b.cycles_a_beat : 0);
    b.left = b.left ? b.left : 1;
    if (steps(v)) {
        b.lead = HD_TIMING_VECTOR_START;
        b.left = all;
    }
    set_row(&b);
    set_column(&b);
    skip_beats(&b, all - b.left);
    if (steps(v))
        run_to(&b, (uint64_t)(cost - 1 - left + 0.5), hw);
    return b;
}

/* Return true if a port's queue has a free entry for the operand requested now. */
static bool has_room(const struct vector_beats *b, uint32_t port)
{
    return b->pipe.held[port] + b->pipe.word[port] + b->pipe.fly[port] < HD_TIMING_VECTOR_QUEUE;
}

/* Request a port's operand; at: address of the pixel's first channel. */
static bool ask(struct vector_beats *b, uint32_t port, int64_t at, uint64_t *busy,
                const struct hd_config *hw)
{
    bool splat = port ? b->v->b_splat : b->v->a_splat;
    uint32_t of = b->chunk * hw->n, bytes = splat ? 1 : b->v->channels - of;

    if (b->pipe.got[port] || b->left == 0 || b->between || !has_room(b, port))
        return false;
    uint32_t banks = banks_of(hw, splat ? at : at + of, bytes < hw->n ? bytes : hw->n);
    if (banks & *busy)
        return false;
    *busy |= banks;
    return true;
}

/* Both ports' requests. */
static void read_beat(struct vector_beats *b, uint64_t *busy, uint32_t pop,
                      const struct hd_config *hw)
{
    const struct hd_cmd_vector *v = b->v;
    const struct banks_cell of = {b->y, b->x, b->ky_0 + b->ky, b->kx_0 + b->kx};
    int64_t at[2];

    banks_beat(v, &of, at);
    bool taken[2] = {ask(b, 0, at[0], busy, hw), false};

    taken[1] = b->two && ask(b, 1, at[1], busy, hw);
    for (uint32_t p = 0; p < 2; p++) {
        bool comes = b->pipe.word[p] && b->pipe.held[p] < HD_TIMING_VECTOR_QUEUE - 1;

        b->pipe.held[p] = (uint8_t)(b->pipe.held[p] + comes - (p == 0 || b->two ? pop : 0));
        b->pipe.word[p] = b->pipe.fly[p] || (b->pipe.word[p] && !comes);
        b->pipe.fly[p] = taken[p];
        b->pipe.got[p] |= taken[p];
    }
    if (!b->pipe.got[0] || (b->two && !b->pipe.got[1]))
        return;
    b->pipe.got[0] = b->pipe.got[1] = false;
    b->read[b->n_read++ % 4] = value_of(b);
    b->pending++;
    b->left--;
    b->between = b->left >= b->a_pass && b->left % b->a_pass == 0;
    next_beat(b);
}

/* Take a softmax row's sum if the scales accept one in this cycle. */
static bool take_sum(struct vector_beats *b)
{
    uint64_t *until = &b->scale_until[b->cycle % 2];

    if (b->cycle < *until)
        return false;
    *until = b->cycle + HD_TIMING_SOFTMAX_SCALE;
    b->near = b->cycle + HD_TIMING_SOFTMAX_LAST;
    return true;
}

/* Take a cell of an LSTM if its first gate may follow the last cell's. */
static bool take_cell(struct vector_beats *b)
{
    if (b->cycle < b->scale_until[0])
        return false;
    b->scale_until[0] = b->cycle + HD_TIMING_LSTM_CELL;
    b->near = b->cycle + HD_TIMING_LSTM_VALUE + 1;
    return true;
}

/* Let the last stage's beat leave; *queues: its value enters hd_requant's queue. */
static bool leaves_stage(struct vector_beats *b, bool lanes, bool *queues)
{
    const uint32_t end = VECTOR_BEATS_STAGES - 1;
    const enum vector_beats_value value = b->pipe.stage[end] ? b->value[end] : VECTOR_BEATS_NONE;
    const bool at_once = lanes && b->queued == 0;

    *queues =
        value == VECTOR_BEATS_WRITTEN && !at_once && b->passes && b->queued < HD_TIMING_PASS_QUEUE;
    if (value == VECTOR_BEATS_SUM)
        return take_sum(b);
    if (value == VECTOR_BEATS_CELL)
        return take_cell(b);
    return value == VECTOR_BEATS_NONE || at_once || *queues;
}

static void stages_cycle(struct vector_beats *b, bool lanes, uint32_t *pop)
{
    const uint32_t end = VECTOR_BEATS_STAGES - 1, leaves = lanes && b->queued > 0;
    bool queues;
    const bool move = leaves_stage(b, lanes, &queues);

    *pop = move && b->pipe.held[0] && (!b->two || b->pipe.held[1]);
    b->queued += queues;
    b->queued -= leaves;
    b->pending -= leaves;
    if (!move)
        return;
    b->pending -= b->pipe.stage[end] && !queues;
    memmove(b->pipe.stage + 1, b->pipe.stage, end * sizeof *b->pipe.stage);
    memmove(b->value + 1, b->value, end * sizeof *b->value);
    b->pipe.stage[0] = *pop;
    b->value[0] = *pop ? b->read[b->n_popped % 4] : VECTOR_BEATS_NONE;
    b->n_popped += *pop;
}

void vector_beats_cycle(struct vector_beats *b, uint64_t *busy, const struct hd_config *hw)
{
    uint32_t pop;

    if (b->between && b->pending == 0 && b->cycle >= b->near) {
        b->between = false;
        b->lead = HD_TIMING_VECTOR_START;
    }
    if (b->lead >= 1) {
        b->lead -= 1;
    } else {
        stages_cycle(b, !(*busy & VECTOR_BEATS_LANES), &pop);
        read_beat(b, busy, pop, hw);
    }
    b->cycle++;
}

/* Estimate the cycles left. A full queue has a free entry one cycle after a read. */
double vector_beats_left(const struct vector_beats *b, const struct hd_config *hw)
{
    if (steps(b->v)) {
        struct vector_beats alone = *b;
        run_to(&alone, UINT64_MAX, hw);
        return (double)(alone.cycle - b->cycle + COST_VECTOR_END - 1);
    }
    if (b->left == 0)
        return (double)(b->pending + COST_VECTOR_END);
    return b->lead + !has_room(b, 0) + (double)b->left * b->cycles_a_beat + HD_TIMING_VECTOR_VALUE +
           COST_VECTOR_END - 1;
}
