/* hdk_tile.h - the inner loop of convolution and dense layers: up to eight rows of 16-bit input
 * against panels of weights, and the sums as quantised values. */
#ifndef HDK_TILE_H
#define HDK_TILE_H

#include "hdk_panel.h"
#include "hdk_simd.h"

#define HDK_TILE_ROWS 8u

/* y[r][o] = clamp((bias[o] + sum x[r][k] * (w[o][k] - z_w)) * scale[o] + z_out) */
struct hdk_tile {
    const int16_t *const *x; /* a row is pieces one after another, its piece i at x[i] + r *
                              * x_pitch; all HDK_TILE_ROWS rows can be read */
    uint32_t x_pitch;
    uint32_t pieces, piece; /* pieces and taps of each, which are even unless there is one piece;
                             * then the lane after an odd last tap is read, and counts nothing */
    const void *panels;
    uint32_t channels;
    int32_t z_w, z_out, act_min, act_max;
};

static inline const struct hdk_panel *hdk_tile_panel(const struct hdk_tile *t, uint32_t channel)
{
    const uint8_t *at =
        (const uint8_t *)t->panels + channel / HDK_PANEL * hdk_panel_bytes(t->pieces * t->piece);

    return (const struct hdk_panel *)(const void *)at;
}

/* Lanes of a row for k taps, and bytes of `rows` rows. */
static inline uint32_t hdk_row_lanes(uint32_t k)
{
    return 2 * hdk_pairs(k);
}

/* Rows 0 .. rows-1, rows <= HDK_TILE_ROWS, to y + r * y_pitch. */
typedef void hdk_tile_function(const struct hdk_tile *t, uint32_t rows, int8_t *y,
                               uint32_t y_pitch);
hdk_tile_function hdk_tile_plain;

/* n values to 16 bits. */
typedef void hdk_widen_function(const int8_t *x, uint32_t n, int16_t *to);

static inline void hdk_widen_plain(const int8_t *x, uint32_t n, int16_t *to)
{
    for (uint32_t i = 0; i < n; i++)
        to[i] = x[i];
}

#if HDK_SIMD
HDK_AVX2 hdk_tile_function hdk_tile_avx2;
HDK_VNNI hdk_tile_function hdk_tile_vnni;

/* The fastest that the processor has, which has AVX2. */
static inline hdk_tile_function *hdk_tile_best(void)
{
    return hdk_has_vnni() ? hdk_tile_vnni : hdk_tile_avx2;
}

HDK_INLINE HDK_AVX2 void hdk_widen16(const int8_t *x, int16_t *to)
{
    _mm256_storeu_si256((__m256i *)(void *)to,
                        _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(const void *)x)));
}

HDK_INLINE HDK_AVX2 void hdk_widen8(const int8_t *x, int16_t *to)
{
    _mm_storeu_si128((__m128i *)(void *)to,
                     _mm_cvtepi8_epi16(_mm_loadl_epi64((const __m128i *)(const void *)x)));
}

/* Blocks, the last one over what the one before it did: no loop for the rest. */
static inline HDK_AVX2 void hdk_widen_avx2(const int8_t *x, uint32_t n, int16_t *to)
{
    if (n < 8) {
        hdk_widen_plain(x, n, to);
        return;
    }
    if (n < 16) {
        hdk_widen8(x, to);
        hdk_widen8(x + n - 8, to + n - 8);
        return;
    }
    for (uint32_t i = 0; i + 16 < n; i += 16)
        hdk_widen16(x + i, to + i);
    hdk_widen16(x + n - 16, to + n - 16);
}
#endif

#endif
