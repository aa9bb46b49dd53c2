/* values.h - the numbers of an operator under the names that target.json uses (values.def). */
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
/* Return the value of that name; TARGET_VALUE_COUNT if there is none. */
enum target_value target_value_find(const char *name, size_t n_bytes);

/* Return all values of a legalised operator. */
void target_values_of(const struct ir_graph *g, const struct ir_op *op, struct target_values *v);

/* The terms of a "cost", whose cycles are the sum of rate times amount. */
enum target_cost_term {
    COST_FIXED,
    COST_MAC,
    COST_OUTPUT,
    COST_WINDOW,
    COST_BYTE,
    COST_IN_BYTE,
    COST_W_BYTE,
    COST_OUT_BYTE,
    COST_TERMS
};

/* The members of "cost", of an operator the amount that each is of, and cycles from both. */
extern const char *const target_cost_names[COST_TERMS];
void target_amounts(const struct target_values *v, double amount[COST_TERMS]);
double target_cycles(const double rate[COST_TERMS], const double amount[COST_TERMS]);

#endif
