/* layers.h - make seeded random int8 graphs for the accelerator: mostly one layer, sometimes a
 * chain. The same seed and limits give the same graph. The graphs are as an importer leaves them:
 * legal for ir_verify, not legalised. Accumulators and shifts stay where TFLite's reference is
 * defined. */
#ifndef HEDDLE_TESTS_LAYERS_H
#define HEDDLE_TESTS_LAYERS_H

#include "compiler/ir/ir.h"
#include "hw/gen/config.h"

/* splitmix64 (Steele, Lea, Flood 2014). */
struct layers_rng {
    uint64_t state;
};
uint64_t layers_next(struct layers_rng *r);
/* Return a number from lo to hi, both included; lo if hi < lo. */
int32_t layers_range(struct layers_rng *r, int32_t lo, int32_t hi);
bool layers_chance(struct layers_rng *r, uint32_t percent);

/* Seeds from this one on: one layer of any size, up to 16 M MACs. */
#define LAYERS_LARGE (UINT64_C(1) << 32)

/* Seeds from this one on: products of two computed operands, softmax, attention. */
#define LAYERS_PRODUCTS (UINT64_C(1) << 33)

/* Make graph `seed` with sizes near the limits of `hw`. */
struct ir_graph *layers_make(struct arena *a, uint64_t seed, const struct hd_config *hw);

#endif
