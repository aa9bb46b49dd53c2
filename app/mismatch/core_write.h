/* core_write.h - the call of an external target that computed the first wrong value, and the cycle
 * in which its core wrote it.
 * in:  the first wrong layer, the inference once more.   out: lines of a message, waves. */
#ifndef HEDDLE_MISMATCH_CORE_WRITE_H
#define HEDDLE_MISMATCH_CORE_WRITE_H

#include "app/job/job.h"
#include "compiler/target/describe.h"

/* Add the lines for the first wrong value, which a call of `own` computed. folder: for waves; NULL:
 * none are written. */
void core_write_lines(struct run *run, const struct target *own, const char *folder,
                      struct diag *d);

#endif
