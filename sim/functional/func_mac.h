/* func_mac.h - the array's cells in C: sums of N columns, modulo 2^32.
 * N is a constant in each copy of the loop, so gcc and clang keep the sums in vector registers. */
#ifndef HD_FUNC_MAC_H
#define HD_FUNC_MAC_H

#include <stdint.h>

/* sum[col] += x[lane] * w[lane][col] for all lanes. w: [len][n], 9 bits; x: [len], 9 bits. */
static inline __attribute__((always_inline)) void func_mac_n(uint32_t *restrict sum,
                                                             const int16_t *restrict w,
                                                             const int16_t *restrict x,
                                                             uint32_t len, uint32_t n)
{
    for (uint32_t lane = 0; lane < len; lane++)
        for (uint32_t col = 0; col < n; col++)
            sum[col] += (uint32_t)((int32_t)x[lane] * w[lane * n + col]);
}

static void func_mac(uint32_t *restrict sum, const int16_t *restrict w, const int16_t *restrict x,
                     uint32_t len, uint32_t n)
{
    switch (n) {
    case 4: func_mac_n(sum, w, x, len, 4); break;
    case 8: func_mac_n(sum, w, x, len, 8); break;
    case 16: func_mac_n(sum, w, x, len, 16); break;
    case 32: func_mac_n(sum, w, x, len, 32); break;
    default: func_mac_n(sum, w, x, len, n); break;
    }
}

/* sum[col] += (x[col] - zero) * w[col]: one tap of a depthwise pixel. */
static inline void func_mac_columns(uint32_t *restrict sum, const int16_t *restrict w,
                                    const int8_t *restrict x, int32_t zero, uint32_t n)
{
    for (uint32_t col = 0; col < n; col++)
        sum[col] += (uint32_t)((x[col] - zero) * (int32_t)w[col]);
}

static inline void func_words(uint32_t *restrict to, const uint32_t *restrict from, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        to[i] = from[i];
}

#endif
