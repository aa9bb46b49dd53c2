/* hdk_f32_math.h - float32 functions without libm, for the kernels. The reference has the same
 * formulas in a text of its own (reference/float32/ref_float_math.c); bits must agree. Every operation
 * rounds to float32; products and sums are in statements of their own, so that no compiler
 * contracts them. Bounds are those that tests/kernels/test_f32_math.c measures against
 * double. NaN stays NaN. */
#ifndef HDK_F32_MATH_H
#define HDK_F32_MATH_H

#include <stdint.h>

#define HDK_F32_INFINITY __builtin_inff()

static inline float hdk_f32_of_bits(uint32_t bits)
{
    union {
        uint32_t u;
        float f;
    } v = {bits};
    return v.f;
}

static inline uint32_t hdk_f32_bits(float x)
{
    union {
        float f;
        uint32_t u;
    } v = {x};
    return v.u;
}

/* Sum of c[i] * x^i, i < n, from the highest on. */
static inline float hdk_f32_polynomial(float x, const float *c, uint32_t n)
{
    float y = c[n - 1];

    for (uint32_t i = n - 1; i-- > 0;) {
        const float product = y * x;

        y = product + c[i];
    }
    return y;
}

/* e^x, within 2 units in the last place where the result is normal. x = k ln 2 + r, |r| < 0.35;
 * e^r is its series up to r^7 / 7!. */
static inline float hdk_f32_exp(float x)
{
    static const float series[8] = {1,         1,          0x1p-1f,    1.0f / 6,
                                    1.0f / 24, 1.0f / 120, 1.0f / 720, 1.0f / 5040};
    const float magic = 12582912.0f; /* 1.5 * 2^23: adding it rounds to an integer */
    float scaled, k, high, low, r;
    int32_t n, half;

    if (x != x)
        return x;
    if (x > 89)
        return HDK_F32_INFINITY;
    if (x < -104)
        return 0;
    scaled = x * 1.44269504f;
    k = scaled + magic;
    k = k - magic;
    high = k * 0.693359375f; /* exact: nine bits of ln 2 */
    low = k * -2.12194440e-4f;
    r = x - high;
    r = r - low;
    n = (int32_t)k;
    half = n / 2; /* 2^n in two steps, for n = 128 and for subnormal results */
    return hdk_f32_polynomial(r, series, 8) * hdk_f32_of_bits((uint32_t)(half + 127) << 23) *
           hdk_f32_of_bits((uint32_t)(n - half + 127) << 23);
}

/* e^x - 1, within 4e-7 of max(|e^x - 1|, 2^-100). */
static inline float hdk_f32_expm1(float x)
{
    static const float series[8] = {1,          0x1p-1f,    1.0f / 6,    1.0f / 24,
                                    1.0f / 120, 1.0f / 720, 1.0f / 5040, 1.0f / 40320};

    if (x > -0.5f && x < 0.5f)
        return x * hdk_f32_polynomial(x, series, 8);
    return hdk_f32_exp(x) - 1;
}

/* 1 / (1 + e^-x), within 3e-7 relative (normal results). */
static inline float hdk_f32_sigmoid(float x)
{
    float e;

    if (x >= 0)
        return 1 / (1 + hdk_f32_exp(-x));
    e = hdk_f32_exp(x);
    return e / (1 + e);
}

/* tanh, within 4e-7 relative: the fifth convergent of its continued fraction below 1/2, else by
 * e^2x. */
static inline float hdk_f32_tanh(float x)
{
    static const float above[3] = {945, 105, 1}, below[3] = {945, 420, 15};
    const float a = x < 0 ? -x : x, square = x * x;
    float y;

    if (x != x)
        return x;
    if (a < 0.5f)
        return x * hdk_f32_polynomial(square, above, 3) / hdk_f32_polynomial(square, below, 3);
    y = a > 10 ? 1 : 1 - 2 / (hdk_f32_exp(2 * a) + 1);
    return x < 0 ? -y : y;
}

/* sin and cos of quadrant * pi/2 + r, |r| < 0.79: series of 13 digits in double. */
static inline float hdk_f32_sine_of(double r, uint32_t quadrant)
{
    static const double odd[6] = {1,           -1.0 / 6,     1.0 / 120,
                                  -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800};
    static const double even[7] = {1,           -1.0 / 2,       1.0 / 24,       -1.0 / 720,
                                   1.0 / 40320, -1.0 / 3628800, 1.0 / 479001600};
    const double square = r * r;
    const int n = quadrant & 1 ? 7 : 6;
    double y = 0;

    for (int i = n; i-- > 0;) {
        const double product = y * square;

        y = product + (quadrant & 1 ? even[i] : odd[i]);
    }
    y = quadrant & 1 ? y : r * y;
    return (float)(quadrant & 2 ? -y : y);
}

