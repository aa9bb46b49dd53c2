/* hdk_depthwise_conv2d.c - DEPTHWISE_CONV_2D: for each output pixel the addresses of its taps
 * (outside the image: a row of z_in), then panels of eight channels, two taps a step. */
#include "hdk.h"
#include "hdk_math.h"
#include "hdk_panel.h"
#include "hdk_simd.h"

static uint32_t round_up(uint32_t n, uint32_t to)
{
    return (n + to - 1) / to * to;
}

/* Taps, made even; the scratch holds one pixel of z_in, then an address for each and one to spare.
 */
static uint32_t taps(const struct hdk_depthwise_conv2d *p)
{
    return 2 * hdk_pairs(p->kernel_h * p->kernel_w);
}

uint32_t hdk_depthwise_conv2d_scratch(const struct hdk_depthwise_conv2d *p)
{
    return round_up(p->in_c, 16) +
           (taps(p) + 1) * 8; /* the compiler's addresses may be wider than ours */
}

static const struct hdk_panel *panel_at(const struct hdk_depthwise_conv2d *p, const void *panels,
                                        uint32_t channel)
{
    return (const struct hdk_panel *)(const void *)((const uint8_t *)panels +
                                                    channel / HDK_PANEL *
                                                        hdk_panel_bytes(p->kernel_h * p->kernel_w));
}

/* Addresses of the taps of output pixel (oy, ox), at channel 0; the last of an odd number counts
 * nothing. */
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
    *tap = outside; /* beside an odd last one, or to spare */
}

/* Output channels first .. first+n-1, n <= 8, of one pixel. */
static void panel_plain(const struct hdk_depthwise_conv2d *p, const struct hdk_panel *w,
                        const int8_t *const *tap, uint32_t first, uint32_t n, int8_t *y)
{
    uint32_t acc[HDK_PANEL], channel[HDK_PANEL];

    for (uint32_t i = 0; i < n; i++) {
        acc[i] = (uint32_t)w->bias[i];
        channel[i] = p->depth_multiplier == 1 ? first + i : (first + i) / p->depth_multiplier;
    }
    for (uint32_t k = 0; k < taps(p); k++)
        for (uint32_t i = 0; i < n; i++)
            acc[i] += (uint32_t)(tap[k][channel[i]] * (w->w[k / 2][i][k % 2] - p->z_w));
    for (uint32_t i = 0; i < n; i++)
        y[first + i] = hdk_clamp(hdk_rescale((int32_t)acc[i], w->multiplier[i], w->shift[i]),
                                 p->z_out, p->act_min, p->act_max);
}

static void pixel_plain(const struct hdk_depthwise_conv2d *p, const void *panels,
                        const int8_t *const *tap, uint32_t first, int8_t *y)
{
    uint32_t out_c = p->in_c * p->depth_multiplier;

    for (; first < out_c; first += HDK_PANEL)
        panel_plain(p, panel_at(p, panels, first), tap, first,
                    out_c - first < HDK_PANEL ? out_c - first : HDK_PANEL, y);
}

#if HDK_SIMD
/* Sums of eight channels as codes, not yet narrowed. */
HDK_INLINE HDK_AVX2 __m256i panel_avx2(const struct hdk_depthwise_conv2d *p,
                                       const struct hdk_panel *w, const int8_t *const *tap,
                                       uint32_t first)
{
    const __m256i z_w = _mm256_set1_epi16((short)p->z_w);
    __m256i acc = _mm256_loadu_si256((const __m256i *)(const void *)w->bias);
    __m256i m = _mm256_loadu_si256((const __m256i *)(const void *)w->multiplier);
    __m256i shift = _mm256_loadu_si256((const __m256i *)(const void *)w->shift);

    for (uint32_t k = 0; k < taps(p); k += 2) {
        __m128i even = _mm_loadl_epi64((const __m128i *)(const void *)(tap[k] + first));
        __m128i odd = _mm_loadl_epi64((const __m128i *)(const void *)(tap[k + 1] + first));
        __m256i x = _mm256_cvtepi8_epi16(_mm_unpacklo_epi8(even, odd));
        __m256i v =
            _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(const void *)w->w[k / 2]));

        acc = _mm256_add_epi32(acc, _mm256_madd_epi16(x, _mm256_sub_epi16(v, z_w)));
    }
    return _mm256_add_epi32(hdk_rescale8(acc, m, shift), _mm256_set1_epi32(p->z_out));
}

/* Panels that end inside the image's channels; the rest is plain C's. */
static HDK_AVX2 void pixel_avx2(const struct hdk_depthwise_conv2d *p, const void *panels,
                                const int8_t *const *tap, uint32_t first, int8_t *y)
{
    if (p->depth_multiplier == 1)
        for (; first + HDK_PANEL <= p->in_c; first += HDK_PANEL) {
            __m256i v = panel_avx2(p, panel_at(p, panels, first), tap, first);

            hdk_store(y + first, hdk_clamp16(hdk_narrow16(v, v), p->act_min, p->act_max),
                      HDK_PANEL);
        }
    pixel_plain(p, panels, tap, first, y);
}
#endif

typedef void pixel_function(const struct hdk_depthwise_conv2d *p, const void *panels,
                            const int8_t *const *tap, uint32_t first, int8_t *y);

HDK_INLINE void convolve(const struct hdk_depthwise_conv2d *p, const int8_t *x, const void *panels,
                         int8_t *y, void *scratch, pixel_function *pixel)
{
    int8_t *outside = scratch;
    const int8_t **tap = (const int8_t **)(void *)(outside + round_up(p->in_c, 16));

    for (uint32_t c = 0; c < p->in_c; c++)
        outside[c] = (int8_t)p->z_in;
    for (uint32_t b = 0; b < p->batch; b++, x += (uint64_t)p->in_h * p->in_w * p->in_c)
        for (uint32_t oy = 0; oy < p->out_h; oy++)
            for (uint32_t ox = 0; ox < p->out_w; ox++, y += p->in_c * p->depth_multiplier) {
                find_taps(p, x, oy, ox, outside, tap);
                pixel(p, panels, tap, 0, y);
            }
}

#if HDK_SIMD
static HDK_AVX2 void convolve_avx2(const struct hdk_depthwise_conv2d *p, const int8_t *x,
                                   const void *panels, int8_t *y, void *scratch)
{
    convolve(p, x, panels, y, scratch, pixel_avx2);
}
#endif

void hdk_depthwise_conv2d(const struct hdk_depthwise_conv2d *p, const int8_t *x, const void *panels,
                          int8_t *y, void *scratch)
{
#if HDK_SIMD
    if (hdk_has_avx2()) {
        convolve_avx2(p, x, panels, y, scratch);
        return;
    }
#endif
    convolve(p, x, panels, y, scratch, pixel_plain);
}
