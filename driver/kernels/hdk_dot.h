/* hdk_dot.h - the inner loop of convolution and dense layers: a strip of input, zero point
 * subtracted, as 16 bits, against rows of weights. Blocks of constant length, so that compilers
 * vectorise at -O2 too; measured in driver/README.md. */
#ifndef HDK_DOT_H
#define HDK_DOT_H

#include <stdint.h>

#define HDK_STRIP 1024u /* lanes of a strip: 2 KiB of stack */
#define HDK_BLOCK 16u   /* output channels that share a strip's gathering where it is repeated */

/* sum of x[i] * w[i], modulo 2^32. x: 9 bits, w: 8 bits. */
static inline uint32_t hdk_dot(const int16_t *restrict x, const int8_t *restrict w, uint32_t n)
{
    int32_t part[8] = {0};
    uint32_t sum = 0, i = 0;

    /* 64 products of 16 bits a part, at most: no overflow, and the compiler may keep parts in a
     * register. */
    for (; i + 8 <= n; i += 8)
        for (uint32_t k = 0; k < 8; k++)
            part[k] += (int32_t)x[i + k] * w[i + k];
    for (uint32_t k = 0; k < 8; k++)
        sum += (uint32_t)part[k];
    for (; i < n; i++)
        sum += (uint32_t)(x[i] * w[i]);
    return sum;
}

/* sum of x[i], n <= HDK_STRIP: what a weight zero point multiplies. */
static inline uint32_t hdk_total(const int16_t *x, uint32_t n)
{
    int32_t sum = 0;

    for (uint32_t i = 0; i < n; i++)
        sum += x[i];
    return (uint32_t)sum;
}

#endif
