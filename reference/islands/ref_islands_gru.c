/* ref_islands_gru.c - the constants of GRU and RNN of integers, and the operator. */
#include <math.h>
#include <string.h>

#include "ref_islands_cells.h"

/* The state's unit is 1/126; sums of gates are in the powers of two of a unit that shifts allow. */
enum { STATE = 126, SHIFT_FROM = 3, SHIFT_TO = 30, STEPS = 128, INPUT_PARTS = 64 };

static bool is_gru_step(const struct ir_match *m, int32_t n)
{
    const float *one = (const float *)(const void *)m->g->tensor[ir_matched(m, 'o')]->data;
    const bool reset = ir_matched(m, 'f') == IR_NONE || isl_cells_begins(m, 'f', 0, 2 * n);

    return reset && *one >= 1 && *one <= 1 && isl_cells_begins(m, 'p', 0, 0) &&
           isl_cells_begins(m, 'q', 0, 0) && isl_cells_begins(m, 'y', 0, 0) &&
           isl_cells_begins(m, 'e', 0, n) && isl_cells_begins(m, 'd', 0, 2 * n);
}

static bool is_rnn_step(const struct ir_match *m, int32_t n)
{
    return m->g->tensor[ir_matched(m, 'r')]->dim[0] == n;
}

/* The recurrent weights of all gates. */
static const struct ir_tensor *recurrent(const struct cells *c, const struct cells_way *way)
{
    struct ir_tensor *all;
    uint8_t *data;

    if (way->reset == NULL)
        return way->r;
    all = arena_memdup(c->s->arena, way->r, sizeof *all);
    all->dim[0] += way->reset->dim[0];
    data = arena_alloc(c->s->arena, (size_t)ir_bytes(all));
    memcpy(data, way->r->data, (size_t)ir_bytes(way->r));
    memcpy(data + ir_bytes(way->r), way->reset->data, (size_t)ir_bytes(way->reset));
    all->data = data;
    return all;
}

/* The input's weights in the largest of the scales that are `unit` less a power of two, by which their
 * errors are within 1/512 of a gate; or in the smallest in which they are 64 parts. */
static bool input_weights(const struct cells *c, const struct ir_tensor *t, double reach,
                          double step, double unit, struct cells_whole *w)
{
    const float *v = (const float *)(const void *)t->data;
    const size_t n = (size_t)ir_elements(t);
    struct cells_whole next = {.columns = t->dim[1]};
    double most = 0;
    bool close = false;

    w->parts = 0;
    if (!isl_cells_finite(v, n))
        return false;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs((double)v[i]));
    for (int shift = SHIFT_FROM; shift <= SHIFT_TO && !close; shift++) {
        next.scale = (float)(unit / pow(2, shift) / step);
        const double parts = fmax(1, ceil(rint(most / (double)next.scale) / 127));

        if (parts > INPUT_PARTS)
            break;
        next.parts = (int32_t)parts;
        next.value = ARENA_ARRAY(c->s->arena, int32_t, n);
        close = isl_cells_round(v, n, &next) * reach * step <= 1.0 / 512;
        *w = next;
    }
    return w->parts > 0 && 127 * w->parts * reach * w->columns < 1073741824.0;
}

/* An RNN's errors may grow where the squares of a row of its recurrent weights add up to more than 1. */
static bool errors_grow(const struct cells *c, const struct ir_tensor *r)
{
    const float *v = (const float *)(const void *)r->data;
    bool grow = false;

    for (int32_t row = 0; row < r->dim[0]; row++) {
        double squares = 0;

        for (int32_t i = 0; i < r->dim[1]; i++, v++)
            squares += (double)*v * (double)*v;
        grow = grow || squares > 1;
    }
    return grow && strcmp(c->kind->node, "RNN") == 0;
}

