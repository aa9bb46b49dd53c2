/* strength.h - "heddle run --strength": how many of 200 single faults (plant.h) the comparison of this run
 * would detect. in: a run whose verdict is "match". Each fault runs in a process of its own, on the functional
 * model; what it leaves is compared with what the package without a fault left. A fault that changes nothing
 * in this run's inferences runs on further ones: one that changes nothing there either cannot be told
 * from none, and does not count. Faults of what nothing reads are not run, and counted apart. */
#ifndef HEDDLE_COMPARE_STRENGTH_H
#define HEDDLE_COMPARE_STRENGTH_H

#include "app/job/job.h"

enum { STRENGTH_FAULTS = 200, STRENGTH_MORE = 16 };

/* Result of a fault: where it changes compared bytes. */
enum strength_found {
    STRENGTH_NOTHING, /* neither in this run's inferences nor in further ones */
    STRENGTH_IN_RUN,  /* in this run's: it is detected */
    STRENGTH_FURTHER, /* in further ones alone: it is missed */
    STRENGTH_UNREAD,  /* nothing reads what it changes (fault_unread) */
    STRENGTH_KINDS
};

struct fault;

/* Run each of n faults; found[i] is one of the first three. */
enum status strength_try(struct run *run, const struct fault *fault, uint32_t n,
                         enum strength_found *found, struct diag *d);
/* ST_USAGE: the options name another engine than func, or a simulated host. */
enum status strength_check(const struct options *o, struct diag *d);
/* Append its table to the report of a run whose verdict is "match". */
enum status strength_run(struct run *run, struct text *report, struct diag *d);

#endif
