/* table16.h - tables of the int16 kernels, op->fixed.wide. Integers from here on. */
#ifndef HEDDLE_COMPILER_LEGALISE_TABLE16_H
#define HEDDLE_COMPILER_LEGALISE_TABLE16_H

#include "legalise.h"

enum {
    LGL_SIGMOID = 256, /* entries: uint16, 65536 sigmoid(i / 24), linear in between */
    LGL_TABLE16 = 513, /* entries: every 128th code, one past the end; linear in between */
};

/* Fill op->fixed of an int16 operator that looks up:
 *   LOGISTIC, TANH: wide = the sigmoid's table; multiplier and shift bring a code to 1/12288 (a
 *     third of 2^-12), rounding half up
 *   SOFTMAX: wide = exp on [-10, 0], then 1 / (1 + x) on [0, 1]; multiplier and shift bring a
 *     difference to 10 / 65535
 * `in`: the input's scale; `beta`: SOFTMAX's. */
void lgl_table16(struct ir_graph *g, struct ir_op *op, float in, float beta);

#endif
