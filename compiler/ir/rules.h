/* rules.h - the per-operator checks of operators.def, shared by ir_infer and ir_verify. */
#ifndef HEDDLE_COMPILER_IR_RULES_H
#define HEDDLE_COMPILER_IR_RULES_H

#include "ir.h"

/* A rule checks that `op`'s inputs, attributes and outputs fit together. Arity has been checked. */
typedef enum status ir_rule(const struct ir_graph *g, const struct ir_op *op, struct diag *d);

#define INFER(rule) ir_rule infer_##rule;
#include "operators/operators.def"

/* Check arity, presence of inputs and the rule of `op`; a message begins with the operator. */
enum status ir_check_op(const struct ir_graph *g, const struct ir_op *op, struct diag *d);

/* Shared by the rules: each message has the tensor's name, what was expected and what was found. */
enum status ir_want_type(const struct ir_tensor *t, const char *what, enum ir_type type,
                         struct diag *d);
/* Require an 8-bit tensor, or int16 with zero point 0, quantised per tensor. */
enum status ir_want_quantised(const struct ir_tensor *t, const char *what, struct diag *d);
/* The same with any zero point. */
enum status ir_want_coded(const struct ir_tensor *t, const char *what, struct diag *d);
/* As ir_want_quantised, or float32. */
enum status ir_want_act(const struct ir_tensor *t, const char *what, struct diag *d);
/* Require one type for input and output; 8- and 16-bit ones with the same quantisation. */
enum status ir_want_moved(const struct ir_tensor *x, const struct ir_tensor *y, struct diag *d);
/* Return the most values of a row that LAYER_NORM takes. */
int32_t ir_longest_norm(int32_t groups, uint64_t pixels);
enum status ir_want_rank(const struct ir_tensor *t, const char *what, uint32_t rank,
                         struct diag *d);
enum status ir_want_shape(const struct ir_graph *g, const struct ir_tensor *t, const char *what,
                          uint32_t rank, const int32_t *dim, struct diag *d);
/* Check two tensors of an operator with `halves`: int8, with an even number of columns. */
enum status ir_want_halves(const struct ir_graph *g, const struct ir_op *op,
                           const struct ir_tensor *a, const struct ir_tensor *b, struct diag *d);
enum status ir_want_same_quant(const struct ir_tensor *a, const struct ir_tensor *b,
                               struct diag *d);
enum status ir_want_const_i32(const struct ir_tensor *t, const char *what, uint64_t n,
                              struct diag *d);
enum status ir_want_const_i64(const struct ir_tensor *t, const char *what, uint64_t n,
                              struct diag *d);
/* Return element i of a constant int32 tensor. */
int32_t ir_const_i32(const struct ir_tensor *t, uint32_t i);

/* Return 1024 times the distance between neighbouring positions of a RESIZE_BILINEAR from `in` to
 * `out` elements, rounded as in the reference. */
int32_t ir_resize_step(const struct ir_op *op, int32_t in, int32_t out);

#endif
