/* new.h - "heddle new-target NAME [--template=call|core|native] [-o DIR]". */
#ifndef HEDDLE_CHECK_NEW_H
#define HEDDLE_CHECK_NEW_H

#include "app/options/options.h"

/* Write the folder; prints the files and what to type next. ST_USAGE: the name, or a folder that
 * holds a target already. */
enum status new_target(struct arena *a, const struct options *o, struct diag *d);

/* Copy every file of <home>/targets/`template` that is not in `to` yet; `old` in names and texts becomes `name`. */
enum status new_copy(struct arena *a, const struct options *o, const char *template,
                     const char *old, const char *name, const char *to, struct diag *d);
/* Return true for a name that a target may have. */
bool new_good_name(const char *name);

#endif
