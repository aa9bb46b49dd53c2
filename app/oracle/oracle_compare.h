/* oracle_compare.h - compare the reference with the tensors that a framework wrote. */
#ifndef HEDDLE_APP_ORACLE_COMPARE_H
#define HEDDLE_APP_ORACLE_COMPARE_H

#include "oracle.h"

/* A tensor that an operator of the file computes. */
struct oracle_golden {
    const char *name, *file,
        *type; /* type: numpy's name; file: in the folder, one inference after another */
};

/* The outputs are in out_<k>.bin, all inferences. */
struct oracle_goldens {
    const char *folder;
    struct oracle_golden *inner;
    uint32_t n, n_inner; /* number of tensors, and of their inferences */
};

/* Run q->graph on the reference with the framework's rounding, and compare. Inner tensors are
 * matched by name if the name is unique on both sides and type and size agree. */
enum status oracle_compare(struct arena *a, const struct oracle_question *q,
                           const struct oracle_goldens *goldens, struct oracle_answer *answer,
                           struct diag *d);

#endif
