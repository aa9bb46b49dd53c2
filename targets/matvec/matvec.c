/* matvec.c - sums on the core, or in plain C where there is none; bias and requantisation here. */
#include "matvec.h"

/* acc * multiplier * 2^(shift - 31), rounded twice as TFLite does. */
static int32_t requantise(int32_t acc, int32_t multiplier, int32_t shift)
{
    int64_t product = (int64_t)(int32_t)((uint32_t)acc << (shift > 0 ? shift : 0)) * multiplier;
    int32_t high = (int32_t)((product + (product >= 0 ? 1 << 30 : 1 - (1 << 30))) / (1LL << 31));
    int32_t right = shift < 0 ? -shift : 0, mask = (int32_t)((1u << right) - 1);
    return (high >> right) + ((high & mask) > (mask >> 1) + (high < 0));
}

/* x at 0, then w, then the sums, each row filled up to whole beats with zeros in w. */
static int on_core(const struct hd_port *dev, const int8_t *x, const int8_t *w, int32_t *sum,
                   struct matvec_sizes s, int8_t *row)
{
    const uint32_t beat = (uint32_t)s.beat, align = 16 * beat; /* a burst */
    uint32_t beats = ((uint32_t)s.in + beat - 1) / beat, n = beats * beat;
    uint32_t at_w = (n + align - 1) / align * align;
    uint32_t at_y = at_w + (n * (uint32_t)s.out + align - 1) / align * align;
    const uint32_t value[] = {0, at_w, at_y, beats, (uint32_t)s.out, (uint32_t)s.z_in};
    int rc = 0;

    for (int32_t i = -1; i < s.out && rc == 0; i++) { /* x, then the rows of w */
        const int8_t *from = i < 0 ? x : w + (size_t)i * (size_t)s.in;
        for (uint32_t k = 0; k < n; k++)
            row[k] = k < (uint32_t)s.in ? from[k] : 0;
        rc = dev->to_device(dev->ctx, i < 0 ? 0 : at_w + (uint32_t)i * n, row, n);
    }
    for (uint32_t i = 0; i < 6; i++)
        dev->write32(dev->ctx, 4 + 4 * i, value[i]);
    dev->write32(dev->ctx, 0, 1);
    rc = rc ? rc : dev->wait_irq(dev->ctx, 2000000000);
    dev->write32(dev->ctx, 0, 0);
    return rc ? rc : dev->from_device(dev->ctx, sum, at_y, 4 * (size_t)s.out);
}

int matvec(const struct hd_port *dev, const int8_t *x, const int8_t *w, const int32_t *bias,
           const int32_t *multiplier, const int8_t *shift, int8_t *y, struct matvec_sizes s,
           void *scratch)
{
    int32_t *sum = scratch;
    int rc = dev ? on_core(dev, x, w, sum, s, (int8_t *)(sum + s.out)) : 0;

    for (int32_t n = 0; n < s.out && rc == 0; n++) {
        if (!dev) {
            sum[n] = 0;
            for (int32_t k = 0; k < s.in; k++)
                sum[n] += (x[k] - s.z_in) * w[n * s.in + k];
        }
        int32_t i = s.scales > 1 ? n : 0;
        int32_t v = requantise(sum[n] + (bias ? bias[n] : 0), multiplier[i], shift[i]) + s.z_out;
        y[n] = (int8_t)(v < s.act_min ? s.act_min : v > s.act_max ? s.act_max : v);
    }
    return rc;
}
