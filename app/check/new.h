/* new.h - "heddle new-target NAME [--template=call|core|native] [-o DIR]". */
#ifndef HEDDLE_CHECK_NEW_H
#define HEDDLE_CHECK_NEW_H

#include "app/options/options.h"

/* Write the folder; print the files and the next commands to type. ST_USAGE: a bad name, or the
 * folder holds a target already. */
enum status new_target(struct arena *a, const struct options *o, struct diag *d);

/* Copy every file of <home>/targets/`template` that is missing in `to`; `old` in names and texts
 * becomes `name`. */
enum status new_copy(struct arena *a, const struct options *o, const char *template,
                     const char *old, const char *name, const char *to, struct diag *d);
/* Return true for a valid name of a target. */
bool new_good_name(const char *name);

#endif
