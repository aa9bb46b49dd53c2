/* turned_const.h - constants in the order that they have before a transposition by `perm`. */
#ifndef HEDDLE_COMPILER_LEGALISE_TURNED_CONST_H
#define HEDDLE_COMPILER_LEGALISE_TURNED_CONST_H

#include "compiler/ir/ir.h"

/* Constant `t`, broadcast to `rank` dimensions, such that its transposition by `perm` is `t`. */
uint32_t lgl_turned_const(struct ir_graph *g, const struct ir_tensor *t, uint32_t rank,
                          const int32_t *perm);

/* Rows of `n` numbers, one row a dimension, in the order before the transposition. */
uint32_t lgl_turned_rows(struct ir_graph *g, const struct ir_tensor *t, uint32_t n, uint32_t rank,
                         const int32_t *perm);

/* Columns of weights [OC,K], K = elements of `t` without its first dimension, in the order that `t`
 * had before the transposition by `perm`. */
uint32_t lgl_turned_weights(struct ir_graph *g, const struct ir_tensor *w,
                            const struct ir_tensor *t, const int32_t *perm);

#endif
