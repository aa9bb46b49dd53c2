/* stats_layers.h - "layers" and "groups" of a stats file, and the whole's utilisation. */
#ifndef HEDDLE_STATS_STATS_LAYERS_H
#define HEDDLE_STATS_STATS_LAYERS_H

#include "stats_member.h"

void stats_layers(const struct stats *s, cJSON *o);
double stats_utilisation(const struct stats *s);
/* The scheduler's and the targets' own estimates of all layers on accelerators. */
uint64_t stats_estimate(const struct stats *s);
/* Cycles of all layers and inferences: measured, and of targets that have none the estimate. */
uint64_t stats_likely(const struct stats *s);

#endif
