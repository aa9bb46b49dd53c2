/* diff.h - where RTL and functional twin part: the first command that wrote a wrong byte. */
#ifndef HEDDLE_RUN_DIFF_H
#define HEDDLE_RUN_DIFF_H

#include "run.h"

/* Run the first wrong inference on both engines, compare their commits, add to the message of `d`
 * which command first differs: operator, unit, command, place, element, expected, found, cycle.
 * Says so if the two agree (then the emitted C or the compiler is wrong, not the RTL). */
void diff_engines(struct run_job *job, struct diag *d);

#endif
