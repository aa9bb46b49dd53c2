/* estimate.h - cycles of each submission and layer, from the timeline. */
#ifndef HEDDLE_COMPILER_SYSTOLIC_TIMING_ESTIMATE_H
#define HEDDLE_COMPILER_SYSTOLIC_TIMING_ESTIMATE_H

#include "compiler/systolic/program/sched_program.h"

/* Compute the cost of each command, then its start and end on the device's timeline. */
enum status sched_estimate(struct sched_program *p, struct diag *d);
/* Set row->slow of the rows that take more than four times their limit (slow_rows.c). */
void sched_slow_rows(const struct sched_program *p, struct ir_graph *g);

#endif
