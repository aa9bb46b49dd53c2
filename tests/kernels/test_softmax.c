/* softmax against exp in double: round_half_away(256 * softmax) - 128, and its corner cases. The
 * fixed point may miss a tie by its own error (below 2^-9 of a unit): there either neighbour is
 * right. */
#include <math.h>

#include "kernels/hdk.h"
#include "tests/driver/plain.h"

#define MAX_COLS 1024u

/* QuantizeMultiplier of beta * scale * 2^26, as the compiler prepares it. */
static struct hdk_softmax params(uint32_t rows, uint32_t cols, double scale)
{
    double real = fmin(scale * 67108864.0, 2147483647.0);
    struct hdk_softmax p = {.rows = rows, .cols = cols};
    int exponent;
    int64_t m = (int64_t)round(frexp(real, &exponent) * 2147483648.0);

    if (m == (int64_t)1 << 31) {
        m /= 2;
        exponent++;
    }
    p.input_multiplier = (int32_t)m;
    p.input_left_shift = exponent;
    p.diff_min = -(int32_t)floor(31.0 * 67108864.0 / ldexp(1.0, exponent));
    return p;
}

/* Compare one row; returns elements that sat on a tie. */
static uint32_t check_row(const int8_t *x, const int8_t *y, uint32_t n, double scale)
{
    double sum = 0;
    int32_t max = -128;
    uint32_t ties = 0;

    for (uint32_t i = 0; i < n; i++)
        max = x[i] > max ? x[i] : max;
    for (uint32_t i = 0; i < n; i++)
        sum += exp(scale * (x[i] - max));
    for (uint32_t i = 0; i < n; i++) {
        double v = 256.0 * exp(scale * (x[i] - max)) / sum;
        int32_t want = (int32_t)fmin(floor(v + 0.5) - 128, 127);

        if (y[i] == want)
            continue;
        if (fabs(v + 0.5 - floor(v + 1.0)) > 1.0 / 512)
            fail_msg("n %u scale %g: x %d gives %d, expected %d (%.6f)", n, scale, x[i], y[i], want,
                     v);
        ties++;
    }
    return ties;
}

static void equals_softmax_in_double(void **state)
{
    static const uint32_t cols[] = {1, 2, 3, 10, 12, 64, 100, 257, 511, 1001};
    static int8_t x[4 * MAX_COLS], y[4 * MAX_COLS];
    uint32_t elements = 0, ties = 0;

    (void)state;
    for (uint32_t k = 0; k < 10 * 60; k++) {
        double scale = ldexp(1.0 + random_in(0, 1000) / 1000.0, random_int(-9, -1));
        struct hdk_softmax p = params(4, cols[k % 10], scale);
        int32_t spread = random_int(0, 127);

        for (uint32_t i = 0; i < 4 * p.cols; i++)
            x[i] = (int8_t)random_int(-spread - 1, spread);
        hdk_softmax(&p, x, y);
        for (uint32_t r = 0; r < 4; r++)
            ties += check_row(x + r * p.cols, y + r * p.cols, p.cols, scale);
        elements += 4 * p.cols;
    }
    printf("%u of %u elements on a tie\n", ties, elements);
    assert_true(ties * 1000 < elements);
}

static void one_hot_and_flat_rows(void **state)
{
    struct hdk_softmax p = params(1, 10, 0.25);
    static int8_t x[MAX_COLS], y[MAX_COLS];

    (void)state;
    memset(x, -128, sizeof x);
    x[3] = 127;
    hdk_softmax(&p, x, y);
    for (uint32_t i = 0; i < 10; i++)
        assert_int_equal(y[i], i == 3 ? 127 : -128);
    memset(x, 5, sizeof x);
    p.cols = 8;
    hdk_softmax(&p, x, y);
    assert_int_equal(y[7], 32 - 128);
    /* Undefined in the reference from 512 on: less than 1/2 is 0 here. */
    for (p.cols = 500; p.cols <= 1001; p.cols += 167) {
        hdk_softmax(&p, x, y);
        assert_int_equal(y[0], p.cols <= 512 ? -127 : -128);
        assert_int_equal(y[p.cols - 1], y[0]);
    }
}

static void works_in_place(void **state)
{
    struct hdk_softmax p = params(3, 12, 0.1);
    int8_t x[36], y[36];

    (void)state;
    random_bytes(x, sizeof x);
    hdk_softmax(&p, x, y);
    hdk_softmax(&p, x, x);
    assert_memory_equal(x, y, sizeof x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_softmax_in_double),
        cmocka_unit_test(one_hot_and_flat_rows),
        cmocka_unit_test(works_in_place),
    };

    return cmocka_run_group_tests(tests, random_seed, NULL);
}
