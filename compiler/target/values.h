/* values.h - the numbers of an operator by the names that target.json uses (values.def). */
#ifndef HEDDLE_COMPILER_TARGET_VALUES_H
#define HEDDLE_COMPILER_TARGET_VALUES_H

#include "compiler/ir/ir.h"

enum target_value {
#define TARGET_VALUE(code, name, help) TARGET_##code,
#include "values.def"
#undef TARGET_VALUE
    TARGET_VALUE_COUNT
};

struct target_values {
    int64_t v[TARGET_VALUE_COUNT];
};

const char *target_value_name(enum target_value v);
const char *target_value_help(enum target_value v);
/* TARGET_VALUE_COUNT if there is none of that name. */
enum target_value target_value_find(const char *name, size_t n_bytes);

/* All values of a legalised operator. */
void target_values_of(const struct ir_graph *g, const struct ir_op *op, struct target_values *v);

#endif
