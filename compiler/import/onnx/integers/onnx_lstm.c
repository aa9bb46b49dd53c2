/* onnx_lstm.c - LSTM of quantised values with an int16 cell. in: the float32 steps that onnx_cells.c found.
 * out: constants and the operator. */
#include "onnx_cells.h"

enum { GATES = 4, PRODUCT = 1 };

/* The file's row of row r: its gates are i, o, f, g, the operator's i, f, g, o. */
static int32_t row_of(int32_t r, int32_t cells)
{
    static const int32_t gate[GATES] = {0, 2, 3, 1};

    return gate[r / cells] * cells + r % cells;
}

/* Make the weights [4, cells, parts * columns]; subtract `zero` times their sums from the bias. */
static uint32_t make_weights(struct ox *m, const char *name, const struct cells_weights *w,
                             int32_t zero, int32_t *bias)
{
    const int32_t cells = w->rows / GATES, columns = w->parts * w->columns,
                  dim[3] = {GATES, cells, columns};
    int8_t *to = arena_alloc(m->arena, (size_t)w->rows * (size_t)columns);
    float *scale = ARENA_ARRAY(m->arena, float, GATES);

    for (int32_t r = 0; r < w->rows; r++) {
        scale[r / cells] = (float)w->scale;
        ox_cells_split_row(w, row_of(r, cells), zero, to + (ptrdiff_t)r * columns, &bias[r]);
    }
    const uint32_t id = ox_ir_const(m, name, IR_I8, 3, dim, to);
    m->g->tensor[id]->quant =
        (struct ir_quant){GATES, 0, scale, ARENA_ARRAY(m->arena, int32_t, GATES)};
    return id;
}

bool ox_cells_lstm_constants(const struct cells *f, const struct cells_direction *d,
                             const char *name, uint32_t in[3])
{
    const struct ir_graph *g = f->m->g;
    const struct ir_tensor *b = ir_in(g, d->inputs, 2);
    const int32_t zero_x = ox_cells_zero(f->x), zero_h = f->h.zero_point[0],
                  rows = GATES * f->cells, dim[2] = {8, f->cells};
    struct cells_weights x = {.from = (const float *)(const void *)ir_in(g, d->inputs, 1)->data,
                              .rows = rows,
                              .columns = f->x->dim[2],
                              .reach = ox_cells_farthest(zero_x),
                              .step = (double)f->x->quant.scale[0]},
                         h = {.from =
                                  (const float *)(const void *)ir_in(g, d->first[PRODUCT], 1)->data,
                              .rows = rows,
                              .columns = f->cells,
                              .reach = ox_cells_farthest(zero_h),
                              .step = (double)f->h.scale[0]};
    int32_t *bias = ARENA_ARRAY(f->m->arena, int32_t, 2 * (size_t)rows);

    if (!ox_cells_parts(&x) || !ox_cells_parts(&h))
        return false;
    for (int32_t r = 0; b && r < rows; r++)
        if (!ox_cells_bias(b, row_of(r, f->cells), x.step * x.scale, &bias[r]))
            return false;
    in[0] = make_weights(f->m, ox_inner(f->m, name, "w"), &x, zero_x, bias);
    in[1] = make_weights(f->m, ox_inner(f->m, name, "r"), &h, zero_h, bias + rows);
    in[2] = ox_ir_const(f->m, ox_inner(f->m, name, "bias"), IR_I32, 2, dim, bias);
    return true;
}

static uint32_t make_state(const struct cells *f, const char *name, enum ir_type type,
                           const struct ir_quant *q)
{
    const uint32_t id = ox_tensor(f->m, name, type, (struct ox_shape){2, {1, f->cells}}, q);

    f->m->g->tensor[id]->role = IR_VARIABLE;
    return id;
}

/* Steps in the reverse order. */
static uint32_t reversed(struct ox *m, uint32_t id)
{
    const struct ox_shape s = ox_shape_of(m, id);

    return ox_slice(m, ox_inner(m, m->g->tensor[id]->name, "reversed"), id,
                    (const int32_t[]){s.dim[0] - 1, 0, 0}, s.dim, (const int32_t[]){-1, 1, 1});
}

void ox_cells_make_lstm(const struct cells *f, struct cells_direction *d, uint32_t x,
                        const uint32_t constant[3], const char *name)
{
    struct ox *m = f->m;
    const float cell = 0x1p-11f;
    const struct ir_quant q = {1, 0, arena_memdup(m->arena, &cell, sizeof cell),
                               ARENA_ARRAY(m->arena, int32_t, 1)};
    const struct ox_shape shape = {3, {f->steps, 1, f->cells}};
    uint32_t in[6] = {d->backwards ? reversed(m, x) : x, constant[0], constant[1], constant[2]};

    in[4] = make_state(f, ox_inner(m, name, "h"), IR_I8, &f->h);
    in[5] = make_state(f, ox_inner(m, name, "c"), IR_I16, &q);
    d->y = ox_tensor(m, ox_inner(m, name, "lstm"), IR_I8, shape, &f->h);
    ox_make_lstm(m, 6, in, d->y)->attr[IR_RESET] = 1;
    d->last = d->y;
    d->last_at = f->steps - 1;
    if (d->backwards)
        d->y = reversed(m, d->y);
}
