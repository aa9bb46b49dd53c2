/* import_sizes.h - the option --input-shapes: "name:[1,3,224,224],other:[7]". */
#ifndef HEDDLE_COMPILER_IMPORT_COMMON_IMPORT_SIZES_H
#define HEDDLE_COMPILER_IMPORT_COMMON_IMPORT_SIZES_H

#include "compiler/ir/ir.h"

/* Check the list's form, and that each of its names is one of the n in `input`. */
enum status import_sizes_check(struct arena *a, const char *list, uint32_t n,
                               const char *const *input, struct diag *d);

/* Read the entry for `name`; *given: false if the list (or NULL) has none. */
enum status import_sizes(const char *list, const char *name, bool *given, uint32_t *n,
                         int64_t dim[IR_MAX_RANK], struct diag *d);

#endif