/* sin(x + quadrant * pi/2), within 1e-7 absolute below 1e6; 0 from 2^30 on. */
static inline float hdk_f32_sin_from(float x, uint32_t quadrant)
{
    double k, r, low;
    int32_t n;

    if (x != x || x == HDK_F32_INFINITY || x == -HDK_F32_INFINITY)
        return x - x;
    if (x > 1073741824.0f || x < -1073741824.0f)
        return 0;
    k = (double)x * 0.63661977236758138; /* 2 / pi */
    n = (int32_t)(k < 0 ? k - 0.5 : k + 0.5);
    r = n * 1.5707963109016418; /* pi / 2 in two parts, the first of 26 bits: exact below 2^27 */
    low = n * 1.5893254773528196e-8;
    r = (double)x - r;
    r = r - low;
    return hdk_f32_sine_of(r, (uint32_t)n + quadrant);
}

static inline float hdk_f32_sin(float x)
{
    return hdk_f32_sin_from(x, 0);
}

static inline float hdk_f32_cos(float x)
{
    return hdk_f32_sin_from(x, 1);
}

/* The error function, within 4e-7 absolute: its series below 1/2, else formula 7.1.26 of
 * Abramowitz and Stegun. */
static inline float hdk_f32_erf(float x)
{
    static const float series[7] = {1,          -1.0f / 3,    1.0f / 10,  -1.0f / 42,
                                    1.0f / 216, -1.0f / 1320, 1.0f / 9360};
    static const float tail[6] = {
        0, 0.254829592f, -0.284496736f, 1.421413741f, -1.453152027f, 1.061405429f};
    const float a = x < 0 ? -x : x, square = x * x;
    float scaled, t, y;

    if (x != x)
        return x;
    if (a < 0.5f)
        return 1.12837917f * x * hdk_f32_polynomial(square, series, 7);
    scaled = 0.3275911f * a;
    t = 1 / (1 + scaled);
    y = hdk_f32_polynomial(t, tail, 6) * hdk_f32_exp(-square);
    y = 1 - y;
    return x < 0 ? -y : y;
}

/* Square root, correctly rounded: digit by digit in integers. Negative numbers give NaN. */
static inline float hdk_f32_sqrt(float x)
{
    const uint32_t bits = hdk_f32_bits(x);
    int32_t exponent = (int32_t)(bits >> 23 & 255) - 127;
    uint32_t mantissa = bits & 0x7fffff;
    uint64_t rest, root = 0;

    if (x != x || x == 0 || bits == 0x7f800000)
        return x;
    if (bits >> 31)
        return hdk_f32_of_bits(0x7fc00000);
    if (exponent == -127) {
        for (exponent = -126; !(mantissa >> 23); exponent--)
            mantissa <<= 1;
    } else {
        mantissa |= 1u << 23;
    }
    rest = (uint64_t)mantissa << (exponent & 1 ? 26 : 25); /* root has 24 bits and one more */
    for (uint64_t bit = (uint64_t)1 << 24; bit != 0; bit >>= 1)
        if ((root | bit) * (root | bit) <= rest)
            root |= bit;
    root += root & 1 ? 1 : 0; /* no ties: the square of an odd 25-bit root needs more bits than x */
    root >>= 1;
    return hdk_f32_of_bits((uint32_t)((exponent - (exponent & 1)) / 2 + 127) * (1u << 23) +
                           ((uint32_t)root - (1u << 23)));
}

/* The nearest integer, halves to even; exact. */
static inline float hdk_f32_nearest(float x)
{
    const float magic = 8388608; /* 2^23: from there on every number is an integer */
    float y;

    if (!(x > -magic && x < magic))
        return x;
    y = x < 0 ? x - magic : x + magic;
    y = x < 0 ? y + magic : y - magic;
    return y == 0 ? hdk_f32_of_bits(hdk_f32_bits(x) & 0x80000000u) : y;
}

/* Natural logarithm of a positive number in double, within 2^-45: the series of
 * log m = 2 (f + f^3 / 3 + ..), f = (m - 1) / (m + 1), m in [0.7, 1.42]. */
