/* hdk_depthwise_conv2d.c - DEPTHWISE_CONV_2D: for each output pixel blocks of channels, for each
 * tap inside the image a multiply-add over the block. */
#include "hdk.h"
#include "hdk_math.h"

#define BLOCK 16u /* channels at once: constant, so that compilers vectorise */

/* One output pixel. */
struct pixel {
    const struct hdk_depthwise_conv2d *p;
    const int8_t *x; /* image of the batch */
    const int8_t *w;
    int32_t y0, x0; /* input position of tap (0, 0) */
    uint32_t out_c;
};

static inline void tap_n(uint32_t *restrict acc, const int8_t *restrict x, const int8_t *restrict w,
                         int32_t z_in, int32_t z_w, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        acc[i] += (uint32_t)((x[i] - z_in) * (w[i] - z_w));
}

/* One tap for output channels first .. first+n-1. */
static void tap(const struct pixel *q, const int8_t *x, const int8_t *w, uint32_t first, uint32_t n,
                uint32_t *acc)
{
    const struct hdk_depthwise_conv2d *p = q->p;

    if (p->depth_multiplier == 1 && n == BLOCK)
        tap_n(acc, x + first, w + first, p->z_in, p->z_w, BLOCK);
    else if (p->depth_multiplier == 1)
        tap_n(acc, x + first, w + first, p->z_in, p->z_w, n);
    else
        for (uint32_t i = 0; i < n; i++)
            acc[i] += (uint32_t)((x[(first + i) / p->depth_multiplier] - p->z_in) *
                                 (w[first + i] - p->z_w));
}

static void accumulate(const struct pixel *q, uint32_t first, uint32_t n, uint32_t *acc)
{
    const struct hdk_depthwise_conv2d *p = q->p;

    for (uint32_t ky = 0; ky < p->kernel_h; ky++) {
        int32_t iy = q->y0 + (int32_t)(ky * p->dilation_y);
        if (iy < 0 || iy >= (int32_t)p->in_h)
            continue;
        for (uint32_t kx = 0; kx < p->kernel_w; kx++) {
            int32_t ix = q->x0 + (int32_t)(kx * p->dilation_x);
            if (ix >= 0 && ix < (int32_t)p->in_w)
                tap(q, q->x + ((uint32_t)iy * p->in_w + (uint32_t)ix) * p->in_c,
                    q->w + (ky * p->kernel_w + kx) * q->out_c, first, n, acc);
        }
    }
}

static void convolve(const struct pixel *q, const int32_t *bias, int8_t *y)
{
    const struct hdk_depthwise_conv2d *p = q->p;

    for (uint32_t first = 0; first < q->out_c; first += BLOCK) {
        uint32_t n = q->out_c - first < BLOCK ? q->out_c - first : BLOCK;
        uint32_t acc[BLOCK];

        for (uint32_t i = 0; i < n; i++)
            acc[i] = bias ? (uint32_t)bias[first + i] : 0u;
        accumulate(q, first, n, acc);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t s = p->scale.per_channel ? first + i : 0;
            int32_t v = hdk_rescale((int32_t)acc[i], p->scale.multiplier[s], p->scale.shift[s]);
            y[first + i] = hdk_clamp(v, p->z_out, p->act_min, p->act_max);
        }
    }
}

void hdk_depthwise_conv2d(const struct hdk_depthwise_conv2d *p, const int8_t *x, const int8_t *w,
                          const int32_t *bias, int8_t *y)
{
    uint32_t pixels = p->out_h * p->out_w;
    struct pixel q = {.p = p, .w = w, .out_c = p->in_c * p->depth_multiplier};

    for (uint32_t i = 0; i < p->batch * pixels; i++) {
        q.x = x + (uint64_t)(i / pixels) * p->in_h * p->in_w * p->in_c;
        q.y0 = (int32_t)(i % pixels / p->out_w * p->stride_y) - p->pad_top;
        q.x0 = (int32_t)(i % p->out_w * p->stride_x) - p->pad_left;
        convolve(&q, bias, y + (uint64_t)i * q.out_c);
    }
}
