/* blocks.h - a convolution or dense layer on a unit that multiplies blocks of rows x depth bytes
 * with columns x depth bytes: the order and addresses of its parts (kernels/hdk_blocks.h runs
 * them). in: an operator, the unit's sizes. out: struct hdk_blocks with its plan, an estimate. */
#ifndef HEDDLE_COMPILER_TARGET_BLOCKS_H
#define HEDDLE_COMPILER_TARGET_BLOCKS_H

#include "compiler/systolic/layout/geometry.h"
#include "kernels/hdk_blocks.h"

/* The unit, as a target.json describes it. */
struct blocks_unit {
    uint32_t rows, columns, depth; /* of a block; depth in bytes per lane */
    uint32_t memory_bytes;
    uint32_t bytes_per_cycle; /* rate of a load or a store */
    uint32_t depth_per_cycle; /* rate of a multiplication */
    uint32_t start_cycles;    /* cycles to start a load, a store or a multiplication */
};

/* Return NULL and set *plan and *cycles, or return the rule that failed, with its value. */
const char *blocks_plan(struct arena *a, const struct ir_graph *g, const struct ir_op *op,
                        const struct blocks_unit *unit, struct hdk_blocks *plan, double *cycles);

#endif
