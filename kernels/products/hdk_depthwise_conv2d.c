/* hdk_depthwise_conv2d.c - DEPTHWISE_CONV_2D: the addresses of an output pixel's taps (outside the
 * image: a row of z_in) serve a run of up to four pixels side by side; panels of eight channels,
 * two taps a step. */
#include "hdk.h"
#include "hdk_math.h"
#include "hdk_panel.h"
#include "hdk_simd.h"

#define RUN 4u /* pixels side by side */

static uint32_t taps(const struct hdk_depthwise_conv2d *p)
{
    return 2 * hdk_pairs(p->kernel_h * p->kernel_w);
}

/* Bytes of z_in: what a whole run reads outside the image. */
static uint32_t outside_bytes(const struct hdk_depthwise_conv2d *p)
{
    return (p->in_c * (1 + (RUN - 1) * p->stride_x) + 15) / 16 * 16;
}

/* z_in, then an address for each tap, an even number of them. */
uint32_t hdk_depthwise_conv2d_scratch(const struct hdk_depthwise_conv2d *p)
{
    return outside_bytes(p) + taps(p) * 8; /* 8: no address is wider */
}

static const struct hdk_panel *panel_at(const struct hdk_depthwise_conv2d *p, const void *panels,
                                        uint32_t channel)
{
    return (const struct hdk_panel *)(const void *)((const uint8_t *)panels +
                                                    channel / HDK_PANEL *
                                                        hdk_panel_bytes(p->kernel_h * p->kernel_w));
}

/* Addresses of the taps of output pixel (oy, ox), at channel 0. */
HDK_INLINE void find_taps(const struct hdk_depthwise_conv2d *p, const int8_t *image, uint32_t oy,
                          uint32_t ox, const int8_t *outside, const int8_t **tap)
{
    int32_t y0 = (int32_t)(oy * p->stride_y) - p->pad_top;
    int32_t x0 = (int32_t)(ox * p->stride_x) - p->pad_left;

    for (uint32_t ky = 0; ky < p->kernel_h; ky++) {
        int32_t iy = y0 + (int32_t)(ky * p->dilation_y);
        int inside = iy >= 0 && iy < (int32_t)p->in_h;

        for (uint32_t kx = 0; kx < p->kernel_w; kx++) {
            int32_t ix = x0 + (int32_t)(kx * p->dilation_x);

            *tap++ = inside && ix >= 0 && ix < (int32_t)p->in_w
                         ? image + ((uint32_t)iy * p->in_w + (uint32_t)ix) * p->in_c
                         : outside;
        }
    }
    if (p->kernel_h * p->kernel_w % 2)
        *tap = outside; /* in addition to the last one; counts nothing */
}

/* Output columns *lo .. *hi - 1 have all their taps inside the image's columns. */
static void find_inside(const struct hdk_depthwise_conv2d *p, uint32_t *lo, uint32_t *hi)
{
    int32_t last =
        (int32_t)p->in_w - 1 + p->pad_left - (int32_t)((p->kernel_w - 1) * p->dilation_x);

    *lo = p->pad_left > 0 ? ((uint32_t)p->pad_left + p->stride_x - 1) / p->stride_x : 0;
    *hi = last < 0 ? 0 : (uint32_t)last / p->stride_x + 1;
    if (*hi > p->out_w)
        *hi = p->out_w;
}

/* Output channels first .. first+n-1, n <= 8, of one pixel, whose taps are `offset` after `tap`. */
static void panel_plain(const struct hdk_depthwise_conv2d *p, const struct hdk_panel *w,
                        const int8_t *const *tap, uint32_t offset, uint32_t first, uint32_t n,
                        int8_t *y)
{
    uint32_t acc[HDK_PANEL], channel[HDK_PANEL];

    for (uint32_t i = 0; i < n; i++) {
        acc[i] = (uint32_t)w->bias[i];
        channel[i] =
            offset + (p->depth_multiplier == 1 ? first + i : (first + i) / p->depth_multiplier);
    }
    for (uint32_t k = 0; k < taps(p); k++)
        for (uint32_t i = 0; i < n; i++)
            acc[i] += (uint32_t)(tap[k][channel[i]] * (w->w[k / 2][i][k % 2] - p->z_w));
    for (uint32_t i = 0; i < n; i++)
        y[first + i] = hdk_clamp(hdk_rescale((int32_t)acc[i], w->multiplier[i], w->shift[i]),
                                 p->z_out, p->act_min, p->act_max);
}

