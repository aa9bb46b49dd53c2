/* kernels_product.c - host kernels of sums of products over terms. */
#include "kernels.h"

#include <string.h>

#include "kernels/hdk.h"

/* The constant of `channel` in an array of int32, 0 without one; false if it is computed. */
static bool constant(const uint32_t *t, uint32_t channel, int32_t *v)
{
    uint8_t byte[4];

    for (uint32_t b = 0; t && b < 4; b++) {
        if (!prove_is_constant(t[channel * 4 + b]))
            return false;
        byte[b] = (uint8_t)(t[channel * 4 + b] - 128);
    }
    *v = 0;
    if (t)
        memcpy(v, byte, 4);
    return true;
}

/* The sum of the taps that cover a pixel of one filter. */
static struct prove_sum covered(const struct prove *v, const struct hdk_transpose_conv *p,
                                const uint32_t *x, const uint32_t *w, int64_t oy, int64_t ox)
{
    struct prove_sum s = {0};

    for (int64_t ky = 0; ky < p->kernel_h; ky++)
        for (int64_t kx = 0; kx < p->kernel_w; kx++) {
            const int64_t y = oy + p->pad_top - ky, iy = y / p->stride_y, z = ox + p->pad_left - kx,
                          ix = z / p->stride_x;

            if (y < 0 || y % p->stride_y || iy >= p->in_h || z < 0 || z % p->stride_x ||
                ix >= p->in_w)
                continue;
            for (int64_t c = 0; c < p->in_c; c++)
                prove_add_product(&s, v, x[(iy * p->in_w + ix) * p->in_c + c], -p->z_in,
                                  w[(ky * p->kernel_w + kx) * p->in_c + c], -p->z_w);
        }
    return s;
}

void prove_transpose_conv(struct prove_package *k, const void *params, void *const *arg)
{
    const struct hdk_transpose_conv *p = params;
    const uint64_t filter = (uint64_t)p->kernel_h * p->kernel_w * p->in_c,
                   image = (uint64_t)p->in_h * p->in_w * p->in_c,
                   pixels = (uint64_t)p->out_h * p->out_w,
                   n = (uint64_t)p->batch * pixels * p->out_c;
    const uint32_t *x = prove_read(k, arg[0], p->batch * image),
                   *w = prove_read(k, arg[1], p->out_c * filter),
                   *bias = arg[3] ? prove_read(k, arg[3], p->out_c * UINT64_C(4)) : NULL;
    uint32_t *y = prove_write(k, arg[2], n);

    for (uint64_t i = 0; y && i < n; i++) {
        const uint32_t channel = (uint32_t)(i % p->out_c), at = p->scale.per_channel ? channel : 0;
        const uint64_t pixel = i / p->out_c % pixels, batch = i / p->out_c / pixels;
        struct prove_sum s = covered(k->p, p, x + batch * image, w + channel * filter,
                                     (int64_t)(pixel / p->out_w), (int64_t)(pixel % p->out_w));
        int32_t b;

        if (!constant(bias, channel, &b)) {
            y[i] = prove_unknown(k->p, "a bias that is computed");
            continue;
        }
        prove_shift(&s, b);
        y[i] = prove_requantise(k->p, &s, p->scale.multiplier[at], p->scale.shift[at], p->z_out,
                                p->act_min, p->act_max);
    }
}
