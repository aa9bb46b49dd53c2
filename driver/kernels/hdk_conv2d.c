/* hdk_conv2d.c - CONV_2D: each output pixel gathers its window into strips, every output channel
 * takes the dot product of its weights with them. */
#include "hdk.h"
#include "hdk_dot.h"
#include "hdk_math.h"

/* One output pixel of one group. */
struct pixel {
    const struct hdk_conv2d *p;
    const int8_t *x; /* image of the batch, at the group's first channel */
    int32_t y0, x0;  /* input position of tap (0, 0) */
    uint32_t c;      /* channels of the group */
};

/* Lanes first .. first+n-1 of the window, in weight order (ky, kx, c). Outside the image: 0. */
static void gather(const struct pixel *q, uint32_t first, uint32_t n, int16_t *strip)
{
    const struct hdk_conv2d *p = q->p;
    uint32_t tap = first / q->c, c = first % q->c;

    for (uint32_t at = 0; at < n; tap++, c = 0) {
        int32_t iy = q->y0 + (int32_t)(tap / p->kernel_w * p->dilation_y);
        int32_t ix = q->x0 + (int32_t)(tap % p->kernel_w * p->dilation_x);
        uint32_t len = q->c - c < n - at ? q->c - c : n - at;

        if (iy < 0 || ix < 0 || iy >= (int32_t)p->in_h || ix >= (int32_t)p->in_w) {
            for (uint32_t i = 0; i < len; i++)
                strip[at + i] = 0;
        } else {
            const int8_t *x = q->x + ((uint32_t)iy * p->in_w + (uint32_t)ix) * p->in_c + c;
            for (uint32_t i = 0; i < len; i++)
                strip[at + i] = (int16_t)(x[i] - p->z_in);
        }
        at += len;
    }
}

/* Output channels first .. first+n-1 (at most HDK_BLOCK): sums over the whole window. A window of
 * one strip is gathered by the first block only. */
static void accumulate(const struct pixel *q, const int8_t *w, uint32_t n, int fresh,
                       int16_t *strip, uint32_t *acc)
{
    uint32_t k = q->p->kernel_h * q->p->kernel_w * q->c;

    for (uint32_t first = 0; first < k; first += HDK_STRIP) {
        uint32_t len = k - first < HDK_STRIP ? k - first : HDK_STRIP;
        uint32_t correction = 0;

        if (fresh || k > HDK_STRIP)
            gather(q, first, len, strip);
        if (q->p->z_w)
            correction = (uint32_t)q->p->z_w * hdk_total(strip, len);
        for (uint32_t o = 0; o < n; o++)
            acc[o] += hdk_dot(strip, w + o * k + first, len) - correction;
    }
}

/* All channels of one group at one pixel; w, bias and y at the group's first output channel `base`.
 */
static void convolve(const struct pixel *q, const int8_t *w, const int32_t *bias, uint32_t base,
                     uint32_t channels, int8_t *y)
{
    const struct hdk_conv2d *p = q->p;
    uint32_t k = p->kernel_h * p->kernel_w * q->c;
    int16_t strip[HDK_STRIP];

    for (uint32_t first = 0; first < channels; first += HDK_BLOCK) {
        uint32_t n = channels - first < HDK_BLOCK ? channels - first : HDK_BLOCK;
        uint32_t acc[HDK_BLOCK];

        for (uint32_t o = 0; o < n; o++)
            acc[o] = bias ? (uint32_t)bias[base + first + o] : 0u;
        accumulate(q, w + (base + first) * k, n, first == 0, strip, acc);
        for (uint32_t o = 0; o < n; o++) {
            uint32_t i = p->scale.per_channel ? base + first + o : 0;
            int32_t v = hdk_rescale((int32_t)acc[o], p->scale.multiplier[i], p->scale.shift[i]);
            y[base + first + o] = hdk_clamp(v, p->z_out, p->act_min, p->act_max);
        }
    }
}

void hdk_conv2d(const struct hdk_conv2d *p, const int8_t *x, const int8_t *w, const int32_t *bias,
                int8_t *y)
{
    uint32_t groups = p->groups ? p->groups : 1;
    uint32_t pixels = p->out_h * p->out_w;
    struct pixel q = {.p = p, .c = p->in_c / groups};

    for (uint32_t i = 0; i < p->batch * pixels; i++) {
        const int8_t *image = x + (uint64_t)(i / pixels) * p->in_h * p->in_w * p->in_c;

        q.y0 = (int32_t)(i % pixels / p->out_w * p->stride_y) - p->pad_top;
        q.x0 = (int32_t)(i % p->out_w * p->stride_x) - p->pad_left;
        for (uint32_t g = 0; g < groups; g++) {
            q.x = image + g * q.c;
            convolve(&q, w, bias, g * (p->out_c / groups), p->out_c / groups,
                     y + (uint64_t)i * p->out_c);
        }
    }
}