/* `run` pixels side by side (1, 2 or RUN), channels from `first` on. */
typedef void pixels_function(const struct hdk_depthwise_conv2d *p, const void *panels,
                             const int8_t *const *tap, uint32_t run, uint32_t first, int8_t *y);

static void pixels_plain(const struct hdk_depthwise_conv2d *p, const void *panels,
                         const int8_t *const *tap, uint32_t run, uint32_t first, int8_t *y)
{
    uint32_t out_c = p->in_c * p->depth_multiplier;

    for (uint32_t r = 0; r < run; r++)
        for (uint32_t c = first; c < out_c; c += HDK_PANEL)
            panel_plain(p, panel_at(p, panels, c), tap, r * p->stride_x * p->in_c, c,
                        out_c - c < HDK_PANEL ? out_c - c : HDK_PANEL, y + r * out_c);
}

#if HDK_SIMD
HDK_INLINE HDK_AVX2 __m256i load(const int32_t *x)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)x);
}

HDK_INLINE HDK_AVX2 __m128i load_bytes(const int8_t *x)
{
    return _mm_loadl_epi64((const __m128i *)(const void *)x);
}

/* Eight channels of R pixels, as quantised values that are not yet narrowed. */
HDK_INLINE HDK_AVX2 void panel_avx2(const struct hdk_depthwise_conv2d *p, const struct hdk_panel *w,
                                    const int8_t *const *tap, uint32_t first, const uint32_t R,
                                    __m256i v[RUN])
{
    const __m256i z_w = _mm256_set1_epi16((short)p->z_w), z_out = _mm256_set1_epi32(p->z_out);
    const __m256i m = load(w->multiplier), shift = load(w->shift);
    const uint32_t step = p->stride_x * p->in_c;

    for (uint32_t r = 0; r < R; r++)
        v[r] = load(w->bias);
    for (uint32_t k = 0; k < taps(p); k += 2) {
        const int8_t *even = tap[k] + first, *odd = tap[k + 1] + first;
        __m256i weight = _mm256_sub_epi16(
            _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(const void *)w->w[k / 2])), z_w);

        for (uint32_t r = 0; r < R; r++, even += step, odd += step) {
            __m256i x = _mm256_cvtepi8_epi16(_mm_unpacklo_epi8(load_bytes(even), load_bytes(odd)));
            v[r] = _mm256_add_epi32(v[r], _mm256_madd_epi16(x, weight));
        }
    }
    for (uint32_t r = 0; r < R; r++)
        v[r] = _mm256_add_epi32(hdk_rescale8(v[r], m, shift), z_out);
}

/* The panels from channel `first` on that end inside the image's channels; the first channel after
 * them. */
HDK_INLINE HDK_AVX2 uint32_t panels_avx2(const struct hdk_depthwise_conv2d *p, const void *panels,
                                         const int8_t *const *tap, const uint32_t R, uint32_t first,
                                         int8_t *y)
{
    for (; first + HDK_PANEL <= p->in_c; first += HDK_PANEL) {
        __m256i v[RUN];

        panel_avx2(p, panel_at(p, panels, first), tap, first, R, v);
        for (uint32_t r = 0; r < R; r++)
            hdk_store(y + r * p->in_c + first,
                      hdk_clamp16(hdk_narrow16(v[r], v[r]), p->act_min, p->act_max), HDK_PANEL);
    }
    return first;
}

/* The remainder is left to plain C. */
static HDK_AVX2 void pixels_avx2(const struct hdk_depthwise_conv2d *p, const void *panels,
                                 const int8_t *const *tap, uint32_t run, uint32_t first, int8_t *y)
{
    if (p->depth_multiplier == 1)
        first = run == RUN ? panels_avx2(p, panels, tap, RUN, first, y)
                : run == 2 ? panels_avx2(p, panels, tap, 2, first, y)
                           : panels_avx2(p, panels, tap, 1, first, y);
    pixels_plain(p, panels, tap, run, first, y);
}

HDK_INLINE HDK_VNNI __m128i load16(const int8_t *x)
{
    return _mm_loadu_si128((const __m128i *)(const void *)x);
}

HDK_INLINE HDK_VNNI __m512i words(__m128i low, __m128i high)
{
    return _mm512_cvtepi8_epi16(_mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1));
}

