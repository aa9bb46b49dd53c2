/* ref_float_math.c - float32 functions by the formulas that IR.md's "Float" gives, written a second
 * time: the host's kernels have their own text of them (kernels), and bits must agree. */
#include "ref_float_math.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* e^x = 2^k e^r, k = rint(x / ln 2), r = x - k ln 2 by ln 2 = 355/512 - 2.12194440e-4;
 * e^r = 1 + r (1 + r (1/2 + .. + r/5040)). */
float ref_exp(float x)
{
    float k, r, y = 1.0f / 5040;

    if (isnan(x))
        return x;
    if (x > 89 || x < -104)
        return x > 0 ? INFINITY : 0;
    k = rintf(x * 1.44269504f);
    r = x - k * (355.0f / 512);
    r = r - k * -2.12194440e-4f;
    y = y * r + 1.0f / 720;
    y = y * r + 1.0f / 120;
    y = y * r + 1.0f / 24;
    y = y * r + 1.0f / 6;
    y = y * r + 0.5f;
    y = y * r + 1;
    y = y * r + 1;
    return ldexpf(y, (int)k);
}

/* x (1 + x/2! + .. + x^7/8!) below 1/2. */
float ref_expm1(float x)
{
    float y = 1.0f / 40320;

    if (!(fabsf(x) < 0.5f))
        return ref_exp(x) - 1;
    y = y * x + 1.0f / 5040;
    y = y * x + 1.0f / 720;
    y = y * x + 1.0f / 120;
    y = y * x + 1.0f / 24;
    y = y * x + 1.0f / 6;
    y = y * x + 0.5f;
    y = y * x + 1;
    return x * y;
}

/* 1 / (1 + e^-x), from the side where the power is at most 1. */
float ref_sigmoid(float x)
{
    const float e = ref_exp(-fabsf(x));

    return isnan(x) ? x : (x < 0 ? e : 1) / (1 + e);
}

/* x (945 + 105 x^2 + x^4) / (945 + 420 x^2 + 15 x^4) below 1/2, else 1 - 2 / (e^2x + 1). */
float ref_tanh(float x)
{
    const float a = fabsf(x), s = x * x;

    if (isnan(x))
        return x;
    if (a < 0.5f)
        return x * ((s + 105) * s + 945) / ((15 * s + 420) * s + 945);
    return copysignf(a > 10 ? 1 : 1 - 2 / (ref_exp(2 * a) + 1), x);
}

/* In double: r + n pi/2 = x, then the series of sine or cosine to r^11 and r^12, rounded once. */
static float sine(float x, uint32_t quadrant)
{
    const double quarters = round((double)x * 0.63661977236758138);
    double r, s, y;

    if (!isfinite(x))
        return x - x;
    if (fabsf(x) > 0x1p30f)
        return 0;
    r = (double)x - quarters * 1.5707963109016418; /* 26 bits: the product is exact */
    r = r - quarters * 1.5893254773528196e-8;
    s = r * r;
    quadrant += (uint32_t)(int32_t)quarters;
    if (quadrant % 2 == 0) {
        y = -1.0 / 39916800;
        y = y * s + 1.0 / 362880;
        y = y * s - 1.0 / 5040;
        y = y * s + 1.0 / 120;
        y = y * s - 1.0 / 6;
        y = r * (y * s + 1);
    } else {
        y = 1.0 / 479001600;
        y = y * s - 1.0 / 3628800;
        y = y * s + 1.0 / 40320;
        y = y * s - 1.0 / 720;
        y = y * s + 1.0 / 24;
        y = y * s - 0.5;
        y = y * s + 1;
    }
    return (float)(quadrant % 4 < 2 ? y : -y);
}

float ref_sin(float x)
{
    return sine(x, 0);
}

float ref_cos(float x)
{
    return sine(x, 1);
}

/* 2/sqrt(pi) x (1 - x^2/3 + x^4/10 - .. + x^12/9360) below 1/2, else Abramowitz and Stegun 7.1.26:
 * 1 - t (a1 + t (a2 + .. + a5 t)) e^(-x^2), t = 1 / (1 + 0.3275911 x). */
float ref_erf(float x)
{
    const float s = x * x, t = 1 / (1 + 0.3275911f * fabsf(x));
    float y;

    if (isnan(x))
        return x;
    if (fabsf(x) < 0.5f) {
        y = s * (1.0f / 9360) - 1.0f / 1320;
        y = y * s + 1.0f / 216;
        y = y * s - 1.0f / 42;
        y = y * s + 1.0f / 10;
        y = y * s - 1.0f / 3;
        return 1.12837917f * x * (y * s + 1);
    }
    y = 1.061405429f * t - 1.453152027f;
    y = y * t + 1.421413741f;
    y = y * t - 0.284496736f;
    y = y * t + 0.254829592f;
    return copysignf(1 - y * t * ref_exp(-s), x);
}

/* In double: log(m 2^k) = k ln 2 + 2 (f + f^3/3 + .. + f^17/17), f = (m - 1) / (m + 1), m in
 * (0.7071, 1.4142]. */
static double long_log(float x)
{
    int k;
    double m = (double)frexpf(x, &k), f, s, sum = 0;

    if (m <= 1.41421356 / 2) {
        m *= 2;
        k--;
    }
    f = (m - 1) / (m + 1);
    s = f * f;
    for (int i = 8; i >= 0; i--)
        sum = sum * s + 1.0 / (2 * i + 1);
    return k * 0.69314718055994531 + 2 * f * sum;
}

float ref_log(float x)
{
    if (isnan(x) || (isinf(x) && x > 0))
        return x;
    return x < 0 ? NAN : x == 0 ? -INFINITY : (float)long_log(x);
}

/* In double, then one rounding: e^x = 2^n (1 + r (1 + r/2 (1 + .. r/12))). */
static float long_exp(double x)
{
    const double n = round(x * 1.4426950408889634), r = x - n * 0.69314718055994531;
    double sum = 1;

    if (x > 89 || x < -104)
        return x > 0 ? INFINITY : 0;
    for (int i = 12; i > 0; i--)
        sum = 1 + sum * r / i;
    return ldexpf((float)sum, (int)n);
}

/* C's powf without errno: e^(b log |a|) in double, the special cases as C lists them. */
float ref_pow(float a, float b)
{
    const bool whole = isinf(b) || truncf(b) == b, odd = whole && fabsf(fmodf(b, 2)) == 1;
    float size = fabsf(a);

    if (b == 0 || a == 1)
        return 1;
    if (isnan(a) || isnan(b))
        return a + b;
    if (a < 0 && !whole && !isinf(a))
        return NAN;
    if (size == 0 || isinf(size))
        size = (size == 0) == (b > 0) ? 0 : INFINITY;
    else if (isinf(b))
        size = size == 1 ? 1 : (size > 1) == (b > 0) ? INFINITY : 0;
    else
        size = long_exp((double)b * long_log(size));
    return odd && signbit(a) ? -size : size;
}

float ref_clamp(float v, float low, float high)
{
    return v < low ? low : v > high ? high : v;
}
