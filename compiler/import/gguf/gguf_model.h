/* gguf_model.h - a Llama-family model while its nodes are made. Values of layer i are called i.name, weights
 * as in the file. */
#ifndef HEDDLE_COMPILER_IMPORT_GGUF_GGUF_MODEL_H
#define HEDDLE_COMPILER_IMPORT_GGUF_GGUF_MODEL_H

#include "gguf.h"
#include "gguf_llama.h"
#include "gguf_nodes.h"
#include "gguf_turn.h"

#define NAMED(m, ...) arena_printf((m)->net.arena, __VA_ARGS__)

struct llama {
    struct gguf_nodes net;
    const struct gguf *f;
    const struct gguf_options *o;
    struct diag *d;
    int64_t layers, width, inner, heads, kv_heads, head, vocabulary, context;
    double epsilon, base;
    struct onnx_state *state;
    /* If gguf_is_static: */
    struct gguf_ranges *ranges;
    struct gguf_turn turn;
    struct arena *scratch; /* while constants are made */
};

/* Read the sizes. ST_UNSUPPORTED: another family. */
enum status gguf_sizes(struct llama *m);
/* Find the tensor `name` of `rows` rows. */
enum status gguf_weights(const struct llama *m, const char *name, int64_t columns, int64_t rows,
                         const struct gguf_tensor **t);
/* Write `n` values that are `v_step` apart as int8 with one scale, `step` bytes from one to the next;
 * return the scale. */
float gguf_quantise(const float *v, int64_t n, int64_t v_step, int8_t *to, int64_t step);
/* Return the place of a row of q or k. The file has the pairs of a head that RoPE turns as
 * neighbours; here the first and the second of each are in two halves. */
int64_t gguf_half_place(const struct llama *m, int64_t row);
/* The angle of pair `i` of a head at position `p`. */
void gguf_angle(const struct llama *m, int64_t p, int64_t i, double *cosine, double *sine);

/* Constants: a number, the shape [1,heads,rows,columns], "flat.shape" [1,1,width]. */
void gguf_scalar(struct llama *m, const char *name, float v);
void gguf_shape(struct llama *m, const char *name, int64_t heads, int64_t rows, int64_t columns);
void gguf_flat_shape(struct llama *m);

/* Begin the lists of borders: token and position, logits, then the state. */
void gguf_borders(struct llama *m);
/* Append input `before` and output `after` [1,kv_heads,context,head], one state of the step, with the
 * bytes of its initial value; NULL: zeros. */
void gguf_state(struct llama *m, const char *before, const char *after, enum ox_type type,
                const uint8_t *initial);

#endif
