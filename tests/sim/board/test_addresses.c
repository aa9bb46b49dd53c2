/* test_addresses.c - where cores of other targets are on the board, and its two clocks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/board/board.h"

static void memories_follow_one_another(void **state)
{
    const uint32_t n_bytes[] = {1, BOARD_CORE_ALIGN, BOARD_CORE_ALIGN + 1, 64};

    (void)state;
    assert_int_equal(board_core_memory(n_bytes, 0), BOARD_CORE_MEMORY);
    assert_int_equal(board_core_memory(n_bytes, 1), BOARD_CORE_MEMORY + BOARD_CORE_ALIGN);
    assert_int_equal(board_core_memory(n_bytes, 2), BOARD_CORE_MEMORY + 2 * BOARD_CORE_ALIGN);
    assert_int_equal(board_core_memory(n_bytes, 3), BOARD_CORE_MEMORY + 4 * BOARD_CORE_ALIGN);
    assert_int_equal(board_core_memory(n_bytes, 4), BOARD_CORE_MEMORY + 5 * BOARD_CORE_ALIGN);
}

/* The end of all may be where the RAM begins; one byte more does not fit. */
static void memories_end_before_the_ram(void **state)
{
    const uint32_t room = BOARD_RAM - BOARD_CORE_MEMORY;
    const uint32_t whole[] = {room}, more[] = {room + 1}, two[] = {room, 1};

    (void)state;
    assert_int_equal(board_core_memory(whole, 1), BOARD_RAM);
    assert_int_equal(board_core_memory(more, 1), 0);
    assert_int_equal(board_core_memory(two, 2), 0);
}

static void registers_do_not_overlap(void **state)
{
    (void)state;
    assert_true(BOARD_REGISTERS + BOARD_REGISTERS_BYTES <= BOARD_CORE_REGISTERS(0));
    assert_int_equal(BOARD_CORE_REGISTERS(1), BOARD_CORE_REGISTERS(0) + BOARD_CORE_REGISTERS_BYTES);
    assert_true(BOARD_CORE_REGISTERS(BOARD_CORES) <= BOARD_MEMORY);
    assert_true(BOARD_MEMORY + BOARD_MEMORY_BYTES <= BOARD_CORE_MEMORY);
}

static void clocks_scale_cycles(void **state)
{
    const uint32_t same[2] = {1, 1}, twice[2] = {2, 1}, quarter[2] = {1, 4};

    (void)state;
    assert_int_equal(board_scaled(same, 1000), 1000);
    assert_int_equal(board_scaled(twice, 1001), 500); /* a cycle of the accelerator has not ended */
    assert_int_equal(board_scaled(quarter, 7), 28);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(memories_follow_one_another),
                                       cmocka_unit_test(memories_end_before_the_ram),
                                       cmocka_unit_test(registers_do_not_overlap),
                                       cmocka_unit_test(clocks_scale_cycles)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
