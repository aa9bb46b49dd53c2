/* hard_swish.c - after the algorithm published with TFLite's reference kernels: the input is held
 * at 2^-7 of its scale; a 'relu-ish' factor in [0, 1) is x/6 + 1/2, saturated, in Q0.15. */
#include "hard_swish.h"

#include "legalise.h"

static int16_t saturate16(int64_t v)
{
    return (int16_t)(v > INT16_MAX ? INT16_MAX : v < INT16_MIN ? INT16_MIN : v);
}

/* Rounding a*b / 2^15, ties away from zero for positive, toward zero for negative products. */
static int16_t high_mul_rounded(int16_t a, int16_t b)
{
    const int32_t ab = (int32_t)a * b;

    return saturate16((ab + (ab >= 0 ? 1 << 14 : 1 - (1 << 14))) / (1 << 15));
}

/* x / 2^n, half away from zero, n at most 31. The mask has 16 bits: from n = 16 on it is -1, and
 * the result 1 of x >= 0 and -1 of x < 0. */
static int16_t shift_right_rounded(int16_t x, int32_t n)
{
    const int32_t mask = n < 16 ? (1 << n) - 1 : -1, half = n < 16 ? mask / 2 : -1;

    return (int16_t)((x >> n) + ((x & mask) > half + (x < 0)));
}

/* The 16 high bits of a 32-bit multiplier, rounded. */
static int16_t narrow(int32_t multiplier)
{
    return multiplier >= INT32_MAX - (1 << 15) ? INT16_MAX
                                               : (int16_t)((multiplier + (1 << 15)) >> 16);
}

struct lgl_hard_swish lgl_hard_swish_scales(float s_in, float s_out)
{
    const float fine = 1.0f / 128.0f * s_in;
    const struct lgl_fixed_scale out = lgl_fixed_scale((double)(fine / s_out));
    const struct lgl_fixed_scale relu = lgl_fixed_scale((double)(fine / (3.0f / 32768.0f)));

    return (struct lgl_hard_swish){narrow(out.multiplier), narrow(relu.multiplier), out.shift,
                                   relu.shift};
}

static int32_t relu_factor(const struct lgl_hard_swish *h, int16_t fine)
{
    int16_t r = fine;

    if (h->relu_shift > 0)
        r = saturate16((int64_t)r * (INT64_C(1) << (h->relu_shift < 16 ? h->relu_shift - 1 : 15)));
    r = high_mul_rounded(r, h->relu_multiplier);
    if (h->relu_shift > 0)
        r = saturate16((int64_t)r * 2);
    if (h->relu_shift < 0)
        r = shift_right_rounded(r, -h->relu_shift);
    return (r + (1 << 15)) >> 1;
}

int32_t lgl_hard_swish_code(const struct lgl_hard_swish *h, int32_t x)
{
    const int16_t fine = (int16_t)(x * (1 << 7));
    const int16_t out = high_mul_rounded(fine, h->out_multiplier);
    const int16_t product = saturate16((int64_t)relu_factor(h, fine) * out / (1 << 15));

    return shift_right_rounded(product, -h->out_shift);
}
