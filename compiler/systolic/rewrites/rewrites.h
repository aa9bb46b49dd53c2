/* rewrites.h - rewrites of the array's back end, in the graph before partition: operators become
 * others that the array can run, or runs faster. The REWRITE rows of compiler/passes.def give their
 * order. */
#ifndef HEDDLE_COMPILER_SYSTOLIC_REWRITES_REWRITES_H
#define HEDDLE_COMPILER_SYSTOLIC_REWRITES_REWRITES_H

#include "compiler/legalise/legalise.h"

/* Rewrite `op`, of the row's opcode, if it has the form that the rewrite accepts. New operators are
 * appended to the graph; an operator that is no longer needed is marked dead. */
typedef void sys_rewrite(struct ir_graph *g, struct ir_op *op, const struct lgl_options *o);

/* The rewrite, and the pass that runs it on a graph. */
#define REWRITE(name, code, gain)                                                                  \
    sys_rewrite sys_##name;                                                                        \
    lgl_pass sys_pass_##name;
#include "compiler/passes.def"

/* Select one more accelerator, of configuration `hw`. */
void sys_for_accelerator(struct lgl_options *o, const struct hd_config *hw);

/* Visit every operator of opcode `code` (IR_OP_ANY: every operator), including those that the
 * rewrite adds, then link the graph. gain: rewrite only if the operator alone takes more than
 * `gain` times the cycles of its replacement; 0: do not ask the cycle model. Without an accelerator
 * the graph is unchanged. ST_INTERNAL: the rewrite does not end. */
enum status sys_rewrite_all(struct ir_graph *g, sys_rewrite *rewrite, enum ir_opcode code,
                            uint32_t gain, const struct lgl_options *o, struct diag *d);

#endif
