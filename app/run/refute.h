/* refute.h - search for an input that shows that a package is wrong. */
#ifndef HEDDLE_RUN_REFUTE_H
#define HEDDLE_RUN_REFUTE_H

#include "app/job/job.h"

/* Search for at most 5 seconds of CPU time, 100 seconds: generated inputs of all kinds, then changes of the one that reaches the furthest
 * wrong layer. run: answered without a mismatch. so: its emitted object, with ordinary kernels. in: room for
 * OPTIONS_MAX_FILES; the bytes of an input with which an output, or else a layer, is wrong. *found false: none was
 * found, or the network has state, which one inference does not show. */
enum status refute(const struct run *run, const char *so, struct run_bytes *in, bool *found,
                   struct diag *d);

#endif
