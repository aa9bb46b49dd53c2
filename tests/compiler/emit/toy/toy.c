/* toy.c - see toy.h. */
#include "toy.h"

#define LIMIT(holds)                                                                               \
    if (!(holds))                                                                                  \
    return -1

/* acc * multiplier * 2^(shift - 31), rounded twice, as TFLite does. */
static int8_t requantise(int32_t acc, int32_t multiplier, int32_t shift, int32_t z, int32_t low,
                         int32_t high)
{
    int64_t product = (int64_t)(int32_t)((uint32_t)acc << (shift > 0 ? shift : 0)) * multiplier;
    int32_t v = (int32_t)((product + (product >= 0 ? 1 << 30 : 1 - (1 << 30))) / (1LL << 31));
    int32_t right = shift < 0 ? -shift : 0, mask = (int32_t)((1u << right) - 1);
    v = (v >> right) + ((v & mask) > (mask >> 1) + (v < 0)) + z;
    return (int8_t)(v < low ? low : v > high ? high : v);
}

static int32_t tap(const int8_t *x, const struct toy_sizes *s, int32_t pixel, int32_t k, int32_t c)
{
    int32_t iy = pixel / s->out_w * s->stride_h - s->pad_top + k / s->kernel_w * s->dilation_h;
    int32_t ix = pixel % s->out_w * s->stride_w - s->pad_left + k % s->kernel_w * s->dilation_w;

    return iy < 0 || iy >= s->in_h || ix < 0 || ix >= s->in_w
               ? 0
               : x[(iy * s->in_w + ix) * s->in_c + c] - s->z_in;
}

int toy_conv2d(const int8_t *x, const int8_t *w, const int32_t *bias, const int32_t *multiplier,
               const int8_t *shift, const int32_t *sums_in, int32_t *sums_out, int8_t *y,
               int32_t *scratch, struct toy_sizes s)
{
    const int32_t taps = s.kernel_h * s.kernel_w;

    LIMIT(s.in_w <= 14 && s.in_c <= 12 && s.out_c <= 10 && s.in_h * s.in_w * s.in_c <= 600 &&
          taps * s.in_c * s.out_c <= 500 && s.out_h * s.out_w * s.out_c <= 400);
    for (int32_t pixel = 0; pixel < s.out_h * s.out_w; pixel++) {
        for (int32_t c = 0; c < s.out_c; c++) {
            scratch[c] = sums_in ? sums_in[pixel * s.out_c + c] : bias ? bias[c] : 0;
            for (int32_t i = 0; i < taps * s.in_c; i++)
                scratch[c] += tap(x, &s, pixel, i / s.in_c, i % s.in_c) * w[c * taps * s.in_c + i];
        }
        for (int32_t c = 0; c < s.out_c; c++) {
            const int32_t k = s.scales > 1 ? c : 0, at = pixel * s.out_c + c;
            if (sums_out)
                sums_out[at] = scratch[c];
            else
                y[at] =
                    requantise(scratch[c], multiplier[k], shift[k], s.z_out, s.act_min, s.act_max);
        }
    }
    return 0;
}

int toy_depthwise(const int8_t *x, const int8_t *w, const int32_t *bias, const int32_t *multiplier,
                  const int8_t *shift, int8_t *y, int32_t depth, struct toy_sizes s)
{
    LIMIT(s.in_c <= 6 && s.in_h <= 9 && s.in_h * s.in_w * s.in_c <= 300);
    for (int32_t i = 0; i < s.out_h * s.out_w * s.out_c; i++) {
        const int32_t c = i % s.out_c, k = s.scales > 1 ? c : 0;
        int32_t sum = bias ? bias[c] : 0;
        for (int32_t t = 0; t < s.kernel_h * s.kernel_w; t++)
            sum += tap(x, &s, i / s.out_c, t, c / depth) * w[t * s.out_c + c];
        y[i] = requantise(sum, multiplier[k], shift[k], s.z_out, s.act_min, s.act_max);
    }
    return 0;
}

int toy_dense(const int8_t *x, const int8_t *w, const int32_t *bias, const int32_t *multiplier,
              const int8_t *shift, const int32_t *sums_in, int32_t *sums_out, int8_t *y,
              int32_t rows, int32_t in_c, int32_t out_c, int32_t z_in, int32_t z_out,
              int32_t act_min, int32_t act_max, int32_t scales)
{
    LIMIT(rows <= 2 && in_c <= 32 && out_c <= 6 && in_c * out_c <= 128);
    for (int32_t i = 0; i < rows * out_c; i++) {
        const int32_t c = i % out_c, k = scales > 1 ? c : 0;
        int32_t sum = sums_in ? sums_in[i] : bias ? bias[c] : 0;
        for (int32_t t = 0; t < in_c; t++)
            sum += (x[i / out_c * in_c + t] - z_in) * w[t * out_c + c];
        if (sums_out)
            sums_out[i] = sum;
        else
            y[i] = requantise(sum, multiplier[k], shift[k], z_out, act_min, act_max);
    }
    return 0;
}
