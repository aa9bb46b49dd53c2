/* spread.h - "heddle run --launcher": the submissions of one network on several machines. */
#ifndef HEDDLE_REGRESS_SPREAD_H
#define HEDDLE_REGRESS_SPREAD_H

#include "app/options/options.h"

/* Fill the store of --reuse by o->jobs runs, started by o->launcher; all see one cache folder. A
 * run that is lost is started again, three starts in all. ST_USAGE: neither slurm nor a command, or
 * a mode of --reuse without a store. */
enum status spread_run(struct arena *a, const struct options *o, struct diag *d);

#endif