/* The weights' constant; `sum` gets the bias less zero times the row's weights. */
static uint32_t parts_const(const struct cells *c, const struct cells_whole *w, int32_t n,
                            int32_t zero, int32_t *sum)
{
    const int32_t dim[2] = {n, w->parts * w->columns};
    int8_t *to = arena_alloc(c->s->arena, (size_t)n * (size_t)dim[1]);
    const struct ir_quant q = isl_one_scale(c->s, w->scale, 0);

    for (int32_t r = 0; r < n; r++)
        isl_cells_write_row(w, r, zero, to + (ptrdiff_t)r * dim[1], &sum[r]);
    return isl_const(c->s, "gates", IR_I8, 2, dim, to, &q);
}

static bool constants(const struct cells *c, const struct cells_way *way, uint32_t in[3])
{
    const double step = (double)c->unit->quant.scale[0];
    const int32_t zero = c->unit->quant.zero_point[0] - (c->unit->type == IR_U8 ? 128 : 0),
                  n = way->w->dim[0], dim[2] = {2, n};
    int32_t *bias = ARENA_ARRAY(c->s->arena, int32_t, (size_t)(2 * n)), shift = 0;
    struct cells_whole w, r;

    if ((uint32_t)c->steps * c->n_way > STEPS || errors_grow(c, way->r) ||
        !isl_cells_weights(c, recurrent(c, way), STATE, 1.0 / STATE, &r))
        return false;
    const double unit = (double)r.scale / STATE;
    while (shift <= SHIFT_TO && (shift < SHIFT_FROM - 1 || unit * pow(2, shift) < 8.0 / 127))
        shift++;
    if (shift < SHIFT_FROM || shift > SHIFT_TO ||
        !input_weights(c, way->w, fmax(128 + zero, 127 - zero), step, unit * pow(2, shift), &w))
        return false;
    for (int32_t i = 0; i < n; i++)
        if (!isl_cells_bias(way->b, i, step * (double)w.scale, &bias[i]) ||
            !isl_cells_bias(way->r_b, i, unit, &bias[n + i]))
            return false;
    in[0] = parts_const(c, &w, n, zero, bias);
    in[1] = parts_const(c, &r, n, 0, bias + n);
    in[2] = isl_const(c->s, "bias", IR_I32, 2, dim, bias, NULL);
    return true;
}

static void make(const struct cells *c, struct cells_way *way, const uint32_t constant[3])
{
    struct isl *s = c->s;
    const struct ir_quant q = isl_one_scale(s, c->scale, c->zero);
    const int32_t dim[3] = {c->steps, 1, c->n};
    const uint32_t in[4] = {c->x, constant[0], constant[1], constant[2]};

    way->y =
        isl_tensor(s, isl_inner(s, s->from->tensor[way->last]->name, "gru"), IR_I8, 3, dim, &q);
    struct ir_op *op = isl_op_gru(s, 4, in, way->y);
    op->attr[IR_REVERSE] = way->from_end;
    op->attr[IR_LINEAR_BEFORE_RESET] = c->kind->before_reset;
    way->y_last = isl_cells_rows(s, way->y, way->from_end ? 0 : c->steps - 1, 1, 1);
}

#define Z                                                                                          \
    "z = slice(g = logistic(add(slice(x = slice(a, #t), #p), slice(s = fully_connected(h, #r), "   \
    "#q))), #y)"
const struct cells_kind isl_cells_gru[3] = {
    {.node = "GRU",
     .formula =
         "add(mul(sub(#o, " Z "), tanh(add(slice(x, #d), mul(slice(g, #e), slice(s, #f))))), "
         "mul(z, h))",
     .before_reset = true,
     .is_step = is_gru_step,
     .constants = constants,
     .make = make},
    {.node = "GRU",
     .formula =
         "add(mul(sub(#o, " Z "), tanh(add(slice(x, #d), fully_connected(mul(slice(g, #e), h), "
         "#w)))), mul(z, h))",
     .is_step = is_gru_step,
     .constants = constants,
     .make = make},
    {.node = "RNN",
     .formula = "tanh(add(slice(a, #t), fully_connected(h, #r)))",
     .is_step = is_rnn_step,
     .constants = constants,
     .make = make},
};
