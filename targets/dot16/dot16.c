/* dot16.c - a unit that adds up eight products of int16 and int8 a step, as plain C. */
#include "dot16.h"

#define LANES 8

/* One step of the unit: eight products, or the remaining ones. */
static int64_t step(const int16_t *x, const int8_t *w, int32_t n)
{
    int64_t sum = 0;
    for (int32_t i = 0; i < n; i++)
        sum += (int32_t)x[i] * w[i];
    return sum;
}

static int64_t dot(const int16_t *x, const int8_t *w, int32_t n)
{
    int64_t sum = 0;
    for (int32_t i = 0; i < n; i += LANES)
        sum += step(x + i, w + i, n - i < LANES ? n - i : LANES);
    return sum;
}

/* acc * m * 2^(shift - 31) by the upper 15 bits of m, rounded once, halves up, as TFLite does. */
static int32_t requantise(int64_t acc, int32_t m, int32_t shift)
{
    int64_t high = m < 0x7fff0000 ? (m + (1 << 15)) >> 16 : 0x7fff;
    return (int32_t)((acc * high + ((int64_t)1 << (14 - shift))) >> (15 - shift));
}

int dot16_conv2d(const int16_t *x, const int8_t *w, const int64_t *bias, int16_t *y,
                 const struct dot16_sizes *s, const int32_t *multiplier, const int8_t *shift,
                 int32_t scales, int32_t act_min, int32_t act_max)
{
    int32_t taps = s->kernel_h * s->kernel_w;
    for (int32_t i = 0; i < s->out_h * s->out_w * s->out_c; i++) {
        int32_t c = i % s->out_c, one = scales > 1 ? c : 0;
        int32_t top = i / s->out_c / s->out_w * s->stride_h - s->pad_top,
                left = i / s->out_c % s->out_w * s->stride_w - s->pad_left;
        int64_t acc = bias ? bias[c] : 0;
        for (int32_t k = 0; k < taps; k++) {
            int32_t iy = top + k / s->kernel_w, ix = left + k % s->kernel_w;
            if (iy >= 0 && iy < s->in_h && ix >= 0 && ix < s->in_w)
                acc +=
                    dot(x + (iy * s->in_w + ix) * s->in_c, w + (c * taps + k) * s->in_c, s->in_c);
        }
        int32_t v = requantise(acc, multiplier[one], shift[one]);
        y[i] = (int16_t)(v < act_min ? act_min : v > act_max ? act_max : v);
    }
    return 0;
}
