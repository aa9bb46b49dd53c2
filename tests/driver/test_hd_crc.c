/* The CRC of streams: against long division, and that it detects every burst of up to 32 bits and
 * every pair of bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "driver/hd_crc.h"

enum { WORDS = 1024, BITS = 32 * WORDS };

static void fill(uint32_t *words, uint32_t n, uint32_t seed)
{
    for (uint32_t i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        words[i] = seed ^ seed >> 15;
    }
}

/* Multiply by x modulo the polynomial: bit 31 is the coefficient of 1, bit 0 that of x^31. */
static uint32_t times_x(uint32_t a)
{
    const uint32_t x32 = 1u << 31 | 1u << (31 - 2) | 1u << (31 - 6) | 1u << (31 - 7);

    return a >> 1 ^ (a & 1u ? x32 : 0u);
}

static uint32_t long_division(const uint32_t *words, uint32_t n)
{
    uint32_t rest = UINT32_MAX;

    for (uint32_t bit = 0; bit < 32 * n; bit++)
        rest = times_x(rest ^ (words[bit / 32] >> bit % 32 & 1u));
    return rest;
}

static void long_division_agrees(void **state)
{
    uint32_t words[64];

    (void)state;
    for (uint32_t n = 0; n <= 64; n++) {
        fill(words, n, n);
        assert_int_equal(hd_crc(words, n * 4), long_division(words, n));
    }
}

static void header_crc_makes_it_0(void **state)
{
    uint32_t words[64];

    (void)state;
    for (uint32_t n = HD_HEADER_BYTES / 4; n <= 64; n++) {
        struct hd_header header;

        fill(words, n, n);
        memcpy(&header, words, sizeof header);
        header.crc = hd_stream_crc(words, n * 4);
        memcpy(words, &header, sizeof header);
        assert_int_equal(hd_crc(words, n * 4), 0);
        assert_int_equal(long_division(words, n), 0);
    }
}

/* Return true if no combination of 32 words is 0. */
static int independent(const uint32_t *word)
{
    uint32_t pivot[32] = {0}; /* by highest bit */

    for (uint32_t i = 0; i < 32; i++) {
        uint32_t v = word[i];

        for (uint32_t bit = 32; bit-- > 0 && v;)
            if (v >> bit & 1u) {
                if (!pivot[bit]) {
                    pivot[bit] = v;
                    break;
                }
                v ^= pivot[bit];
            }
        if (!v)
            return 0;
    }
    return 1;
}

/* The remainder is linear: the effect of a wrong bit does not depend on the others. If the effects
 * of 32 neighbouring bits are independent, no combination of them, and so no burst there, has
 * effect 0. */
static void no_burst_of_32_bits_passes(void **state)
{
    static uint32_t words[WORDS], added[BITS];
    uint32_t good;

    (void)state;
    fill(words, WORDS, 1);
    good = hd_crc(words, sizeof words);
    added[BITS - 1] = times_x(1);
    for (uint32_t bit = BITS - 1; bit-- > 0;)
        added[bit] = times_x(added[bit + 1]);
    for (uint32_t i = 0; i < 200; i++) { /* check that this is the effect of a wrong bit */
        const uint32_t bit = i < 64 ? BITS - 1 - i : i * 2654435761u % BITS;

        words[bit / 32] ^= 1u << bit % 32;
        assert_int_equal(hd_crc(words, sizeof words) ^ good, added[bit]);
        words[bit / 32] ^= 1u << bit % 32;
    }
    for (uint32_t bit = 0; bit + 32 <= BITS; bit++)
        assert_true(independent(added + bit));
}

static uint32_t product(uint32_t a, uint32_t b)
{
    uint32_t sum = 0;

    for (uint32_t bit = 32; bit-- > 0; a = times_x(a))
        sum ^= b >> bit & 1u ? a : 0u;
    return sum;
}

static uint32_t power_of_x(uint32_t n)
{
    uint32_t power = 1u << 31, square = 1u << 30;

    for (; n; n >>= 1, square = product(square, square))
        power = n & 1u ? product(power, square) : power;
    return power;
}

/* Two wrong bits n apart pass if x^n is 1. The first such n is 2^32 - 1: x to that power is 1, and
 * to each of its largest divisors it is not. */
static void no_two_bits_pass(void **state)
{
    static const uint32_t primes[] = {3, 5, 17, 257, 65537};

    (void)state;
    assert_int_equal(power_of_x(UINT32_MAX), 1u << 31);
    for (uint32_t i = 0; i < sizeof primes / sizeof primes[0]; i++)
        assert_int_not_equal(power_of_x(UINT32_MAX / primes[i]), 1u << 31);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_division_agrees),
        cmocka_unit_test(header_crc_makes_it_0),
        cmocka_unit_test(no_burst_of_32_bits_passes),
        cmocka_unit_test(no_two_bits_pass),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
