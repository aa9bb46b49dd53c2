/* byte_set.h - a set of the bytes of one memory, one bit each. */
#ifndef HEDDLE_COMPILER_SYSTOLIC_LOWER_BYTE_SET_H
#define HEDDLE_COMPILER_SYSTOLIC_LOWER_BYTE_SET_H

#include <stdint.h>

#include "base/arena.h"

struct byte_set {
    uint64_t n; /* size of the memory in bytes */
    uint64_t *word;
};

/* Return the empty set for a memory of `n` bytes. */
struct byte_set byte_set_new(struct arena *a, uint64_t n);

/* Add or remove bytes [begin, end), or copy their state from `from`. Bytes beyond the memory are
 * ignored. */
void byte_set_add(struct byte_set *s, uint64_t begin, uint64_t end);
void byte_set_remove(struct byte_set *s, uint64_t begin, uint64_t end);
void byte_set_take(struct byte_set *s, const struct byte_set *from, uint64_t begin, uint64_t end);

/* Return the first of bytes [begin, end) that is not in the set or is beyond the memory; `end` if
 * all are in. */
uint64_t byte_set_missing(const struct byte_set *s, uint64_t begin, uint64_t end);

#endif
