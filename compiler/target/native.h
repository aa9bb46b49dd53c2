/* native.h - questions to a target's shared object (include/heddle_target.h). */
#ifndef HEDDLE_COMPILER_TARGET_NATIVE_H
#define HEDDLE_COMPILER_TARGET_NATIVE_H

#include "describe.h"
#include "values.h"

/* A question with the memory for its pointers. */
struct native_question {
    struct heddle_question q;
    struct target_values values;
    const char *names[TARGET_VALUE_COUNT];
};

/* Set the target's attributes, as text. */
void native_settings(const struct target_question *q, const char *const **name,
                     const char *const **text);
/* Ask whether pattern `p` accepts the operator of `q`. */
void native_ask(const struct describe_pattern *p, const struct target_question *q,
                struct native_question *k);

#endif
