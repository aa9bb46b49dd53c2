/* hdk_tile_vnni.c - see hdk_tile.h. AVX-512 with VNNI: up to eight rows of bytes by the sixteen
 * channels of two panels, four taps a step (vpdpbusd). */
#include "hdk_tile.h"

#if HDK_SIMD
#define ROWS   HDK_TILE_BYTES /* of a tile of bytes */
#define R_MOST 8u             /* rows whose sums are in registers */
#define PAIRS  4u /* of panels, for one row: so that its sums do not wait for one another */

/* Two panels side by side; the second may be the first again. */
struct pair {
    const struct hdk_panel *low, *high;
};

/* Two pairs of taps of a panel; of the last one, where `half`, with zeros. */
HDK_INLINE HDK_VNNI __m256i load_panel(const int8_t w[][HDK_PANEL][2], const int half)
{
    if (half)
        return _mm256_zextsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)w));
    return _mm256_loadu_si256((const __m256i *)(const void *)w);
}

/* Four taps of each of sixteen channels: pair `at` and, unless `half`, the next. */
HDK_INLINE HDK_VNNI __m512i load_weights(const struct pair *p, uint32_t at, const int half)
{
    const __m512i order =
        _mm512_set_epi16(31, 23, 30, 22, 29, 21, 28, 20, 27, 19, 26, 18, 25, 17, 24, 16, 15, 7, 14,
                         6, 13, 5, 12, 4, 11, 3, 10, 2, 9, 1, 8, 0);
    __m512i low = _mm512_castsi256_si512(load_panel(p->low->w + at, half));

    return _mm512_permutexvar_epi16(order,
                                    _mm512_inserti64x4(low, load_panel(p->high->w + at, half), 1));
}

/* One step of R rows, x on: acc[r][j] += four taps by w[j]. */
HDK_INLINE HDK_VNNI void step(const uint8_t *x, uint32_t x_pitch, const __m512i w[PAIRS],
                              const uint32_t R, const uint32_t P, __m512i acc[][PAIRS])
{
    for (uint32_t r = 0; r < R; r++) {
        int32_t four;
        __builtin_memcpy(&four, x + r * x_pitch, sizeof four);
        for (uint32_t j = 0; j < P; j++)
            acc[r][j] = _mm512_dpbusd_epi32(acc[r][j], _mm512_set1_epi32(four), w[j]);
    }
}

/* acc[r][j] += the sums of R rows from `first` on by P pairs of panels; without p by ones. */
HDK_INLINE HDK_VNNI void sums(const struct hdk_tile *t, uint32_t first, const struct pair *p,
                              const uint32_t R, const uint32_t P, __m512i acc[][PAIRS])
{
    const uint32_t pairs = hdk_pairs(t->piece);

    for (uint32_t piece = 0, at = 0; piece < t->pieces; piece++) {
        const uint8_t *x = t->x[piece] + first * t->x_pitch;
        __m512i w[PAIRS];

        for (uint32_t k = 0; k + 2 <= pairs; k += 2, at += 2, x += 4) {
            for (uint32_t j = 0; j < P; j++)
                w[j] = p ? load_weights(&p[j], at, 0) : _mm512_set1_epi8(1);
            step(x, t->x_pitch, w, R, P, acc);
        }
        if (pairs % 2 == 0)
            continue;
        for (uint32_t j = 0; j < P; j++)
            w[j] = p ? load_weights(&p[j], at, 1) : _mm512_set1_epi32(0x0101);
        step(x, t->x_pitch, w, R, P, acc);
        at++;
    }
}

/* zero[r]: z_w times the sum of row r, which weights with their zero point have too much. */
HDK_INLINE HDK_VNNI void weight_zeros(const struct hdk_tile *t, const uint32_t R, uint32_t rows,
                                      __m512i zero[ROWS])
{
    for (uint32_t first = 0; first < rows; first += R) {
        __m512i sum[R_MOST][PAIRS];

        for (uint32_t r = 0; r < R; r++)
            sum[r][0] = _mm512_setzero_si512();
        sums(t, first, 0, R, 1, sum);
        for (uint32_t r = 0; r < R; r++)
            zero[first + r] = _mm512_mullo_epi32(sum[r][0], _mm512_set1_epi32(t->z_w));
    }
}

/* Channels c .. c + 16 P - 1 of the rows, R at a time. */
HDK_INLINE HDK_VNNI void block(const struct hdk_tile *t, uint32_t c, const uint32_t R,
                               const uint32_t P, const __m512i *zero, uint32_t rows, int8_t *y,
                               uint32_t y_pitch)
{
    struct hdk_scale16 scale[PAIRS];
    struct pair p[PAIRS];

    for (uint32_t j = 0; j < P; j++) {
        const uint32_t at = c + j * 2 * HDK_PANEL;

        p[j].low = hdk_tile_panel(t, at);
        p[j].high = at + HDK_PANEL < t->channels ? hdk_tile_panel(t, at + HDK_PANEL) : p[j].low;
        scale[j] = hdk_scale16(hdk_join(p[j].low->multiplier, p[j].high->multiplier),
                               hdk_join(p[j].low->shift, p[j].high->shift), t->z_out, t->act_min,
                               t->act_max);
    }
    for (uint32_t first = 0; first < rows; first += R) {
        __m512i acc[R_MOST][PAIRS];

        for (uint32_t j = 0; j < P; j++)
            for (uint32_t r = 0; r < R; r++) {
                acc[r][j] = hdk_join(p[j].low->bias, p[j].high->bias);
                if (zero)
                    acc[r][j] = _mm512_sub_epi32(acc[r][j], zero[first + r]);
            }
        sums(t, first, p, R, P, acc);
        for (uint32_t j = 0; j < P; j++) {
            const uint32_t at = c + j * 2 * HDK_PANEL;
            const uint32_t n = t->channels - at < 2 * HDK_PANEL ? t->channels - at : 2 * HDK_PANEL;

#pragma GCC unroll 8 /* so that sums stay in registers */
            for (uint32_t r = 0; r < R; r++)
                if (first + r < rows)
                    hdk_store16(y + (first + r) * y_pitch + at, acc[r][j], &scale[j], n);
        }
    }
}

/* All channels, P pairs of panels at a time and then one. */
HDK_INLINE HDK_VNNI void blocks(const struct hdk_tile *t, const uint32_t R, const uint32_t P,
                                uint32_t rows, int8_t *y, uint32_t y_pitch)
{
    __m512i zero[ROWS];
    uint32_t c = 0;

    if (t->z_w)
        weight_zeros(t, R, rows, zero);
    if (P > 1)
        for (; c + (2 * P - 1) * HDK_PANEL < t->channels; c += 2 * P * HDK_PANEL)
            block(t, c, R, P, t->z_w ? zero : 0, rows, y, y_pitch);
    for (; c < t->channels; c += 2 * HDK_PANEL)
        block(t, c, R, 1, t->z_w ? zero : 0, rows, y, y_pitch);
}

HDK_VNNI void hdk_tile_vnni(const struct hdk_tile *t, uint32_t rows, int8_t *y, uint32_t y_pitch)
{
    if (rows > 4)
        blocks(t, R_MOST, 1, rows, y, y_pitch);
    else if (rows > 1)
        blocks(t, 4, 2, rows, y, y_pitch);
    else
        blocks(t, 1, PAIRS, rows, y, y_pitch);
}
#endif
