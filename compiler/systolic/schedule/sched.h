/* sched.h - decide tiles and knobs, by building device programs and estimating them.
 * in:  a legalised graph with op->target and op->region set, a hardware configuration.
 * out: the device program (compiler/systolic/program/sched_program.h). */
#ifndef HEDDLE_COMPILER_SYSTOLIC_SCHEDULE_SCHED_H
#define HEDDLE_COMPILER_SYSTOLIC_SCHEDULE_SCHED_H

#include "compiler/systolic/program/sched_program.h"

/* knob_choices.c: return true if an accelerator computes the operator, with knobs; *g is then its
 * geometry. */
struct geo;
bool sched_has_knobs(const struct sched_program *p, uint32_t op, struct geo *g);
/* Return alternatives to the rule's knobs for operator `op`: sets that differ from *now in one
 * knob; at most SCHED_MAX_CHOICES. */
#define SCHED_MAX_CHOICES 20
uint32_t sched_choices(const struct sched_program *p, uint32_t op, const struct sched_knobs *now,
                       struct sched_knobs choice[SCHED_MAX_CHOICES]);

/* Return the score of the program with `knobs`, for comparison: estimated cycles in the upper half;
 * in the lower half, to break ties, how early rows end. UINT64_MAX if nothing can be built. p:
 * arena, graph, hw and options are sufficient. *commands grows by the number scheduled, at about 4
 * us each. */
uint64_t sched_score(const struct sched_program *p, struct sched_knobs *knobs, uint32_t *commands);

/* knobs.c: names of the knobs, 0 <= i < SCHED_KNOBS, as in reports and the files of "heddle
 * tune". */
#define SCHED_KNOBS 10u
const char *sched_knob_name(uint32_t i);
/* Return the largest values of an operator's knobs: all 0 if it is on no accelerator. 0 is "by
 * rule". */
struct sched_knobs sched_knobs_most(const struct ir_graph *graph, const struct ir_op *op);
uint32_t *sched_knob(struct sched_knobs *k, uint32_t i);
/* Print the knobs that are not by rule, such as "tile_rows=8 cascade=1"; nothing if all are. */
void sched_print_knobs(const struct sched_knobs *k, struct text *t);
/* Return a hash (64 hex digits) of the heddle sources that turn knobs into commands: knobs tuned
 * with another hash are stale. */
const char *sched_version(void);

/* alone.c: schedule one operator by rule as a separate network, copied into arena `a`; or such a
 * network, or the operators that replaced it. cycles: including the transfer of its tensors; busy:
 * those in which a unit works or weights arrive; start: those before the first command, which each
 * submission takes. False if it cannot be scheduled. */
struct sched_alone {
    uint64_t cycles, busy, start;
};
struct ir_graph *sched_alone_graph(struct arena *a, const struct ir_graph *g,
                                   const struct ir_op *op);
bool sched_alone(struct ir_graph *g, const struct hd_config *hw, const struct sched_options *o,
                 struct sched_alone *alone);

#endif
