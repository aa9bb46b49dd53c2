/* hdk_tile_vnni.c - see hdk_tile.h. AVX-512 with VNNI: eight rows or four by the sixteen channels
 * of two panels, a pair of taps a step (vpdpwssd). */
#include "hdk_tile.h"

#if HDK_SIMD
/* Two panels side by side; the second may be the first again. */
struct pair {
    const struct hdk_panel *low, *high;
};

HDK_INLINE HDK_VNNI __m512i join(const int32_t *low, const int32_t *high)
{
    return _mm512_inserti64x4(
        _mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *)(const void *)low)),
        _mm256_loadu_si256((const __m256i *)(const void *)high), 1);
}

/* Weights of a pair of taps, 16 bits each. */
HDK_INLINE HDK_VNNI __m512i load_weights(const int8_t low_w[HDK_PANEL][2],
                                         const int8_t high_w[HDK_PANEL][2])
{
    __m128i low = _mm_loadu_si128((const __m128i *)(const void *)low_w);
    __m128i high = _mm_loadu_si128((const __m128i *)(const void *)high_w);

    return _mm512_cvtepi8_epi16(_mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1));
}

/* MBQM of sixteen lanes, as hdk_rescale8. */
HDK_INLINE HDK_VNNI __m512i rescale16(__m512i x, __m512i m, __m512i left, __m512i right)
{
    const __m512i half = _mm512_set1_epi64((int64_t)1 << 30), one = _mm512_set1_epi32(1);
    __m512i mask = _mm512_sub_epi32(_mm512_sllv_epi32(one, right), one), even, odd, threshold;

    x = _mm512_sllv_epi32(x, left);
    even = _mm512_add_epi64(_mm512_mul_epi32(x, m), half);
    odd = _mm512_add_epi64(_mm512_mul_epi32(_mm512_srli_epi64(x, 32), _mm512_srli_epi64(m, 32)),
                           half);
    x = _mm512_mask_blend_epi32(0xaaaa, _mm512_srli_epi64(even, 31), _mm512_add_epi64(odd, odd));
    threshold = _mm512_add_epi32(_mm512_srli_epi32(mask, 1), _mm512_srli_epi32(x, 31));
    return _mm512_mask_add_epi32(_mm512_srav_epi32(x, right),
                                 _mm512_cmpgt_epi32_mask(_mm512_and_si512(x, mask), threshold),
                                 _mm512_srav_epi32(x, right), one);
}

/* Of rows 0 .. R-1. */
HDK_INLINE HDK_VNNI void sums(const struct hdk_tile *t, const struct pair *p, const uint32_t R,
                              const int weight_zero, __m512i acc[8])
{
    const __m512i z_w = _mm512_set1_epi32((int32_t)((uint32_t)t->z_w << 16 | (t->z_w & 0xffff)));
    const uint32_t pairs = hdk_pairs(t->piece);

    for (uint32_t r = 0; r < R; r++)
        acc[r] = join(p->low->bias, p->high->bias);
    for (uint32_t piece = 0; piece < t->pieces; piece++) {
        const int16_t *x = t->x[piece];
        const int8_t(*low)[HDK_PANEL][2] = p->low->w + piece * pairs;
        const int8_t(*high)[HDK_PANEL][2] = p->high->w + piece * pairs;

        for (uint32_t k = 0; k < pairs; k++, x += 2) {
            __m512i w = load_weights(low[k], high[k]);

            if (weight_zero)
                w = _mm512_sub_epi16(w, z_w);
            for (uint32_t r = 0; r < R; r++) {
                int32_t two;
                __builtin_memcpy(&two, x + r * t->x_pitch, sizeof two);
                acc[r] = _mm512_dpwssd_epi32(acc[r], _mm512_set1_epi32(two), w);
            }
        }
    }
}

/* R rows by the channels from c on; those below `rows` are stored. */
HDK_INLINE HDK_VNNI void block(const struct hdk_tile *t, uint32_t c, const uint32_t R,
                               uint32_t rows, int8_t *y, uint32_t y_pitch)
{
    const uint32_t n = t->channels - c < 2 * HDK_PANEL ? t->channels - c : 2 * HDK_PANEL;
    const struct hdk_panel *low = hdk_tile_panel(t, c);
    const struct pair p = {low, n > HDK_PANEL ? hdk_tile_panel(t, c + HDK_PANEL) : low};
    const __m512i m = join(p.low->multiplier, p.high->multiplier), zero = _mm512_setzero_si512();
    const __m512i shift = join(p.low->shift, p.high->shift);
    const __m512i left = _mm512_max_epi32(shift, zero), right = _mm512_sub_epi32(left, shift);
    const __m512i z_out = _mm512_set1_epi32(t->z_out);
    __m512i acc[8];

    if (t->z_w)
        sums(t, &p, R, 1, acc);
    else
        sums(t, &p, R, 0, acc);
    for (uint32_t r = 0; r < R && r < rows; r++) {
        __m512i code = _mm512_add_epi32(rescale16(acc[r], m, left, right), z_out);

        hdk_store(y + r * y_pitch + c,
                  hdk_clamp16(_mm512_cvtsepi32_epi8(code), t->act_min, t->act_max), n);
    }
}

HDK_VNNI void hdk_tile_vnni(const struct hdk_tile *t, uint32_t rows, int8_t *y, uint32_t y_pitch)
{
    if (rows == 1) { /* the sums of so few would wait for one another */
        hdk_tile_avx2(t, rows, y, y_pitch);
        return;
    }
    for (uint32_t c = 0; c < t->channels; c += 2 * HDK_PANEL)
        if (rows > 4)
            block(t, c, 8, rows, y, y_pitch);
        else
            block(t, c, 4, rows, y, y_pitch);
}
#endif
