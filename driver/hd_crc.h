/* hd_crc.h - the CRC of a command stream, for compiler, user programs and functional model. The
 * stream is one long number, bit 0 of word 0 first. Its remainder by x^32 + x^7 + x^6 + x^2 + 1,
 * starting from 32 ones, must be 0; the header's crc makes it so. FETCH computes the same while the
 * stream passes (hw/rtl/control/hd_crc.sv). */
#ifndef HD_CRC_H
#define HD_CRC_H

#include <stddef.h>

#include "hd_accel.h"

#define HD_CRC_START UINT32_MAX

/* Return the remainder after one more word. A shift to the right multiplies by x; each bit shifted
 * out is a multiple of x^32, and x^32 is x^7 + x^6 + x^2 + 1. */
static inline uint32_t hd_crc_next(uint32_t crc, uint32_t word)
{
    const uint32_t a = crc ^ word, over = a << 30 ^ a << 26 ^ a << 25;

    return a ^ a >> 2 ^ a >> 6 ^ a >> 7 ^ over ^ over >> 2 ^ over >> 6 ^ over >> 7;
}

/* Return the remainder before `word` from the one after it: divide by x bit by bit. */
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

/* Return the remainder of n_bytes: 0 for a good stream. */
static inline uint32_t hd_crc(const void *stream, size_t n_bytes)
{
    uint32_t crc = HD_CRC_START;

    for (size_t i = 0; i < n_bytes / 4; i++)
        crc = hd_crc_next(crc, hd_crc_word(stream, i));
    return crc;
}

/* Return the header's crc for a stream of n_bytes that is otherwise complete: combine the
 * remainder of the words before it, computed forwards, with that of the words after it,
 * computed backwards. */
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
