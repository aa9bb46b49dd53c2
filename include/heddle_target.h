/* heddle_target.h - what a target.json cannot say, in C: a shared object that its "native" names
 * and that has one variable, `const struct heddle_target_api heddle_target`. The patterns of
 * target.json are asked first; the functions here may refuse more, cost otherwise, and write
 * another call. Functions must not keep what they are given and must always answer the same. A
 * function that is NULL leaves things to target.json. Loading it executes code:
 * --allow-native-targets, also for inspect and compile. */
#ifndef HEDDLE_TARGET_API_H
#define HEDDLE_TARGET_API_H

#include <stddef.h>
#include <stdint.h>

#define HEDDLE_TARGET_ABI 1u

/* One operator that a pattern of target.json takes. */
struct heddle_question {
    const char *op;      /* "conv2d" */
    const char *pattern; /* its name in target.json */
    uint32_t n_values;   /* docs/TARGET.md, "Values" */
    const char *const *value_name;
    const int64_t *value;
    uint32_t n_settings; /* attributes of the target as they are set, as text */
    const char *const *setting_name;
    const char *const *setting;
};

struct heddle_target_api {
    uint32_t abi;     /* HEDDLE_TARGET_ABI */
    const char *name; /* as in target.json */
    /* 1: takes it. 0: not, and the reason is in `why` (one sentence, terminated). */
    int (*supports)(const struct heddle_question *q, char *why, size_t why_bytes);
    /* Estimated cycles; negative: as target.json says. */
    double (*cost)(const struct heddle_question *q);
    /* The C call with its $words (docs/TARGET.md) into `call`. 1: written; 0: as in target.json. */
    int (*emit)(const struct heddle_question *q, char *call, size_t call_bytes);
};

#endif
