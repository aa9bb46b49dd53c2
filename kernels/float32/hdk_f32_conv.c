/* hdk_f32_conv.c - float32 convolutions. Sixteen output channels and up to four neighbouring pixels
 * at a time: each of the 64 sums adds its taps one after the other, so that plain C, AVX2 and the
 * reference give the same bytes. */
#include <stddef.h>

#include "hdk_f32.h"
#include "hdk_simd.h"

#define LANES  HDK_F32_LANES
#define PIXELS 4u

/* acc[p][j] += x[p * step + i] * w[i * LANES + j] for i = 0 .. n-1 in this order. */
typedef void run_fn(float acc[PIXELS][LANES], uint32_t pixels, const float *x, size_t step,
                    const float *w, size_t n);

static void run_plain(float acc[PIXELS][LANES], uint32_t pixels, const float *x, size_t step,
                      const float *w, size_t n)
{
    for (uint32_t p = 0; p < pixels; p++)
        for (size_t i = 0; i < n; i++)
            for (uint32_t j = 0; j < LANES; j++) {
                const float product = x[p * step + i] * w[i * LANES + j];

                acc[p][j] += product;
            }
}

#if HDK_SIMD
/* `pixels` is a constant of each caller: the sums stay in registers. */
HDK_INLINE HDK_AVX2 void run_of(float acc[PIXELS][LANES], uint32_t pixels, const float *x,
                                size_t step, const float *w, size_t n)
{
    __m256 low[PIXELS], high[PIXELS];

    for (uint32_t p = 0; p < pixels; p++) {
        low[p] = _mm256_loadu_ps(acc[p]);
        high[p] = _mm256_loadu_ps(acc[p] + 8);
    }
    for (size_t i = 0; i < n; i++) {
        const __m256 w0 = _mm256_loadu_ps(w + i * LANES), w1 = _mm256_loadu_ps(w + i * LANES + 8);

        for (uint32_t p = 0; p < pixels; p++) {
            const __m256 v = _mm256_broadcast_ss(x + p * step + i);

            low[p] = _mm256_add_ps(low[p], _mm256_mul_ps(v, w0));
            high[p] = _mm256_add_ps(high[p], _mm256_mul_ps(v, w1));
        }
    }
    for (uint32_t p = 0; p < pixels; p++) {
        _mm256_storeu_ps(acc[p], low[p]);
        _mm256_storeu_ps(acc[p] + 8, high[p]);
    }
}

static HDK_AVX2 void run_avx2(float acc[PIXELS][LANES], uint32_t pixels, const float *x,
                              size_t step, const float *w, size_t n)
{
    switch (pixels) {
    case 1: run_of(acc, 1, x, step, w, n); return;
    case 2: run_of(acc, 2, x, step, w, n); return;
    case 3: run_of(acc, 3, x, step, w, n); return;
    default: run_of(acc, 4, x, step, w, n); return;
    }
}
#endif

static run_fn *best_run(void)
{
#if HDK_SIMD
    if (hdk_has_avx2())
        return run_avx2;
#endif
    return run_plain;
}

/* First and one past the last k with 0 <= at + k * step < size. */
struct range {
    uint32_t from, to;
};

static struct range taps_inside(int32_t at, uint32_t step, uint32_t kernel, uint32_t size)
{
    const int64_t d = step;
    struct range r = {0, 0};

    if (at < 0)
        r.from = (uint32_t)((d - 1 - at) / d);
    if (at < (int64_t)size)
        r.to = (uint32_t)(((int64_t)size - at + d - 1) / d);
    r.to = r.to < kernel ? r.to : kernel;
    r.from = r.from < r.to ? r.from : r.to;
    return r;
}

static struct range columns(const struct hdk_f32_conv *p, uint32_t ox)
{
    return taps_inside((int32_t)(ox * p->stride_x) - p->pad_left, p->dilation_x, p->kernel_w,
                       p->in_w);
}

/* The inputs of one row of one block of output channels. */
struct row {
    const struct hdk_f32_conv *p;
    run_fn *run;
    const float *x, *w; /* the image's group of channels, the block's panel */
    int32_t iy;
    struct range ky;
    uint32_t channels; /* input channels of the group */
};

