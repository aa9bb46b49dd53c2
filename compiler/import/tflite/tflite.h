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

/* The user's choices for a file. */
struct tfl_choice {
    const char *signature; /* its subgraph (ST_USAGE if the file has none of that name); NULL: the
                            * first, the only one except for those of CALL_ONCE */
    const char *sizes;     /* of inputs, as --input-shapes has them; NULL: the file's */
};
enum status tfl_import_with(struct arena *a, const char *name, const uint8_t *data, size_t n_bytes,
                            const struct tfl_choice *choice, struct ir_graph **graph,
                            struct diag *d);

/* Return the name of the file of labels that the model's metadata give its first output; NULL: none.
 * The file is a member of the ZIP archive at the end of the model's. */
enum status tfl_labels(struct arena *a, const uint8_t *data, size_t n_bytes, const char **file,
                       struct diag *d);

/* Return the file format's name of supported operator number i; NULL after the last. */
const char *tfl_operator_name(uint32_t i);

#endif
