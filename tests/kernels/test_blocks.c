/* The loops of hdk_blocks on a unit in C that counts what is at work: a start waits for what was started before, also
 * after a call that an error of any of its steps ended. */
#include <string.h>

#include "kernels/hdk_blocks.h"
#include "kernels/hdk_math.h"
#include "tests/driver/plain.h"

enum { SIDE = 4, DEPTH = 24, MEMORY = 4096, FAILED = -9 };

/* A band has three rows of five pixels; six channels are two blocks, in a group each. */
static const struct hdk_blocks plan = {.in_h = 7,
                                       .in_w = 5,
                                       .in_c = 8,
                                       .out_h = 5,
                                       .out_w = 5,
                                       .out_c = 6,
                                       .kernel_h = 3,
                                       .kernel_w = 1,
                                       .stride_h = 1,
                                       .stride_w = 1,
                                       .dilation_h = 1,
                                       .act_min = -128,
                                       .act_max = 127,
                                       .scales = 1,
                                       .rows = SIDE,
                                       .columns = SIDE,
                                       .band = 3,
                                       .group = 1,
                                       .pieces = 3,
                                       .piece_bytes = 8,
                                       .pitch = 40,
                                       .weights_at = 1024,
                                       .sums_at = 2048,
                                       .sums_bytes = 512};

static struct {
    int8_t memory[MEMORY], lane[2][2][SIDE][DEPTH];
    int32_t sums[2][SIDE * SIDE];
    uint32_t at_work;     /* of enum hdk_blocks_wait */
    uint32_t lost, steps; /* starts on a unit at work; calls of any function */
    uint32_t fails;       /* number of the step that returns FAILED, from 1; 0: none */
} unit;

static int step(void)
{
    return ++unit.steps == unit.fails ? FAILED : 0;
}

static void starts(uint32_t what)
{
    unit.lost += (unit.at_work & what) != 0;
    unit.at_work |= what;
}

static int put(const struct hd_port *dev, uint32_t address, const void *host, uint32_t n_bytes)
{
    (void)dev;
    memcpy(unit.memory + address, host, n_bytes);
    return step();
}

static int get(const struct hd_port *dev, void *host, uint32_t address, uint32_t n_bytes)
{
    (void)dev;
    memcpy(host, unit.memory + address, n_bytes);
    return step();
}

static int load(const struct hd_port *dev, const struct hdk_blocks_load *l)
{
    (void)dev;
    starts(HDK_BLOCKS_MEMORY);
    for (uint32_t lane = 0; lane < l->lanes; lane++)
        for (uint32_t i = 0; i < l->pieces; i++)
            memcpy(unit.lane[l->columns][l->buffer][lane] + i * l->piece_bytes,
                   unit.memory + l->address + lane * l->lane_stride + i * l->piece_stride,
                   l->piece_bytes);
    return step();
}

static int multiply(const struct hd_port *dev, const struct hdk_blocks_multiply *m)
{
    (void)dev;
    starts(HDK_BLOCKS_PRODUCT);
    for (uint32_t i = 0; i < SIDE * SIDE; i++) {
        unit.sums[m->sums][i] *= !m->first;
        for (uint32_t k = 0; k < m->depth; k++)
            unit.sums[m->sums][i] +=
                unit.lane[0][m->rows][i / SIDE][k] * unit.lane[1][m->columns][i % SIDE][k];
    }
    return step();
}

static int store(const struct hd_port *dev, uint32_t sums, uint32_t address)
{
    (void)dev;
    starts(HDK_BLOCKS_MEMORY);
    memcpy(unit.memory + address, unit.sums[sums], sizeof unit.sums[sums]);
    return step();
}

static int wait(const struct hd_port *dev, uint32_t what)
{
    const int rc = step();

    (void)dev;
    if (rc == 0)
        unit.at_work &= ~what;
    return rc;
}

static int8_t x[7 * 5 * 8], w[8 * DEPTH], y[5 * 5 * 6];

/* Run the layer with its step number `fails` failing. */
static int run(uint32_t fails)
{
    static const struct hdk_blocks_unit functions = {put, get, load, multiply, store, wait};
    static const int32_t bias[6], multipliers[] = {1 << 30};
    static const int8_t shifts[] = {-5};

    unit.fails = fails;
    unit.steps = 0;
    memset(y, 90, sizeof y);
    return hdk_blocks_run(&plan, &functions, NULL, x, w, bias, multipliers, shifts, y);
}

static void check_answer(void)
{
    for (uint32_t i = 0; i < sizeof y; i++) {
        const uint32_t pixel = i / 6, c = i % 6;
        int32_t sum = 0;
        for (uint32_t k = 0; k < DEPTH; k++)
            sum += x[(pixel + k / 8 * 5) * 8 + k % 8] * w[c * DEPTH + k];
        assert_int_equal(y[i], hdk_clamp(hdk_rescale(sum, 1 << 30, -5), 0, -128, 127));
    }
}

static void rests_after_an_error_of_each_step(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < sizeof x; i++)
        x[i] = (int8_t)(i * 37);
    for (uint32_t i = 0; i < 6 * DEPTH; i++)
        w[i] = (int8_t)(i * 91);
    assert_int_equal(run(0), 0);
    check_answer();
    const uint32_t steps = unit.steps;

    assert_in_range(steps, 100, 1000);
    for (uint32_t fails = 1; fails <= steps; fails++) {
        assert_int_equal(run(fails), FAILED);
        assert_int_equal(unit.at_work, 0);
        assert_int_equal(run(0), 0);
        check_answer();
    }
    assert_int_equal(unit.lost, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rests_after_an_error_of_each_step)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
