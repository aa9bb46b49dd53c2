/* adopt.h - "heddle adopt FILE [--top=MODULE] [-o DIR]". */
#ifndef HEDDLE_CHECK_ADOPT_H
#define HEDDLE_CHECK_ADOPT_H

#include "app/options/options.h"

/* Write a target for the core in FILE: target.json from its ports, and initial C. Prints each
 * port's role and what could not be inferred. ST_USAGE: the file is missing or has no module, or
 * the folder holds a target already. */
enum status adopt(struct arena *a, const struct options *o, struct diag *d);

#endif
