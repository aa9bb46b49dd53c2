/* tosa.h - TOSA files into the IR. */
#ifndef HEDDLE_COMPILER_IMPORT_TOSA_TOSA_H
#define HEDDLE_COMPILER_IMPORT_TOSA_TOSA_H

#include "compiler/ir/ir.h"

/* literal: each operator by itself, as the specification defines it, for the reference; otherwise
 * sums and the RESCALE that brings them to 8 bits become one operator (tosa_fuse.c).
 * twice: RESCALE of SINGLE_ROUND by 32 bits rounds as DOUBLE_ROUND. */
struct tosa_options {
    bool literal, twice;
};

/* Import the TOSA 1.x file of `n_bytes` at `data` (aligned to 8, as file_read gives it) as graph
 * `name`, in arena `a`. ST_MODEL: the file is malformed; ST_UNSUPPORTED: well formed, but not
 * something heddle does. Rows are filled, types and shapes are checked (ir_infer). */
enum status tosa_import(struct arena *a, const char *name, const uint8_t *data, size_t n_bytes,
                        const struct tosa_options *o, struct ir_graph **graph, struct diag *d);

/* Return the name of supported operator number i; NULL after the last. */
const char *tosa_operator_name(uint32_t i);

#endif
