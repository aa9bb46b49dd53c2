/* hdk_int16_math.h - helpers of the int16 kernels. */
#ifndef HDK_INT16_MATH_H
#define HDK_INT16_MATH_H

#include "hdk_math.h"

static inline int16_t hdk_i16_clamp(int32_t v, int32_t low, int32_t high)
{
    v = v < low ? low : v;
    return (int16_t)(v > high ? high : v);
}

/* x * m * 2^(shift - 31) with 15 bits of m, rounded once, half up; |x| < 2^47, shift in -31..14. */
static inline int32_t hdk_i16_rescale(int64_t x, int32_t m, int32_t shift)
{
    int64_t narrow = m < 0x7fff0000 ? (m + (1 << 15)) >> 16 : 0x7fff;

    return (int32_t)((x * narrow + ((int64_t)1 << (14 - shift))) >> (15 - shift));
}

#endif
