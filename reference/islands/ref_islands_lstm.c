/* ref_islands_lstm.c - the constants of LSTM of integers, and the operator. */
#include <math.h>

#include "ref_islands_cells.h"

/* The file's gates are i, o, f, g, the operator's i, f, g, o. */
static const int32_t file_gate[4] = {0, 2, 3, 1};

static bool is_step(const struct ir_match *m, int32_t n)
{
    return isl_cells_begins(m, 'u', 0, 0) && isl_cells_begins(m, 'v', 0, n) &&
           isl_cells_begins(m, 'f', 0, 2 * n) && isl_cells_begins(m, 'i', 0, 0) &&
           isl_cells_begins(m, 'g', 0, 3 * n);
}

/* The weights' constant; `sum` gets the bias less zero times the row's weights. */
static uint32_t parts_const(const struct cells *c, const struct cells_whole *w, int32_t zero,
                            int32_t *sum)
{
    const int32_t dim[3] = {4, c->n, w->parts * w->columns};
    int8_t *to = arena_alloc(c->s->arena, (size_t)(4 * c->n) * (size_t)dim[2]);
    const float scale[4] = {w->scale, w->scale, w->scale, w->scale};
    const struct ir_quant q = {4, 0, arena_memdup(c->s->arena, scale, sizeof scale),
                               ARENA_ARRAY(c->s->arena, int32_t, 4)};

    for (int32_t r = 0; r < 4 * c->n; r++)
        isl_cells_write_row(w, file_gate[r / c->n] * c->n + r % c->n, zero,
                            to + (ptrdiff_t)r * dim[2], &sum[r]);
    return isl_const(c->s, "gates", IR_I8, 3, dim, to, &q);
}

static bool constants(const struct cells *c, const struct cells_way *way, uint32_t in[3])
{
    const struct ir_quant *q = &c->unit->quant;
    const int32_t zero = q->zero_point[0] - (c->unit->type == IR_U8 ? 128 : 0), dim[2] = {8, c->n};
    int32_t *bias = ARENA_ARRAY(c->s->arena, int32_t, (size_t)(8 * c->n));
    struct cells_whole w, r;

    if (!isl_cells_weights(c, way->w, fmax(128 + zero, 127 - zero), (double)q->scale[0], &w) ||
        !isl_cells_weights(c, way->r, fmax(128 + c->zero, 127 - c->zero), (double)c->scale, &r))
        return false;
    for (int32_t i = 0; i < 4 * c->n; i++)
        if (!isl_cells_bias(way->b, file_gate[i / c->n] * c->n + i % c->n,
                            (double)q->scale[0] * (double)w.scale, &bias[i]))
            return false;
    in[0] = parts_const(c, &w, zero, bias);
    in[1] = parts_const(c, &r, c->zero, bias + (ptrdiff_t)(4 * c->n));
    in[2] = isl_const(c->s, "bias", IR_I32, 2, dim, bias, NULL);
    return true;
}

/* A variable [1,n]. */
static uint32_t state(const struct cells *c, const char *name, enum ir_type type,
                      const struct ir_quant *q)
{
    const uint32_t id = isl_tensor(c->s, name, type, 2, (const int32_t[]){1, c->n}, q);

    c->s->to->tensor[id]->role = IR_VARIABLE;
    return id;
}

static void make(const struct cells *c, struct cells_way *way, const uint32_t constant[3])
{
    struct isl *s = c->s;
    const char *name = s->from->tensor[way->last]->name;
    const struct ir_quant of_h = isl_one_scale(s, c->scale, c->zero),
                          of_cell = isl_one_scale(s, ldexpf(1, -11), 0);
    const int32_t dim[3] = {c->steps, 1, c->n};

    uint32_t in[6] = {0, constant[0], constant[1], constant[2]};

    in[0] = way->from_end ? isl_cells_rows(s, c->x, c->steps - 1, c->steps, -1) : c->x;
    in[4] = state(c, isl_inner(s, name, "h"), IR_I8, &of_h);
    in[5] = state(c, isl_inner(s, name, "c"), IR_I16, &of_cell);
    way->y = isl_tensor(s, isl_inner(s, name, "lstm"), IR_I8, 3, dim, &of_h);
    isl_op_lstm(s, 6, in, way->y)->attr[IR_RESET] = 1;
    way->y_last = isl_cells_rows(s, way->y, c->steps - 1, 1, 1);
    if (way->from_end)
        way->y = isl_cells_rows(s, way->y, c->steps - 1, c->steps, -1);
}

const struct cells_kind isl_cells_lstm = {
    .node = "LSTM",
    .formula =
        "mul(slice(o = logistic(slice(s = add(slice(a, #t), fully_connected(h, #r)), #u)), #v), "
        "tanh(k = add(mul(slice(o, #f), c), mul(slice(o, #i), tanh(slice(s, #g))))))",
    .is_step = is_step,
    .constants = constants,
    .make = make,
};
