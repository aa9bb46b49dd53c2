/* fixed_math.c - see fixed_math.h. */
#include "fixed_math.h"

/* SRDHM: rounds halves up by both of its nudges, before a division that truncates. */
static int32_t high_product(int32_t a, int32_t b)
{
    const int64_t v = ((int64_t)a * b + (INT64_C(1) << 30)) >> 31;

    return (int32_t)(v > INT32_MAX ? INT32_MAX : v);
}

/* v / 2^n, halves away from zero. */
static int32_t divided(int64_t v, int32_t n)
{
    const int64_t half = n > 0 ? INT64_C(1) << (n - 1) : 0;

    return (int32_t)(v < 0 ? -((-v + half) >> n) : (v + half) >> n);
}

int32_t lgl_mbqm(int32_t x, int32_t multiplier, int32_t shift)
{
    const int32_t left = shift > 0 ? shift : 0;
    const int32_t shifted = (int32_t)((uint32_t)x << left);

    return divided(high_product(shifted, multiplier), left - shift);
}

/* x * 2^n, saturating. */
static int32_t scaled_up(int32_t x, int32_t n)
{
    const int64_t v = (int64_t)x * (1 << n);

    return (int32_t)(v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v);
}

/* v is brought to [2^27, 2^29) by pairs of bits; then x <- 3/2 x - v/2 x^3 in Q3.28, five times. */
int32_t lgl_inverse_root(int32_t v, int32_t *shift)
{
    const int32_t three_halves = 3 << 27, root_of_half = 1518500250;
    int32_t x = 1 << 28;

    *shift = 0;
    if (v <= 1)
        return INT32_MAX;
    *shift = 11;
    for (; v >= 1 << 29; ++*shift)
        v /= 4;
    for (; v < 1 << 27; --*shift)
        v *= 4;
    for (int i = 0; i < 5; i++) {
        const int32_t cube = scaled_up(high_product(high_product(x, x), x), 6);
        const int32_t next = high_product(three_halves, x) - high_product(divided(v >> 1, 1), cube);

        x = scaled_up(next, 3);
    }
    x = high_product(x, root_of_half);
    if (*shift < 0) {
        x = (int32_t)((uint32_t)x << -*shift);
        *shift = 0;
    }
    return x;
}
