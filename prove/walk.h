/* walk.h - which elements the host kernels' loops of four dimensions reach. */
#ifndef HEDDLE_PROVE_WALK_H
#define HEDDLE_PROVE_WALK_H

#include <stdint.h>

#include "kernels/hdk.h"

/* The number of elements of an operand up to the last that a walk over shape[4] reaches. */
uint64_t prove_walk_values(const uint32_t *shape, const uint32_t *stride);
/* The operand's element for element `element` of the result. */
uint64_t prove_walk_at(const uint32_t *shape, const uint32_t *stride, uint64_t element);
/* The number of results of a mean, and the one that element `element` is part of. */
uint64_t prove_mean_cells(const struct hdk_mean *p);
uint64_t prove_mean_cell(const struct hdk_mean *p, uint64_t element);

/* Set the cells of a pool's output e inside the image, of the elements x; return how many. */
uint32_t prove_pool_cells(const struct hdk_pool *p, const uint32_t *x, uint64_t e, uint32_t *cell);

#endif
