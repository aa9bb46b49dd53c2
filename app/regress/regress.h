/* regress.h - "heddle regress": run suites, and show their results and what has changed since. */
#ifndef HEDDLE_REGRESS_REGRESS_H
#define HEDDLE_REGRESS_REGRESS_H

#include "app/options/options.h"
#include "base/text.h"
#include "suite/suite.h"

/* o->model is a suite's file, or show, compare, accept with o->argument after it. ST_MISMATCH: a
 * run of the suite has a finding. Tables go to o->output. */
enum status regress_command(struct arena *a, const struct options *o, struct diag *d);

/* "heddle diff": o->model and o->argument[0] are two runs: stats files, folders of -o, or
 * [FOLDER/]NETWORK@SESSION of a history. With -o also diff.html. */
enum status diff_command(struct arena *a, const struct options *o, struct text *t, struct diag *d);

/* session.c: run a suite. */
enum status regress_run(struct arena *a, const struct options *o, struct diag *d);
/* Run these runs of a suite; launch_check has accepted o->launcher. */
enum status regress_suite(struct arena *a, const struct options *o, const struct suite *suite,
                          struct diag *d);
/* Return the file of the history: in the folder of the results, -o, or regress. */
const char *regress_database(struct arena *a, const struct options *o);

#endif
