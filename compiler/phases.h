/* phases.h - named points of the pipeline at which a native target (include/heddle_target.h) may
 * run a separate pass over the graph. */
#ifndef HEDDLE_COMPILER_PHASES_H
#define HEDDLE_COMPILER_PHASES_H

#include "compiler/ir/ir.h"
#include "compiler/target/target.h"
#include "include/heddle_target.h"

/* Return true if any target of the list has passes. */
bool phases_any(const struct target_list *targets);
/* Run each target's pass in list order and verify the resulting *graph. ST_UNSUPPORTED: the message
 * names the target, the phase and what the pass reported or did wrong. */
enum status phases_run(struct arena *a, const struct target_list *targets,
                       const struct hd_config *hw, enum heddle_phase phase, struct ir_graph **graph,
                       struct diag *d);

#endif
