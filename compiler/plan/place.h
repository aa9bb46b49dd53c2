/* place.h - offsets for buffers with lifetimes, in one memory. Used for the DRAM arena and the
 * scratchpad. */
#ifndef HEDDLE_COMPILER_PLAN_PLACE_H
#define HEDDLE_COMPILER_PLAN_PLACE_H

#include <stdint.h>

#include "base/arena.h"

struct place_buffer {
    uint32_t n_bytes, first, last; /* alive at positions first..last, both included */
    uint32_t lead; /* positions before `first` during which its bytes stay free, if there is room */
    uint64_t offset;
    uint32_t modulus, phase; /* offset modulo modulus is phase; modulus 0: place_solve's align */
    uint32_t *result;
};

struct place_set {
    struct arena *arena;
    struct place_buffer *buffer;
    uint32_t n, cap;
};

void place_init(struct place_set *s, struct arena *a);
/* Add a buffer; place_solve writes its offset to *result. */
void place_add(struct place_set *s, uint32_t n_bytes, uint32_t first, uint32_t last,
               uint32_t *result);
/* The same at an offset that is `phase` modulo `modulus`, which selects the memory bank in which it
 * starts. */
void place_add_phase(struct place_set *s, uint32_t n_bytes, uint32_t first, uint32_t last,
                     uint32_t modulus, uint32_t phase, uint32_t *result);
/* Greedy by size, ties by order of adding, each at the lowest free offset, a multiple of `align`;
 * after Pisarchyk and Lee 2020. A lead is dropped if buffers would end above `limit`. Returns the
 * peak: the bytes needed; offsets are of use only if it is below 2^32. Cost O(n^2). */
uint64_t place_solve(struct place_set *s, uint32_t align, uint64_t limit);
/* Return the lower bound: the largest sum of bytes alive at one position. */
uint32_t place_bound(const struct place_set *s);

#endif
