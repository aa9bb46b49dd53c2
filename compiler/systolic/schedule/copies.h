/* copies.h - insert copies where views need them. */
#ifndef HEDDLE_COMPILER_SYSTOLIC_SCHEDULE_COPIES_H
#define HEDDLE_COMPILER_SYSTOLIC_SCHEDULE_COPIES_H

#include "compiler/systolic/program/sched_program.h"

/* Insert COPY operators into a partitioned graph until no edge of the views of `target`, an
 * accelerator, is loose (layout/views.h). A copy has the row, target and region of the operator
 * that needs it. ST_INTERNAL: an edge stays loose. */
enum status copies_insert(struct ir_graph *g, uint32_t target, const struct hd_config *hw,
                          struct diag *d);

#endif
