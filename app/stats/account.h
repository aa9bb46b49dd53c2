/* account.h - the contents of a compiled network, layer by layer: operators that execute, where,
 * their MACs, the host's cycles, layers that run interleaved. It follows from the program alone;
 * the stats have it next to what a run measures. Invariant: for each layer and in all,
 * accelerator_macs + host_macs + folded_macs are the file's. */
#ifndef HEDDLE_STATS_ACCOUNT_H
#define HEDDLE_STATS_ACCOUNT_H

#include "app/options/options.h"

/* An operator that executes something. */
struct account_part {
    const struct ir_op *op;
    const struct target *target;
    bool host; /* the built-in one */
    uint64_t macs, host_cycles;
    double outside_cycles; /* of an external target: its own estimate */
};

struct account_layer {
    uint32_t n_part, n_accelerator; /* of them, not on the host */
    struct account_part *part;
    uint32_t group; /* index, or IR_NONE */
    uint64_t accelerator_macs, host_macs, folded_macs, host_cycles;
};

struct account {
    uint32_t n_layer, n_group;
    struct account_layer *layer; /* by row of the model */
    uint64_t accelerator_macs, host_macs, folded_macs, host_cycles;
    uint32_t crossings; /* pairs of consecutive submissions with a host operator between them */
    bool untimed;       /* a target executes C for which there is neither core nor host model */
};

/* p: partitioned; scheduled, or program NULL: then there are no groups. */
struct account *account_of(struct arena *a, const struct pipeline *p);

#endif
