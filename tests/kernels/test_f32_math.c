/* The float32 functions without libm against double: the bounds that hdk_f32_math.h states. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "kernels/hdk_f32_math.h"

/* Distance in units in the last place of a normal float32 result. */
static double ulps(float got, double want)
{
    int exponent;

    (void)frexp(want, &exponent);
    return fabs((double)got - want) / ldexp(1, exponent - 24);
}

/* Calls f(x, data) for about a million x over [low, high] and around 0. */
static void sweep(float low, float high, void f(float x))
{
    const int n = 500000;

    for (int i = 0; i <= n; i++)
        f(low + (high - low) * (float)i / (float)n);
    for (int e = -120; e < 3; e++)
        for (int i = 0; i < 2000; i++) {
            const float x = ldexpf(1 + (float)i / 2000, e);

            if (x <= high)
                f(x);
            if (-x >= low)
                f(-x);
        }
}

static void check_exp(float x)
{
    const double want = exp((double)x);

    if (want > 0x1p-126 && want < 0x1.fffffep127)
        assert_true(ulps(hdk_f32_exp(x), want) <= 2);
    if (x > -0x1p-100f && x < 0x1p-100f)
        return;
    assert_true(fabs((double)hdk_f32_expm1(x) - expm1((double)x)) <= 4e-7 * fabs(expm1((double)x)));
}

static void check_rest(float x)
{
    const double e = exp(-fabs((double)x)), sigmoid = x < 0 ? e / (1 + e) : 1 / (1 + e);

    assert_true(fabs((double)hdk_f32_sigmoid(x) - sigmoid) <= 3e-7 * sigmoid);
    assert_true(fabs((double)hdk_f32_tanh(x) - tanh((double)x)) <= 4e-7 * fabs(tanh((double)x)));
    assert_true(fabs((double)hdk_f32_erf(x) - erf((double)x)) <= 4e-7);
}

static void check_waves(float x)
{
    assert_true(fabs((double)hdk_f32_sin(x) - sin((double)x)) <= 1e-7);
    assert_true(fabs((double)hdk_f32_cos(x) - cos((double)x)) <= 1e-7);
}

static void check_sqrt(float x)
{
    assert_true(hdk_f32_bits(hdk_f32_nearest(x)) == hdk_f32_bits(rintf(x)));
    assert_true(hdk_f32_bits(hdk_f32_nearest(-x)) == hdk_f32_bits(rintf(-x)));
    if (x >= 0)
        assert_true(hdk_f32_sqrt(x) == sqrtf(x)); /* IEEE 754: correctly rounded */
    else
        assert_true(isnan(hdk_f32_sqrt(x)));
}

static void check_log(float x)
{
    assert_true(hdk_f32_bits(hdk_f32_floor(x)) == hdk_f32_bits(floorf(x)));
    assert_true(hdk_f32_bits(hdk_f32_ceil(x)) == hdk_f32_bits(ceilf(x)));
    if (x > 0)
        assert_true(ulps(hdk_f32_log(x), log((double)x)) <= 0.5001);
    else
        assert_true(x == 0 || isnan(hdk_f32_log(x)));
}

/* x^y for some y against double; whole and odd exponents of negative x. */
static void check_pow(float x)
{
    static const float exponents[] = {0.5f, 2, 3, -1, 0.75f, 2.2f, -0.333f, 7, 1e-3f, 40};

    for (size_t i = 0; i < sizeof exponents / sizeof *exponents; i++) {
        const double want = pow((double)x, (double)exponents[i]);
        const float got = hdk_f32_pow(x, exponents[i]);

        if (isnan(want))
            assert_true(isnan(got));
        else if (fabs(want) > 0x1p127)
            assert_true(fabsf(got) > 0x1p126f && (got < 0) == (want < 0));
        else if (fabs(want) >= 0x1p-126)
            assert_true(ulps(got, want) <= 1);
        else
            assert_true(fabs((double)got - want) <= 0x1p-148);
    }
}

/* As C's powf at the edges. */
static void test_pow(void **state)
{
    static const float edges[] = {0,    -0.0f, 1,      -1,       2,         -2,  0.5f, -0.5f,   3,
                                  4e9f, -3,    1e-40f, INFINITY, -INFINITY, NAN, 2.5f, 33554432};

    (void)state;
    sweep(-20, 20, check_pow);
    sweep(0, 1e6f, check_pow);
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++)
        for (size_t k = 0; k < sizeof edges / sizeof *edges; k++) {
            const float want = powf(edges[i], edges[k]), got = hdk_f32_pow(edges[i], edges[k]);

            if (isnan(want) ? !isnan(got)
                            : !(got == want || fabsf(got - want) <= 1e-6f * fabsf(want)) ||
                                  signbit(got) != signbit(want))
                fail_msg("%g^%g: expected %g, found %g", (double)edges[i], (double)edges[k],
                         (double)want, (double)got);
        }
}

static void test_bounds(void **state)
{
    (void)state;
    sweep(-87, 88, check_exp);
    sweep(-60, 60, check_rest);
    sweep(-1e6f, 1e6f, check_waves);
    sweep(-10, 10, check_waves);
    sweep(-1, 1e6f, check_sqrt);
    sweep(-1, 1e6f, check_log);
    for (uint32_t bits = 1; bits < 0x7f800000; bits += 65521) /* every exponent, subnormals too */
    {
        check_sqrt(hdk_f32_of_bits(bits));
        check_log(hdk_f32_of_bits(bits));
    }
}

static void test_specials(void **state)
{
    const float infinity = HDK_F32_INFINITY, nan = NAN;

    (void)state;
    assert_true(hdk_f32_exp(infinity) == infinity && hdk_f32_exp(-infinity) == 0);
    assert_true(isinf(hdk_f32_exp(88.8f)) && hdk_f32_exp(0) == 1);
    assert_true(fabsf(hdk_f32_exp(-100) - expf(-100)) < 1e-44f); /* subnormal */
    assert_true(hdk_f32_tanh(infinity) == 1 && hdk_f32_tanh(-infinity) == -1);
    assert_true(hdk_f32_sigmoid(infinity) == 1 && hdk_f32_sigmoid(-infinity) == 0);
    assert_true(hdk_f32_erf(infinity) == 1 && hdk_f32_erf(-infinity) == -1);
    assert_true(hdk_f32_sqrt(infinity) == infinity && hdk_f32_sqrt(0) == 0);
    assert_true(isnan(hdk_f32_exp(nan)) && isnan(hdk_f32_tanh(nan)) && isnan(hdk_f32_erf(nan)));
    assert_true(isnan(hdk_f32_sin(infinity)) && isnan(hdk_f32_cos(nan)));
    assert_true(hdk_f32_sin(0) == 0 && hdk_f32_cos(0) == 1 && hdk_f32_sin(0x1p40f) == 0);
    assert_true(hdk_f32_log(0) == -infinity && hdk_f32_log(infinity) == infinity);
    assert_true(hdk_f32_log(1) == 0 && isnan(hdk_f32_log(nan)));
    assert_true(isnan(hdk_f32_sqrt(nan)) && isnan(hdk_f32_clamp(nan, 0, 1)));
    assert_true(hdk_f32_clamp(3, 0, infinity) == 3 && hdk_f32_clamp(-3, 0, infinity) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_pow),
        cmocka_unit_test(test_specials),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
