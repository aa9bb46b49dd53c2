/* explain.h - after a wrong answer: where it comes from, and what helps to see it.
 * in:  a job with a mismatch.   out: lines below the message; waves around the RTL's first wrong
 * byte and a replay of the wrong layer in DIR/mismatch of -o DIR, a command without -o: in
 * heddle-mismatch. */
#ifndef HEDDLE_RUN_EXPLAIN_H
#define HEDDLE_RUN_EXPLAIN_H

#include "run.h"

void explain_mismatch(struct run_job *job, struct diag *d);

#endif
