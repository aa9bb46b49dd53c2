/* ref_islands_cell_weights.c - the weights and biases of LSTM, GRU, RNN as whole numbers, and what their
 * operators share (ref_islands_cells.h). */
#include <math.h>
#include <stdlib.h>

#include "compiler/ir/rules.h"
#include "ref_islands_cells.h"

bool isl_cells_begins(const struct ir_match *m, char letter, int32_t row, int32_t column)
{
    const struct ir_tensor *t = m->g->tensor[ir_matched(m, letter)];

    return ir_const_i32(t, 0) == row && ir_const_i32(t, 1) == column;
}

bool isl_cells_finite(const float *v, size_t n)
{
    while (n > 0 && isfinite(v[n - 1]))
        n--;
    return n == 0;
}

double isl_cells_round(const float *v, size_t n, struct cells_whole *w)
{
    const size_t columns = (size_t)w->columns;
    double worst = 0;

    for (size_t first = 0; first < n; first += columns) {
        double squares = 0;

        for (size_t i = first; i < first + columns; i++) {
            const double whole = rint((double)v[i] / (double)w->scale),
                         off = (double)v[i] - whole * (double)w->scale;

            w->value[i] = (int32_t)whole;
            squares += off * off;
        }
        worst = fmax(worst, sqrt(squares));
    }
    return worst;
}

bool isl_cells_weights(const struct cells *c, const struct ir_tensor *t, double reach, double unit,
                       struct cells_whole *w)
{
    const float *v = (const float *)(const void *)t->data;
    const size_t n = (size_t)ir_elements(t);
    double most = 0, worst = 1;

    if (!isl_cells_finite(v, n))
        return false;
    for (size_t i = 0; i < n; i++)
        most = fabs((double)v[i]) > most ? fabs((double)v[i]) : most;
    w->columns = t->dim[1];
    w->value = ARENA_ARRAY(c->s->arena, int32_t, n);
    for (w->parts = 0; worst * reach * unit > 1.0 / 128 && w->parts < CELLS_PARTS;) {
        w->parts++;
        w->scale = (float)(most / (127 * w->parts));
        if (!(w->scale > 0))
            w->scale = 1;
        worst = isl_cells_round(v, n, w);
    }
    return 127 * w->parts * reach * w->columns < 1073741824.0;
}

void isl_cells_write_row(const struct cells_whole *w, int32_t row, int32_t zero, int8_t *to,
                         int32_t *sum)
{
    const int32_t *v = w->value + (ptrdiff_t)row * w->columns;

    for (int32_t k = 0; k < w->parts; k++)
        for (int32_t i = 0; i < w->columns; i++) {
            const int32_t over = abs(v[i]) - 127 * k, size = over > 127 ? 127 : over;

            *to++ = (int8_t)(size < 0 ? 0 : v[i] < 0 ? -size : size);
        }
    for (int32_t i = 0; i < w->columns; i++)
        *sum -= zero * v[i];
}

bool isl_cells_bias(const struct ir_tensor *b, int32_t i, double unit, int32_t *to)
{
    const float *v = b == NULL ? NULL : (const float *)(const void *)b->data;
    const double units = v == NULL ? 0 : rint((double)v[i] / unit);

    if (!(fabs(units) < 1073741824.0))
        return false;
    *to = (int32_t)units;
    return true;
}

uint32_t isl_cells_rows(struct isl *s, uint32_t id, int32_t first, int32_t count, int32_t step)
{
    const struct ir_tensor *t = s->to->tensor[id];
    const int32_t dim[3] = {count, t->dim[1], t->dim[2]}, three = 3;
    const int32_t begin[3] = {first, 0, 0}, by[3] = {step, 1, 1};
    const uint32_t in[3] = {
        id,
        isl_const(s, "begin", IR_I32, 1, &three, arena_memdup(s->arena, begin, sizeof begin), NULL),
        isl_const(s, "step", IR_I32, 1, &three, arena_memdup(s->arena, by, sizeof by), NULL)};
    const uint32_t out = isl_tensor(s, t->name, t->type, 3, dim, &t->quant);

    isl_op_slice(s, 3, in, out);
    return out;
}