static void sum_pixels(const struct row *r, uint32_t ox, uint32_t pixels, struct range kx,
                       float acc[PIXELS][LANES])
{
    const struct hdk_f32_conv *p = r->p;
    const size_t step = (size_t)p->stride_x * p->in_c, c = r->channels;
    const int dense = p->dilation_x == 1 && c == p->in_c; /* a row of taps is one piece */
    const uint32_t pieces = dense ? (kx.from < kx.to) : kx.to - kx.from;
    const int64_t ix = (int64_t)ox * p->stride_x - p->pad_left;

    for (uint32_t ky = r->ky.from; ky < r->ky.to; ky++)
        for (uint32_t i = 0; i < pieces; i++) {
            const uint32_t k = kx.from + i;
            const int64_t at =
                (r->iy + (int64_t)ky * p->dilation_y) * p->in_w + ix + (int64_t)k * p->dilation_x;

            r->run(acc, pixels, r->x + (size_t)at * p->in_c, step,
                   r->w + ((size_t)ky * p->kernel_w + k) * c * LANES,
                   dense ? (kx.to - kx.from) * c : c);
        }
}

static inline float bias_of(const struct hdk_f32_conv *p, uint32_t channel)
{
    return p->bias ? p->bias[channel] : 0;
}

/* Channels oc .. oc+n-1 of one row of the output. */
static void conv_row(const struct row *r, uint32_t oc, uint32_t n, float *y)
{
    const struct hdk_f32_conv *p = r->p;
    uint32_t pixels;

    for (uint32_t ox = 0; ox < p->out_w; ox += pixels) {
        const struct range kx = columns(p, ox);
        float acc[PIXELS][LANES];

        for (pixels = 1; pixels < PIXELS && ox + pixels < p->out_w; pixels++) {
            const struct range next = columns(p, ox + pixels);

            if (next.from != kx.from || next.to != kx.to)
                break;
        }
        for (uint32_t i = 0; i < pixels; i++)
            for (uint32_t j = 0; j < LANES; j++)
                acc[i][j] = 0;
        sum_pixels(r, ox, pixels, kx, acc);
        for (uint32_t i = 0; i < pixels; i++)
            for (uint32_t j = 0; j < n; j++)
                y[(size_t)(ox + i) * p->out_c + oc + j] =
                    hdk_f32_clamp(acc[i][j] + bias_of(p, oc + j), p->low, p->high);
    }
}

/* Take a convolution of one cell without padding or steps as one long row, which fills the
 * tiles. */
static struct hdk_f32_conv flattened(const struct hdk_f32_conv *p)
{
    struct hdk_f32_conv q = *p;

    if (p->kernel_h * p->kernel_w == 1 && p->stride_y == 1 && p->stride_x == 1 && p->pad_top == 0 &&
        p->pad_left == 0 && p->out_h == p->in_h && p->out_w == p->in_w) {
        q.in_w = q.out_w = p->batch * p->in_h * p->in_w;
        q.batch = q.in_h = q.out_h = 1;
    }
    return q;
}

void hdk_f32_conv2d(const struct hdk_f32_conv *layer, const float *x, float *y)
{
    const struct hdk_f32_conv q = flattened(layer), *p = &q;
    const uint32_t in_c = p->in_c / p->groups, out_c = p->out_c / p->groups;
    const size_t taps = (size_t)p->kernel_h * p->kernel_w * in_c;
    struct row r = {.p = p, .run = best_run(), .w = p->w, .channels = in_c};

    for (uint32_t g = 0; g < p->groups; g++)
        for (uint32_t oc = 0; oc < out_c; oc += LANES, r.w += taps * LANES)
            for (uint32_t i = 0; i < p->batch * p->out_h; i++) {
                const uint32_t oy = i % p->out_h, n = out_c - oc < LANES ? out_c - oc : LANES;

                r.x = x + (size_t)(i / p->out_h) * p->in_h * p->in_w * p->in_c + g * in_c;
                r.iy = (int32_t)(oy * p->stride_y) - p->pad_top;
                r.ky = taps_inside(r.iy, p->dilation_y, p->kernel_h, p->in_h);
                conv_row(&r, g * out_c + oc, n, y + (size_t)i * p->out_w * p->out_c);
            }
}

