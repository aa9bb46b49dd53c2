/* hdk_tile.h - the inner loop of convolution and dense layers: up to eight rows of input against
 * panels of weights, and the sums as quantised values. An input is a lane, its value with
 * HDK_LANE_ZERO added (0 .. 255): 16 bits, for the VNNI form a byte. */
#ifndef HDK_TILE_H
#define HDK_TILE_H

#include "hdk_panel.h"
#include "hdk_simd.h"

#define HDK_TILE_BYTES 16u /* of a tile's column: its rows, 8 of words or 16 of bytes */

/* y[r][o] = clamp((bias[o] + sum x[r][k] * (w[o][k] - z_w)) * scale[o] + z_out) */
struct hdk_tile {
    const uint8_t *const *x; /* a row is pieces one after another, its piece i at x[i] + r *
                              * x_pitch; all rows of a tile can be read */
    uint32_t x_pitch;        /* bytes */
    uint32_t pieces, piece;  /* pieces and taps of each, which are even unless there is one piece;
                              * up to three lanes after its last tap are read, and count nothing */
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

/* Compute rows 0 .. rows-1, at most those of a tile, to y + r * y_pitch. */
typedef void hdk_tile_function(const struct hdk_tile *t, uint32_t rows, int8_t *y,
                               uint32_t y_pitch);
hdk_tile_function hdk_tile_plain;

/* n values to lanes. */
typedef void hdk_widen_function(const int8_t *x, uint32_t n, uint8_t *to);

/* A form of the loop: bytes of a lane, what makes lanes and what multiplies them. */
struct hdk_form {
    uint32_t lane;
    hdk_widen_function *widen;
    hdk_tile_function *tile;
};

static inline uint32_t hdk_tile_rows(struct hdk_form form)
{
    return HDK_TILE_BYTES / form.lane;
}

static inline void hdk_widen_plain(const int8_t *x, uint32_t n, uint8_t *to)
{
    int16_t *lane = (int16_t *)(void *)to;

    for (uint32_t i = 0; i < n; i++)
        lane[i] = (int16_t)(x[i] + HDK_LANE_ZERO);
}

#define HDK_FORM_PLAIN ((struct hdk_form){2, hdk_widen_plain, hdk_tile_plain})

#if HDK_SIMD
HDK_AVX2 hdk_tile_function hdk_tile_avx2;
HDK_VNNI hdk_tile_function hdk_tile_vnni;

HDK_INLINE HDK_AVX2 void hdk_widen16(const int8_t *x, int16_t *to)
{
    __m128i v = _mm_loadu_si128((const __m128i *)(const void *)x);

    _mm256_storeu_si256((__m256i *)(void *)to,
                        _mm256_cvtepu8_epi16(_mm_xor_si128(v, _mm_set1_epi8(-128))));
}

HDK_INLINE HDK_AVX2 void hdk_widen8(const int8_t *x, int16_t *to)
{
    __m128i v = _mm_loadl_epi64((const __m128i *)(const void *)x);

    _mm_storeu_si128((__m128i *)(void *)to,
                     _mm_cvtepu8_epi16(_mm_xor_si128(v, _mm_set1_epi8(-128))));
}

/* Blocks, the last one over what the one before it did: no loop for the rest. */
static inline HDK_AVX2 void hdk_widen_avx2(const int8_t *x, uint32_t n, uint8_t *bytes)
{
    int16_t *to = (int16_t *)(void *)bytes;

    if (n < 8) {
        hdk_widen_plain(x, n, bytes);
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

HDK_INLINE HDK_VNNI void hdk_lanes64(const int8_t *x, __mmask64 which, uint8_t *to)
{
    __m512i v = _mm512_maskz_loadu_epi8(which, x);

    _mm512_mask_storeu_epi8(to, which, _mm512_xor_si512(v, _mm512_set1_epi8(-128)));
}

static inline HDK_VNNI void hdk_widen_vnni(const int8_t *x, uint32_t n, uint8_t *to)
{
    for (; n >= 64; n -= 64, x += 64, to += 64)
        hdk_lanes64(x, ~(__mmask64)0, to);
    hdk_lanes64(x, ((__mmask64)1 << n) - 1, to);
}

#define HDK_FORM_AVX2 ((struct hdk_form){2, hdk_widen_avx2, hdk_tile_avx2})
#define HDK_FORM_VNNI ((struct hdk_form){1, hdk_widen_vnni, hdk_tile_vnni})
#endif

#endif
