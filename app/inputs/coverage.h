/* coverage.h - wrong constants that the reference's runs would show, to choose inputs by. Two parts:
 * - values: the set of values that each channel of each quantised tensor has taken. A channel that saturates
 *   has one value; a wrong table or a wrong scale shows where a channel has several.
 * - exposure: of each weight of convolutions and fully connected layers, the number of results that it
 *   would change if it were larger by 1: (operand - zero point) * scale, over all pixels whose result does
 *   not saturate. Weights of a pair of input and output channel have one number: operands by the mean
 *   of their channel. A weight whose every product is 0 or saturates has none. */
#ifndef HEDDLE_INPUTS_COVERAGE_H
#define HEDDLE_INPUTS_COVERAGE_H

#include "reference/ref.h"

struct coverage;

/* Nothing seen, for the tensors of `g`. */
struct coverage *coverage_new(struct arena *a, const struct ir_graph *g);
/* Products of the exposure of one inference, and of a score. */
uint64_t coverage_work(const struct coverage *c);
/* See all operators of `ref`, which runs the graph, from now on. */
void coverage_watch(struct coverage *c, struct ref *ref);
/* How much `a` and `b` together show: each further value of a channel and each further changed result of a
 * weight is worth less. b: NULL, or of the same graph. */
uint64_t coverage_score(const struct coverage *a, const struct coverage *b);
/* Number of values at an end of their type's range, where saturation shows. */
uint64_t coverage_ends(const struct coverage *c);
/* Add what `from` has seen; forget all. */
void coverage_add(struct coverage *to, const struct coverage *from);
void coverage_clear(struct coverage *c);

#endif
