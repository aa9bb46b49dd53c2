/* run_package.h - run a package of "heddle compile". */
#ifndef HEDDLE_RUN_RUN_PACKAGE_H
#define HEDDLE_RUN_RUN_PACKAGE_H

#include "app/job/job.h"

/* Return true for a package: a .tar file, or a folder with metadata.json. */
bool run_is_package(struct arena *a, const char *path);
/* Load and run it, in two steps. */
enum status run_package_load(struct job *job, struct run_measured *m, struct diag *d);
enum status run_package(struct run *run, struct diag *d);

#endif
