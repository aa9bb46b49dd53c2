/* hdk_reduce.c - MEAN, REDUCE_PROD, REDUCE_MAX, REDUCE_MIN, ARG_MAX, ARG_MIN, L2_NORMALIZATION. */
#include "hdk.h"
#include "hdk_index.h"
#include "hdk_int16_math.h"

void hdk_mean(const struct hdk_mean *p, const int8_t *x, int8_t *y)
{
    uint32_t n[2];

    hdk_counts(p->shape, p->reduce, n);
    for (uint32_t i = 0; i < n[0]; i++) {
        const int8_t *from = x + hdk_pick(p->shape, p->reduce, 0, i);
        int32_t sum = 0;

        for (uint32_t k = 0; k < n[1]; k++)
            sum += from[hdk_pick(p->shape, p->reduce, 1, k)] - p->z_in;
        y[i] =
            hdk_clamp(hdk_rescale(sum, p->multiplier, p->shift), p->z_out, p->act_min, p->act_max);
    }
}

void hdk_reduce_prod(const struct hdk_mean *p, const int8_t *x, int8_t *y)
{
    uint32_t n[2];

    hdk_counts(p->shape, p->reduce, n);
    for (uint32_t i = 0; i < n[0]; i++) {
        const int8_t *from = x + hdk_pick(p->shape, p->reduce, 0, i);
        int32_t product = from[0] - p->z_in;

        for (uint32_t k = 1; k < n[1]; k++)
            product = hdk_i16_rescale((int64_t)product *
                                          (from[hdk_pick(p->shape, p->reduce, 1, k)] - p->z_in),
                                      p->multiplier, p->shift);
        y[i] = hdk_clamp(hdk_i16_rescale(product, p->multiplier, p->shift), p->z_out, p->act_min,
                         p->act_max);
    }
}

/* sign: 1 keeps the larger code, -1 the smaller. x is walked once; `at` follows the axes kept. */
static void reduce(const struct hdk_mean *p, int32_t sign, const int8_t *x, int8_t *y)
{
    uint32_t stride[4], index[4] = {0}, n = 1, at = 0, d;

    for (d = 4; d-- > 0;) {
        stride[d] = p->reduce[d] ? 0 : n;
        n *= p->reduce[d] ? 1 : p->shape[d];
    }
    for (uint32_t i = 0; i < n; i++)
        y[i] = sign > 0 ? -128 : 127;
    do {
        y[at] = sign * *x > sign * y[at] ? *x : y[at];
        x++;
        for (d = 4; d-- > 0;) {
            at += stride[d];
            if (++index[d] < p->shape[d])
                break;
            at -= stride[d] * p->shape[d];
            index[d] = 0;
        }
    } while (d < 4);
}

void hdk_reduce_max(const struct hdk_mean *p, const int8_t *x, int8_t *y)
{
    reduce(p, 1, x, y);
}

void hdk_reduce_min(const struct hdk_mean *p, const int8_t *x, int8_t *y)
{
    reduce(p, -1, x, y);
}

static void arg(const struct hdk_arg *p, int32_t sign, const int8_t *x, void *y)
{
    for (uint32_t o = 0; o < p->outer; o++)
        for (uint32_t i = 0; i < p->inner; i++) {
            const int8_t *from = x + (uint64_t)o * p->n * p->inner + i;
            uint32_t best = 0, to = o * p->inner + i;

            for (uint32_t k = 1; k < p->n; k++)
                if (sign * from[k * p->inner] > sign * from[best * p->inner])
                    best = k;
            if (p->wide)
                ((int64_t *)y)[to] = best;
            else
                ((int32_t *)y)[to] = (int32_t)best;
        }
}

void hdk_arg_max(const struct hdk_arg *p, const int8_t *x, void *y)
{
    arg(p, 1, x, y);
}

void hdk_arg_min(const struct hdk_arg *p, const int8_t *x, void *y)
{
    arg(p, -1, x, y);
}

static int32_t saturate(int64_t v)
{
    return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : (int32_t)v;
}

/* m and e with 1 / sqrt(v) = m * 2^(-31 - e), as TFLite finds them: v is brought to [2^27, 2^29) by
 * powers of four, x = x (1.5 - v/2 x^2) five times in Q3.28, then times sqrt(1/2). */
static int32_t inverse_root(int32_t v, int32_t *e)
{
    int32_t x = 1 << 28, half;

    if (v <= 1) {
        *e = 0;
        return INT32_MAX;
    }
    *e = 11;
    while (v >= 1 << 29) {
        v /= 4;
        ++*e;
    }
    while (v < 1 << 27) {
        v *= 4;
        --*e;
    }
    half = hdk_round_shift(v >> 1, 1);
    for (uint32_t i = 0; i < 5; i++) {
        int32_t cube = saturate((int64_t)hdk_high_mul(hdk_high_mul(x, x), x) * 64);
        int32_t next = hdk_high_mul((1 << 28) + (1 << 27), x) - hdk_high_mul(half, cube);
        x = saturate((int64_t)next * 8);
    }
    x = hdk_high_mul(x, 1518500250);
    while (*e < 0) {
        x = (int32_t)((uint32_t)x << 1);
        ++*e;
    }
    return x;
}

void hdk_l2_normalization(const struct hdk_l2_normalization *p, const int8_t *x, int8_t *y)
{
    for (uint32_t r = 0; r < p->rows; r++, x += p->cols, y += p->cols) {
        int32_t sum = 0, e, m;

        for (uint32_t i = 0; i < p->cols; i++)
            sum += (x[i] - p->z_in) * (x[i] - p->z_in);
        m = inverse_root(sum, &e);
        for (uint32_t i = 0; i < p->cols; i++)
            y[i] = hdk_clamp(hdk_rescale(x[i] - p->z_in, m, 7 - e), 0, -128, 127);
    }
}
