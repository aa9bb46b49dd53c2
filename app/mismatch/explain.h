/* explain.h - after a wrong answer: its origin, and files that show it.
 * in:  a job with a mismatch.   out: lines below the message; waves around the RTL's first wrong
 * byte and a replay of the wrong layer in DIR/mismatch of -o DIR, a command without -o: in
 * heddle-mismatch. */
#ifndef HEDDLE_MISMATCH_EXPLAIN_H
#define HEDDLE_MISMATCH_EXPLAIN_H

#include "app/job/job.h"

/* answer: loads a job and runs it to its verdict. */
void explain_mismatch(struct run *run, enum status (*answer)(struct run *run, struct diag *d),
                      struct diag *d);

#endif
