/* heddle_target.h - C functions for what a target.json cannot express: a shared object named by its
 * "native" with one variable, `const struct heddle_target_api heddle_target`. The patterns of
 * target.json are matched first; these functions may refuse more operators, return other costs, and
 * write other calls. Functions must not keep their arguments and must always give the same answer.
 * If a function is NULL, target.json decides. Loading it executes code: --allow-native-targets,
 * also for inspect and compile. */
#ifndef HEDDLE_TARGET_API_H
#define HEDDLE_TARGET_API_H

#include <stddef.h>
#include <stdint.h>

#define HEDDLE_TARGET_ABI 4u

/* One operator that a pattern of target.json accepts. */
struct heddle_question {
    const char *op;      /* "conv2d" */
    const char *pattern; /* its name in target.json */
    uint32_t n_values;   /* docs/TARGET.md, "Values" */
    const char *const *value_name;
    const int64_t *value;
    uint32_t n_settings; /* attributes of the target, as text */
    const char *const *setting_name;
    const char *const *setting;
};

/* The points at which `pass` is called, in this order. */
enum heddle_phase {
    HEDDLE_LEGALISE,         /* the graph as imported, before heddle's own passes */
    HEDDLE_BEFORE_PARTITION, /* legalised: fixed-point constants exist */
    HEDDLE_AFTER_PARTITION,  /* target= and region= give each operator's place */
    HEDDLE_AFTER_TILING,     /* tiles, addresses and commands of the accelerator are fixed */
    HEDDLE_BEFORE_EMISSION   /* the last point before C is written */
};

/* A graph as text, compiler/ir/IR.md. */
struct heddle_pass {
    enum heddle_phase phase;
    const char *phase_name; /* "legalise", "before_partition", ... */
    const char *target;     /* the instance's name, as in rows' target= */
    const char *graph;
};

/* The measurements of a target by `heddle tune` so far. Values: 0 or 1 for a bool, the index of the
 * word for a choice. */
struct heddle_tuning {
    const char *target;   /* the instance's name */
    uint32_t number;      /* number of the trial to propose, from 1 on */
    uint32_t n_questions; /* its operators */
    const struct heddle_question *question;
    uint32_t n_knobs; /* in the order of target.json; each from low to high */
    const char *const *knob;
    const int64_t *low, *high;
    uint32_t n_trials;      /* measured trials, at least one; the first is without tuning */
    const uint64_t *cycles; /* [n_trials], for a whole inference */
    const int64_t *value;   /* [n_trials][n_knobs] */
};

/* Neighbouring operators of a network, for a target with "granularity": "region". */
struct heddle_region {
    const char *target; /* the instance's name */
    const char *graph; /* as text, compiler/ir/IR.md, legalised; the region's borders are its inputs
                     * and outputs */
    uint32_t n_ops;    /* number of its lines that begin with "op", in execution order */
    uint32_t n_settings; /* attributes of the target, as text */
    const char *const *setting_name;
    const char *const *setting;
};

struct heddle_target_api {
    uint32_t abi;     /* HEDDLE_TARGET_ABI */
    const char *name; /* as in target.json */
    /* Return 1 if it accepts the operator; 0 if not, with the reason in `why` (one sentence,
     * terminated). */
    int (*supports)(const struct heddle_question *q, char *why, size_t why_bytes);
    /* Return the estimated cycles; negative: use target.json's. */
    double (*cost)(const struct heddle_question *q);
    /* Write the C call with its $words (docs/TARGET.md) into `call`. 1: written; 0: use
     * target.json's. */
    int (*emit)(const struct heddle_question *q, char *call, size_t call_bytes);
    /* Run a pass of the target, for legalisation (HEDDLE_LEGALISE) or later. 0: the graph is
     * unchanged. 1: *changed is the new graph, terminated, valid until `release` is called with it.
     * -1: stop, with the reason in `why`. Up to before_partition anything except inputs, outputs
     * and rows may change. From after_partition on only attributes, fixed-point constants and bytes
     * of constants of the target's operators may change. The verifier runs afterwards, and answers
     * are compared with the graph before any pass. */
    int (*pass)(const struct heddle_pass *p, char **changed, char *why, size_t why_bytes);
    void (*release)(char *changed);
    /* Propose knobs to measure next, in `value` [n_knobs]. 1: written; 0: use heddle's search.
     * Several trials may be requested before their cycles are known; `number` distinguishes
     * them. */
    int (*tune)(const struct heddle_tuning *t, int64_t *value);
    /* For "granularity": "region": select operators to take together, among those that target.json
     * accepts. takes[n_ops]: 1 or 0 each. If all are 1, *cycles is the estimate of the region.
     * Otherwise each run of equal values is asked about again, and `why` is the reason for
     * operators that are never taken. 1: answered. */
    int (*region)(const struct heddle_region *r, uint8_t *takes, double *cycles, char *why,
                  size_t why_bytes);
    /* Compile a region that it takes as a whole: $blob of target.json's call. 1: *blob holds
     * n_bytes until `release` is called with it. 0: refused, with the reason in `why`. */
    int (*compile)(const struct heddle_region *r, uint8_t **blob, size_t *n_bytes, char *why,
                   size_t why_bytes);
};

#endif
