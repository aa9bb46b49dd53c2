/* hdk_binary.c - ADD, SUB, MUL, MAXIMUM, MINIMUM with broadcasting. */
#include "hdk.h"
#include "hdk_math.h"

/* Row `row` of the three outer dimensions: where its operands begin. */
static void row_start(const struct hdk_walk2 *w, uint32_t row, uint32_t *a, uint32_t *b)
{
    *a = *b = 0;
    for (uint32_t d = 3; d-- > 0;) {
        *a += row % w->shape[d] * w->a_stride[d];
        *b += row % w->shape[d] * w->b_stride[d];
        row /= w->shape[d];
    }
}

static inline int32_t headroom(int32_t x, int32_t m, int32_t shift)
{
    return hdk_round_shift(hdk_high_mul(x * (1 << 20), m), -shift);
}

/* sign: 1 adds b, -1 subtracts it. */
static void add_or_sub(const struct hdk_add *p, int32_t sign, const int8_t *a, const int8_t *b,
                       int8_t *y)
{
    const struct hdk_walk2 *w = &p->walk;
    uint32_t rows = w->shape[0] * w->shape[1] * w->shape[2], n = w->shape[3];

    for (uint32_t row = 0; row < rows; row++) {
        uint32_t a0, b0;

        row_start(w, row, &a0, &b0);
        for (uint32_t i = 0; i < n; i++) {
            int32_t va = a[a0 + i * w->a_stride[3]] - p->z_a;
            int32_t vb = b[b0 + i * w->b_stride[3]] - p->z_b;
            int32_t sum = headroom(va, p->multiplier_a, p->shift_a) +
                          sign * headroom(vb, p->multiplier_b, p->shift_b);
            y[row * n + i] = hdk_clamp(hdk_rescale(sum, p->multiplier_out, p->shift_out), p->z_out,
                                       p->act_min, p->act_max);
        }
    }
}

void hdk_add(const struct hdk_add *p, const int8_t *a, const int8_t *b, int8_t *y)
{
    add_or_sub(p, 1, a, b, y);
}

void hdk_sub(const struct hdk_add *p, const int8_t *a, const int8_t *b, int8_t *y)
{
    add_or_sub(p, -1, a, b, y);
}

void hdk_mul(const struct hdk_mul *p, const int8_t *a, const int8_t *b, int8_t *y)
{
    const struct hdk_walk2 *w = &p->walk;
    uint32_t rows = w->shape[0] * w->shape[1] * w->shape[2], n = w->shape[3];

    for (uint32_t row = 0; row < rows; row++) {
        uint32_t a0, b0;

        row_start(w, row, &a0, &b0);
        for (uint32_t i = 0; i < n; i++) {
            int32_t product =
                (a[a0 + i * w->a_stride[3]] - p->z_a) * (b[b0 + i * w->b_stride[3]] - p->z_b);
            y[row * n + i] = hdk_clamp(hdk_rescale(product, p->multiplier, p->shift), p->z_out,
                                       p->act_min, p->act_max);
        }
    }
}

/* sign: 1 takes the larger code, -1 the smaller. */
static void extremum(const struct hdk_extremum *p, int32_t sign, const int8_t *a, const int8_t *b,
                     int8_t *y)
{
    const struct hdk_walk2 *w = &p->walk;
    uint32_t rows = w->shape[0] * w->shape[1] * w->shape[2], n = w->shape[3];

    for (uint32_t row = 0; row < rows; row++) {
        uint32_t a0, b0;

        row_start(w, row, &a0, &b0);
        for (uint32_t i = 0; i < n; i++) {
            int8_t va = a[a0 + i * w->a_stride[3]], vb = b[b0 + i * w->b_stride[3]];
            y[row * n + i] = sign * va > sign * vb ? va : vb;
        }
    }
}

void hdk_maximum(const struct hdk_extremum *p, const int8_t *a, const int8_t *b, int8_t *y)
{
    extremum(p, 1, a, b, y);
}

void hdk_minimum(const struct hdk_extremum *p, const int8_t *a, const int8_t *b, int8_t *y)
{
    extremum(p, -1, a, b, y);
}
