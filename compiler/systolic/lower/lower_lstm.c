/* lower_lstm.c - the time steps of an LSTM. in: an operator plan with its work buffer. out: one
 * product of ARRAY for the inputs of all steps of a tile; for each step recurrent products and
 * VECTOR's lstm; copies of the state from and to memory. Column 4 j + g is gate g of cell j. A
 * step's cells are in parts, so that VECTOR computes one while ARRAY multiplies for the next. */
#include <math.h>
#include <string.h>

#include "lower.h"

enum { GATES = 4, X_BYTES = 2, H_BYTES = 3, PARTS = 2, NO_CLIP = 32768 };

struct run {
    struct lower *l;
    const struct op_plan *p;
    struct lstm_places at; /* addresses */
    uint32_t cells, tiles, n_part;
    bool resident;           /* the recurrent products' weights stay for all steps, */
    uint32_t words, entries; /* here */
};

/* A product: its weights' tensor, and number 0 or 4 of its first gate among biases and scales. */
struct gates {
    const struct ir_tensor *weights;
    uint32_t first;
};

static struct lstm_places places(const struct op_plan *p, const struct hd_config *hw)
{
    struct lstm_places at = lstm_places(p->geo.oc, p->tile_rows, hw);

    at.recurrent += p->work;
    at.state += p->work;
    at.output += p->work;
    return at;
}

static struct gates gates_of(const struct run *r, bool recurrent)
{
    return (struct gates){ir_in(r->l->graph, r->p->op, recurrent ? 2 : 1), recurrent ? GATES : 0};
}

/* Return the column of lane `lane` of the words from channel tile `tile` on. */
static uint32_t column_of(const struct run *r, uint32_t tile, uint32_t lane)
{
    const struct hd_config *hw = r->l->hw;

    return lane % hw->n < hw->columns ? (tile + lane / hw->n) * hw->columns + lane % hw->n
                                      : IR_NONE;
}

/* Return the row of the gates' weights that a column has, IR_NONE beyond the last. */
static uint32_t row_of(const struct run *r, uint32_t column)
{
    return column < GATES * r->cells ? column % GATES * r->cells + column / GATES : IR_NONE;
}

static uint32_t pack_weights(const struct run *r, const struct gates *g, uint32_t tile, uint32_t n)
{
    const uint32_t lanes = r->l->hw->n, k = (uint32_t)g->weights->dim[2];
    const size_t size = (size_t)n * k * lanes;

    if (r->l->program->dry)
        return sched_constant(r->l->program, NULL, size);
    uint8_t *bytes = ARENA_ARRAY(r->l->arena, uint8_t, size), *to = bytes;
    for (uint32_t t = tile; t < tile + n; t++)
        for (uint32_t i = 0; i < k; i++)
            for (uint32_t c = 0; c < lanes; c++, to++) {
                const uint32_t row = row_of(r, column_of(r, t, c));
                *to = row == IR_NONE ? 0 : g->weights->data[(size_t)row * k + i];
            }
    return sched_constant(r->l->program, bytes, size);
}

/* Pack biases, multipliers or shifts of columns, `size` bytes each. */
static uint32_t pack_params(const struct run *r, const struct gates *g, const void *data,
                            uint32_t size, bool by_cell, uint32_t tile, uint32_t n)
{
    const uint32_t lanes = r->l->hw->n;

    if (r->l->program->dry)
        return sched_constant(r->l->program, NULL, (size_t)n * lanes * size);
    uint8_t *bytes = ARENA_ARRAY(r->l->arena, uint8_t, (size_t)n * lanes * size);
    for (uint32_t c = 0; c < n * lanes; c++) {
        const uint32_t column = column_of(r, tile, c), row = row_of(r, column),
                       from = by_cell ? g->first * r->cells + row : g->first + column % GATES;
        if (row != IR_NONE)
            memcpy(bytes + (size_t)c * size, (const uint8_t *)data + (size_t)from * size, size);
    }
    return sched_constant(r->l->program, bytes, (size_t)n * lanes * size);
}

