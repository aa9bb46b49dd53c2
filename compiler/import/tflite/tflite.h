/* tflite.h - TensorFlow Lite files into the IR. */
#ifndef HEDDLE_COMPILER_IMPORT_TFLITE_TFLITE_H
#define HEDDLE_COMPILER_IMPORT_TFLITE_TFLITE_H

#include "compiler/ir/ir.h"

/* Import the TFLite file of `n_bytes` at `data` (aligned to 8, as file_read gives it) as graph
 * `name`, in arena `a`. The graph keeps pointing into `data`. ST_MODEL: the file is malformed;
 * ST_UNSUPPORTED: the file is well formed but uses something that heddle lacks. Rows are filled,
 * types and shapes are checked (ir_infer), pads are explicit. */
enum status tfl_import(struct arena *a, const char *name, const uint8_t *data, size_t n_bytes,
                       struct ir_graph **graph, struct diag *d);

/* The same for the subgraph of the signature of that name (ST_USAGE if the file has none); NULL:
 * the first subgraph, the only one except for those of CALL_ONCE. */
enum status tfl_import_signature(struct arena *a, const char *name, const uint8_t *data,
                                 size_t n_bytes, const char *signature, struct ir_graph **graph,
                                 struct diag *d);

/* Return the file format's name of supported operator number i; NULL after the last. */
const char *tfl_operator_name(uint32_t i);

#endif
