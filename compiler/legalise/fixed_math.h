/* fixed_math.h - the integer steps of tables and ranges that legalise computes (NUMERICS.md, "Building
 * blocks"). The reference has its own (reference/ref_fixed.c). */
#ifndef HEDDLE_COMPILER_LEGALISE_FIXED_MATH_H
#define HEDDLE_COMPILER_LEGALISE_FIXED_MATH_H

#include <stdint.h>

/* MBQM: x * multiplier * 2^(shift - 31), rounded twice; x << shift wraps modulo 2^32. */
int32_t lgl_mbqm(int32_t x, int32_t multiplier, int32_t shift);
/* 1 / sqrt(v) = multiplier * 2^(-31 - *shift), v at least 1. */
int32_t lgl_inverse_root(int32_t v, int32_t *shift);

static inline int32_t lgl_min(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static inline int32_t lgl_max(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

#endif
