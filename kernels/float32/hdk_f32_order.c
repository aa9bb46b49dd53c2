/* hdk_f32_order.c - ARG_MAX, ARG_MIN, CUMSUM of float32, TOP_K of float32 and int8. */
#include <stddef.h>

#include "hdk_f32.h"
#include "hdk_ops.h"

/* Row r of [outer, n, inner]: its first element; the others follow at a distance of `inner`. */
static const float *row_at(const float *x, uint32_t r, uint32_t n, uint32_t inner)
{
    return x + (size_t)(r / inner) * n * inner + r % inner;
}

static void arg(const struct hdk_arg *p, float sign, const float *x, void *y)
{
    for (uint32_t r = 0; r < p->outer * p->inner; r++) {
        const float *from = row_at(x, r, p->n, p->inner);
        uint32_t best = 0;

        for (uint32_t k = 1; k < p->n; k++)
            if (sign * from[(size_t)k * p->inner] > sign * from[(size_t)best * p->inner])
                best = k;
        if (p->wide)
            ((int64_t *)y)[r] = best;
        else
            ((int32_t *)y)[r] = (int32_t)best;
    }
}

void hdk_f32_arg_max(const struct hdk_arg *p, const float *x, void *y)
{
    arg(p, 1, x, y);
}

void hdk_f32_arg_min(const struct hdk_arg *p, const float *x, void *y)
{
    arg(p, -1, x, y);
}

void hdk_f32_cumsum(const struct hdk_f32_order *p, const float *x, float *y)
{
    for (uint32_t r = 0; r < p->outer * p->inner; r++) {
        const float *from = row_at(x, r, p->n, p->inner);
        float sum = 0;

        for (uint32_t k = 0; k < p->n; k++) {
            const size_t i = (size_t)(p->reverse ? p->n - 1 - k : k) * p->inner;
            const float before = sum;

            sum += from[i];
            y[from - x + (ptrdiff_t)i] = p->exclusive ? before : sum;
        }
    }
}

/* Return true if element i comes before k; among equal ones the first does. */
static int is_before(const struct hdk_f32_order *p, const void *x, size_t row, uint32_t i,
                     uint32_t k)
{
    const size_t a = row + (size_t)i * p->inner, b = row + (size_t)k * p->inner;

    if (p->is_int8) {
        const int v = ((const int8_t *)x)[a], w = ((const int8_t *)x)[b];

        return v == w ? i < k : p->reverse ? v < w : v > w;
    }
    const float v = ((const float *)x)[a], w = ((const float *)x)[b];

    return v == w ? i < k : p->reverse ? v < w : v > w;
}

/* The first element after `last` in the order (of all when there is none); `last` itself when NaN
 * leaves none. */
static uint32_t next(const struct hdk_f32_order *p, const void *x, size_t row, uint32_t last,
                     int any)
{
    uint32_t best = last;
    int found = 0;

    for (uint32_t i = 0; i < p->n; i++)
        if ((any || is_before(p, x, row, last, i)) && (!found || is_before(p, x, row, i, best))) {
            best = i;
            found = 1;
        }
    return best;
}

void hdk_top_k(const struct hdk_f32_order *p, const void *x, void *y)
{
    for (uint32_t r = 0; r < p->outer * p->inner; r++) {
        const size_t row = (size_t)(r / p->inner) * p->n * p->inner + r % p->inner;
        const size_t to = (size_t)(r / p->inner) * p->k * p->inner + r % p->inner;
        uint32_t last = 0;

        for (uint32_t j = 0; j < p->k; j++) {
            const size_t at = to + (size_t)j * p->inner;

            last = next(p, x, row, last, j == 0);
            if (p->index_bytes == 8)
                ((int64_t *)y)[at] = last;
            else if (p->index_bytes == 4)
                ((int32_t *)y)[at] = (int32_t)last;
            else if (p->is_int8)
                ((int8_t *)y)[at] = ((const int8_t *)x)[row + (size_t)last * p->inner];
            else
                ((float *)y)[at] = ((const float *)x)[row + (size_t)last * p->inner];
        }
    }
}