/* Fetch parameters and weights of n channel tiles. */
static void fetch(const struct run *r, const struct gates *g, uint32_t tile, uint32_t n,
                  uint32_t entry, uint32_t word)
{
    const struct ir_fixed *f = &r->p->op->fixed;
    const struct ir_tensor *bias = ir_in(r->l->graph, r->p->op, 3);
    const uint32_t row = r->p->op->row, lanes = n * r->l->hw->n;

    lower_fetch(r->l, row, HD_SPACE_BIAS, pack_params(r, g, bias->data, 4, true, tile, n), 1,
                lanes * 4, entry * 4, "biases of gates");
    lower_fetch(r->l, row, HD_SPACE_MULTIPLIER, pack_params(r, g, f->multiplier, 4, false, tile, n),
                1, lanes * 4, entry * 4, "multipliers of gates");
    lower_fetch(r->l, row, HD_SPACE_SHIFT, pack_params(r, g, f->shift, 1, false, tile, n), 1, lanes,
                entry, "shifts of gates");
    lower_fetch(r->l, row, HD_SPACE_WEIGHTS, pack_weights(r, g, tile, n), 1,
                lanes * (uint32_t)g->weights->dim[2], word, "weights of gates");
}

/* `rows` rows of `k` bytes, `pitch` bytes apart, times n channel tiles, whose weights have `parts`
 * parts for each row; the sums have n_bytes. */
struct product {
    uint32_t from, pitch, rows, k, parts;
    uint32_t tile, n, word, entry;
    uint32_t to, n_bytes;
};

static void fill_loops(const struct run *r, const struct product *m, struct hd_cmd_array *a)
{
    const uint32_t block = least(m->rows, r->l->hw->acc_depth / m->n_bytes),
                   blocks = div_up(m->rows, block);

    a->kernel_h = m->parts & 0xffu;
    a->stride_x = a->stride_y = 1;
    a->kernel_row_bytes = m->k & 0xffffu;
    a->in_row = (int32_t)m->from;
    a->in_pitch_step = (int32_t)m->pitch; /* rows of a window are one row */
    a->in_block_step = (int32_t)(m->pitch * block);
    a->in_h = a->out_h = m->rows & 0xffffu;
    a->in_wc = m->k;
    a->scan = a->out_w = m->n_bytes & 0xffffu;
    a->block_step_y = a->block_rows = block & 0xffffu;
    a->blocks = blocks & 0xffffu;
    a->last_rows = (m->rows - (blocks - 1) * block) & 0xffffu;
    a->block_scan = (m->n_bytes * block) & 0xffffu;
    a->last_scan = (uint32_t)(m->n_bytes * a->last_rows) & 0xffffu;
    a->out_step = r->at.plane & 0xffffu;
    a->out_pitch = r->at.row;
    a->out_block_step = r->at.row * block;
}

static void multiply(const struct run *r, const struct product *m, const char *note)
{
    struct sched_command *c =
        lower_add(r->l, HD_UNIT_ARRAY, HD_OPCODE_ARRAY, HD_CMD_ARRAY_UNITS, r->p->op->row);
    struct hd_cmd_array *a = &c->w.array;
    const uint32_t lanes = r->l->hw->columns, first = m->tile * lanes,
                   channels = least(m->n * lanes, GATES * r->cells - first);

    fill_loops(r, m, a);
    a->streams = a->ports = a->has_bias = 1;
    a->act_min = INT8_MIN;
    a->act_max = INT8_MAX;
    a->wide = (m->n_bytes - 1) & 3u;
    a->out_channels = channels & 0xffffu;
    a->out_base = m->to + first;
    a->w_base = m->word & 0xffffu;
    a->p_base = m->entry & 0xffffu;
    c->note = note;
    lower_access(c, SCHED_SPAD, false, m->from, (uint64_t)(m->rows - 1) * m->pitch + m->k);
    for (uint32_t b = 0; b < m->n_bytes; b++)
        lower_access(c, SCHED_SPAD, true, a->out_base + b * r->at.plane,
                     (uint64_t)(m->rows - 1) * r->at.row + channels);
    lower_access(c, SCHED_WMEM, false, m->word, (uint64_t)m->n * m->parts * m->k);
    lower_access(c, SCHED_PARAM, false, m->entry, m->n);
}

