/* tune.h - "heddle tune": knobs of each operator searched by estimate, measured on the RTL, kept in
 * a file that compile and run use with --tuned=FILE. */
#ifndef HEDDLE_TUNE_H
#define HEDDLE_TUNE_H

#include "app/options/options.h"

enum status tune_command(struct arena *a, const struct options *o, struct diag *d);

/* The best knobs that o->tuned has for the network in `p` (after pipeline_front), by operator
 * position, and into p->targets its knobs of external targets. NULL, and a note (output.h) why,
 * if there are none or only stale ones. */
enum status tune_lookup(struct pipeline *p, const struct options *o,
                        const struct sched_knobs **knobs, struct diag *d);

#endif
