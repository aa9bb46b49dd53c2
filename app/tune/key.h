/* key.h - identity of the network, configuration and heddle that knobs were tuned for. Knobs are used where all three hashes are the same: of
 * the network as it is scheduled (operators, shapes, targets, regions; not the values of weights),
 * of the hardware (configuration, RTL, memory system) and of heddle's schedule. */
#ifndef HEDDLE_TUNE_KEY_H
#define HEDDLE_TUNE_KEY_H

#include "app/options/options.h"

struct tune_key {
    const char *graph, *hardware, *schedule; /* hex digits */
};

/* p: after pipeline_front. ST_USAGE, ST_INTERNAL if the RTL cannot be read. */
enum status tune_key_of(struct pipeline *p, const struct options *o, struct tune_key *key,
                        struct diag *d);

#endif
