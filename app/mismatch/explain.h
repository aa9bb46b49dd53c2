/* explain.h - after a wrong answer, find its origin and write files that show it. in: a job with a
 * mismatch. out: lines below the message; waves around the RTL's first wrong byte and a replay of
 * the wrong layer, in DIR/mismatch with -o DIR, otherwise (for a command) in heddle-mismatch. */
#ifndef HEDDLE_MISMATCH_EXPLAIN_H
#define HEDDLE_MISMATCH_EXPLAIN_H

#include "app/job/job.h"

/* answer: loads a job and runs it to its verdict. */
void explain_mismatch(struct run *run, enum status (*answer)(struct run *run, struct diag *d),
                      struct diag *d);

#endif
