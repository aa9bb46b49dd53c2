/* native.h - questions to a target's shared object (include/heddle_target.h). */
#ifndef HEDDLE_COMPILER_TARGET_NATIVE_H
#define HEDDLE_COMPILER_TARGET_NATIVE_H

#include "describe.h"
#include "values.h"

/* A question with the memory that it points to. */
struct native_question {
    struct heddle_question q;
    struct target_values values;
    const char *names[TARGET_VALUE_COUNT];
};

/* Attributes of the target as they are set, as text. */
void native_settings(const struct target_question *q, const char *const **name,
                     const char *const **text);
/* The question whether pattern `p` takes the operator of `q`. */
void native_ask(const struct describe_pattern *p, const struct target_question *q,
                struct native_question *k);

#endif
