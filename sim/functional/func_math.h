/* func_math.h - the requantisation lanes in C. Rules: NUMERICS.md; values beyond int32 wrap modulo
 * 2^32. Pinned by tests/sim/functional/test_array.c and test_vector.c. Right shifts of negative
 * numbers are arithmetic (gcc, clang). */
#ifndef HD_FUNC_MATH_H
#define HD_FUNC_MATH_H

#include <stdint.h>

enum { FUNC_HALF_LOWER = 2 }; /* of the fields `half` */

/* Rounded high product, halves up: (a * b + 2^30) >> 31. Equal to SRDHM except at a = b = INT32_MIN.
 */
static inline int32_t func_high_mul(int32_t a, int32_t b)
{
    return (int32_t)(((int64_t)a * b + ((int64_t)1 << 30)) >> 31);
}

/* x / 2^e, halves away from zero; e in 0..31. */
static inline int32_t func_round_shift(int32_t x, uint32_t e)
{
    uint32_t mask = (1u << e) - 1u;
    uint32_t rest = (uint32_t)x & mask;
    uint32_t limit = (mask >> 1) + (x < 0);

    return (x >> e) + (int32_t)(rest > limit);
}

/* x * m * 2^(shift - 31), both roundings; shift in -31..30. */
static inline int32_t func_mbqm(int32_t x, int32_t m, int32_t shift)
{
    uint32_t left = shift > 0 ? (uint32_t)shift : 0u;
    uint32_t right = shift < 0 ? (uint32_t)-shift : 0u;

    return func_round_shift(func_high_mul((int32_t)((uint32_t)x << left), m), right);
}

/* x + z, clamped to the activation range; the sum wraps modulo 2^32. */
static inline int8_t func_clamp(int32_t x, int32_t z, int32_t low, int32_t high)
{
    int32_t y = (int32_t)((uint32_t)x + (uint32_t)z);

    y = y < low ? low : y;
    return (int8_t)(y > high ? high : y);
}

/* Return the upper byte of v, clamped. With `lower` return the other one less 128, of the nearest value that has an
 * upper byte in bounds. */
static inline int8_t func_half(int32_t v, int32_t low, int32_t high, int lower)
{
    const int32_t upper = v >> 8;

    if (lower)
        return (int8_t)(upper < low ? INT8_MIN : upper > high ? INT8_MAX : (v & UINT8_MAX) - 128);
    return (int8_t)(upper < low ? low : upper > high ? high : upper);
}

static inline int func_shift_ok(int32_t shift)
{
    return shift >= -31 && shift <= 30;
}

#endif
