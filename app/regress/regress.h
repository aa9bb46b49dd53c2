/* regress.h - "heddle regress": suites of runs, what they left, and what has changed since. */
#ifndef HEDDLE_REGRESS_REGRESS_H
#define HEDDLE_REGRESS_REGRESS_H

#include "app/options/options.h"
#include "base/text.h"

/* o->model is a suite's file, or show, compare, accept with o->argument after it. ST_MISMATCH: a run
 * of the suite is not as it should be. Tables go to o->output. */
enum status regress_command(struct arena *a, const struct options *o, struct diag *d);

/* session.c: run a suite. */
enum status regress_run(struct arena *a, const struct options *o, struct diag *d);
/* The same file: the history in the folder of the results, -o, or regress. */
const char *regress_database(struct arena *a, const struct options *o);

#endif
