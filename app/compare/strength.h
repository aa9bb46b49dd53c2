/* strength.h - "heddle run --strength": how many of 200 single faults (plant.h) the comparison of this run
 * would detect. in: a run whose verdict is "match". Each fault runs in a process of its own, on the functional
 * model; its results are compared with those of the package without a fault. A fault that
 * changes nothing in this run's inferences runs on further ones: one that changes nothing there
 * either has no effect that could be detected, and does not count. */
#ifndef HEDDLE_COMPARE_STRENGTH_H
#define HEDDLE_COMPARE_STRENGTH_H

#include "app/job/job.h"

enum { STRENGTH_FAULTS = 200, STRENGTH_FURTHER = 16 };

/* ST_USAGE: the options name another engine than func, or a simulated host. */
enum status strength_check(const struct options *o, struct diag *d);
/* Append its table to the report of a run whose verdict is "match". */
enum status strength_run(struct run_job *job, struct text *report, struct diag *d);

#endif
