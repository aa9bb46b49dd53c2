/* instruction.h - the first wrong instruction of a call to a described device.
 * in:  the first wrong layer, the inference once more.   out: lines of a message. */
#ifndef HEDDLE_MISMATCH_INSTRUCTION_H
#define HEDDLE_MISMATCH_INSTRUCTION_H

#include "app/engine/core_targets.h"
#include "app/job/job.h"

/* Run the inference again; issue the instructions of host call `step` of it one at a time on `core`
 * and by the description of `own`, and add lines for the first one that leaves other bytes. */
void instruction_lines(struct run *run, const struct target *own, struct core *core, uint32_t step,
                       struct diag *d);

#endif
