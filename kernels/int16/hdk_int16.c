/* hdk_int16.c - ADD, SUB, MUL, MAXIMUM, MINIMUM, unary functions, SOFTMAX and the borders of int16
 * activations. */
#include "hdk.h"
#include "hdk_int16_math.h"
#include "hdk_nearest.h"

/* A function of two operands; `p` is the kernel's own parameter struct. */
typedef int32_t pair_fn(const void *p, int32_t a, int32_t b);

static void each_pair(const struct hdk_walk2 *w, pair_fn *f, const void *p, const int16_t *a,
                      const int16_t *b, int16_t *y)
{
    uint32_t rows = w->shape[0] * w->shape[1] * w->shape[2], n = w->shape[3];

    for (uint32_t row = 0; row < rows; row++) {
        uint32_t at_a = 0, at_b = 0, rest = row;

        for (uint32_t d = 3; d-- > 0; rest /= w->shape[d]) {
            at_a += rest % w->shape[d] * w->a_stride[d];
            at_b += rest % w->shape[d] * w->b_stride[d];
        }
        for (uint32_t i = 0; i < n; i++)
            *y++ = (int16_t)f(p, a[at_a + i * w->a_stride[3]], b[at_b + i * w->b_stride[3]]);
    }
}

static int32_t sum_of(const struct hdk_add *p, int32_t a, int32_t b, int32_t sign)
{
    int32_t sum = hdk_rescale(a * (1 << 15), p->multiplier_a, p->shift_a) +
                  sign * hdk_rescale(b * (1 << 15), p->multiplier_b, p->shift_b);

    return hdk_i16_clamp(hdk_rescale(sum, p->multiplier_out, p->shift_out), p->act_min, p->act_max);
}

static int32_t add(const void *p, int32_t a, int32_t b)
{
    return sum_of(p, a, b, 1);
}

static int32_t sub(const void *p, int32_t a, int32_t b)
{
    return sum_of(p, a, b, -1);
}

static int32_t mul(const void *v, int32_t a, int32_t b)
{
    const struct hdk_mul *p = v;

    return hdk_i16_clamp(hdk_rescale(a * b, p->multiplier, p->shift), p->act_min, p->act_max);
}

static int32_t larger(const void *p, int32_t a, int32_t b)
{
    (void)p;
    return a > b ? a : b;
}

static int32_t smaller(const void *p, int32_t a, int32_t b)
{
    (void)p;
    return a < b ? a : b;
}

void hdk_i16_add(const struct hdk_add *p, const int16_t *a, const int16_t *b, int16_t *y)
{
    each_pair(&p->walk, add, p, a, b, y);
}

void hdk_i16_sub(const struct hdk_add *p, const int16_t *a, const int16_t *b, int16_t *y)
{
    each_pair(&p->walk, sub, p, a, b, y);
}

void hdk_i16_mul(const struct hdk_mul *p, const int16_t *a, const int16_t *b, int16_t *y)
{
    each_pair(&p->walk, mul, p, a, b, y);
}

void hdk_i16_maximum(const struct hdk_extremum *p, const int16_t *a, const int16_t *b, int16_t *y)
{
    each_pair(&p->walk, larger, p, a, b, y);
}

void hdk_i16_minimum(const struct hdk_extremum *p, const int16_t *a, const int16_t *b, int16_t *y)
{
    each_pair(&p->walk, smaller, p, a, b, y);
}

void hdk_i16_unary(const struct hdk_i16_unary *p, const int16_t *x, int16_t *y)
{
    for (uint32_t i = 0; i < p->n; i++) {
        int32_t v = p->absolute && x[i] < 0 ? -x[i] : x[i], k = v < 0;

        y[i] = hdk_i16_clamp(hdk_rescale(v, p->multiplier[k], p->shift[k]), p->act_min, p->act_max);
    }
}

void hdk_i16_to_int8(const struct hdk_requantize *p, const int16_t *x, int8_t *y)
{
    for (uint32_t i = 0; i < p->n; i++)
        y[i] = hdk_clamp(hdk_rescale(x[i] - p->z_in, p->multiplier, p->shift), p->z_out, p->act_min,
                         p->act_max);
}

void hdk_i8_to_int16(const struct hdk_requantize *p, const int8_t *x, int16_t *y)
{
    for (uint32_t i = 0; i < p->n; i++)
        y[i] = hdk_i16_clamp(hdk_rescale(x[i] - p->z_in, p->multiplier, p->shift), p->act_min,
                             p->act_max);
}

