/* plain.h - random numbers, and the arithmetic of NUMERICS.md written in the page's form, unlike
 * that of kernels and functional model. For tests of one file each. */
#ifndef TESTS_DRIVER_PLAIN_H
#define TESTS_DRIVER_PLAIN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t random_state;

/* Seed from HD_SEED or the clock of the commit; printed, so that a failure can be repeated. */
static inline int random_seed(void **state)
{
    const char *seed = getenv("HD_SEED");

    (void)state;
    random_state = seed ? strtoull(seed, NULL, 0) : 0x9e3779b97f4a7c15u;
    printf("HD_SEED=0x%llx\n", (unsigned long long)random_state);
    return 0;
}

static inline uint32_t random_u32(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 16);
}

static inline uint32_t random_in(uint32_t low, uint32_t high)
{
    return low + random_u32() % (high - low + 1);
}

static inline int32_t random_int(int32_t low, int32_t high)
{
    return low + (int32_t)(random_u32() % (uint32_t)(high - low + 1));
}

static inline void random_bytes(void *to, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ((uint8_t *)to)[i] = (uint8_t)random_u32();
}

/* NUMERICS.md: SRDHM, RDBPOT, MBQM. */
static inline int32_t plain_mbqm(int32_t x, int32_t m, int32_t shift)
{
    int64_t ab = (int64_t)(int32_t)((uint32_t)x << (shift > 0 ? shift : 0)) * m;
    int64_t nudge = ab >= 0 ? (int64_t)1 << 30 : 1 - ((int64_t)1 << 30);
    int32_t h = (int32_t)((ab + nudge) / ((int64_t)1 << 31));
    int32_t e = shift < 0 ? -shift : 0;
    int64_t unit = (int64_t)1 << e;
    int64_t size = h < 0 ? -(int64_t)h : h;
    int64_t q = (2 * size + unit) / (2 * unit); /* half away from zero */

    return (int32_t)(h < 0 ? -q : q);
}

static inline int8_t plain_clamp(int64_t v, int32_t low, int32_t high)
{
    return (int8_t)(v < low ? low : v > high ? high : v);
}

/* Fail with the first byte that differs. */
static inline void expect_bytes(const char *what, const void *got, const void *want, size_t n)
{
    const uint8_t *g = got, *w = want;

    for (size_t i = 0; i < n; i++)
        if (g[i] != w[i])
            fail_msg("%s: byte %zu is %d, expected %d", what, i, (int8_t)g[i], (int8_t)w[i]);
}

#endif
