/* ir_text.h - a model in the IR's text form, for tests and experiments. */
#ifndef HEDDLE_COMPILER_IMPORT_IR_TEXT_H
#define HEDDLE_COMPILER_IMPORT_IR_TEXT_H

#include "compiler/ir/ir.h"

/* Parse the text of `n_bytes` at `data` (followed by a NUL, as file_read returns it) as a model.
 * Rows are checked because their names become identifiers: ST_MODEL. The results of an earlier
 * partition (target, region, reason) are dropped. ir_verify holds. */
enum status ir_text_import(struct arena *a, const uint8_t *data, size_t n_bytes,
                           struct ir_graph **graph, struct diag *d);

#endif
