/* sched_build.h - the device programs of a partitioned graph, step by step; compiler/passes.def has
 * the order. A program for one device is its only part. */
#ifndef HEDDLE_COMPILER_SYSTOLIC_SCHEDULE_SCHED_BUILD_H
#define HEDDLE_COMPILER_SYSTOLIC_SCHEDULE_SCHED_BUILD_H

#include "sched.h"

/* Run the BUILD rows of passes.def on one device's program: fill `p` from its graph,
 * configuration, options and knobs. Results are checked except in trials (p->dry), of which
 * there are thousands. */
enum status sched_build(struct sched_program *p, struct diag *d);

/* The same without the last row, the estimate. */
enum status sched_build_commands(struct sched_program *p, struct diag *d);
/* Prepare what all trials of `p` share through `like`. */
enum status sched_prepare(struct sched_program *p, struct diag *d);

/* knob_search.c: set p->knobs of one device from the options, otherwise by search. */
void sched_choose(struct sched_program *p);
/* segments.c: set p->cut for at most options.segments submissions, with at most 0.5 % more cycles. */
void sched_segment(struct sched_program *p);
/* places.c: find the tensors of one device's program that are in memory. */
enum status sched_places(struct sched_program *p, struct diag *d);
/* Print the places of tensors in memory as text. */
void sched_print_places(const struct sched_program *p, struct text *t);

/* --- devices.c: several devices share arena, constants and commands --- */

/* Return an empty program for `n` devices, with the default knobs. */
struct sched_program *sched_new(struct arena *a, const struct ir_graph *g,
                                const struct sched_device *device, uint32_t n,
                                const struct sched_options *o);
/* Plan the arena over all parts, and copy the offsets to them. */
enum status sched_plan(struct sched_program *p, struct diag *d);
/* Join streams and figures of the parts into the whole program. */
void sched_join(struct sched_program *p);

#endif
