/* The im2col walk: every byte of the kernel once and in order, segments as full as ports and lanes
 * allow, known examples. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "driver/hd_walk.h"

static void check(uint32_t kernel_h, uint32_t row, uint32_t n, uint32_t ports, uint32_t depthwise)
{
    struct hd_walk walk;
    struct hd_segment seg;
    uint32_t flat = 0, count = 0;

    hd_walk_start(&walk, kernel_h, row, n, ports, depthwise);
    while (hd_walk_next(&walk, &seg)) {
        uint32_t lane = 0;

        assert_int_equal(seg.index, count++);
        assert_int_equal(seg.first_word, flat);
        assert_true(seg.n_pieces <= ports);
        for (uint32_t g = 0; g < seg.n_pieces; g++) {
            const struct hd_piece *p = &seg.piece[g];

            assert_int_equal(p->lo, lane);
            assert_int_equal(p->ky * row + p->of, flat);
            assert_true(p->hi > p->lo && p->of + p->hi - p->lo <= row);
            assert_true(!depthwise || p->hi - p->lo == row);
            flat += p->hi - p->lo;
            lane = p->hi;
        }
        assert_int_equal(seg.len, lane);
        assert_true(lane <= n);
        assert_int_equal(seg.last, flat == kernel_h * row);
        /* Not full: out of ports, of kernel, or (depthwise) of room for a row. */
        assert_true(lane == n || seg.n_pieces == ports || seg.last ||
                    (depthwise && lane + row > n));
    }
    assert_int_equal(flat, kernel_h * row);
    assert_int_equal(hd_walk_segments(kernel_h, row, n, ports, depthwise), count);
}

static void every_small_kernel(void **state)
{
    (void)state;
    for (uint32_t n = 4; n <= 32; n *= 2)
        for (uint32_t ports = 1; ports <= HD_WALK_PORTS; ports++)
            for (uint32_t kernel_h = 1; kernel_h <= 9; kernel_h++)
                for (uint32_t row = 1; row <= 70; row++) {
                    check(kernel_h, row, n, ports, 0);
                    if (row <= n)
                        check(kernel_h, row, n, ports, 1);
                }
}

/* C=1 3x3 is one K tile, C=3 two; depthwise 3x3 one (docs/HARDWARE.md). */
static void known_kernels(void **state)
{
    (void)state;
    assert_int_equal(hd_walk_segments(3, 3, 16, 4, 0), 1);
    assert_int_equal(hd_walk_segments(3, 9, 16, 4, 0), 2);
    assert_int_equal(hd_walk_segments(3, 3, 16, 4, 1), 1);
    assert_int_equal(hd_walk_segments(3, 3, 4, 1, 1), 3);
    assert_int_equal(hd_walk_segments(5, 5, 16, 4, 1), 2);
    assert_int_equal(hd_walk_segments(3, 48, 16, 4, 0), 9);
}

static void kernels_that_do_not_fit_have_no_segments(void **state)
{
    (void)state;
    assert_int_equal(hd_walk_segments(3, 5, 4, 4, 1), 0);
    assert_int_equal(hd_walk_segments(0, 5, 4, 4, 0), 0);
    assert_int_equal(hd_walk_segments(3, 0, 4, 4, 0), 0);
    assert_int_equal(hd_walk_segments(3, 5, 4, 0, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_small_kernel),
        cmocka_unit_test(known_kernels),
        cmocka_unit_test(kernels_that_do_not_fit_have_no_segments),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