/* sigmoid of |x| / 2^bits / 24, linear between two entries; `bits` more than Q0.16. */
static int32_t sigmoid(const uint16_t *table, int32_t x, uint32_t bits, int32_t most)
{
    uint32_t v = (uint32_t)(x < 0 ? -x : x), i = v >> bits;

    if (i >= 255)
        return most;
    return (int32_t)(((uint32_t)table[i] << bits) +
                     (v & ((1u << bits) - 1)) * (uint32_t)(table[i + 1] - table[i]));
}

static int32_t twelfths(const struct hdk_i16_sigmoid *p, int32_t x)
{
    int32_t half = p->shift > 0 ? 1 << (p->shift - 1) : 0;

    return (int32_t)(((int64_t)x * p->multiplier + half) >> p->shift);
}

void hdk_i16_logistic(const struct hdk_i16_sigmoid *p, const int16_t *x, int16_t *y)
{
    for (uint32_t i = 0; i < p->n; i++) {
        int32_t v = twelfths(p, x[i]), s = sigmoid(p->table, v, 9, 0x7fff << 10);

        y[i] = (int16_t)((v >= 0 ? s + (1 << 9) : (1 << 25) - s + (1 << 9) - 1) >> 10);
    }
}

void hdk_i16_tanh(const struct hdk_i16_sigmoid *p, const int16_t *x, int16_t *y)
{
    for (uint32_t i = 0; i < p->n; i++) {
        int32_t v = twelfths(p, x[i]), s = sigmoid(p->table, v, 8, 0xffff << 8) - (1 << 23);

        y[i] = (int16_t)((v >= 0 ? s + (1 << 7) : -s + (1 << 7) - 1) >> 8);
    }
}

/* Between two of 513 entries. */
static int16_t look_up(const int16_t *table, int32_t code)
{
    int32_t i = (code + 32768) >> 7, slope = table[i + 1] - table[i];

    return (int16_t)(table[i] + ((slope * (code & 127) + 64) >> 7));
}

static void softmax_row(const struct hdk_i16_softmax *p, const int16_t *x, int16_t *y)
{
    int32_t most = -32768, sum = 0, free_bits = 0, inverse;

    for (uint32_t i = 0; i < p->cols; i++)
        most = x[i] > most ? x[i] : most;
    for (uint32_t i = 0; i < p->cols; i++) {
        int32_t v = hdk_rescale(x[i] - most, p->multiplier, p->shift);

        y[i] = look_up(p->exp, v <= -65535 ? -32768 : v + 32767);
        sum += y[i];
    }
    while (((uint32_t)sum << free_bits) >> 31 == 0)
        free_bits++;
    inverse = (int32_t)((((int64_t)sum << (free_bits - 1)) + (1 << 13)) >> 14) - (3 << 15);
    inverse = look_up(p->inverse, hdk_i16_clamp(inverse, -32768, 32767));
    for (uint32_t i = 0; i < p->cols; i++) {
        int64_t v = (int64_t)y[i] * inverse + ((int64_t)1 << (30 - free_bits));

        y[i] = hdk_i16_clamp((int32_t)(v >> (31 - free_bits)), 0, 32767);
    }
}

void hdk_i16_softmax(const struct hdk_i16_softmax *p, const int16_t *x, int16_t *y)
{
    for (uint32_t row = 0; row < p->rows; row++, x += p->cols, y += p->cols)
        softmax_row(p, x, y);
}

/* The nearest integer to x / scale, halves away from zero, beyond int16 clamped; NaN: 0. */
static __attribute__((noinline)) int32_t divided(float x, float scale)
{
    return hdk_half_away(x / scale, 40000);
}

void hdk_i16_quantize(const struct hdk_quantize *p, const float *x, int16_t *y)
{
    const struct hdk_reciprocal r = hdk_reciprocal(p->scale);

    for (uint32_t i = 0; i < p->n; i++) {
        int32_t v;

        if (__builtin_expect(!hdk_nearest(&r, HDK_NEAR_16, x[i], &v), 0))
            v = divided(x[i], p->scale);
        y[i] = hdk_i16_clamp(v, -32768, 32767);
    }
}

void hdk_i16_dequantize(const struct hdk_quantize *p, const int16_t *x, float *y)
{
    for (uint32_t i = 0; i < p->n; i++)
        y[i] = p->scale * (float)(x[i] - p->zero);
}
