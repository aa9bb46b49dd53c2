/* gguf_ranges.h - the network of gguf_static.c in float32 on tokens that it draws itself: the range of each
 * value, and keys and values of the token that begins a text. */
#ifndef HEDDLE_COMPILER_IMPORT_GGUF_GGUF_RANGES_H
#define HEDDLE_COMPILER_IMPORT_GGUF_GGUF_RANGES_H

#include <stdint.h>

#include "base/arena.h"

/* [columns,rows] of int8 with one scale for each row. */
struct gguf_matrix {
    int64_t columns, rows;
    int8_t *w;
    float *scale;
};

enum gguf_part { GGUF_Q, GGUF_K, GGUF_V, GGUF_O, GGUF_GATE, GGUF_UP, GGUF_DOWN, GGUF_PARTS };

struct gguf_network {
    int64_t layers, width, inner, heads, kv_heads, head, vocabulary, context;
    float epsilon;
    const float *cosine,
        *sine;           /* [context,head]: RoPE of halves is x * cosine + swapped x * sine */
    const int8_t *table; /* of embeddings, [vocabulary,width] */
    float table_scale;
    const struct gguf_matrix *part; /* GGUF_PARTS of each layer */
    struct gguf_matrix logits;
    int64_t begin; /* the token that begins a text; -1: none */
};

struct gguf_range {
    const char *name;
    float low, high; /* 0 is within */
};

struct gguf_ranges {
    uint32_t n, cap;
    struct gguf_range *range;
    /* With a token that begins: its keys and values in each layer, [kv_heads,head]. */
    float *key, *value;
    float *gated; /* the greatest magnitude of each gated value, [layers,inner] */
};

struct gguf_ranges *gguf_see(struct arena *a, const struct gguf_network *n);
/* Return the range of a value that the network has. */
const struct gguf_range *gguf_range(const struct gguf_ranges *r, const char *name);

#endif
