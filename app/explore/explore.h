/* explore.h - "heddle explore": estimate many configurations for a suite of networks, find those
 * that no other beats, run a few of them. docs/EXPLORE.md. */
#ifndef HEDDLE_EXPLORE_EXPLORE_H
#define HEDDLE_EXPLORE_EXPLORE_H

#include "app/options/options.h"
#include "points.h"

/* o->model is a suite's file. ST_MISMATCH: a chosen configuration's answer is wrong. */
enum status explore_command(struct arena *a, const struct options *o, struct diag *d);

/* explore_text.c: a table of the front, all points as CSV, and as a page. */
void explore_table(struct text *t, const struct explore_space *s);
void explore_csv(struct text *t, const struct explore_space *s);
void explore_page(struct text *t, const struct explore_space *s, const char *goal);

/* around.c, --around: set *s to the runs of the first configuration in suite `from`, for
 * configuration `hw` and for each of its sizes halved and doubled. ST_USAGE: there is no such
 * configuration. */
enum status explore_suite_around(const struct suite *from, const char *hw, struct suite *s,
                                 struct diag *d);
/* Print the gain and the cost of each change; the first point is `hw`. */
void explore_table_around(struct text *t, const struct explore_space *s);

#endif
