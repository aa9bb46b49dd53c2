/* hdk_div.c - DIV of 8- and 16-bit quantised values (NUMERICS.md). */
#include "hdk.h"
#include "hdk_int16_math.h"

/* a / b * m * 2^(shift-31), 0 for b = 0: by the reciprocal of b's leading bits, Q0.31. */
static int32_t quotient(const struct hdk_mul *p, int32_t a, int32_t b)
{
    int32_t zeros, inverse, headroom, right;

    if (b == 0)
        return 0;
    if (b < 0) {
        a = -a;
        b = -b;
    }
    zeros = hdk_leading_zeros((uint32_t)b);
    inverse = hdk_reciprocal_1p((int32_t)(((uint32_t)b << zeros) - 0x80000000u));
    headroom = hdk_leading_zeros((uint32_t)(a < 0 ? ~a : a)) - 1;
    right = 31 - zeros + headroom - p->shift;
    if (right > 31)
        return 0;
    return hdk_round_shift(
        hdk_high_mul(hdk_high_mul((int32_t)((uint32_t)a << headroom), inverse), p->multiplier),
        right);
}

/* Element i of the row of y that begins at element `at`, in operands of `stride`. */
static uint32_t place(const struct hdk_walk2 *w, const uint32_t stride[4], uint32_t at, uint32_t i)
{
    uint32_t from = i * stride[3];

    at /= w->shape[3];
    for (uint32_t d = 3; d-- > 0; at /= w->shape[d])
        from += at % w->shape[d] * stride[d];
    return from;
}

static uint32_t elements(const uint32_t shape[4])
{
    return shape[0] * shape[1] * shape[2] * shape[3];
}

void hdk_div(const struct hdk_mul *p, const int8_t *a, const int8_t *b, int8_t *y)
{
    const struct hdk_walk2 *w = &p->walk;

    for (uint32_t at = 0; at < elements(w->shape); at += w->shape[3])
        for (uint32_t i = 0; i < w->shape[3]; i++)
            y[at + i] = hdk_clamp(quotient(p, a[place(w, w->a_stride, at, i)] - p->z_a,
                                           b[place(w, w->b_stride, at, i)] - p->z_b),
                                  p->z_out, p->act_min, p->act_max);
}

void hdk_i16_div(const struct hdk_mul *p, const int16_t *a, const int16_t *b, int16_t *y)
{
    const struct hdk_walk2 *w = &p->walk;

    for (uint32_t at = 0; at < elements(w->shape); at += w->shape[3])
        for (uint32_t i = 0; i < w->shape[3]; i++)
            y[at + i] = hdk_i16_clamp(
                quotient(p, a[place(w, w->a_stride, at, i)], b[place(w, w->b_stride, at, i)]),
                p->act_min, p->act_max);
}
