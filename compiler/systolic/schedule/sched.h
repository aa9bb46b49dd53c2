/* sched.h - decide tiles and knobs, by building device programs and estimating them.
 * in:  a legalised graph with op->target and op->region set, a hardware configuration.
 * out: the device program (compiler/systolic/program/sched_program.h). */
#ifndef HEDDLE_COMPILER_SYSTOLIC_SCHEDULE_SCHED_H
#define HEDDLE_COMPILER_SYSTOLIC_SCHEDULE_SCHED_H

#include "compiler/systolic/program/sched_program.h"

/* knob_choices.c: return true if an accelerator computes the operator, with knobs. Then *g is
 * its geometry. */
struct geo;
bool sched_has_knobs(const struct sched_program *p, uint32_t op, struct geo *g);
/* Choices for operator `op` in addition to the rule's: sets that differ from *now in one knob.
 * Returns how many, at most SCHED_MAX_CHOICES. */
#define SCHED_MAX_CHOICES 20
uint32_t sched_choices(const struct sched_program *p, uint32_t op, const struct sched_knobs *now,
                       struct sched_knobs choice[SCHED_MAX_CHOICES]);

/* The program with `knobs` as a number to compare, by estimate: cycles in the upper half; below, of
 * equals, how early rows end. UINT64_MAX if nothing can be built of them. p: arena, graph, hw and
 * options are enough. *commands grows by what was scheduled, at about 4 us each. */
uint64_t sched_score(const struct sched_program *p, struct sched_knobs *knobs, uint32_t *commands);

/* knobs.c: the knobs by name, 0 <= i < SCHED_KNOBS, as reports and the files of "heddle tune" have
 * them. */
#define SCHED_KNOBS 7u
const char *sched_knob_name(uint32_t i);
/* The largest values of an operator: all 0 where no accelerator has it. 0 is "by rule". */
struct sched_knobs sched_knobs_most(const struct ir_graph *graph, const struct ir_op *op);
uint32_t *sched_knob(struct sched_knobs *k, uint32_t i);
/* "tile_rows=8 cascade=1": those that are not by rule; nothing if all are. */
void sched_print_knobs(const struct sched_knobs *k, struct text *t);
/* A hash of heddle's sources that turn knobs into commands, 64 hex digits: what was tuned with
 * others is stale. */
const char *sched_version(void);

/* alone.c: one operator as a network of its own, of which a copy is in arena `a`; such a network, or what
 * it was rewritten as, by rule. cycles: with its tensors brought in and out; busy: those in which a unit
 * works or weights come; start: those before the first command, which each submission takes. False if it
 * cannot be scheduled. */
struct sched_alone {
    uint64_t cycles, busy, start;
};
struct ir_graph *sched_alone_graph(struct arena *a, const struct ir_graph *g,
                                   const struct ir_op *op);
bool sched_alone(struct ir_graph *g, const struct hd_config *hw, const struct sched_options *o,
                 struct sched_alone *alone);

#endif
