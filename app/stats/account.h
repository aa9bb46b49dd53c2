/* account.h - the layers of a compiled network: operators that execute, their target, their MACs,
 * the host's cycles, layers that run interleaved. Computed from the program alone, for stats in
 * addition to measurements. Invariant: for each layer and for the network, accelerator_macs +
 * host_macs + folded_macs are the file's. */
#ifndef HEDDLE_STATS_ACCOUNT_H
#define HEDDLE_STATS_ACCOUNT_H

#include "app/options/options.h"

/* An operator that executes something. */
struct account_part {
    const struct ir_op *op;
    const struct target *target;
    bool host; /* the built-in one, or a library for it */
    uint64_t macs, host_cycles;
    double outside_cycles; /* for an external target: its own estimate */
};

struct account_layer {
    uint32_t n_part, n_accelerator; /* number of parts; number that are not on the host */
    struct account_part *part;
    uint32_t group; /* index, or IR_NONE */
    uint64_t accelerator_macs, host_macs, folded_macs, host_cycles;
    uint32_t commands, tiles; /* of the built-in accelerator; each tile is a command of the unit
                               * that computes the layer */
};

struct account {
    uint32_t n_layer, n_group;
    struct account_layer *layer; /* by row of the model */
    uint64_t accelerator_macs, host_macs, folded_macs, host_cycles;
    uint32_t commands, tiles;
    uint32_t crossings; /* pairs of consecutive submissions with a host operator in between */
    bool untimed;       /* a target executes C for which there is neither a core nor a host model */
};

/* Compute the account. p: partitioned and scheduled, or program NULL, which gives no groups. */
struct account *account_of(struct arena *a, const struct pipeline *p);
/* Return the estimated cycles of the operators on external targets. */
double account_outside(const struct account *all);

#endif
