/* hd_crc.h - the CRC of a command stream: compiler, programs of one's own, functional model.
 * The stream is one long number, bit 0 of word 0 first. Its remainder by x^32 + x^7 + x^6 + x^2 + 1,
 * from 32 ones on, must be 0; the header's crc makes it so. FETCH computes the same while the stream
 * passes (hw/rtl/hd_crc.sv). */
#ifndef HD_CRC_H
#define HD_CRC_H

#include <stddef.h>

#include "hd_accel.h"

#define HD_CRC_START UINT32_MAX

/* The remainder after one more word. Shifted right is times x; what leaves on the right is a
 * multiple of x^32, and x^32 is x^7 + x^6 + x^2 + 1. */
static inline uint32_t hd_crc_next(uint32_t crc, uint32_t word)
{
    const uint32_t a = crc ^ word, over = a << 30 ^ a << 26 ^ a << 25;

    return a ^ a >> 2 ^ a >> 6 ^ a >> 7 ^ over ^ over >> 2 ^ over >> 6 ^ over >> 7;
}

/* The remainder before `word`, from the one after it: bit by bit divided by x. */
static inline uint32_t hd_crc_before(uint32_t crc, uint32_t word)
{
    for (uint32_t i = 0; i < 32; i++)
        crc = crc >> 31 ? (crc ^ 0xa3000000u) << 1 | 1u : crc << 1;
    return crc ^ word;
}

static inline uint32_t hd_crc_word(const void *stream, size_t word)
{
    const uint8_t *at = (const uint8_t *)stream + 4 * word;

    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* The remainder of n_bytes: 0 for a good stream. */
static inline uint32_t hd_crc(const void *stream, size_t n_bytes)
{
    uint32_t crc = HD_CRC_START;

    for (size_t i = 0; i < n_bytes / 4; i++)
        crc = hd_crc_next(crc, hd_crc_word(stream, i));
    return crc;
}

/* The header's crc of a stream of n_bytes that is otherwise complete: the remainders
 * of the words before it from the start on, of those after it from the end back. */
static inline uint32_t hd_stream_crc(const void *stream, size_t n_bytes)
{
    const size_t at = offsetof(struct hd_header, crc) / 4;
    uint32_t before = HD_CRC_START, after = 0;

    for (size_t i = 0; i < at; i++)
        before = hd_crc_next(before, hd_crc_word(stream, i));
    for (size_t i = n_bytes / 4; i-- > at + 1;)
        after = hd_crc_before(after, hd_crc_word(stream, i));
    return hd_crc_before(after, before);
}

#endif
