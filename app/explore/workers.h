/* workers.h - estimate the cycles of points, each in its own process. */
#ifndef HEDDLE_EXPLORE_WORKERS_H
#define HEDDLE_EXPLORE_WORKERS_H

#include "app/options/options.h"
#include "points.h"

struct explore_workers;

/* Start no process yet. o->jobs: how many there may be. ST_NO_MEMORY. */
enum status explore_workers_new(struct arena *a, const struct explore_space *s,
                                const struct options *o, struct explore_workers **w,
                                struct diag *d);
/* Estimate p, in a process of its own; wait until one may start. Sets p->tried. */
enum status explore_begin(struct explore_workers *w, struct explore_point *p, struct diag *d);
/* Wait for one process, set p->cycles or p->wrong of its point and return it; NULL: none runs. A
 * compilation that takes longer than a minute has no estimate. */
struct explore_point *explore_end(struct explore_workers *w);
/* Return true if no further process can start before one ends. */
bool explore_busy(const struct explore_workers *w);
/* Stop all. */
void explore_workers_stop(struct explore_workers *w);

#endif
