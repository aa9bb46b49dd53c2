/* heddle_target.h - what a target.json cannot express, in C: a shared object that its "native"
 * names and that has one variable, `const struct heddle_target_api heddle_target`. The patterns of
 * target.json are asked first; the functions here may refuse more, cost otherwise, and write
 * another call. Functions must not keep what they are given and must always answer the same. A
 * function that is NULL leaves things to target.json. Loading it executes code:
 * --allow-native-targets, also for inspect and compile. */
#ifndef HEDDLE_TARGET_API_H
#define HEDDLE_TARGET_API_H

#include <stddef.h>
#include <stdint.h>

#define HEDDLE_TARGET_ABI 4u

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

/* When `pass` is called, in this order. */
enum heddle_phase {
    HEDDLE_LEGALISE,         /* the graph as imported, before heddle's own passes */
    HEDDLE_BEFORE_PARTITION, /* legalised: fixed-point constants are there */
    HEDDLE_AFTER_PARTITION,  /* target= and region= specify where operators go */
    HEDDLE_AFTER_TILING,     /* tiles, addresses and commands of the accelerator are fixed */
    HEDDLE_BEFORE_EMISSION   /* the last moment before C is written */
};

/* A graph as text, compiler/ir/IR.md. */
struct heddle_pass {
    enum heddle_phase phase;
    const char *phase_name; /* "legalise", "before_partition", ... */
    const char *target;     /* the instance's name, as in rows' target= */
    const char *graph;
};

/* The measurements by `heddle tune` of a target so far. Values: 0 or 1 for a bool, the index of
 * its word for a choice. */
struct heddle_tuning {
    const char *target;   /* the instance's name */
    uint32_t number;      /* of the trial that is to be proposed, from 1 on */
    uint32_t n_questions; /* its operators */
    const struct heddle_question *question;
    uint32_t n_knobs; /* of target.json, in its order; each from low to high */
    const char *const *knob;
    const int64_t *low, *high;
    uint32_t n_trials;      /* measured, at least one; the first is without tuning */
    const uint64_t *cycles; /* [n_trials], of a whole inference */
    const int64_t *value;   /* [n_trials][n_knobs] */
};

/* Neighbouring operators of a network, for a target with "granularity": "region". */
struct heddle_region {
    const char *target; /* the instance's name */
    const char
        *graph;     /* as text, compiler/ir/IR.md, legalised; inputs and outputs are its borders */
    uint32_t n_ops; /* its lines that begin with "op", in order of execution */
    uint32_t n_settings; /* attributes of the target as they are set, as text */
    const char *const *setting_name;
    const char *const *setting;
};

struct heddle_target_api {
    uint32_t abi;     /* HEDDLE_TARGET_ABI */
    const char *name; /* as in target.json */
    /* 1: takes it. 0: not, and the reason is in `why` (one sentence, terminated). */
    int (*supports)(const struct heddle_question *q, char *why, size_t why_bytes);
    /* Estimated cycles; negative: as target.json specifies. */
    double (*cost)(const struct heddle_question *q);
    /* The C call with its $words (docs/TARGET.md) into `call`. 1: written; 0: as in target.json. */
    int (*emit)(const struct heddle_question *q, char *call, size_t call_bytes);
    /* A pass of its own, for legalisation (HEDDLE_LEGALISE) and later. 0: the graph stays. 1:
     * *changed is the new one, terminated, until `release` is called with it. -1: stop, and the
     * reason is in `why`. Up to before_partition anything may change but inputs, outputs and rows;
     * from after_partition on only attributes, fixed-point constants and bytes of constants of
     * operators that are the target's own. The verifier runs after it, and answers are compared
     * with the graph as it was before any pass. */
    int (*pass)(const struct heddle_pass *p, char **changed, char *why, size_t why_bytes);
    void (*release)(char *changed);
    /* Knobs worth measuring next, into `value` [n_knobs]. 1: written; 0: heddle's own search goes
     * on. Several trials may be asked for before their cycles are known: number tells them apart.
     */
    int (*tune)(const struct heddle_tuning *t, int64_t *value);
    /* "granularity": "region": choose the operators, among those that target.json takes, that it
     * takes together. takes[n_ops]: 1 or 0 each; all 1: *cycles is the estimate of the region.
     * Else the runs of either kind are asked about again, and `why` is the reason of those that
     * are never taken. 1: answered. */
    int (*region)(const struct heddle_region *r, uint8_t *takes, double *cycles, char *why,
                  size_t why_bytes);
    /* A region that it takes whole, compiled: $blob of target.json's call. 1: *blob holds n_bytes
     * until `release` is called with it. 0: not, and the reason is in `why`. */
    int (*compile)(const struct heddle_region *r, uint8_t **blob, size_t *n_bytes, char *why,
                   size_t why_bytes);
};

#endif
