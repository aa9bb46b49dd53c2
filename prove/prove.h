/* prove.h - is a package the network, for every input? */
#ifndef HEDDLE_PROVE_PROVE_H
#define HEDDLE_PROVE_PROVE_H

#include "package.h"
#include "prove/runtime/hook.h"
#include "reference/ref.h"

struct prove_verdict {
    bool proved;
    uint32_t layer;        /* of the first operator whose result is nowhere in the package */
    char why[256];         /* the rule that is missing, or the difference */
    uint32_t output, byte; /* first byte that is not proven */
    uint32_t n_command, n_call, n_term;
    uint32_t n_compared;        /* of the calls, compared by inputs alone */
    char compared[PROVE_NAMES]; /* their kernels */
    int32_t bits;               /* the chance of a wrong `proved` is below 2^-bits */
};

struct prove_question {
    const struct ir_graph *graph; /* as imported: what the reference runs */
    const struct ref_options *options;
    const struct hd_model *model;      /* loaded with libheddle_prove.so */
    struct prove_hook *hook;           /* of that */
    const struct hd_config *const *hw; /* of each device */
    /* By tensor of graph: where in the package's state that variable is claimed to be; it is proved. */
    const uint32_t *state_at;
    const char *const *target; /* by layer: the external target that computes it, or NULL */
    uint32_t n_device;
    uint64_t seed;
};

/* Evaluate both at a random point. Memory from a. */
void prove_ask(struct arena *a, const struct prove_question *q, struct prove_verdict *v);

#endif
