/* Float32 rows quantised for int8 weights, and their sums scaled, by hand and against the formulas. */
#include <math.h>

#include "kernels/hdk.h"
#include "kernels/hdk_f32.h"
#include "tests/driver/plain.h"

static const struct hdk_rows one_row = {1, 4, 1};

static void want_codes(const struct hdk_rows *p, const float *x, const float *scales,
                       const int8_t *want)
{
    float found[3];
    int8_t y[4];

    hdk_row_scales(p, x, found);
    assert_memory_equal(found, scales, sizeof found);
    hdk_quantize_rows(p, x, found, y);
    assert_memory_equal(y, want, sizeof y);
}

/* From -100 to 155: a step of 1, and 0 is -28. Halves go away from 0 before the zero point is added. */
static void asymmetric(void **state)
{
    (void)state;
    want_codes(&one_row, (const float[]){-100, 0.5f, -0.5f, 155}, (const float[]){1, 1, -28},
               (const int8_t[]){-128, -27, -29, 127});
    want_codes(&one_row, (const float[]){510, 2, 1, 0}, (const float[]){2, 0.5f, -128},
               (const int8_t[]){127, -127, -127, -128});
    want_codes(&one_row, (const float[]){-510, -2, -1, 0}, (const float[]){2, 0.5f, 127},
               (const int8_t[]){-128, 126, 126, 127});
    want_codes(&one_row, (const float[]){0, -0.0f, 0, 0}, (const float[]){1, 1, 0},
               (const int8_t[4]){0});
}

static void symmetric(void **state)
{
    const struct hdk_rows p = {1, 4, 0};

    (void)state;
    want_codes(&p, (const float[]){-254, 1, 3, 100}, (const float[]){2, 0.5f, 0},
               (const int8_t[]){-127, 1, 2, 50});
    want_codes(&p, (const float[4]){0}, (const float[]){1, 1, 0}, (const int8_t[4]){0});
}

/* The product is rounded to float32 before it is rounded to an integer. */
static void nearest_of_products(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 300000; i++) {
        const float inverse =
            ldexpf(1 + (float)random_in(0, 0x7fffff) / 0x800000, random_int(-110, 110));
        const float tie = ((float)random_int(-300, 300) + 0.5f) / inverse;
        const int steps = random_int(-3, 3);
        const float scales[3] = {1 / inverse, inverse, (float)random_int(-128, 127)};
        const struct hdk_rows p = {1, 1, 1};
        float x = tie, want;
        int8_t y;

        for (int k = 0; k < steps || k < -steps; k++)
            x = nextafterf(x, steps < 0 ? -INFINITY : INFINITY);
        want = roundf(x * inverse) + scales[2];
        hdk_quantize_rows(&p, &x, scales, &y);
        assert_int_equal(y, (int)fmaxf(-128, fminf(127, want)));
    }
}

static void sums(void **state)
{
    const float weight[2] = {0.1f, 4}, bias[2] = {1, -10}, scales[6] = {0.3f, 0, 0, 2, 0, 0};
    const int32_t x[4] = {7, 1, -3, 2};
    struct hdk_scale_sums p = {2, 1, 2, 1, 0, weight, bias, -INFINITY, INFINITY};
    float y[4], both;

    (void)state;
    hdk_scale_sums(&p, x, scales, y);
    both = scales[0] * weight[0];
    both = 7 * both;
    assert_true(y[0] == both + 1);
    assert_true(y[3] == 6);
    p.channels_first = 1;
    hdk_scale_sums(&p, x, scales, y);
    both = 7 * weight[0];
    both = both * scales[0];
    assert_true(y[0] == both + 1);
    p.bias = NULL;
    p.low = 0;
    p.high = 6;
    p.per_channel = 0;
    hdk_scale_sums(&p, x, scales, y);
    assert_true(y[2] == 0 && y[3] == 4 * weight[0]);
    p.high = 0.25f;
    hdk_scale_sums(&p, x, scales, y);
    assert_true(y[3] == 0.25f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(asymmetric),
        cmocka_unit_test(symmetric),
        cmocka_unit_test(nearest_of_products),
        cmocka_unit_test(sums),
    };

    return cmocka_run_group_tests(tests, random_seed, NULL);
}
