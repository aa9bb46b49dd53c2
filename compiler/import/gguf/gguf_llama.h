/* gguf_llama.h - a language model of the Llama family as a network of ONNX's nodes: one step, from a
 * token and its position to the logits of the next, with keys and values as state. */
#ifndef HEDDLE_COMPILER_IMPORT_GGUF_GGUF_LLAMA_H
#define HEDDLE_COMPILER_IMPORT_GGUF_GGUF_LLAMA_H

#include "compiler/import/gguf/gguf.h"
#include "compiler/import/onnx/onnx.h"

enum gguf_products { GGUF_INT8, GGUF_FLOAT, GGUF_STATIC, GGUF_STATIC16 };

/* int8: weights of one scale for each row, inputs with the scale of their values in each step. float:
 * the file's values. static: all values int8, in scales known before; static16: but those of the residual and the gated
 * ones, which are int16. context: positions of keys and values; 0: 256, or the file's if fewer. */
struct gguf_options {
    uint32_t context;
    enum gguf_products products;
};

static inline bool gguf_is_static(const struct gguf_options *o)
{
    return o->products == GGUF_STATIC || o->products == GGUF_STATIC16;
}

enum { GGUF_CONTEXT = 256, GGUF_MOST_CONTEXT = 1 << 16 };

/* Return the token whose keys and values the state has at first, at position 0; -1: none. There is
 * one if gguf_is_static and the file names a token that begins a text. */
int64_t gguf_begin(const struct gguf *f, const struct gguf_options *o);
/* Make the network; o->unpacked and o->state of *onnx are set. ST_UNSUPPORTED: another family. */
enum status gguf_llama(struct arena *a, const uint8_t *data, size_t n_bytes,
                       const struct gguf_options *o, struct onnx_options *onnx, struct diag *d);

#endif
