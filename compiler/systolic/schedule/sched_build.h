/* sched_build.h - the device programs of a partitioned graph, step by step; compiler/passes.def has
 * the order. A program for one device is its own only part. */
#ifndef HEDDLE_COMPILER_SYSTOLIC_SCHEDULE_SCHED_BUILD_H
#define HEDDLE_COMPILER_SYSTOLIC_SCHEDULE_SCHED_BUILD_H

#include "sched.h"

/* The rows BUILD of passes.def on one device's program: everything of `p` from its graph,
 * configuration, options and knobs. Checked, except for trials (p->dry): there are thousands. */
enum status sched_build(struct sched_program *p, struct diag *d);

/* All of these but the last one, the estimate. */
enum status sched_build_commands(struct sched_program *p, struct diag *d);
/* Prepare what all trials of `p` share through their `like`. */
enum status sched_prepare(struct sched_program *p, struct diag *d);

/* knob_search.c: p->knobs of one device as the options give them, else by search. */
void sched_choose(struct sched_program *p);
/* places.c: which tensors of one device's program are in memory. */
enum status sched_places(struct sched_program *p, struct diag *d);
/* Where tensors in memory are, as text. */
void sched_print_places(const struct sched_program *p, struct text *t);

/* --- devices.c: several devices share arena, constants and commands --- */

/* The program for `n` devices: empty, with the default knobs. */
struct sched_program *sched_new(struct arena *a, const struct ir_graph *g,
                                const struct sched_device *device, uint32_t n,
                                const struct sched_options *o);
/* The arena's plan over all parts, which take their offsets from it. */
enum status sched_plan(struct sched_program *p, struct diag *d);
/* Streams and figures of the parts into the whole. */
void sched_join(struct sched_program *p);

#endif
