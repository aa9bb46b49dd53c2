/* gguf_nodes.h - a network of ONNX's nodes under construction, in memory. */
#ifndef HEDDLE_COMPILER_IMPORT_GGUF_GGUF_NODES_H
#define HEDDLE_COMPILER_IMPORT_GGUF_GGUF_NODES_H

#include "base/arena.h"
#include "compiler/import/onnx/onnx_proto.h"

struct gguf_nodes {
    struct arena *arena;
    uint32_t cap_node, cap_constant;
    Onnx__GraphProto graph;
    Onnx__OperatorSetIdProto opset, *opsets[1];
    Onnx__ModelProto model;
};

/* Start a network without nodes; inputs and outputs are for the caller to list. */
void gguf_nodes_init(struct gguf_nodes *b, struct arena *a);
/* Append a node "outputs = Operator inputs; attribute=value ...", names with blanks between. A
 * value with a point is a float, one with commas a list. */
void gguf_node(struct gguf_nodes *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Append a constant of `n` elements along each of `rank` dimensions; return its zeroed bytes. */
void *gguf_constant(struct gguf_nodes *b, const char *name, enum ox_type type, uint32_t rank,
                    const int64_t *dim);

#endif
