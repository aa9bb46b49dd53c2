/* host_cycles.h - cycles that the host's operators take, in cycles of the accelerator's clock. The
 * model is an estimate: an in-order RV32IM core that runs the kernels as the bare-metal package
 * compiles them (README.md). Cycles of a call = fixed + sum of coefficient x count; the counts
 * follow from shapes and attributes (host_counts.c), the coefficients were measured
 * (host_cycles.def). */
#ifndef HEDDLE_COMPILER_HOST_HOST_CYCLES_H
#define HEDDLE_COMPILER_HOST_HOST_CYCLES_H

#include "compiler/ir/ir.h"

/* Reports print this text next to the figures. */
#define HOST_CYCLES_MODEL "estimate"

#define HOST_COUNTS 5 /* maximum counts of a form */

/* The work of one call. */
struct host_work {
    const char *key;  /* row of host_cycles.def: kernel, then ':' and the variant if any */
    const char *form; /* what is counted */
    double count[HOST_COUNTS];
};

/* Return the estimated cycles of legalised `op` on the host; 0 only if it executes nothing
 * (RESHAPE, a dead operator). `op` may be on another target. */
uint64_t host_cycles(const struct ir_graph *g, const struct ir_op *op);

/* Fill in the parts of these cycles. Return false if the host executes nothing for `op` or has no
 * kernel. For the measuring script and tests. */
bool host_work_of(const struct ir_graph *g, const struct ir_op *op, struct arena *a,
                  struct host_work *w);

#endif
