/* staged.h - the toy's convolution in stages: two halves of memory, of which the core works on one. */
#ifndef TESTS_COMPILER_EMIT_STAGED_H
#define TESTS_COMPILER_EMIT_STAGED_H

#include "toy.h"

/* Stages 0 load, 1 start, 2 wait, 3 store; an error if they are out of order, or the core has two parts. */
int staged_conv2d(int stage, int half, const int8_t *x, const int8_t *w, const int32_t *bias,
                  const int32_t *multiplier, const int8_t *shift, const int32_t *sums_in,
                  int32_t *sums_out, int8_t *y, struct toy_sizes s);

#endif
