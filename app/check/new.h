/* new.h - "heddle new-target NAME [--template=call|core|native] [-o DIR]". */
#ifndef HEDDLE_CHECK_NEW_H
#define HEDDLE_CHECK_NEW_H

#include "app/options/options.h"

/* Write the folder; prints the files and what to type next. ST_USAGE: the name, or a folder that
 * holds a target already. */
enum status new_target(struct arena *a, const struct options *o, struct diag *d);

#endif