/* Return the channel tiles whose weights fit the memories twice. */
static uint32_t group_of(const struct run *r, const struct gates *g)
{
    const uint32_t k = (uint32_t)g->weights->dim[2],
                   most = least(r->l->words.size / 2 / k, r->l->entries.size / 2);

    return most ? most : 1;
}

/* Multiply with weights that are fetched for it, by groups of the m->n channel tiles. */
static void multiply_fetched(const struct run *r, const struct gates *g, struct product *m,
                             const char *note)
{
    const uint32_t most = group_of(r, g), end = m->tile + m->n;

    for (; m->tile < end; m->tile += m->n) {
        m->n = least(most, end - m->tile);
        m->word = lower_take(&r->l->words, m->n * (uint32_t)g->weights->dim[2]);
        m->entry = lower_take(&r->l->entries, m->n);
        fetch(r, g, m->tile, m->n, m->entry, m->word);
        multiply(r, m, note);
    }
}

/* Multiply the inputs of `rows` steps. */
static void multiply_inputs(const struct run *r, uint32_t from, uint32_t rows)
{
    const struct gates g = gates_of(r, false);
    const uint32_t k = (uint32_t)ir_dim_back(ir_in(r->l->graph, r->p->op, 0), 0);
    struct product m = {.from = from,
                        .pitch = r->p->in[0].pitch,
                        .rows = rows,
                        .k = k,
                        .parts = (uint32_t)g.weights->dim[2] / k,
                        .n = r->tiles,
                        .to = r->p->work,
                        .n_bytes = X_BYTES};

    multiply_fetched(r, &g, &m, "inputs of all steps");
}

static int32_t clip_of(const struct ir_op *op, float scale)
{
    float clip;

    memcpy(&clip, &op->attr[IR_CLIP_HIGH_BITS], sizeof clip);
    const int32_t code = (int32_t)fminf(clip / scale, 32767);
    return code > 0 ? code : NO_CLIP;
}

static void fill_cells(const struct run *r, struct hd_cmd_vector *v)
{
    const struct ir_op *op = r->p->op;
    const struct ir_tensor *state = ir_in(r->l->graph, op, 5);

    v->op = HD_VOP_LSTM;
    v->kernel_h = 2;
    v->in_h = 2;
    v->kernel_w = H_BYTES;
    v->rows = 1;
    v->channels = GATES;
    v->a_col = GATES;
    v->a_win_col = r->at.plane;
    v->b_col = 2;
    v->z_out = (int8_t)r->p->geo.z_out;
    v->act_min = INT8_MIN;
    v->act_max = INT8_MAX;
    v->shift_a = (int8_t)lstm_shift(state);
    v->multiplier_a = clip_of(op, state->quant.scale[0]);
    v->multiplier_b = 1 << 11;
    v->multiplier_out = op->fixed.multiplier[8];
    v->shift_out = op->fixed.shift[8];
}

/* Compute n cells from `first` on; x: their sums of the step's input; y: the step's output. */
static void add_cells(const struct run *r, uint32_t first, uint32_t n, uint32_t x, uint32_t y)
{
    struct sched_command *c =
        lower_add(r->l, HD_UNIT_VECTOR, HD_OPCODE_VECTOR, HD_CMD_VECTOR_UNITS, r->p->op->row);
    struct hd_cmd_vector *v = &c->w.vector;
    const uint32_t h = r->at.recurrent + GATES * first, state = r->at.state + 2 * first;

    x += GATES * first;
    y += first;
    fill_cells(r, v);
    v->cols = n & 0xffffu;
    v->in_w = (n + H_BYTES) & 0xffffu;
    v->a_base = (int32_t)x;
    v->a_win_row = h - x;
    v->b_base = state;
    v->out_base = y;
    v->out_row = state - y;
    c->note = "cells of a step";
    lower_access(c, SCHED_SPAD, false, x, r->at.plane + GATES * n);
    for (uint32_t b = 0; b < H_BYTES; b++)
        lower_access(c, SCHED_SPAD, false, h + b * r->at.plane, GATES * n);
    lower_access(c, SCHED_SPAD, true, y, n);
    lower_access(c, SCHED_SPAD, true, state, 2 * n);
}

