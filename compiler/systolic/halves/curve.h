/* curve.h - LOGISTIC and TANH of int16 as VECTOR's curve: 512 entries of a base and a slope. */
#ifndef HEDDLE_COMPILER_SYSTOLIC_HALVES_CURVE_H
#define HEDDLE_COMPILER_SYSTOLIC_HALVES_CURVE_H

#include "compiler/ir/ir.h"

/* Return true for LOGISTIC and TANH of int16 with fixed-point constants. */
bool curve_kind(const struct ir_graph *g, const struct ir_op *op);
/* Return NULL if the unit's result is the kernel's for each of the 65,536 codes, otherwise the reason. */
const char *curve_refusal(const struct ir_op *op);
/* Give the operator x, which has its input as halves, and the unit's numbers, in the places of ADD's: multiplier_a and shift_a, shift_b, multiplier_out and
 * shift_out; fixed.wide: the entries. */
void curve_turn(struct ir_graph *g, struct ir_op *op, const struct ir_tensor *x);

#endif
