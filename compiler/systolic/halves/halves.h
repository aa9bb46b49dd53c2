/* halves.h - int16 activations on the accelerator: operators with `halves`, whose tensors are int8: a row has the upper
 * bytes of its pixels, then the lower ones less 128. CONV2D, DEPTHWISE_CONV2D, TRANSPOSE_CONV and FULLY_CONNECTED of
 * constant int8 weights: the array sums the products of the upper bytes, adds those of the lower ones to 256 times these,
 * and requantises each sum twice, once for each byte. ADD, SUB, MUL, MAXIMUM, MINIMUM, LOGISTIC and TANH: VECTOR reads
 * both bytes, and writes one of each result, twice. CONCATENATION, SLICE and GATHER move halves as they move int8. */
#ifndef HEDDLE_COMPILER_SYSTOLIC_HALVES_HALVES_H
#define HEDDLE_COMPILER_SYSTOLIC_HALVES_HALVES_H

#include "compiler/ir/ir.h"
#include "hw/gen/config.h"

/* Return true if the operator is one of int16 with weights, ADD, SUB or MUL of it, or moves it. */
bool halves_kind(const struct ir_graph *g, const struct ir_op *op);
/* Return NULL if it can have that form on `hw`, otherwise the reason. */
const char *halves_refusal(const struct ir_graph *g, const struct ir_op *op,
                           const struct hd_config *hw);
/* Return the operands that it reads as halves; a constant one gets them from halves_turn. */
uint32_t halves_operands(const struct ir_graph *g, const struct ir_op *op);
/* Return true if its tensors have the rows of its product, as all but some dense layers' have; rows of n of `t`. */
bool halves_has_rows(const struct ir_graph *g, const struct ir_op *op);
void halves_rows(const struct ir_tensor *t, int32_t n, int32_t dim[2]);
/* Return a new tensor that has int16 tensor `t` as halves. */
struct ir_tensor *halves_of(struct ir_graph *g, const struct ir_tensor *t, const char *name);
/* Give the operator that form, from x[halves_operands] to y, which have its tensors as halves; x[i] is NULL for a constant. */
void halves_turn(struct ir_graph *g, struct ir_op *op, const struct ir_tensor *const *x,
                 const struct ir_tensor *y);
/* Return a graph of the operator alone, in that form if it is of that kind. */
struct ir_graph *halves_alone(struct arena *a, const struct ir_graph *g, const struct ir_op *op);

#endif
