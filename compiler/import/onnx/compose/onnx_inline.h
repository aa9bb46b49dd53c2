/* onnx_inline.h - copies of the nodes inside a node, shared by onnx_inline.c and onnx_loops.c. */
#ifndef HEDDLE_COMPILER_IMPORT_ONNX_COMPOSE_ONNX_INLINE_H
#define HEDDLE_COMPILER_IMPORT_ONNX_COMPOSE_ONNX_INLINE_H

#include "compiler/import/onnx/onnx_import.h"

/* A function or a graph. */
struct ox_body {
    size_t n_input, n_output, n_node, n_initializer;
    const char **input, **output;
    Onnx__NodeProto **node;
    Onnx__TensorProto **initializer;
    bool closed; /* a function: it sees no names outside it */
};

/* Make a node of ours; give it an integer attribute; import it, in the newest opset's form. */
Onnx__NodeProto *ox_new_node(struct ox *m, const char *op, size_t n_in, const char *const *in,
                             const char *out);
void ox_new_attribute(struct ox *m, Onnx__NodeProto *n, const char *name, int64_t value);
enum status ox_import_own(struct ox *m, const Onnx__NodeProto *n);
/* Read the graph in attribute `name` of the node, which must have `n_in` inputs. */
enum status ox_graph_of(struct ox *m, const char *name, size_t n_in, struct ox_body *b);
enum status ox_want_outputs(struct ox *m, const struct ox_body *b, size_t least);
/* Import the nodes of `body` for `in`, names of values outside, and leave its results' names in
 * *out. */
enum status ox_inlined(struct ox *m, const struct ox_body *body, const char *const *in,
                       const char ***out);
/* Give the node's outputs from `first` on the values `from`. */
enum status ox_give_outputs(struct ox *m, size_t first, size_t n, const char *const *from);

#endif
