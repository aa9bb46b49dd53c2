/* test_cost.c - when one ARRAY command may follow another without a gap (docs/HARDWARE.md, "ARRAY in time"). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compiler/systolic/timing/cost.h"

static const struct hd_cmd_array plain = {.streams = 1, .ports = 2, .kernel_h = 3};
static const struct hd_cmd_array taps = {
    .depthwise = 1, .streams = 1, .ports = 2, .kernel_h = 3, .kernel_row_bytes = 3, .pad_left = 1};
static const struct hd_cmd_array pairs = {.streams = 2, .ports = 1, .pair_split = 4};

static void a_convolution_follows_anything(void **state)
{
    (void)state;
    assert_true(cost_array_same_setup(&taps, &plain));
    assert_true(cost_array_same_setup(&pairs, &plain));
}

static void depthwise_follows_the_same_window_alone(void **state)
{
    struct hd_cmd_array other = taps;

    (void)state;
    assert_true(cost_array_same_setup(&taps, &other));
    assert_false(cost_array_same_setup(&plain, &taps));
    other.pad_left = 0;
    assert_false(cost_array_same_setup(&taps, &other));
    other = taps;
    other.kernel_row_bytes = 5;
    assert_false(cost_array_same_setup(&taps, &other));
    other = taps;
    other.ports = 1;
    assert_false(cost_array_same_setup(&taps, &other));
}

static void pixel_pairs_follow_the_same_split_alone(void **state)
{
    struct hd_cmd_array other = pairs;

    (void)state;
    assert_true(cost_array_same_setup(&pairs, &other));
    assert_false(cost_array_same_setup(&taps, &pairs));
    other.pair_split = 3;
    assert_false(cost_array_same_setup(&pairs, &other));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_convolution_follows_anything),
        cmocka_unit_test(depthwise_follows_the_same_window_alone),
        cmocka_unit_test(pixel_pairs_follow_the_same_split_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