static inline double hdk_f32_long_log(float x)
{
    int32_t exponent = 0;
    double m, f, square, sum = 0;

    if (x < 0x1p-126f) {
        x *= 0x1p24f;
        exponent = -24;
    }
    exponent += (int32_t)(hdk_f32_bits(x) >> 23) - 127;
    m = (double)hdk_f32_of_bits((hdk_f32_bits(x) & 0x7fffff) | 0x3f800000);
    if (m > 1.41421356) {
        m = m / 2;
        exponent++;
    }
    f = (m - 1) / (m + 1);
    square = f * f;
    for (int32_t i = 17; i > 0; i -= 2) {
        const double product = sum * square;

        sum = product + 1.0 / i;
    }
    f = 2 * f * sum;
    m = (double)exponent * 0.69314718055994531;
    return m + f;
}

/* Natural logarithm, within 1 unit in the last place. Negative numbers give NaN. */
static inline float hdk_f32_log(float x)
{
    if (x != x || x == HDK_F32_INFINITY)
        return x;
    if (x <= 0)
        return x < 0 ? hdk_f32_of_bits(0x7fc00000) : -HDK_F32_INFINITY;
    return (float)hdk_f32_long_log(x);
}

/* e^x in double, |x| < 104, within 2^-48: x = k ln 2 + r, |r| < 0.35; e^r is its series up to
 * r^12 / 12!. */
static inline double hdk_f32_series_exp(double x, int32_t *n)
{
    double r = x * 1.4426950408889634, sum = 1;

    *n = (int32_t)(r < 0 ? r - 0.5 : r + 0.5);
    r = (double)*n * 0.69314718055994531;
    r = x - r;
    for (int32_t i = 12; i > 0; i--) {
        const double product = sum * r;

        sum = 1 + product / i;
    }
    return sum;
}

/* 2^n for n in -126 .. 127. */
static inline float hdk_f32_power_of_two(int32_t n)
{
    return hdk_f32_of_bits((uint32_t)(n + 127) << 23);
}

/* e^x of a double, rounded to float32. */
static inline float hdk_f32_long_exp(double x)
{
    int32_t n, half;
    double sum;

    if (x > 89)
        return HDK_F32_INFINITY;
    if (x < -104)
        return 0;
    sum = hdk_f32_series_exp(x, &n);
    half = n / 2;
    return (float)sum * hdk_f32_power_of_two(half) * hdk_f32_power_of_two(n - half);
}

/* e^x in double; 0 below -104, infinite above 104. */
static inline double hdk_f32_double_exp(double x)
{
    int32_t n, half;
    double sum;

    if (!(x < 104))
        return x != x ? x : (double)HDK_F32_INFINITY;
    if (x < -104)
        return 0;
    sum = hdk_f32_series_exp(x, &n);
    half = n / 2;
    return sum * (double)hdk_f32_power_of_two(half) * (double)hdk_f32_power_of_two(n - half);
}

/* a^b as C's powf has it, within 2 units in the last place (normal results): e^(b log a) in double.
 */
static inline float hdk_f32_pow(float a, float b)
{
    const float most = 16777216, size = b < 0 ? -b : b; /* from 2^24 on every number is even */
    const int whole = size >= most || (float)(int32_t)b == b;
    const int odd = size < most && whole && ((int32_t)b & 1);
    float y = a < 0 ? -a : a;

    if (b == 0 || a == 1)
        return 1;
    if (a != a || b != b)
        return a + b;
    if (a < 0 && !whole && y != HDK_F32_INFINITY)
        return hdk_f32_of_bits(0x7fc00000);
    if (y == 0 || y == HDK_F32_INFINITY)
        y = (y == 0) == (b > 0) ? 0 : HDK_F32_INFINITY;
    else if (size == HDK_F32_INFINITY)
        y = y == 1 ? 1 : (y > 1) == (b > 0) ? HDK_F32_INFINITY : 0;
    else
        y = hdk_f32_long_exp((double)b * hdk_f32_long_log(y));
    return odd && hdk_f32_bits(a) >> 31 ? -y : y;
}

/* The next integer below; exact. */
static inline float hdk_f32_floor(float x)
{
    const float near = hdk_f32_nearest(x);

    return near > x ? near - 1 : near;
}

/* The next integer above; exact, -0 above -1. */
static inline float hdk_f32_ceil(float x)
{
    const float near = hdk_f32_nearest(x);
    const float above = near < x ? near + 1 : near;

    return above == 0 && x < 0 ? -0.0f : above;
}

/* A clamp that leaves NaN. */
static inline float hdk_f32_clamp(float v, float low, float high)
{
    return v < low ? low : v > high ? high : v;
}

#endif
