/* coverage.h - which values each channel of each quantised tensor has taken in the reference's runs. A
 * channel that saturates has one value; a wrong constant shows where its channel has several. */
#ifndef HEDDLE_INPUTS_COVERAGE_H
#define HEDDLE_INPUTS_COVERAGE_H

#include "reference/ref.h"

struct coverage;

/* Nothing seen, for the tensors of `g`. */
struct coverage *coverage_new(struct arena *a, const struct ir_graph *g);
/* The values of an operator's output: a ref_tap, ctx is the struct coverage. */
void coverage_tap(void *ctx, const struct ir_op *op, const uint8_t *out);
/* Coverage of the tensors by `a` and `b` together: per channel the number of values, each
 * further one worth less. b: NULL, or of the same graph. */
uint64_t coverage_score(const struct coverage *a, const struct coverage *b);
/* Number of values at an end of their type's range, where saturation shows. */
uint64_t coverage_ends(const struct coverage *c);
/* Add what `from` has seen; forget all. */
void coverage_add(struct coverage *to, const struct coverage *from);
void coverage_clear(struct coverage *c);

#endif
