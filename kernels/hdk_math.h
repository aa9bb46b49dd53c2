/* hdk_math.h - fixed-point arithmetic of the host kernels: the rules of NUMERICS.md ("Building
 * blocks"). Right shifts of negative numbers are arithmetic (gcc, clang). Where an accumulator or a
 * left shift leaves int32, it wraps modulo 2^32, as on the accelerator. */
#ifndef HDK_MATH_H
#define HDK_MATH_H

#include <stdint.h>

/* SRDHM: a * b / 2^31, rounded half up in the 64-bit product, which is TFLite's nudge and
 * truncation. */
static inline int32_t hdk_high_mul(int32_t a, int32_t b)
{
    if (a == INT32_MIN && b == INT32_MIN)
        return INT32_MAX;
    return (int32_t)(((int64_t)a * b + ((int64_t)1 << 30)) >> 31);
}

/* RDBPOT: x / 2^e, half away from zero; e in 0..31. */
static inline int32_t hdk_round_shift(int32_t x, int32_t e)
{
    int32_t mask = (int32_t)((1u << e) - 1u);
    int32_t rest = x & mask;

    return (x >> e) + (rest > (mask >> 1) + (x < 0));
}

/* MBQM: x * m * 2^(shift - 31), rounded twice; shift in -31..30, positive is left. */
static inline int32_t hdk_rescale(int32_t x, int32_t m, int32_t shift)
{
    int32_t left = shift > 0 ? shift : 0;

    return hdk_round_shift(hdk_high_mul((int32_t)((uint32_t)x << left), m), left - shift);
}

/* Zero bits above the highest one; 32 for 0. */
static inline int32_t hdk_leading_zeros(uint32_t x)
{
    int32_t n = x == 0;

    for (int32_t k = 4; k >= 0; k--) {
        int32_t step = (x >> (32 - (1 << k)) == 0) << k;

        x <<= step;
        n += step;
    }
    return n;
}

/* y + z, clamped; the sum wraps modulo 2^32, as on the accelerator. */
static inline int8_t hdk_clamp(int32_t y, int32_t z, int32_t low, int32_t high)
{
    int32_t v = (int32_t)((uint32_t)y + (uint32_t)z);

    v = v < low ? low : v;
    return (int8_t)(v > high ? high : v);
}

#endif
