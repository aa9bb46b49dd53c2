/* oracle_compare.h - compare the reference with the tensors that a framework wrote. */
#ifndef HEDDLE_APP_ORACLE_COMPARE_H
#define HEDDLE_APP_ORACLE_COMPARE_H

#include "oracle.h"

/* A tensor that an operator of the file writes. */
struct oracle_golden {
    const char *name, *file,
        *type; /* type: numpy's name; file: in the folder, inferences one after another */
};

/* Outputs are out_<k>.bin, all inferences. */
struct oracle_goldens {
    const char *folder;
    struct oracle_golden *inner;
    uint32_t n, n_inner; /* tensors; inferences of them */
};

/* Run q->graph on the reference, in the framework's rounding, and compare. Inner tensors are matched by name, where
 * only one of each side has it and type and size agree. */
enum status oracle_compare(struct arena *a, const struct oracle_question *q,
                           const struct oracle_goldens *goldens, struct oracle_answer *answer,
                           struct diag *d);

#endif
