/* stats_layers.h - "layers" and "groups" of a stats file, and the utilisation of the whole. */
#ifndef HEDDLE_STATS_STATS_LAYERS_H
#define HEDDLE_STATS_STATS_LAYERS_H

#include "stats_member.h"

void stats_layers(const struct stats *s, cJSON *o);
double stats_utilisation(const struct stats *s);
/* Return the estimate for all layers on accelerators, from the scheduler and the targets. */
uint64_t stats_estimate(const struct stats *s);
/* Return the cycles of all layers and inferences: measured, or estimated for targets without a
 * measurement. */
uint64_t stats_likely(const struct stats *s);

#endif
