/* judge.h - the findings of a run: wrong bytes, cycles above the baseline, estimates that are
 * off. */
#ifndef HEDDLE_REGRESS_JUDGE_H
#define HEDDLE_REGRESS_JUDGE_H

#include "app/regress/suite/suite.h"

struct judge_finding {
    uint32_t run;     /* index into the suite's runs */
    const char *kind; /* bytes, failed, refused, cycles, estimate, layer */
    const char *text;
    const char *why; /* reason of the exception that allows it; NULL: the finding counts */
};

struct judge {
    struct judge_finding *finding; /* ordered by run */
    uint32_t n, n_count;           /* number of all findings, and of those that count */
    uint32_t n_bad_runs;           /* runs with a finding that counts */
};

/* Judge all runs that have a result, and mark the suite's exceptions that were used. */
void judge_suite(struct suite *s, struct judge *j);

#endif
