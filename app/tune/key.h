/* key.h - identity of the network, configuration and heddle version for which knobs were tuned.
 * Knobs apply if three hashes are equal: of the scheduled network (operators, shapes, targets,
 * regions; not the values of weights), of the hardware (configuration, RTL, memory system) and of
 * heddle's schedule. */
#ifndef HEDDLE_TUNE_KEY_H
#define HEDDLE_TUNE_KEY_H

#include "app/options/options.h"

struct tune_key {
    const char *graph, *hardware, *schedule; /* hex digits */
};

/* Compute the key. p: after pipeline_front. ST_USAGE, ST_INTERNAL: the RTL cannot be read. */
enum status tune_key_of(struct pipeline *p, const struct options *o, struct tune_key *key,
                        struct diag *d);

#endif