/* Sums of the sixteen channels of two panels, of R pixels. */
HDK_INLINE HDK_VNNI void pair_vnni(const struct hdk_depthwise_conv2d *p,
                                   const struct hdk_panel *low, const struct hdk_panel *high,
                                   const int8_t *const *tap, uint32_t first, const uint32_t R,
                                   __m512i v[RUN])
{
    const __m512i z_w = _mm512_set1_epi16((short)p->z_w);
    const uint32_t step = p->stride_x * p->in_c;

    for (uint32_t r = 0; r < R; r++)
        v[r] = hdk_join(low->bias, high->bias);
    for (uint32_t k = 0; k < taps(p); k += 2) {
        const int8_t *even = tap[k] + first, *odd = tap[k + 1] + first;
        const __m512i weight =
            _mm512_sub_epi16(words(load16(low->w[k / 2][0]), load16(high->w[k / 2][0])), z_w);

        for (uint32_t r = 0; r < R; r++, even += step, odd += step) {
            const __m128i a = load16(even), b = load16(odd);

            v[r] = _mm512_dpwssd_epi32(
                v[r], words(_mm_unpacklo_epi8(a, b), _mm_unpackhi_epi8(a, b)), weight);
        }
    }
}

HDK_INLINE HDK_VNNI uint32_t pairs_vnni(const struct hdk_depthwise_conv2d *p, const void *panels,
                                        const int8_t *const *tap, const uint32_t R, uint32_t first,
                                        int8_t *y)
{
    for (; first + 2 * HDK_PANEL <= p->in_c; first += 2 * HDK_PANEL) {
        const struct hdk_panel *low = panel_at(p, panels, first);
        const struct hdk_panel *high = panel_at(p, panels, first + HDK_PANEL);
        const struct hdk_scale16 scale =
            hdk_scale16(hdk_join(low->multiplier, high->multiplier),
                        hdk_join(low->shift, high->shift), p->z_out, p->act_min, p->act_max);
        __m512i v[RUN];

        pair_vnni(p, low, high, tap, first, R, v);
        for (uint32_t r = 0; r < R; r++)
            hdk_store16(y + r * p->in_c + first, v[r], &scale, 2 * HDK_PANEL);
    }
    return first;
}

/* The remainder is left to AVX2. */
static HDK_VNNI void pixels_vnni(const struct hdk_depthwise_conv2d *p, const void *panels,
                                 const int8_t *const *tap, uint32_t run, uint32_t first, int8_t *y)
{
    if (p->depth_multiplier == 1)
        first = run == RUN ? pairs_vnni(p, panels, tap, RUN, first, y)
                : run == 2 ? pairs_vnni(p, panels, tap, 2, first, y)
                           : pairs_vnni(p, panels, tap, 1, first, y);
    pixels_avx2(p, panels, tap, run, first, y);
}
#endif

HDK_INLINE void convolve(const struct hdk_depthwise_conv2d *p, const int8_t *x, const void *panels,
                         int8_t *y, void *scratch, pixels_function *pixels)
{
    int8_t *outside = scratch;
    const int8_t **tap = (const int8_t **)(void *)(outside + outside_bytes(p));
    uint32_t lo, hi;

    for (uint32_t i = 0; i < outside_bytes(p); i++)
        outside[i] = (int8_t)p->z_in;
    find_inside(p, &lo, &hi);
    for (uint32_t b = 0; b < p->batch; b++, x += (uint64_t)p->in_h * p->in_w * p->in_c)
        for (uint32_t oy = 0; oy < p->out_h; oy++)
            for (uint32_t ox = 0, run; ox < p->out_w; ox += run) {
                run = ox < lo || ox + 2 > hi ? 1 : ox + RUN > hi ? 2 : RUN;
                find_taps(p, x, oy, ox, outside, tap);
                pixels(p, panels, tap, run, 0, y);
                y += run * p->in_c * p->depth_multiplier;
            }
}

#if HDK_SIMD
static HDK_AVX2 void convolve_avx2(const struct hdk_depthwise_conv2d *p, const int8_t *x,
                                   const void *panels, int8_t *y, void *scratch)
{
    convolve(p, x, panels, y, scratch, pixels_avx2);
}

static HDK_VNNI void convolve_vnni(const struct hdk_depthwise_conv2d *p, const int8_t *x,
                                   const void *panels, int8_t *y, void *scratch)
{
    convolve(p, x, panels, y, scratch, pixels_vnni);
}
#endif

void hdk_depthwise_conv2d(const struct hdk_depthwise_conv2d *p, const int8_t *x, const void *panels,
                          int8_t *y, void *scratch)
{
#if HDK_SIMD
    if (hdk_has_vnni()) {
        convolve_vnni(p, x, panels, y, scratch);
        return;
    }
    if (hdk_has_avx2()) {
        convolve_avx2(p, x, panels, y, scratch);
        return;
    }
#endif
    convolve(p, x, panels, y, scratch, pixels_plain);
}
