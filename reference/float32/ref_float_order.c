/* ref_float_order.c - CUMSUM in float32 and TOP_K: along one dimension, one row after the other. */
#include <string.h>

#include "reference/ref_kernels.h"

/* Rows along dimension `axis`: element i of row r is at base(r) + i * inner. */
struct rows {
    size_t n, inner, count;
};

static struct rows rows_of(const struct ir_tensor *t, uint32_t axis)
{
    struct rows r = {(size_t)t->dim[axis], 1, 0};

    for (uint32_t i = axis + 1; i < t->rank; i++)
        r.inner *= (size_t)t->dim[i];
    r.count = (size_t)ir_elements(t) / r.n;
    return r;
}

static size_t place(const struct rows *r, size_t row, size_t i)
{
    return (row / r->inner * r->n + i) * r->inner + row % r->inner;
}

static float at(const uint8_t *p, size_t i)
{
    float v;

    memcpy(&v, p + i * 4, 4);
    return v;
}

/* Sums start at 0 and add in order. */
enum status ref_f32_cumsum(const struct ref_call *c, struct diag *d)
{
    const struct rows r = rows_of(c->in[0], (uint32_t)c->op->attr[IR_AXIS]);

    (void)d;
    for (size_t row = 0; row < r.count; row++) {
        float sum = 0;

        for (size_t k = 0; k < r.n; k++) {
            const size_t i = place(&r, row, c->op->attr[IR_REVERSE] != 0 ? r.n - 1 - k : k);
            const float before = sum;

            sum += at(c->x[0], i);
            memcpy(c->y[0] + i * 4, c->op->attr[IR_EXCLUSIVE] != 0 ? &before : &sum, 4);
        }
    }
    return ST_OK;
}

/* Return true if element (v, i) comes before (w, k); among equal ones the first does. */
static bool is_before(float v, size_t i, float w, size_t k, bool least)
{
    if (v == w)
        return i < k;
    return least ? v < w : v > w;
}

/* Values of 8 bits are exact in float32. */
static float element(const struct ref_call *c, size_t i)
{
    return c->in[0]->type == IR_F32 ? at(c->x[0], i) : (float)ref_at(c->in[0], c->x[0], i);
}

enum status ref_top_k(const struct ref_call *c, struct diag *d)
{
    const uint32_t axis = (uint32_t)c->op->attr[IR_AXIS];
    const struct rows r = rows_of(c->in[0], axis), to = rows_of(c->out[0], axis);
    const bool least = c->op->attr[IR_REVERSE] != 0, values = c->out[0]->type == c->in[0]->type;
    const size_t size = ir_type_bytes(c->out[0]->type);

    (void)d;
    for (size_t row = 0; row < r.count; row++) {
        int64_t last = -1; /* taken before */

        for (size_t j = 0; j < to.n; j++) {
            int64_t best = -1;

            for (size_t i = 0; i < r.n; i++) {
                const float v = element(c, place(&r, row, i));

                if (last >= 0 &&
                    !is_before(element(c, place(&r, row, (size_t)last)), (size_t)last, v, i, least))
                    continue;
                if (best < 0 ||
                    is_before(v, i, element(c, place(&r, row, (size_t)best)), (size_t)best, least))
                    best = (int64_t)i;
            }
            last = best >= 0 ? best : last >= 0 ? last : 0; /* NaN may leave none */
            if (values)
                memcpy(c->y[0] + place(&to, row, j) * size,
                       c->x[0] + place(&r, row, (size_t)last) * size, size);
            else
                memcpy(c->y[0] + place(&to, row, j) * size, &last, size);
        }
    }
    return ST_OK;
}
