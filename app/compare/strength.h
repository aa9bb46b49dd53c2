/* strength.h - "heddle run --strength": count how many of 200 single faults (plant.h) the
 * comparison of this run would detect. in: a run whose verdict is "match". Each fault runs in a
 * separate process on the functional model; its results are compared with those of the package
 * without a fault. A fault without effect in this run's inferences runs on further ones; if it has
 * no effect there either, it does not count. Faults in bytes that nothing reads are not run and are
 * counted separately. */
#ifndef HEDDLE_COMPARE_STRENGTH_H
#define HEDDLE_COMPARE_STRENGTH_H

#include "app/job/job.h"

enum { STRENGTH_FAULTS = 200, STRENGTH_MORE = 16 };

/* Result of a fault: where it changes compared bytes. */
enum strength_found {
    STRENGTH_NOTHING, /* in no inference of this run and in no further one */
    STRENGTH_IN_RUN,  /* in an inference of this run: it is detected */
    STRENGTH_FURTHER, /* only in a further inference: it is missed */
    STRENGTH_UNREAD,  /* nowhere: nothing reads what it changes (fault_unread) */
    STRENGTH_KINDS
};

struct fault;

/* Run each of n faults; found[i] is one of the first three values. */
enum status strength_try(struct run *run, const struct fault *fault, uint32_t n,
                         enum strength_found *found, struct diag *d);
/* Check the options. ST_USAGE: they name an engine other than func, or a simulated host. */
enum status strength_check(const struct options *o, struct diag *d);
/* Append its table to the report of a run whose verdict is "match". */
enum status strength_run(struct run *run, struct text *report, struct diag *d);

#endif
