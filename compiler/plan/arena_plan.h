/* arena_plan.h - the DRAM arena: offsets of every tensor that host and accelerator exchange through
 * memory. in:  program->place with in_memory and mem_region, scratch_bytes.   out: mem_offset,
 * program->arena_bytes. Lifetimes are operator positions; within one submission the hazard tracker
 * orders what overlaps in time. */
#ifndef HEDDLE_COMPILER_PLAN_ARENA_PLAN_H
#define HEDDLE_COMPILER_PLAN_ARENA_PLAN_H

#include "compiler/systolic/program/sched_program.h"

#define ARENA_ALIGN 64u

enum status arena_plan(struct sched_program *p, struct diag *d);

/* Check the plan independently (plan_check.c): recompute lifetimes from the operators alone and
 * compare every pair. ST_INTERNAL: the message names the two tensors that overlap, or the one that
 * exceeds the arena. */
enum status arena_check(const struct sched_program *p, struct diag *d);

/* Print the tensors and scratch in the arena as text. */
void arena_print(const struct sched_program *p, struct text *t);

#endif
