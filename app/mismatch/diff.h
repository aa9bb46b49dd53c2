/* diff.h - first difference of RTL and functional model: the first command that wrote a wrong byte.
 */
#ifndef HEDDLE_MISMATCH_DIFF_H
#define HEDDLE_MISMATCH_DIFF_H

#include "again.h"
#include "sim/compare.h"
#include "sim/load.h"

struct diff {
    const char *so;                          /* the emitted object, */
    struct sim_model sim[SCHED_MAX_DEVICES]; /* and the models, for who runs them again */
    bool found;                              /* false: every command writes the same bytes */
    struct mismatch m;
    const struct sched_command *command;
    uint32_t device;     /* that it ran on */
    const char *softmax; /* of a softmax: row, key and pass; else NULL */
};

/* Run the first wrong inference on both engines and compare what their commands write. of: job, cores
 * and inference. */
enum status diff_engines(const struct again *of, struct diff *diff, struct diag *d);

#endif
