/* onnx_proto.h - parts of a model under construction, in memory. */
#ifndef HEDDLE_COMPILER_IMPORT_ONNX_ONNX_PROTO_H
#define HEDDLE_COMPILER_IMPORT_ONNX_ONNX_PROTO_H

#include "onnx_import.h"

/* Return the description of a tensor at the border of a graph. */
Onnx__ValueInfoProto *ox_new_border(struct arena *a, const char *name, int32_t type, uint32_t rank,
                                    const int64_t *dim);
/* Return a constant with these bytes, which must stay; NULL: with zeros of its own. */
Onnx__TensorProto *ox_new_initializer(struct arena *a, const char *name, int32_t type,
                                      uint32_t rank, const int64_t *dim, const void *data);

#endif
