/* hdk_tile.c - see hdk_tile.h. AVX2: four rows by two panels of accumulators in registers, a pair
 * of taps a step (pmaddwd). AVX-512 with VNNI: hdk_tile_vnni.c. */
#include "hdk_tile.h"
#include "hdk_math.h"
#include "hdk_rv32.h"

/* One row against one panel. `z_w` is a constant 0 in one of two copies: most weights have no zero
 * point, and a core without vectors spends a third of the loop on it. */
HDK_INLINE void sum_row(const struct hdk_tile *t, uint32_t row, const struct hdk_panel *p,
                        int32_t z_w, uint32_t acc[HDK_PANEL])
{
    const int8_t(*w)[HDK_PANEL][2] = p->w;

    for (uint32_t i = 0; i < HDK_PANEL; i++)
        acc[i] = (uint32_t)p->bias[i];
    for (uint32_t piece = 0; piece < t->pieces; piece++) {
        const int16_t *x = (const int16_t *)(const void *)(t->x[piece] + row * t->x_pitch);

#if HDK_RV32
        if (!z_w) {
            hdk_rv32_row(x, w, hdk_pairs(t->piece), acc);
            w += hdk_pairs(t->piece);
            continue;
        }
#endif
        for (uint32_t k = 0; k < hdk_pairs(t->piece); k++, x += 2, w++)
            for (uint32_t i = 0; i < HDK_PANEL; i++)
                acc[i] += (uint32_t)(x[0] * ((*w)[i][0] - z_w) + x[1] * ((*w)[i][1] - z_w));
    }
}

static void row_by_panel(const struct hdk_tile *t, uint32_t row, const struct hdk_panel *p,
                         uint32_t n, int8_t *y)
{
    uint32_t acc[HDK_PANEL];

    if (t->z_w)
        sum_row(t, row, p, t->z_w, acc);
    else
        sum_row(t, row, p, 0, acc);
    for (uint32_t i = 0; i < n; i++)
        y[i] = hdk_clamp(hdk_rescale((int32_t)acc[i], p->multiplier[i], p->shift[i]), t->z_out,
                         t->act_min, t->act_max);
}

void hdk_tile_plain(const struct hdk_tile *t, uint32_t rows, int8_t *y, uint32_t y_pitch)
{
    for (uint32_t c = 0; c < t->channels; c += HDK_PANEL)
        for (uint32_t r = 0; r < rows; r++)
            row_by_panel(t, r, hdk_tile_panel(t, c),
                         t->channels - c < HDK_PANEL ? t->channels - c : HDK_PANEL,
                         y + r * y_pitch + c);
}

#if HDK_SIMD
HDK_INLINE HDK_AVX2 __m256i load(const int32_t *x)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)x);
}

HDK_INLINE HDK_AVX2 __m256i load_weights(const int8_t w[HDK_PANEL][2])
{
    return _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(const void *)w));
}

/* Sums of R rows, from `first` on, and P panels. */
HDK_INLINE HDK_AVX2 void sums(const struct hdk_tile *t, const struct hdk_panel *const *p,
                              uint32_t first, const uint32_t R, const uint32_t P,
                              const int weight_zero, __m256i acc[4][2])
{
    const __m256i z_w = _mm256_set1_epi16((short)t->z_w);
    const uint32_t pairs = hdk_pairs(t->piece);

    for (uint32_t r = 0; r < R; r++)
        for (uint32_t j = 0; j < P; j++)
            acc[r][j] = load(p[j]->bias);
    for (uint32_t piece = 0; piece < t->pieces; piece++) {
        const uint8_t *x = t->x[piece] + first * t->x_pitch;
        const int8_t(*from[2])[HDK_PANEL][2] = {p[0]->w + piece * pairs, 0};

        if (P == 2)
            from[1] = p[1]->w + piece * pairs;
        for (uint32_t k = 0; k < pairs; k++, x += 2 * sizeof(int16_t)) {
            __m256i w[2];

            for (uint32_t j = 0; j < P; j++) {
                w[j] = load_weights(from[j][k]);
                if (weight_zero)
                    w[j] = _mm256_sub_epi16(w[j], z_w);
            }
            for (uint32_t r = 0; r < R; r++) {
                int32_t two;
                __builtin_memcpy(&two, x + r * t->x_pitch, sizeof two);
                __m256i pair = _mm256_set1_epi32(two);
                for (uint32_t j = 0; j < P; j++)
                    acc[r][j] = _mm256_add_epi32(acc[r][j], _mm256_madd_epi16(pair, w[j]));
            }
        }
    }
}

/* R rows from `first` on by P panels at channel c; those below `rows` are stored. */
HDK_INLINE HDK_AVX2 void block(const struct hdk_tile *t, uint32_t c, uint32_t first,
                               const uint32_t R, const uint32_t P, uint32_t rows, int8_t *y,
                               uint32_t y_pitch)
{
    const struct hdk_panel *p[2] = {hdk_tile_panel(t, c),
                                    P == 2 ? hdk_tile_panel(t, c + HDK_PANEL) : 0};
    const __m256i z_out = _mm256_set1_epi32(t->z_out);
    uint32_t n = t->channels - c < P * HDK_PANEL ? t->channels - c : P * HDK_PANEL;
    __m256i acc[4][2];

    if (t->z_w)
        sums(t, p, first, R, P, 1, acc);
    else
        sums(t, p, first, R, P, 0, acc);
    for (uint32_t j = 0; j < P; j++) {
        __m256i m = load(p[j]->multiplier), shift = load(p[j]->shift);
        for (uint32_t r = 0; r < R; r++)
            acc[r][j] = _mm256_add_epi32(hdk_rescale8(acc[r][j], m, shift), z_out);
    }
    for (uint32_t r = 0; r < R && first + r < rows; r++)
        hdk_store(y + (first + r) * y_pitch + c,
                  hdk_clamp16(hdk_narrow16(acc[r][0], acc[r][P - 1]), t->act_min, t->act_max), n);
}

/* Four rows or one, two panels or one. */
HDK_INLINE HDK_AVX2 void blocks(const struct hdk_tile *t, uint32_t first, const uint32_t R,
                                uint32_t rows, int8_t *y, uint32_t y_pitch)
{
    uint32_t c = 0;

    for (; c + HDK_PANEL < t->channels; c += 2 * HDK_PANEL)
        block(t, c, first, R, 2, rows, y, y_pitch);
    if (c < t->channels)
        block(t, c, first, R, 1, rows, y, y_pitch);
}

HDK_AVX2 void hdk_tile_avx2(const struct hdk_tile *t, uint32_t rows, int8_t *y, uint32_t y_pitch)
{
    for (uint32_t first = 0; first < rows; first += 4)
        if (rows - first == 1)
            blocks(t, first, 1, rows, y, y_pitch);
        else
            blocks(t, first, 4, rows, y, y_pitch);
}
#endif
