/* test_reciprocal.c - the proof of hd_lane's average: for every number of cells n in 1..2048
 * and every sum s of n int8 values, ((|s| + n/2) * ceil(2^31 / n)) >> 31 with the sign of s is what
 * NUMERICS.md asks of AVERAGE_POOL_2D. Also ceil(2^31 / n) = (2^31 - 1) / n + 1, as hd_recip makes
 * it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Quotients grow by one every n: counted, not divided, so that the proof is independent and quick.
 */
static uint32_t wrong_quotients(uint32_t n, uint64_t reciprocal)
{
    uint32_t quotient = 0, rest = n / 2, wrong = 0; /* (|s| + n/2) = quotient * n + rest */

    if (rest >= n) {
        quotient = rest / n;
        rest %= n;
    }
    for (uint32_t size = 0; size <= 128 * n; size++) {
        wrong += ((size + n / 2) * reciprocal >> 31) != quotient;
        if (++rest == n) {
            rest = 0;
            quotient++;
        }
    }
    return wrong;
}

static void every_average_is_exact(void **state)
{
    (void)state;
    assert_int_equal(wrong_quotients(1, (uint64_t)1 << 31), 0);
    for (uint32_t n = 2; n <= 2048; n++) {
        uint64_t reciprocal = (((uint64_t)1 << 31) + n - 1) / n;

        assert_true(reciprocal == INT32_MAX / n + 1);
        assert_true(reciprocal <= INT32_MAX); /* a signed 32-bit multiplier */
        if (wrong_quotients(n, reciprocal) != 0)
            fail_msg("a mean over %u cells is wrong", n);
    }
}

/* The magnitude form equals the rounding of NUMERICS.md for both signs. */
static void magnitude_equals_numerics(void **state)
{
    (void)state;
    for (int32_t n = 1; n <= 64; n++)
        for (int32_t s = -128 * n; s <= 127 * n; s++) {
            int32_t want = (s > 0 ? s + n / 2 : s - n / 2) / n;
            int32_t size = ((s < 0 ? -s : s) + n / 2) / n;

            assert_int_equal(s < 0 ? -size : size, want);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_average_is_exact),
        cmocka_unit_test(magnitude_equals_numerics),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
