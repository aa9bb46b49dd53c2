/* ref_fixed.c - the rounding steps every kernel shares (NUMERICS.md, "Building blocks"). */
#include "ref_kernels.h"

/* (2ab + 2^31) / 2^32, ties away from zero for positive products, toward zero for negative. */
int32_t ref_srdhm(int32_t a, int32_t b)
{
    const int64_t ab = (int64_t)a * b;
    const int64_t nudge = ab >= 0 ? INT64_C(1) << 30 : 1 - (INT64_C(1) << 30);

    if (a == INT32_MIN && b == INT32_MIN)
        return INT32_MAX;
    return (int32_t)((ab + nudge) / (INT64_C(1) << 31));
}

/* x / 2^exponent, ties away from zero. */
int32_t ref_rdbpot(int32_t x, int32_t exponent)
{
    const int32_t mask = (int32_t)((INT64_C(1) << exponent) - 1);
    const int32_t rest = x & mask;
    const int32_t threshold = (mask >> 1) + (x < 0);

    return (x >> exponent) + (rest > threshold);
}

int32_t ref_mbqm(int32_t x, int32_t multiplier, int32_t shift)
{
    const uint32_t left = shift > 0 ? (uint32_t)shift : 0;
    const int32_t right = shift < 0 ? -shift : 0;

    return ref_rdbpot(ref_srdhm((int32_t)((uint32_t)x << left), multiplier), right);
}

/* 15 bits of the multiplier, halves up. */
int32_t ref_mbqm64(int64_t x, int32_t multiplier, int32_t shift)
{
    const int64_t m = multiplier < 0x7fff0000 ? (multiplier + (1 << 15)) >> 16 : 0x7fff;

    return (int32_t)((x * m + (INT64_C(1) << (14 - shift))) >> (15 - shift));
}

/* x * 2^shift, saturating. */
int32_t ref_shift_saturating(int32_t x, int shift)
{
    const int64_t wide = (int64_t)x * (INT64_C(1) << shift);

    return wide > INT32_MAX ? INT32_MAX : wide < INT32_MIN ? INT32_MIN : (int32_t)wide;
}

/* 1 / (1 + x) for x in [0, 1), Q0.31: three Newton-Raphson steps on the half denominator. */
int32_t ref_one_over_one_plus(int32_t x)
{
    const int32_t half = (int32_t)(((int64_t)x + INT32_MAX + 1) / 2);
    int32_t r = 1515870810 + ref_srdhm(half, -1010580540); /* 48/17 - 32/17 half, Q2.29 */

    for (int i = 0; i < 3; i++) {
        const int32_t error = (1 << 29) - ref_srdhm(half, r);

        r += ref_shift_saturating(ref_srdhm(r, error), 2);
    }
    return ref_shift_saturating(r, 1);
}
