/* fused.c - see fused.h. */
#include "fused.h"

#include <math.h>

/* acc * multiplier * 2^(shift - 31), rounded twice as TFLite does. */
static int32_t requantise(int32_t acc, int32_t multiplier, int32_t shift)
{
    int64_t product = (int64_t)(int32_t)((uint32_t)acc << (shift > 0 ? shift : 0)) * multiplier;
    int32_t high = (int32_t)((product + (product >= 0 ? 1 << 30 : 1 - (1 << 30))) / (1LL << 31));
    int32_t right = shift < 0 ? -shift : 0, mask = (int32_t)((1u << right) - 1);
    return (high >> right) + ((high & mask) > (mask >> 1) + (high < 0));
}

static int32_t clamp(int32_t v, int32_t low, int32_t high)
{
    return v < low ? low : v > high ? high : v;
}

/* One output of a convolution. */
static int32_t conv_at(const int8_t *x, const struct fused_conv *s, int32_t oy, int32_t ox,
                       int32_t c)
{
    int32_t acc = s->bias ? s->bias[c] : 0, one = s->scales > 1 ? c : 0;
    for (int32_t k = 0; k < s->kernel_h * s->kernel_w; k++) {
        int32_t iy = oy * s->stride_h - s->pad_top + k / s->kernel_w,
                ix = ox * s->stride_w - s->pad_left + k % s->kernel_w;
        if (iy < 0 || iy >= s->in_h || ix < 0 || ix >= s->in_w)
            continue;
        const int8_t *p = x + (iy * s->in_w + ix) * s->in_c,
                     *w = s->w + (c * s->kernel_h * s->kernel_w + k) * s->in_c;
        for (int32_t i = 0; i < s->in_c; i++)
            acc += (p[i] - s->z_in) * w[i];
    }
    acc = requantise(acc, s->multiplier[one], s->shift[one]) + s->z_out;
    return clamp(acc, s->act_min, s->act_max);
}

static int32_t sum(const struct fused_add *s, int32_t a, int32_t b)
{
    a = requantise((a - s->z_a) * (1 << 20), s->multiplier[0], s->shift[0]);
    b = requantise((b - s->z_b) * (1 << 20), s->multiplier[1], s->shift[1]);
    a = requantise(a + b, s->multiplier[2], s->shift[2]) + s->z_y;
    return clamp(a, s->act_min, s->act_max);
}

int fused_conv_add(const int8_t *x, const int8_t *other, int8_t *y, const struct fused_conv *conv,
                   const struct fused_add *add)
{
    int32_t w = conv->out_w, c = conv->out_c;
    for (int32_t i = 0; i < conv->out_h * w * c; i++)
        y[i] = (int8_t)sum(add, conv_at(x, conv, i / c / w, i / c % w, i % c), other[i]);
    return 0;
}

int fused_block(const int8_t *x, int8_t *y, const struct fused_conv *first,
                const struct fused_conv *second, const struct fused_add *add)
{
    int8_t between[FUSED_BLOCK_BYTES];
    int32_t w = first->out_w, c = first->out_c;
    for (int32_t i = 0; i < first->out_h * w * c; i++)
        between[i] = (int8_t)conv_at(x, first, i / c / w, i / c % w, i % c);
    return fused_conv_add(between, x, y, second, add);
}

/* pool: out_h, out_w, kernel_h, kernel_w, stride_h, stride_w */
int fused_conv_pool(const int8_t *x, int8_t *y, const struct fused_conv *conv,
                    const int32_t pool[6], int32_t act_min, int32_t act_max)
{
    for (int32_t i = 0; i < pool[0] * pool[1] * conv->out_c; i++) {
        int32_t c = i % conv->out_c, most = -128;
        int32_t top = i / conv->out_c / pool[1] * pool[4],
                left = i / conv->out_c % pool[1] * pool[5];
        for (int32_t k = 0; k < pool[2] * pool[3]; k++) {
            int32_t v = conv_at(x, conv, top + k / pool[3], left + k % pool[3], c);
            most = v > most ? v : most;
        }
        y[i] = (int8_t)clamp(most, act_min, act_max);
    }
    return 0;
}

int fused_dense_softmax(const float *x, const float *w, const float *bias, float *y, int32_t rows,
                        int32_t in_c, int32_t out_c, float low, float high)
{
    for (int32_t r = 0; r < rows; r++) {
        float *to = y + r * out_c, most = -INFINITY, all = 0;
        for (int32_t c = 0; c < out_c; c++) {
            float acc = bias ? bias[c] : 0;
            for (int32_t i = 0; i < in_c; i++)
                acc += x[r * in_c + i] * w[c * in_c + i];
            to[c] = acc < low ? low : acc > high ? high : acc;
            most = to[c] > most ? to[c] : most;
        }
        for (int32_t c = 0; c < out_c; c++)
            all += to[c] = expf(to[c] - most);
        for (int32_t c = 0; c < out_c; c++)
            to[c] /= all;
    }
    return 0;
}

int fused_layer_norm(const float *x, const float *epsilon, const float *gamma, const float *beta,
                     float *y, int32_t rows, int32_t channels)
{
    for (int32_t r = 0; r < rows; r++, x += channels, y += channels) {
        float mean = 0, square = 0;
        for (int32_t c = 0; c < channels; c++)
            mean += x[c];
        mean /= (float)channels;
        for (int32_t c = 0; c < channels; c++)
            square += (x[c] - mean) * (x[c] - mean);
        float over = 1 / sqrtf(square / (float)channels + epsilon[0]);
        for (int32_t c = 0; c < channels; c++)
            y[c] = x[c] * (over * gamma[c]) + (beta[c] - mean * (over * gamma[c]));
    }
    return 0;
}
