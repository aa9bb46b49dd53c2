/* test_compare.c - the mismatch finder. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "app/mismatch/compare.h"
#include "hd_accel.h"

static struct hd_sim_commit commit(uint32_t command, uint32_t space, uint64_t address,
                                   uint8_t first, uint64_t cycle)
{
    struct hd_sim_commit c = {.cycle = cycle,
                              .unit = HD_UNIT_ARRAY,
                              .command = command,
                              .space = space,
                              .address = address,
                              .n_bytes = 16,
                              .strobe = 0xffff};

    for (uint32_t i = 0; i < 16; i++)
        c.data[i] = (uint8_t)(first + i);
    return c;
}

static int set_up(void **state)
{
    *state = arena_new(0);
    return 0;
}

static int tear_down(void **state)
{
    arena_free(*state);
    return 0;
}

static void order_of_writes_does_not_matter(void **state)
{
    struct commit_log a = {.arena = *state}, b = {.arena = *state};
    struct commit_place place;

    commit_log_submission(&a);
    commit_log_submission(&b);
    for (uint32_t i = 0; i < 600; i++) {
        const uint32_t j = 599 - i;
        const struct hd_sim_commit x = commit(i % 7, 0, i * 16, (uint8_t)i, i);
        const struct hd_sim_commit y = commit(j % 7, 0, j * 16, (uint8_t)j, 0);

        commit_log_sink(&a, &x);
        commit_log_sink(&b, &y);
    }
    assert_false(commit_log_first(&a, &b, &place));
}

static void wild_commands_share_an_entry(void **state)
{
    struct commit_log a = {.arena = *state}, b = {.arena = *state};
    const struct hd_sim_commit right = commit(3, 0, 16, 1, 0),
                               wild = commit(UINT32_MAX, 0, 16, 1, 0);
    struct commit_place place;

    commit_log_sink(&a, &right);
    commit_log_sink(&a, &wild);
    commit_log_sink(&b, &right);
    assert_true(commit_log_first(&a, &b, &place));
    assert_int_equal(place.command, COMMIT_LAST);
    assert_true(a.capacity <= COMMIT_LAST + 1);

    struct commit_capture found = {.arena = *state, .place = place};
    commit_capture_submission(&found);
    commit_capture_sink(&found, &right);
    commit_capture_sink(&found, &wild);
    assert_int_equal(found.n_bytes, wild.n_bytes);
}

static void first_is_by_submission_then_command(void **state)
{
    struct commit_log a = {.arena = *state}, b = {.arena = *state};
    struct commit_place place;

    for (uint32_t s = 0; s < 40; s++) {
        commit_log_submission(&a);
        commit_log_submission(&b);
        for (uint32_t k = 0; k < 50; k++) {
            const struct hd_sim_commit x = commit(k, 1, k * 16, 5, 0);
            const struct hd_sim_commit y =
                commit(k, 1, k * 16, (s == 21 && k >= 30) || s > 21 ? 6 : 5, 0);

            commit_log_sink(&a, &x);
            if (s != 20 || k != 49)
                commit_log_sink(&b, &y);
        }
    }
    assert_true(commit_log_first(&a, &b, &place));
    assert_int_equal(place.submission, 20); /* its last command is missing */
    assert_int_equal(place.command, 49);
}

static void hashes_see_space_address_and_byte(void **state)
{
    struct commit_log a = {.arena = *state}, b = {.arena = *state};
    struct commit_place place;
    struct hd_sim_commit x = commit(0, 0, 0x100, 1, 0);

    commit_log_sink(&a, &x);
    x.space = 2;
    commit_log_sink(&b, &x);
    assert_true(commit_log_first(&a, &b, &place));
    b = (struct commit_log){.arena = *state};
    x = commit(0, 0, 0x101, 1, 0);
    commit_log_sink(&b, &x);
    assert_true(commit_log_first(&a, &b, &place));
    b = (struct commit_log){.arena = *state};
    x = commit(0, 0, 0x100, 1, 0);
    x.strobe = 0x7fff;
    commit_log_sink(&b, &x);
    assert_true(commit_log_first(&a, &b, &place));
    x.strobe = 0x8000;
    commit_log_sink(&b, &x);
    assert_false(commit_log_first(&a, &b, &place));
}

