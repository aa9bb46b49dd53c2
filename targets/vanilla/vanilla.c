/* vanilla.c - a quantised convolution on the core, or in plain C where there is no core. */
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

/* Operands into the core's memory, addresses and sizes into its registers, start, wait, result. */
static int on_core(const struct hd_port *dev, const void *const operand[5], const size_t n_bytes[5],
                   int8_t *y, const struct vanilla_sizes *s)
{
    const int32_t *size = &s->in_h;
    uint32_t at = 0;
    for (uint32_t i = 0; i < 5; i++) { /* x, w, bias, multiplier, shift: registers 1 to 5 */
        int rc = operand[i] ? dev->to_device(dev->ctx, at, operand[i], n_bytes[i]) : 0;
        if (rc != 0)
            return rc;
        dev->write32(dev->ctx, 4 * (1 + i), at);
        at += ((uint32_t)n_bytes[i] + 7) / 8 * 8;
    }
    dev->write32(dev->ctx, 4 * 6, at);
    dev->write32(dev->ctx, 4 * 7, operand[2] != 0);
    for (uint32_t i = 0; i < sizeof *s / 4; i++)
        dev->write32(dev->ctx, 4 * (8 + i), (uint32_t)size[i]);
    dev->write32(dev->ctx, 0, 1);
    int rc = dev->wait_irq(dev->ctx, 2000000000);
    dev->write32(dev->ctx, 0, 0);
    return rc ? rc : dev->from_device(dev->ctx, y, at, (size_t)(s->out_h * s->out_w * s->out_c));
}

int vanilla_conv2d(const struct hd_port *dev, const int8_t *x, const int8_t *w, const int32_t *bias,
                   const int32_t *multiplier, const int8_t *shift, int8_t *y,
                   struct vanilla_sizes s)
{
    int32_t taps = s.kernel_h * s.kernel_w * s.in_c;
    if (dev) {
        const void *const operand[5] = {x, w, bias, multiplier, shift};
        size_t x_bytes = (size_t)(s.in_h * s.in_w * s.in_c), n = (size_t)s.scales;
        const size_t n_bytes[5] = {x_bytes, (size_t)(taps * s.out_c), 4 * (size_t)s.out_c, 4 * n,
                                   n};
        return on_core(dev, operand, n_bytes, y, &s);
    }
    for (int32_t i = 0; i < s.out_h * s.out_w * s.out_c; i++) {
        int32_t c = i % s.out_c, pixel = i / s.out_c, k = s.scales > 1 ? c : 0;
        int32_t acc = dot(x, w + c * taps, s, pixel / s.out_w, pixel % s.out_w);
        acc = requantise(acc + (bias ? bias[c] : 0), multiplier[k], shift[k]) + s.z_out;
        y[i] = (int8_t)(acc < s.act_min ? s.act_min : acc > s.act_max ? s.act_max : acc);
    }
    return 0;
}
