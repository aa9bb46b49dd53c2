/* vanilla.c - a quantised convolution in plain C: what the core computes, without the core. */
#include "vanilla.h"

/* acc * multiplier * 2^(shift - 31), rounded twice as TFLite does. */
static int32_t requantise(int32_t acc, int32_t multiplier, int32_t shift)
{
    int64_t product = (int64_t)(int32_t)((uint32_t)acc << (shift > 0 ? shift : 0)) * multiplier;
    int32_t high = (int32_t)((product + (product >= 0 ? 1 << 30 : 1 - (1 << 30))) / (1LL << 31));
    int32_t right = shift < 0 ? -shift : 0, mask = (int32_t)((1u << right) - 1);
    return (high >> right) + ((high & mask) > (mask >> 1) + (high < 0));
}

static int32_t dot(const int8_t *x, const int8_t *w, struct vanilla_sizes s, int32_t oy, int32_t ox)
{
    int32_t acc = 0;
    for (int32_t ky = 0; ky < s.kernel_h; ky++)
        for (int32_t kx = 0; kx < s.kernel_w; kx++) {
            int32_t iy = oy * s.stride_h - s.pad_top + ky, ix = ox * s.stride_w - s.pad_left + kx;
            if (iy < 0 || iy >= s.in_h || ix < 0 || ix >= s.in_w)
                continue;
            for (int32_t c = 0; c < s.in_c; c++)
                acc += (x[(iy * s.in_w + ix) * s.in_c + c] - s.z_in) *
                       w[(ky * s.kernel_w + kx) * s.in_c + c];
        }
    return acc;
}

int vanilla_conv2d(const struct hd_port *dev, const int8_t *x, const int8_t *w, const int32_t *bias,
                   const int32_t *multiplier, const int8_t *shift, int8_t *y,
                   struct vanilla_sizes s)
{
    int32_t taps = s.kernel_h * s.kernel_w * s.in_c;
    (void)dev;
    for (int32_t i = 0; i < s.out_h * s.out_w * s.out_c; i++) {
        int32_t c = i % s.out_c, pixel = i / s.out_c, k = s.scales > 1 ? c : 0;
        int32_t acc = dot(x, w + c * taps, s, pixel / s.out_w, pixel % s.out_w);
        acc = requantise(acc + (bias ? bias[c] : 0), multiplier[k], shift[k]) + s.z_out;
        y[i] = (int8_t)(acc < s.act_min ? s.act_min : acc > s.act_max ? s.act_max : acc);
    }
    return 0;
}
