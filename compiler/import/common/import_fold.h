/* import_fold.h - operators evaluated at import because all their inputs are constant. */
#ifndef HEDDLE_COMPILER_IMPORT_COMMON_IMPORT_FOLD_H
#define HEDDLE_COMPILER_IMPORT_COMMON_IMPORT_FOLD_H

#include "compiler/ir/ir.h"

/* If `op` reads constants alone and moves bytes, is a CAST, a DEQUANTIZE or integer arithmetic,
 * make its output a constant and the operator dead. Fails as its rule does (ir_check_op). */
enum status import_fold(struct ir_graph *g, struct ir_op *op, struct diag *d);

#endif
