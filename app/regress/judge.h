/* judge.h - findings of a run: bytes, cycles above the baseline, estimates that are off. */
#ifndef HEDDLE_REGRESS_JUDGE_H
#define HEDDLE_REGRESS_JUDGE_H

#include "suite.h"

struct judge_finding {
    uint32_t run;     /* index into the suite's */
    const char *kind; /* bytes, failed, refused, cycles, estimate, layer */
    const char *text;
    const char *why; /* of the exception that allows it; NULL: it counts */
};

struct judge {
    struct judge_finding *finding; /* in the order of runs */
    uint32_t n, n_count;           /* all; those that count */
    uint32_t n_bad_runs;           /* runs with one that counts */
};

/* All runs that have a result. Marks the suite's exceptions that were used. */
void judge_suite(struct suite *s, struct judge *j);

#endif
