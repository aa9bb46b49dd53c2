/* onnx_gru.c - GRU and RNN of quantised values. in: the float32 steps that onnx_cells.c found. out:
 * constants and the operator. */
#include <math.h>
#include <string.h>

#include "onnx_cells.h"

/* The state is in 1/126; a step of a gate's sum is 8 / 127 or up to twice that. */
enum { STATE = 126, LEAST_SHIFT = 3, MOST_SHIFT = 30, MOST_STEPS = 128, INPUT_PARTS = 64 };

/* The recurrent weights, from one or two products of the first step. */
static const float *recurrent_weights(const struct cells *f, const struct cells_direction *d)
{
    const struct ir_graph *g = f->m->g;
    const struct ir_tensor *w = ir_in(g, d->first[1], 1), *reset;
    float *both;

    if (f->kind->gates == 1 || f->kind->before_reset)
        return (const float *)(const void *)w->data;
    reset = ir_in(g, d->first[8], 1);
    both = ARENA_ARRAY(f->m->arena, float, ir_elements(w) + ir_elements(reset));
    memcpy(both, w->data, (size_t)ir_bytes(w));
    memcpy(both + ir_elements(w), reset->data, (size_t)ir_bytes(reset));
    return both;
}

/* Find the coarsest scale, and its parts, in which sums are a power of two of `step` and near enough;
 * without one of so few parts, the finest that has these. False: none, or a value is not finite. */
static bool find_scale(struct cells_weights *w, double step)
{
    const int32_t n = w->rows * w->columns;
    bool found = false;
    double most = 0, least = 0;

    for (int32_t i = 0; i < n; i++) {
        if (!isfinite(w->from[i]))
            return false;
        most = fmax(most, fabs((double)w->from[i]));
    }
    for (int32_t shift = LEAST_SHIFT; shift <= MOST_SHIFT; shift++) {
        w->scale = (double)(float)(ldexp(step, -shift) / w->step);
        const double parts = ceil(rint(most / w->scale) / INT8_MAX);

        if (parts > INPUT_PARTS)
            break;
        found = true;
        least = w->scale;
        w->parts = parts < 1 ? 1 : (int32_t)parts;
        if (ox_cells_error(w) <= 0x1p-9)
            break;
    }
    w->scale = least;
    return found && INT8_MAX * w->parts * w->reach * w->columns < 0x1p30;
}

/* Return true if no row's sum of squares exceeds 1: then an RNN's errors do not grow from step to step. */
static bool is_damped(const struct cells_weights *w)
{
    for (int32_t r = 0; r < w->rows; r++) {
        double sum = 0;

        for (int32_t i = 0; i < w->columns; i++)
            sum += (double)w->from[r * w->columns + i] * (double)w->from[r * w->columns + i];
        if (sum > 1)
            return false;
    }
    return true;
}

static uint32_t make_weights(struct ox *m, const char *name, const struct cells_weights *w,
                             int32_t zero, int32_t *bias)
{
    const int32_t columns = w->parts * w->columns, dim[2] = {w->rows, columns};
    int8_t *to = arena_alloc(m->arena, (size_t)w->rows * (size_t)columns);
    const float scale = (float)w->scale;

    for (int32_t r = 0; r < w->rows; r++)
        ox_cells_split_row(w, r, zero, to + (ptrdiff_t)r * columns, &bias[r]);
    const uint32_t id = ox_ir_const(m, name, IR_I8, 2, dim, to);
    m->g->tensor[id]->quant = (struct ir_quant){1, 0, arena_memdup(m->arena, &scale, sizeof scale),
                                                ARENA_ARRAY(m->arena, int32_t, 1)};
    return id;
}

bool ox_cells_gru_constants(const struct cells *f, const struct cells_direction *d,
                            const char *name, uint32_t in[3])
{
    const struct ir_graph *g = f->m->g;
    const struct ir_tensor *b = ir_in(g, d->inputs, 2), *b_state = ir_in(g, d->first[1], 2);
    const int32_t rows = (int32_t)f->kind->gates * f->cells, dim[2] = {2, rows};
    struct cells_weights x = {.from = (const float *)(const void *)ir_in(g, d->inputs, 1)->data,
                              .rows = rows,
                              .columns = f->x->dim[2],
                              .reach = ox_cells_farthest(ox_cells_zero(f->x)),
                              .step = (double)f->x->quant.scale[0]},
                         h = {.from = recurrent_weights(f, d),
                              .rows = rows,
                              .columns = f->cells,
                              .reach = STATE,
                              .step = 1.0 / STATE};
    int32_t *bias = ARENA_ARRAY(f->m->arena, int32_t, 2 * (size_t)rows), shift = LEAST_SHIFT - 1;

    if ((uint32_t)f->steps * f->n_direction > MOST_STEPS ||
        (f->kind->gates == 1 && !is_damped(&h)) || !ox_cells_parts(&h))
        return false;
    while (ldexp(h.scale / STATE, shift) < 8.0 / 127 && shift <= MOST_SHIFT)
        shift++;
    if (shift < LEAST_SHIFT || shift > MOST_SHIFT || !find_scale(&x, ldexp(h.scale / STATE, shift)))
        return false;
    for (int32_t r = 0; r < rows; r++)
        if ((b && !ox_cells_bias(b, r, x.step * x.scale, &bias[r])) ||
            (b_state && !ox_cells_bias(b_state, r, h.scale / STATE, &bias[rows + r])))
            return false;
    in[0] = make_weights(f->m, ox_inner(f->m, name, "w"), &x, ox_cells_zero(f->x), bias);
    in[1] = make_weights(f->m, ox_inner(f->m, name, "r"), &h, 0, bias + rows);
    in[2] = ox_ir_const(f->m, ox_inner(f->m, name, "bias"), IR_I32, 2, dim, bias);
    return true;
}

void ox_cells_make_gru(const struct cells *f, struct cells_direction *d, uint32_t x,
                       const uint32_t constant[3], const char *name)
{
    const struct ox_shape shape = {3, {f->steps, 1, f->cells}};
    const uint32_t in[4] = {x, constant[0], constant[1], constant[2]};
    struct ir_op *op;

    d->y = d->last = ox_tensor(f->m, ox_inner(f->m, name, f->kind->name), IR_I8, shape, &f->h);
    d->last_at = d->backwards ? 0 : f->steps - 1;
    op = ox_make_gru(f->m, 4, in, d->y);
    op->attr[IR_REVERSE] = d->backwards;
    op->attr[IR_LINEAR_BEFORE_RESET] = f->kind->before_reset;
}
