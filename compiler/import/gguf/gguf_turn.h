/* gguf_turn.h - a rotation of the residual, which spreads its outliers over all values. */
#ifndef HEDDLE_COMPILER_IMPORT_GGUF_GGUF_TURN_H
#define HEDDLE_COMPILER_IMPORT_GGUF_GGUF_TURN_H

#include <stdint.h>

#include "base/arena.h"

/* `n` values: the cosine transform of each `odd` neighbours, then Hadamard's matrix over these
 * groups. */
struct gguf_turn {
    int64_t n, odd;
    float *cosine; /* [odd,odd] */
};

struct gguf_turn gguf_turn_of(struct arena *a, int64_t n);
/* Turn the values at `v`. A norm without gains is the same before and after. */
void gguf_turn(const struct gguf_turn *t, float *v);

#endif
