/* partition_halves.h - int16 between the array and the host. */
#ifndef HEDDLE_COMPILER_PARTITION_PARTITION_HALVES_H
#define HEDDLE_COMPILER_PARTITION_PARTITION_HALVES_H

#include "partition.h"

/* Give operators of int16 on accelerators the array's form (halves.h). Where the host makes or reads one of
 * their tensors, a HALVES on the host converts it: as late as it can after the array, as early as it can
 * before it. Return true if there was one. */
bool partition_halves(const struct target_list *targets, struct ir_graph *g);

#endif