/* Compute a step from the output `before`. */
static void add_step(const struct run *r, uint32_t before, uint32_t x, uint32_t y)
{
    const uint32_t part = div_up(r->tiles, r->n_part), cells = part * r->l->hw->columns / GATES;
    const struct gates g = gates_of(r, true);
    const uint32_t k = (uint32_t)g.weights->dim[2];

    for (uint32_t tile = 0; tile < r->tiles; tile += part) {
        struct product m = {.from = before,
                            .pitch = r->cells,
                            .rows = 1,
                            .k = r->cells,
                            .parts = k / r->cells,
                            .tile = tile,
                            .n = least(part, r->tiles - tile),
                            .word = r->words + tile * k,
                            .entry = r->entries + tile,
                            .to = r->at.recurrent,
                            .n_bytes = H_BYTES};
        if (r->resident)
            multiply(r, &m, "last output");
        else
            multiply_fetched(r, &g, &m, "last output");
    }
    for (uint32_t first = 0; first < r->cells; first += cells)
        add_cells(r, first, least(cells, r->cells - first), x, y);
}

/* Copy the last output to where STORE takes it. */
static void copy_output(const struct run *r, uint32_t from)
{
    const struct lower_rows row = {
        .from = (int32_t)from, .to = (int32_t)r->at.output, .n = 1, .n_bytes = r->cells};

    lower_copy_rows(r->l, r->p->op->row, &row, "the last output");
}

static void load_state(const struct run *r)
{
    const struct ir_op *op = r->p->op;

    if (op->attr[IR_RESET]) {
        uint8_t *zero = ARENA_ARRAY(r->l->arena, uint8_t, 2 * (size_t)r->cells);

        lower_load_constant(r->l, op->row, zero, 2 * r->cells, r->at.state);
        zero = arena_alloc(r->l->arena, r->cells);
        memset(zero, ir_zero_point(ir_in(r->l->graph, op, 4)), r->cells);
        lower_load_constant(r->l, op->row, zero, r->cells, r->at.output);
        return;
    }
    lower_load_bytes(r->l, op->row, op->in[4], r->cells, r->at.output);
    lower_load_bytes(r->l, op->row, op->in[5], 2 * r->cells, r->at.state);
}

static void store_state(const struct run *r, uint32_t output)
{
    const struct ir_op *op = r->p->op;

    copy_output(r, output);
    lower_store_bytes(r->l, op->row, op->in[4], r->cells, r->at.output);
    lower_store_bytes(r->l, op->row, op->in[5], 2 * r->cells, r->at.state);
}

/* Fetch the recurrent weights if they can stay for all steps of a tile. */
static void keep_weights(struct run *r)
{
    const struct gates g = gates_of(r, true);
    const uint32_t k = (uint32_t)g.weights->dim[2];

    r->resident = r->tiles * k <= r->l->words.size && r->tiles <= r->l->entries.size;
    if (!r->resident)
        return;
    r->words = lower_take(&r->l->words, r->tiles * k);
    r->entries = lower_take(&r->l->entries, r->tiles);
    fetch(r, &g, 0, r->tiles, r->entries, r->words);
}

void lower_lstm_tile(struct lower *l, const struct op_plan *p, uint32_t tile, uint32_t y,
                     uint32_t rows)
{
    struct run r = {.l = l,
                    .p = p,
                    .at = places(p, l->hw),
                    .cells = p->geo.oc,
                    .tiles = div_up(GATES * p->geo.oc, l->hw->columns)};
    int32_t base;

    r.n_part = least(PARTS, r.tiles);
    lower_operand(l, p, 0, tile, y, y + rows, &base);
    if (y == 0)
        load_state(&r);
    multiply_inputs(&r, (uint32_t)(base + (int32_t)(y * p->in[0].pitch)), rows);
    keep_weights(&r);
    const uint32_t to = (uint32_t)lower_result(l, p, tile, y);
    uint32_t before = r.at.output;
    for (uint32_t t = 0; t < rows; t++) {
        const uint32_t now = to + t * p->out.pitch;
        add_step(&r, before, p->work + t * r.at.row, now);
        before = now;
    }
    if (y + rows == p->geo.oh)
        store_state(&r, before);
    else
        copy_output(&r, before);
    lower_store(l, p, tile, y, rows);
}
