/* accelergy.h - write counted actions for Accelergy. */
#ifndef HEDDLE_STATS_ACCELERGY_H
#define HEDDLE_STATS_ACCELERGY_H

#include "actions.h"
#include "base/text.h"

/* Add the counts as Accelergy's action_counts, version 0.2: one design, one component per
 * memory. */
void energy_accelergy(struct text *t, const struct actions *actions);

#endif
