/* vector_beats.c against the formulas of cost.c, which tests/hw/vector/vector_tb.cpp compares with the
 * RTL: a command alone, one resumed in its middle, and one in parallel with others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compiler/systolic/timing/contention.h"
#include "compiler/systolic/timing/cost.h"
#include "compiler/systolic/timing/vector_beats.h"

static const struct hd_config hw = {
    .n = 16, .rows = 16, .columns = 16, .banks = 8, .scratchpad_bytes = 131072};
static const uint32_t n_rows[] = {1, 2, 3, 7, 16, 17, 33, 100, 256},
                      n_values[] = {1, 2, 16, 17, 33, 64, 112, 128, 129, 144, 160, 256, 530};

enum { ROWS = sizeof n_rows / sizeof *n_rows, VALUES = sizeof n_values / sizeof *n_values };

static struct hd_cmd_vector rows_of(uint32_t op, uint32_t rows, uint32_t values, uint32_t pitch)
{
    return (struct hd_cmd_vector){.op = op & 0xfu,
                                  .kernel_h = 1,
                                  .kernel_w = 1,
                                  .rows = rows & 0xffffu,
                                  .cols = 1,
                                  .channels = values,
                                  .a_row = pitch,
                                  .in_h = 1,
                                  .in_w = 1};
}

static struct hd_cmd_vector softmax(uint32_t rows, uint32_t values)
{
    return rows_of(HD_VOP_SOFTMAX, rows, values, (values + 15) / 16 * 16);
}

/* Cycles until it has ended; others read all banks in each cycle that `free` does not divide. */
static uint64_t run(struct vector_beats *b, uint32_t free)
{
    uint64_t cycles = 0;

    for (; !vector_beats_ended(b); cycles++) {
        uint64_t busy = cycles % free ? 0xff : 0;
        vector_beats_cycle(b, &busy, &hw);
    }
    return cycles;
}

static void softmax_by_itself(void **state)
{
    (void)state;
    for (uint32_t r = 0; r < ROWS; r++)
        for (uint32_t i = 0; i < VALUES; i++) {
            struct hd_cmd_vector v = softmax(n_rows[r], n_values[i]);
            uint64_t cost = cost_vector(&v, &hw);
            struct vector_beats b = vector_beats_start(&v, (double)(cost - 1), (double)cost, &hw);
            assert_int_equal(run(&b, 1) + COST_VECTOR_END, cost);
        }
}

/* A copy made in the middle keeps its remaining work, whatever repeats are skipped before and after
 * it. */
static void softmax_taken_up_in_its_middle(void **state)
{
    (void)state;
    for (uint32_t r = 0; r < ROWS; r++)
        for (uint32_t i = 0; i < VALUES; i++) {
            struct hd_cmd_vector v = softmax(n_rows[r], n_values[i]);
            uint64_t cost = cost_vector(&v, &hw);
            for (uint64_t left = cost - 1; left >= COST_VECTOR_END; left -= 1 + left / 9) {
                struct vector_beats b = vector_beats_start(&v, (double)left, (double)cost, &hw);
                assert_true(vector_beats_left(&b, &hw) == (double)left);
                assert_int_equal(run(&b, 1) + COST_VECTOR_END - 1, left);
            }
        }
}

static struct hd_cmd_vector lstm(uint32_t cells)
{
    return (struct hd_cmd_vector){.op = HD_VOP_LSTM,
                                  .kernel_h = 2,
                                  .kernel_w = 3,
                                  .rows = 1,
                                  .cols = cells & 0xffffu,
                                  .channels = 4,
                                  .a_col = 128, /* the banks of a cell are those of the next */
                                  .a_win_col = 4129,
                                  .a_win_row = 16384,
                                  .b_base = 32768 + 112,
                                  .b_col = 128,
                                  .in_h = 2,
                                  .in_w = (cells + 2) & 0xffffu};
}

/* From its first cycle on, and taken up in its middle. */
static void cells_of_an_lstm(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < VALUES; i++) {
        struct hd_cmd_vector v = lstm(n_values[i]);
        uint64_t cost = cost_vector(&v, &hw);

        for (uint64_t left = cost - 1; left >= COST_VECTOR_END; left -= 1 + left / 9) {
            struct vector_beats b = vector_beats_start(&v, (double)left, (double)cost, &hw);
            assert_true(vector_beats_left(&b, &hw) == (double)left);
            assert_int_equal(run(&b, 1) + COST_VECTOR_END - 1, left);
        }
    }
}

/* A cell has six beats in eight cycles; with others reading in every second one it takes twelve. */
static void cells_wait_for_reads_of_others(void **state)
{
    struct hd_cmd_vector v = lstm(200);
    uint64_t cost = cost_vector(&v, &hw);
    struct vector_beats b = vector_beats_start(&v, (double)(cost - 1), (double)cost, &hw);

    (void)state;
    assert_in_range(run(&b, 2) + COST_VECTOR_END, cost + 4 * 199, cost + 4 * 201);
}

/* A sum takes 8 cycles per row, so a read in every second cycle delays only the other two
 * passes. */
static void scales_hide_reads_of_others(void **state)
{
    struct hd_cmd_vector v = softmax(256, 2);
    uint64_t cost = cost_vector(&v, &hw);
    struct vector_beats b = vector_beats_start(&v, (double)(cost - 1), (double)cost, &hw);

    (void)state;
    assert_in_range(run(&b, 2) + COST_VECTOR_END, cost + 2 * 256 - 4, cost + 2 * 256 + 4);
}

/* STORE of one word per row after VECTOR, which reads `pitch` bytes a row; returns when it ends. */
static uint64_t store_ends(uint32_t pitch)
{
    struct sched_command vector = {.unit = HD_UNIT_VECTOR}, store = {.unit = HD_UNIT_STORE};

    vector.w.vector = rows_of(HD_VOP_MAX_POOL, 1000, pitch, pitch);
    store.w.store = (struct hd_cmd_store){.src_pitch = 1, .rows = 200, .row_bytes = 2};
    const double cost = (double)cost_vector(&vector.w.vector, &hw);
    struct contention_work v = {.command = &vector, .left = cost - 1, .cost = cost},
                           s = {.command = &store, .left = 200, .cost = 200};
    contention_rest(&s, &v, UINT64_MAX, false, &hw);
    return s.since + (uint64_t)(s.left + 0.5);
}

static void store_waits_for_narrow_rows(void **state)
{
    (void)state;
    assert_in_range(store_ends(16), 200, 204);
    assert_in_range(store_ends(4), 760, 804); /* four rows a word */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(softmax_by_itself),
        cmocka_unit_test(softmax_taken_up_in_its_middle),
        cmocka_unit_test(cells_of_an_lstm),
        cmocka_unit_test(cells_wait_for_reads_of_others),
        cmocka_unit_test(scales_hide_reads_of_others),
        cmocka_unit_test(store_waits_for_narrow_rows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
