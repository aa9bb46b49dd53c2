/* tune.h - "heddle tune": search knobs of each operator by estimate, measure them on the RTL, and
 * store them in a file that compile and run use with --tuned=FILE. */
#ifndef HEDDLE_TUNE_H
#define HEDDLE_TUNE_H

#include "app/options/options.h"

enum status tune_command(struct arena *a, const struct options *o, struct diag *d);

/* Return the best knobs that o->tuned has for the network in `p` (after pipeline_front), by
 * operator position, and set those of external targets in p->targets. NULL and a note (output.h) if
 * there are none or only stale ones. */
enum status tune_lookup(struct pipeline *p, const struct options *o,
                        const struct sched_knobs **knobs, struct diag *d);

#endif
