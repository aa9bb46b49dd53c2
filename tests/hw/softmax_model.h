/* softmax_model.h - softmax in plain integers after docs/NUMERICS.md, for the benches of VECTOR and of the
 * functional model: neither shares code with it. */
#ifndef HEDDLE_TESTS_HW_SOFTMAX_MODEL_H
#define HEDDLE_TESTS_HW_SOFTMAX_MODEL_H

#include <stdint.h>

static inline int64_t softmax_srdhm(int64_t a, int64_t b)
{
    const int64_t p = a * b, nudge = INT64_C(1) << 30;

    return (p + (p >= 0 ? nudge : 1 - nudge)) / (INT64_C(1) << 31);
}

/* x / 2^e of x >= 0, halves up. */
static inline int64_t softmax_shifted(int64_t x, int e)
{
    return e == 0 ? x : (x + (INT64_C(1) << (e - 1))) >> e;
}

struct softmax_row {
    int max;
    int64_t scale;
    int exponent; /* above 31: every result is 0 */
};

/* exp: by (byte - maximum) modulo 256. */
static inline struct softmax_row softmax_row_with(const int32_t exp[256], const int8_t *x,
                                                  uint32_t n, int max)
{
    struct softmax_row r = {max, 0, 0};
    int64_t sum = 0, half, inverse;
    int zeros = 0;

    for (uint32_t i = 0; i < n; i++)
        sum += softmax_shifted(exp[(x[i] - r.max) & 255], 12);
    while ((sum << zeros) < INT64_C(1) << 31)
        zeros++;
    half = (sum << zeros) / 2;
    inverse = 1515870810 + softmax_srdhm(half, -1010580540);
    for (int i = 0; i < 3; i++)
        inverse += 4 * softmax_srdhm(inverse, (INT64_C(1) << 29) - softmax_srdhm(half, inverse));
    r.scale = 2 * inverse > INT32_MAX ? INT32_MAX : 2 * inverse;
    r.exponent = 35 - zeros;
    return r;
}

static inline struct softmax_row softmax_row_of(const int32_t exp[256], const int8_t *x, uint32_t n)
{
    int max = -128;

    for (uint32_t i = 0; i < n; i++)
        max = x[i] > max ? x[i] : max;
    return softmax_row_with(exp, x, n, max);
}

/* Before zero point and clamp. */
static inline int64_t softmax_result(const struct softmax_row *r, const int32_t exp[256], int8_t x)
{
    return r->exponent > 31
               ? 0
               : softmax_shifted(softmax_srdhm(r->scale, exp[(x - r->max) & 255]), r->exponent);
}

#endif
