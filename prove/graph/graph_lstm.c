/* graph_lstm.c - an LSTM as the sums and cells that VECTOR computes. The reference clamps the input's sum to int16, then
 * adds the recurrent one and clamps again. Three bytes of the recurrent sum, clamped to these, give the same: beyond
 * them it alone decides. */
#include <math.h>
#include <string.h>

#include "compiler/ir/float_numbers.h"
#include "compiler/ir/rules.h"
#include "graph.h"

enum { NO_BOUND = 32768, LEAST_BITS = 2 }; /* integer bits of a state with shift 0 */

/* Set the bytes of gate g of cell j: the sum of row g of the weights times the n values x, which each n weights
 * multiply. */
static void gate(const struct prove_op *o, uint32_t j, uint32_t g, bool recurrent,
                 const uint32_t *x, uint32_t n, uint32_t bytes, uint32_t to[][PROVE_GATES])
{
    const struct ir_tensor *w = o->in[recurrent ? 2 : 1];
    const uint32_t cells = (uint32_t)w->dim[1], columns = (uint32_t)w->dim[2], row = g * cells + j,
                   at = g + (recurrent ? PROVE_GATES : 0);
    const struct prove_scale by = {o->k->multiplier[at], o->k->shift[at], 0};
    struct prove_sum s = {0};

    for (uint32_t i = 0; i < columns; i++)
        prove_add(&s, o->p, x[i % n], 0, (int8_t)w->data[(size_t)row * columns + i]);
    prove_shift(&s, ir_const_i32(o->in[3], row + (recurrent ? PROVE_GATES * cells : 0)));
    for (uint32_t b = 0; b < bytes; b++)
        to[b][g] = prove_wide_byte(o->p, &s, &by, bytes, b);
}

/* One step: h, c of one batch are before it; the new ones go to y and c. */
static void step(const struct prove_op *o, const struct prove_cell *as, const uint32_t *x,
                 const uint32_t *h, uint32_t *c, uint32_t *y)
{
    const uint32_t cells = (uint32_t)o->in[2]->dim[1], values = (uint32_t)o->in[0]->dim[2];

    for (uint32_t j = 0; j < cells; j++) {
        struct prove_cell cell = *as;
        uint32_t made[3];

        for (uint32_t g = 0; g < PROVE_GATES; g++) {
            gate(o, j, g, false, x, values, PROVE_X_BYTES, cell.x);
            gate(o, j, g, true, h, cells, PROVE_H_BYTES, cell.h);
        }
        memcpy(cell.state, c + 2 * (size_t)j, sizeof cell.state);
        prove_cell(o->p, &cell, made);
        y[j] = made[0];
        c[2 * j] = made[1];
        c[2 * j + 1] = made[2];
    }
}

static struct prove_cell as_unit(const struct prove_op *o)
{
    const float scale = o->in[5]->quant.scale[0], clip = ir_attr_float(o->op, IR_CLIP_HIGH_BITS);
    const int32_t bound = (int32_t)fminf(clip / scale, 32767);
    int bits;

    (void)frexpf(scale, &bits); /* 2^(bits - 1); an int16 has 14 + bits integer bits */
    return (struct prove_cell){.shift = bits + 14 - LEAST_BITS,
                               .bound = bound > 0 ? bound : NO_BOUND,
                               .out = {o->k->multiplier[8], o->k->shift[8], prove_zero(o->out)}};
}

/* Return the terms that a state of n bytes begins with: x, or `value` if the operator resets it. */
static uint32_t *first(const struct prove_op *o, const uint32_t *x, size_t n, int32_t value)
{
    uint32_t *term = arena_memdup(o->p->arena, x, n * sizeof *x);

    for (size_t i = 0; i < n && o->op->attr[IR_RESET]; i++)
        term[i] = prove_constant((int8_t)value);
    return term;
}

bool prove_graph_lstm(const struct prove_op *o, const uint32_t **state[2])
{
    const struct ir_tensor *x = o->in[0];
    const size_t time = o->op->attr[IR_AXIS] != 0, steps = (size_t)x->dim[time],
                 batches = (size_t)x->dim[1 - time], values = (size_t)x->dim[2],
                 cells = (size_t)o->in[2]->dim[1];

    if (x->type != IR_I8 || o->op->attr[IR_DIGITS] || !o->k || o->k->n < 9 || !o->x[4] || !o->x[5])
        return false;
    uint32_t *h = first(o, o->x[4], batches * cells, prove_zero(o->in[4])),
             *c = first(o, o->x[5], 2 * batches * cells, 0);
    const struct prove_cell as = as_unit(o);
    for (size_t b = 0; b < batches; b++)
        for (size_t t = 0; t < steps; t++) {
            const size_t at = time == 1 ? b * steps + t : t * batches + b;

            step(o, &as, o->x[0] + at * values, h + b * cells, c + 2 * b * cells,
                 o->y + at * cells);
            memcpy(h + b * cells, o->y + at * cells, cells * sizeof *h);
        }
    *state[0] = h;
    *state[1] = c;
    return true;
}
