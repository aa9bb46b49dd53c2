/* pools.c - see pools.h. A target to plant bugs in: ../bugs.txt. */
#include "pools.h"

/* acc * multiplier * 2^(shift - 31), rounded twice as TFLite does. */
static int32_t requantise(int32_t acc, int32_t multiplier, int32_t shift)
{
    int64_t product = (int64_t)(int32_t)((uint32_t)acc << (shift > 0 ? shift : 0)) * multiplier;
    int32_t high = (int32_t)((product + (product >= 0 ? 1 << 30 : 1 - (1 << 30))) / (1LL << 31));
    int32_t right = shift < 0 ? -shift : 0, mask = (int32_t)((1u << right) - 1);
    return (high >> right) + ((high & mask) > (mask >> 1) + (high < 0));
}

static int8_t clamp(int32_t v, int32_t low, int32_t high)
{
    return (int8_t)(v < low ? low : v > high ? high : v);
}

/* The input that tap k of output i meets; NULL: padding. */
static const int8_t *tap(const int8_t *x, const struct pools_sizes *s, int32_t i, int32_t k)
{
    int32_t oy = i / s->out_w, ox = i % s->out_w;
    int32_t iy = oy * s->stride_h - s->pad_top + k / s->kernel_w * s->dilation_h;
    int32_t ix = ox * s->stride_w - s->pad_left + k % s->kernel_w * s->dilation_w;
    if (iy < 0 || iy >= s->in_h || ix < 0 || ix >= s->in_w)
        return 0;
    return x + (iy * s->in_w + ix) * s->in_c;
}

int pools_depthwise(const int8_t *x, const int8_t *w, const int32_t *bias,
                    const int32_t *multiplier, const int8_t *shift, int8_t *y, struct pools_sizes s,
                    int32_t scales)
{
    int32_t each = s.out_c / s.in_c;
    for (int32_t i = 0; i < s.out_h * s.out_w; i++)
        for (int32_t c = 0; c < s.out_c; c++) {
            int32_t acc = bias ? bias[c] : 0, one = scales > 1 ? c : 0;
            for (int32_t k = 0; k < s.kernel_h * s.kernel_w; k++) {
                const int8_t *p = tap(x, &s, i, k);
                if (p)
                    acc += (p[c / each] - s.z_in) * w[k * s.out_c + c];
            }
            acc = requantise(acc, multiplier[one], shift[one]) + s.z_out;
            y[i * s.out_c + c] = clamp(acc, s.act_min, s.act_max);
        }
    return 0;
}

int pools_average(const int8_t *x, int8_t *y, struct pools_sizes s)
{
    for (int32_t i = 0; i < s.out_h * s.out_w; i++)
        for (int32_t c = 0; c < s.out_c; c++) {
            int32_t sum = 0, n = 0;
            for (int32_t k = 0; k < s.kernel_h * s.kernel_w; k++) {
                const int8_t *p = tap(x, &s, i, k);
                sum += p ? p[c] : 0;
                n += p != 0;
            }
            sum = sum < 0 ? (sum - n / 2) / n : (sum + n / 2) / n;
            y[i * s.out_c + c] = clamp(sum, s.act_min, s.act_max);
        }
    return 0;
}

int pools_max(const int8_t *x, int8_t *y, struct pools_sizes s)
{
    for (int32_t i = 0; i < s.out_h * s.out_w; i++)
        for (int32_t c = 0; c < s.out_c; c++) {
            int32_t most = -128;
            for (int32_t k = 0; k < s.kernel_h * s.kernel_w; k++) {
                const int8_t *p = tap(x, &s, i, k);
                most = p && p[c] > most ? p[c] : most;
            }
            y[i * s.out_c + c] = clamp(most, s.act_min, s.act_max);
        }
    return 0;
}

int pools_add(const int8_t *a, const int8_t *b, int8_t *y, int32_t n, const int32_t *multiplier,
              const int8_t *shift, const int32_t zero[5])
{
    for (int32_t i = 0; i < n; i++) {
        int32_t p = requantise((a[i] - zero[0]) * (1 << 20), multiplier[0], shift[0]);
        int32_t q = requantise((b[i] - zero[1]) * (1 << 20), multiplier[1], shift[1]);
        y[i] = clamp(requantise(p + q, multiplier[2], shift[2]) + zero[2], zero[3], zero[4]);
    }
    return 0;
}