/* acc[c] += x[c / multiplier] * w[c]. */
static void add_tap(float *acc, const float *x, const float *w, uint32_t n, uint32_t multiplier)
{
    if (multiplier == 1) {
        for (uint32_t c = 0; c < n; c++) {
            const float product = x[c] * w[c];

            acc[c] += product;
        }
        return;
    }
    for (uint32_t c = 0; c < n; c += multiplier, x++)
        for (uint32_t i = c; i < c + multiplier; i++) {
            const float product = *x * w[i];

            acc[i] += product;
        }
}

void hdk_f32_depthwise_conv2d(const struct hdk_f32_conv *p, const float *x, float *y)
{
    const size_t image = (size_t)p->in_h * p->in_w * p->in_c;

    for (uint32_t i = 0; i < p->batch * p->out_h * p->out_w; i++, y += p->out_c) {
        const uint32_t ox = i % p->out_w, oy = i / p->out_w % p->out_h;
        const float *from = x + i / p->out_w / p->out_h * image;
        const int32_t iy = (int32_t)(oy * p->stride_y) - p->pad_top;
        const int32_t ix = (int32_t)(ox * p->stride_x) - p->pad_left;
        const struct range rows = taps_inside(iy, p->dilation_y, p->kernel_h, p->in_h);
        const struct range cols = columns(p, ox);

        for (uint32_t c = 0; c < p->out_c; c++)
            y[c] = 0;
        for (uint32_t ky = rows.from; ky < rows.to; ky++)
            for (uint32_t kx = cols.from; kx < cols.to; kx++) {
                const int64_t at =
                    (iy + (int64_t)ky * p->dilation_y) * p->in_w + ix + (int64_t)kx * p->dilation_x;

                add_tap(y, from + (size_t)at * p->in_c,
                        p->w + (size_t)(ky * p->kernel_w + kx) * p->out_c, p->out_c,
                        p->out_c / p->in_c);
            }
        for (uint32_t c = 0; c < p->out_c; c++)
            y[c] = hdk_f32_clamp(y[c] + bias_of(p, c), p->low, p->high);
    }
}

/* Sum of one output of TRANSPOSE_CONV. */
static float gather_taps(const struct hdk_f32_conv *p, const float *x, const float *w, int32_t oy,
                         int32_t ox)
{
    float sum = 0;

    for (int32_t ky = 0; ky < (int32_t)p->kernel_h; ky++)
        for (int32_t kx = 0; kx < (int32_t)p->kernel_w; kx++) {
            const int32_t ty = oy + p->pad_top - ky * (int32_t)p->dilation_y,
                          tx = ox + p->pad_left - kx * (int32_t)p->dilation_x;
            const int32_t sy = (int32_t)p->stride_y, sx = (int32_t)p->stride_x;
            const float *to = w + (size_t)(ky * (int32_t)p->kernel_w + kx) * p->in_c, *from;

            if (ty < 0 || tx < 0 || ty % sy != 0 || tx % sx != 0 || ty / sy >= (int32_t)p->in_h ||
                tx / sx >= (int32_t)p->in_w)
                continue;
            from = x + ((size_t)(ty / sy) * p->in_w + (size_t)(tx / sx)) * p->in_c;
            for (uint32_t c = 0; c < p->in_c; c++) {
                const float product = from[c] * to[c];

                sum += product;
            }
        }
    return sum;
}

void hdk_f32_transpose_conv(const struct hdk_f32_conv *p, const float *x, float *y)
{
    const size_t image = (size_t)p->in_h * p->in_w * p->in_c,
                 taps = (size_t)p->kernel_h * p->kernel_w * p->in_c;

    for (uint32_t i = 0; i < p->batch * p->out_h * p->out_w; i++)
        for (uint32_t oc = 0; oc < p->out_c; oc++) {
            const float sum =
                gather_taps(p, x + i / p->out_w / p->out_h * image, p->w + oc * taps,
                            (int32_t)(i / p->out_w % p->out_h), (int32_t)(i % p->out_w));

            *y++ = hdk_f32_clamp(sum + bias_of(p, oc), p->low, p->high);
        }
}
