/* hdk_rv32.h - the inner product of hdk_tile_plain on RV32IM, in the order that an in-order core
 * wants: a result is used three instructions after its load or multiplication. gcc loads first, and
 * then spills what it has loaded; tests/compiler/host measures both. */
#ifndef HDK_RV32_H
#define HDK_RV32_H

#include "hdk_panel.h"
#include "hdk_simd.h"

#if defined(__riscv) && __riscv_xlen == 32 && defined(__riscv_mul) && !defined(__riscv_32e)
#define HDK_RV32 1

/* Sums of one row and the eight channels of a panel, with three products pending: t[1] is to be
 * added to sum 6, t[2] * x0 and t[3] * x1 to sum 7. */
struct hdk_rv32_sums {
    uint32_t sum[HDK_PANEL];
    int32_t x0, x1, t[4];
};

/* Two channels, four steps: a weight is loaded, the one loaded two steps ago multiplied by its tap,
 * the product made one step ago added. FIRST and SECOND load the taps of a new pair after the last
 * use of the old ones. */
#define HDK_RV32_TWO(s, last, even, w, x, FIRST, SECOND)                                           \
    __asm__ volatile("lb %3, %9\n mul %5, %5, %7\n " FIRST " add %0, %0, %4\n"                     \
                     "lb %4, %10\n mul %6, %6, %8\n " SECOND " add %1, %1, %5\n"                   \
                     "lb %5, %11\n mul %3, %3, %7\n add %1, %1, %6\n"                              \
                     "lb %6, %12\n mul %4, %4, %8\n add %2, %2, %3\n"                              \
                     : "+&r"((s)->sum[last]), "+&r"((s)->sum[(last) + 1]), "+&r"((s)->sum[even]),  \
                       "=&r"((s)->t[0]), "+&r"((s)->t[1]), "+&r"((s)->t[2]), "+&r"((s)->t[3]),     \
                       "+&r"((s)->x0), "+&r"((s)->x1)                                              \
                     : "m"((w)[0][0]), "m"((w)[0][1]), "m"((w)[1][0]), "m"((w)[1][1]),             \
                       "m"((x)[0]), "m"((x)[1]))

/* A pair of taps x[0], x[1] of all channels. */
HDK_INLINE void hdk_rv32_pair(struct hdk_rv32_sums *s, const int16_t *x,
                              const int8_t w[HDK_PANEL][2])
{
    HDK_RV32_TWO(s, 6, 0, w + 0, x, "lh %7, %13\n", "lh %8, %14\n");
    HDK_RV32_TWO(s, 0, 2, w + 2, x, "", "");
    HDK_RV32_TWO(s, 2, 4, w + 4, x, "", "");
    HDK_RV32_TWO(s, 4, 6, w + 6, x, "", "");
}

HDK_INLINE void hdk_rv32_four(struct hdk_rv32_sums *s, const int16_t *x,
                              const int8_t w[4][HDK_PANEL][2])
{
    hdk_rv32_pair(s, x, w[0]);
    hdk_rv32_pair(s, x + 2, w[1]);
    hdk_rv32_pair(s, x + 4, w[2]);
    hdk_rv32_pair(s, x + 6, w[3]);
}

/* acc[i] += x[2 k] * w[k][i][0] + x[2 k + 1] * w[k][i][1] over all k < pairs */
__attribute__((noinline)) static void hdk_rv32_row(const int16_t *x,
                                                   const int8_t (*w)[HDK_PANEL][2], uint32_t pairs,
                                                   uint32_t acc[HDK_PANEL])
{
    struct hdk_rv32_sums s;

    s.x0 = s.x1 = s.t[1] = s.t[2] = s.t[3] = 0;

    __builtin_memcpy(s.sum, acc, sizeof s.sum);
    for (; pairs >= 8; pairs -= 8, x += 16, w += 8) {
        hdk_rv32_four(&s, x, w);
        hdk_rv32_four(&s, x + 8, w + 4);
    }
    for (; pairs; pairs--, x += 2, w++)
        hdk_rv32_pair(&s, x, w[0]);
    s.sum[6] += (uint32_t)s.t[1];
    s.sum[7] += (uint32_t)(s.t[2] * s.x0 + s.t[3] * s.x1);
    __builtin_memcpy(acc, s.sum, sizeof s.sum);
}
#else
#define HDK_RV32 0
#endif

#endif
