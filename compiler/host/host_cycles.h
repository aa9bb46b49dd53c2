/* host_cycles.h - cost of the host's part of a network, in cycles of the accelerator's clock.
 * The model is an estimate: an in-order RV32IM core that runs the kernels as the bare-metal package
 * compiles them (README.md). Cycles of a call = fixed + sum of coefficient x count; the counts
 * follow from shapes and attributes (host_counts.c), the coefficients were measured
 * (host_cycles.def). */
#ifndef HEDDLE_COMPILER_HOST_HOST_CYCLES_H
#define HEDDLE_COMPILER_HOST_HOST_CYCLES_H

#include "compiler/ir/ir.h"

/* A report prints this in addition to the figures. */
#define HOST_CYCLES_MODEL "estimate"

#define HOST_COUNTS 5 /* of a form, at most */

/* The work of one call. */
struct host_work {
    const char *key;  /* row of host_cycles.def: the kernel, a variant after ':' */
    const char *form; /* what is counted */
    double count[HOST_COUNTS];
};

/* Estimated cycles of `op`, legalised, on the host: 0 only if it executes nothing (RESHAPE, a dead
 * operator). `op` need not be the host's. */
uint64_t host_cycles(const struct ir_graph *g, const struct ir_op *op);

/* Return the parts of these cycles: false if the host executes nothing for it or has no kernel.
 * For the recipe that measures and for tests. */
bool host_work_of(const struct ir_graph *g, const struct ir_op *op, struct arena *a,
                  struct host_work *w);

#endif
