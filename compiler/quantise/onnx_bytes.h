/* onnx_bytes.h - ONNX messages as bytes: protobuf's tagged numbers and texts, in the order in which
 * they are added. */
#ifndef HEDDLE_QUANTISE_ONNX_BYTES_H
#define HEDDLE_QUANTISE_ONNX_BYTES_H

#include "compiler/ir/ir.h"

/* Return ONNX's number of the type. */
int64_t onnx_type(enum ir_type type);
/* Add an attribute of a node; `t` is later passed to onnx_node. */
void onnx_attr_int(struct text *t, const char *name, int64_t value);
void onnx_attr_float(struct text *t, const char *name, float value);
void onnx_attr_text(struct text *t, const char *name, const char *value);
void onnx_attr_ints(struct text *t, const char *name, uint32_t n, const int64_t *value);

/* The parts of a graph, added to `t`. */
struct onnx_node {
    const char *op;
    const char *in[3]; /* unused entries are NULL */
    uint32_t n_more;   /* further inputs, after those of `in`, for Concat */
    const char *const *more;
    const char *out;
    const struct text *attributes; /* or NULL */
};
void onnx_node(struct text *t, const struct onnx_node *n);
/* Add a constant of little-endian elements, ir_type_bytes(type) each. */
void onnx_initializer(struct text *t, const char *name, enum ir_type type, uint32_t rank,
                      const int32_t *dim, const void *data);
enum onnx_border { ONNX_INPUT = 11, ONNX_OUTPUT = 12 };
void onnx_border(struct text *t, enum onnx_border which, const char *name, enum ir_type type,
                 uint32_t rank, const int32_t *dim);

/* Write a file of `opset` with a graph made of these texts. */
void onnx_model(struct text *file, const char *name, int64_t opset, const struct text *nodes,
                const struct text *initializers, const struct text *borders);

#endif
