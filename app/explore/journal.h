/* journal.h - points.tsv: the estimates of earlier calls, so that a call continues where one ended. */
#ifndef HEDDLE_EXPLORE_JOURNAL_H
#define HEDDLE_EXPLORE_JOURNAL_H

#include "points.h"

/* Open the file for this program, and set the points that it has; one that another build of heddle
 * wrote, or `again`, begins anew. ST_USAGE: it cannot be read or written. */
enum status journal_open(struct explore_space *s, const char *path, bool again, int *fd,
                         struct diag *d);
/* Append an estimated point. ST_USAGE: it cannot be written. */
enum status journal_add(const struct explore_space *s, const struct explore_point *p, int fd,
                        struct diag *d);

#endif
