/* cost.c - see cost.h. */
#include "cost.h"

#include "banks.h"
#include "compiler/systolic/layout/geometry.h"
#include "driver/hd_walk.h"

enum {
    ARRAY_TAKE = HD_TIMING_ARRAY_LOAD + HD_TIMING_ARRAY_FIRST, /* cycles to the first step */
    /* Cycles from the last vector to done_o, in addition to N: with acc_hold, with requantisation. */
    HOLD_PIPE = HD_TIMING_ARRAY_SUM + HD_TIMING_ARRAY_DONE,
    ARRAY_PIPE = HD_TIMING_ARRAY_SUM + HD_TIMING_REQUANT - HD_TIMING_REQUANT_AHEAD,
};

static uint32_t most(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

struct array_cost cost_array(const struct hd_cmd_array *a, const struct hd_config *hw)
{
    struct hd_walk walk;
    struct hd_segment seg;
    struct array_cost c = {0};
    uint64_t last = 0;

    hd_walk_start(&walk, a->kernel_h, a->kernel_row_bytes, hw->rows, a->ports, a->depthwise);
    while (hd_walk_next(&walk, &seg)) {
        uint32_t least = most(seg.len, HD_TIMING_ARRAY_TILE);
        c.segment_steps =
            most(c.segment_steps, most(a->blocks > 1u ? a->block_scan : a->last_scan, least));
        c.segment_words = most(c.segment_words, seg.len);
        c.words += seg.len;
        c.tiles += a->blocks;
        c.block_lead = c.block_steps;
        c.last_lead = last;
        c.last_tile = most(a->last_scan, least);
        c.block_steps += most(a->block_scan, least);
        last += c.last_tile;
    }
    c.steps = (uint64_t)(a->blocks - 1u) * c.block_steps + last;
    c.tile_steps = c.steps;
    c.steps *= div_up(a->out_channels, hw->columns);
    c.conflicts = banks_conflicts(a, hw);
    c.still = c.last_tile - a->last_scan;
    c.tail = c.still;
    if (a->depthwise)
        c.tail += a->scan - 1u - (a->out_w - 1u) * a->stride_x;
    c.pipe = hw->rows + (a->acc_hold ? HOLD_PIPE : ARRAY_PIPE + a->sum_columns);
    return c;
}

uint64_t cost_array_alone(const struct array_cost *c)
{
    uint32_t pipe = c->pipe > c->tail ? c->pipe - c->tail : 0;

    return ARRAY_TAKE + c->steps + c->conflicts + most(pipe, 1);
}

enum cost_cells cost_array_cells(const struct hd_cmd_array *a)
{
    return a->depthwise ? COST_TAPS : a->streams == 2 ? COST_PAIRS : COST_PLAIN;
}

bool cost_array_same_setup(const struct hd_cmd_array *a, const struct hd_cmd_array *b)
{
    const enum cost_cells cells = cost_array_cells(b);

    if (cells == COST_PLAIN || cells != cost_array_cells(a))
        return cells == COST_PLAIN;
    if (cells == COST_PAIRS)
        return a->pair_split == b->pair_split;
    return a->pad_left == b->pad_left && a->kernel_row_bytes == b->kernel_row_bytes &&
           a->kernel_h == b->kernel_h && a->ports == b->ports;
}

/* Return the window cells inside the image along one dimension, summed over the outputs; *changes:
 * how often their number differs from the previous output's. */
static uint64_t cells(uint32_t n, int32_t start, uint32_t stride, uint32_t kernel, uint32_t size,
                      uint32_t *changes)
{
    uint64_t sum = 0;
    int64_t last = -1;

    *changes = 0;
    for (uint32_t i = 0; i < n; i++) {
        int64_t lo = start + (int64_t)i * stride, hi = lo + kernel;
        int64_t inside = (hi < size ? hi : (int64_t)size) - (lo > 0 ? lo : 0);
        inside = inside > 0 ? inside : 0;
        *changes += last >= 0 && inside != last;
        last = inside;
        sum += (uint64_t)inside;
    }
    return sum;
}

/* Return the beats; *by_row, *by_column: how often windows change their number of rows, of
 * columns. */
static uint64_t beats(const struct hd_cmd_vector *v, const struct hd_config *hw, uint32_t *by_row,
                      uint32_t *by_column)
{
    uint32_t chunks = div_up(v->channels, hw->n);
    uint64_t rows = cells(v->rows, v->y_start, v->stride_y, v->kernel_h, v->in_h, by_row);
    uint64_t columns = cells(v->cols, v->x_start, v->stride_x, v->kernel_w, v->in_w, by_column);
    uint64_t all = rows * columns * chunks, outputs = (uint64_t)v->rows * v->cols * chunks;

    return all > outputs ? all : outputs;
}

uint64_t cost_beats(const struct hd_cmd_vector *v, const struct hd_config *hw)
{
    uint32_t by_row, by_column;

    return cost_passes(v) * beats(v, hw, &by_row, &by_column);
}

/* Return the additional waits of softmax: the pipeline between passes, the scales of the last sum
 * and of earlier ones. At most two sums are in flight, one in even and one in odd cycles. */
static uint64_t softmax_waits(const struct hd_cmd_vector *v, const struct hd_config *hw)
{
    const uint64_t rows = (uint64_t)v->rows * v->cols, chunks = div_up(v->channels, hw->n);
    uint64_t at = 0, until[2] = {HD_TIMING_SOFTMAX_SCALE, 0};

    if (!hd_vop_facts[v->op].softmax)
        return 0;
    for (uint64_t row = 1; row < rows; row++) {
        at += chunks;
        while (at < until[at % 2])
            at++;
        until[at % 2] = at + HD_TIMING_SOFTMAX_SCALE;
    }
    return 2 * (HD_TIMING_SOFTMAX_PASS + HD_TIMING_VECTOR_START - 1) + HD_TIMING_SOFTMAX_LAST - 1 +
           at - (rows - 1) * chunks;
}

/* Return the cycles of an LSTM's cells in addition to their beats. Its reads never wait for each
 * other: a cell takes fewer than it has cycles. */
static uint64_t lstm_waits(const struct hd_cmd_vector *v, uint64_t all)
{
    return HD_TIMING_LSTM_CELL * (v->cols - UINT64_C(1)) + HD_TIMING_LSTM_VALUE + 6 - all;
}

uint64_t cost_vector(const struct hd_cmd_vector *v, const struct hd_config *hw)
{
    uint32_t by_row, by_column;
    uint64_t all = beats(v, hw, &by_row, &by_column);
    uint32_t pad_x = v->x_start < 0 ? (uint32_t)-v->x_start : 0,
             pad_y = v->y_start < 0 ? (uint32_t)-v->y_start : 0;
    uint64_t divide = hd_vop_facts[v->op].divide
                          ? HD_TIMING_VECTOR_DIVIDE * (1 + (uint64_t)by_column * v->rows + by_row)
                          : 0;

    if (hd_vop_facts[v->op].lstm)
        return all + COST_VECTOR + lstm_waits(v, all);
    return cost_passes(v) * all + banks_vector_conflicts(v, all, hw) + COST_VECTOR +
           most(pad_x, pad_y) + divide + softmax_waits(v, hw);
}

uint64_t cost_words(uint32_t rows, uint32_t row_bytes, const struct hd_config *hw)
{
    return (uint64_t)rows * div_up(row_bytes, hw->n);
}

/* Return the number of words that contain bytes [at, at + n). */
static uint64_t touched(uint64_t at, uint32_t n, uint32_t word)
{
    return (at + n - 1) / word - at / word + 1;
}

static uint32_t tile_bytes(const struct hd_cmd_dma_read *m, uint32_t column, uint32_t n)
{
    return m->run_bytes - column < n ? m->run_bytes - column : n;
}

uint64_t cost_weight_words(const struct hd_cmd_dma_read *m, const struct hd_config *hw)
{
    const uint32_t n = hw->columns;
    uint64_t words = 0;

    for (uint32_t column = 0; column < m->run_bytes; column += n)
        for (uint32_t row = 0; row < m->runs; row++)
            words += touched((uint64_t)m->offset + (uint64_t)row * m->run_pitch + column,
                             tile_bytes(m, column, n), hw->n);
    return words;
}

uint64_t cost_weight_spad(const struct hd_cmd_dma_read *m, const struct hd_config *hw)
{
    const uint32_t n = hw->columns, groups = div_up(m->runs, n);
    uint64_t cycles = HD_TIMING_WEIGHT_SPAD + cost_weight_words(m, hw) + !m->transpose;

    for (uint32_t column = 0; column < m->run_bytes && m->transpose; column += n)
        cycles += groups * n - m->runs + (uint64_t)groups * (tile_bytes(m, column, n) + 2u);
    return cycles;
}