static void capture(struct commit_capture *p, uint32_t command, uint64_t address, uint8_t first,
                    uint64_t cycle)
{
    const struct hd_sim_commit c = commit(command, 0, address, first, cycle);

    commit_capture_sink(p, &c);
}

static void the_earliest_wrong_byte_is_named(void **state)
{
    const struct commit_place place = {1, 3};
    struct commit_capture a = {.arena = *state, .place = place},
                          b = {.arena = *state, .place = place};
    struct hd_cmd_array words = {.common = {.opcode = HD_OPCODE_ARRAY},
                                 .out_base = 0x200,
                                 .out_pitch = 0x100,
                                 .out_step = 0x20,
                                 .block_rows = 1};
    struct mismatch m;

    for (int s = 0; s < 2; s++) {
        commit_capture_submission(&a);
        commit_capture_submission(&b);
        capture(&a, 3, 0x200, 1, 0);
        capture(&a, 3, 0x340, 1, 0);
        capture(&a, 4, 0x400, 1, 0);
        capture(&b, 3, 0x340, 2, 70);
        capture(&b, 3, 0x200, 3, 90);
    }
    assert_true(commit_capture_compare(&a, &b, &m));
    assert_int_equal(m.kind, MISMATCH_VALUE);
    assert_int_equal(m.address, 0x340);
    assert_int_equal(m.cycle, 70);
    assert_int_equal(m.expected, 1);
    assert_int_equal(m.found, 2);
    assert_int_equal(m.differ, 32);
    mismatch_locate(&m, (const uint32_t *)&words, 16);
    assert_string_equal(
        mismatch_text(*state, &m, "03_conv2d"),
        "submission 1, command 3: array, 03_conv2d: scratchpad 0x340: row 1, column 2, channel 0; "
        "tile 0, block 1; cycle 70: expected 0x01 (1), found 0x02 (2); 32 bytes of the command "
        "differ");
}

static void missing_extra_and_repeated_bytes_differ(void **state)
{
    struct commit_capture a = {.arena = *state}, b = {.arena = *state};
    struct mismatch m;

    capture(&a, 0, 0x10, 1, 0);
    assert_true(commit_capture_compare(&a, &b, &m));
    assert_int_equal(m.kind, MISMATCH_MISSING);
    assert_string_equal(mismatch_command_text(*state, &m, NULL), "submission 0, command 0: array");
    assert_string_equal(mismatch_place_text(*state, &m), "scratchpad 0x10");
    assert_string_equal(mismatch_values_text(*state, &m),
                        "expected 0x01 (1), found no write; 16 bytes of the command differ");
    assert_true(commit_capture_compare(&b, &a, &m));
    assert_int_equal(m.kind, MISMATCH_EXTRA);
    assert_string_equal(mismatch_place_text(*state, &m), "scratchpad 0x10; cycle 0");
    assert_string_equal(mismatch_values_text(*state, &m),
                        "expected no write, found 0x01 (1); 16 bytes of the command differ");
    capture(&b, 0, 0x10, 1, 5);
    assert_false(commit_capture_compare(&a, &b, &m));
    capture(&b, 0, 0x10, 1, 6);
    assert_true(commit_capture_compare(&a, &b, &m));
    assert_int_equal(m.kind, MISMATCH_COUNT);
    assert_non_null(strstr(mismatch_values_text(*state, &m), "written more or less often"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(order_of_writes_does_not_matter, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wild_commands_share_an_entry, set_up, tear_down),
        cmocka_unit_test_setup_teardown(first_is_by_submission_then_command, set_up, tear_down),
        cmocka_unit_test_setup_teardown(hashes_see_space_address_and_byte, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_earliest_wrong_byte_is_named, set_up, tear_down),
        cmocka_unit_test_setup_teardown(missing_extra_and_repeated_bytes_differ, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
