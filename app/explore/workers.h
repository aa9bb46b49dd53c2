/* workers.h - estimate the cycles of points, each in its own process. */
#ifndef HEDDLE_EXPLORE_WORKERS_H
#define HEDDLE_EXPLORE_WORKERS_H

#include "app/options/options.h"
#include "points.h"

struct explore_workers;

/* Start no process yet. o->jobs: how many there may be. ST_NO_MEMORY; below also ST_INTERNAL: a
 * process is lost. */
enum status explore_workers_new(struct arena *a, const struct explore_space *s,
                                const struct options *o, struct explore_workers **w,
                                struct diag *d);
/* Estimate p in a process of its own. If o->jobs run already, wait for one, whose point is *ended;
 * otherwise that is NULL. Sets p->tried. */
enum status explore_begin(struct explore_workers *w, struct explore_point *p,
                          struct explore_point **ended, struct diag *d);
/* Wait for one process and set *p to its point, with p->cycles or p->wrong; NULL: none runs. A
 * compilation that takes longer than a minute has no estimate. */
enum status explore_end(struct explore_workers *w, struct explore_point **p, struct diag *d);
/* Stop all. */
void explore_workers_stop(struct explore_workers *w);

#endif
