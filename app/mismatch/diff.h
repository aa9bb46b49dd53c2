/* diff.h - find the first difference between RTL and functional model: the first command that wrote
   a wrong byte. */
#ifndef HEDDLE_MISMATCH_DIFF_H
#define HEDDLE_MISMATCH_DIFF_H

#include "again.h"
#include "compare.h"
#include "sim/load.h"

struct diff {
    const char *so;                          /* the emitted object, */
    struct sim_model sim[SCHED_MAX_DEVICES]; /* and the models, for callers that run them again */
    bool found;                              /* false: every command writes the same bytes */
    struct mismatch m;
    const struct sched_command *command;
    uint32_t device;     /* the device that ran it */
    const char *softmax; /* for a softmax: row, key and pass; otherwise NULL */
};

/* Run the first wrong inference on both engines and compare the writes of their commands. of: job,
 * cores and inference. */
enum status diff_engines(const struct again *of, struct diff *diff, struct diag *d);

#endif
