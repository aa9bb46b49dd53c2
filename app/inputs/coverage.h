/* coverage.h - measure which wrong constants the reference's runs would reveal, to choose inputs.
 * Two parts:
 * - values: the set of values that each channel of each quantised tensor has taken. A channel that
 * saturates
 *   has one value; a wrong table or a wrong scale shows where a channel has several.
 * - exposure: of each weight of convolutions and fully connected layers, the number of results that
 * it
 *   would change if it were larger by 1: (operand - zero point) * scale, over all pixels whose
 *   result does
 *   not saturate. Weights of a pair of input and output channel have one number: operands by the
 *   mean
 *   of their channel. A weight whose every product is 0 or saturates has none. */
#ifndef HEDDLE_INPUTS_COVERAGE_H
#define HEDDLE_INPUTS_COVERAGE_H

#include "reference/ref.h"

struct coverage;

/* Return empty coverage for the tensors of `g`. */
struct coverage *coverage_new(struct arena *a, const struct ir_graph *g);
/* Return the products needed for the exposure of one inference, and for a score. */
uint64_t coverage_work(const struct coverage *c);
/* Watch all operators of `ref`, which runs the graph, from now on. */
void coverage_watch(struct coverage *c, struct ref *ref);
/* Return how much `a` and `b` together reveal: each further value of a channel and each further
 * changed result of a weight counts less. b: NULL, or of the same graph. */
uint64_t coverage_score(const struct coverage *a, const struct coverage *b);
/* Return the number of values at an end of their type's range, where saturation occurs. */
uint64_t coverage_ends(const struct coverage *c);
/* Add the coverage of `from`; the second discards all. */
void coverage_add(struct coverage *to, const struct coverage *from);
void coverage_clear(struct coverage *c);

#endif
