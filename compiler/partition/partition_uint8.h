/* partition_uint8.h - uint8 tensors for the operators that go to uint8 patterns.
 * in:  a partitioned graph, int8.   out: the same with uint8 tensors there, flips where others read
 * or write them. */
#ifndef HEDDLE_COMPILER_PARTITION_PARTITION_UINT8_H
#define HEDDLE_COMPILER_PARTITION_PARTITION_UINT8_H

#include "partition.h"

enum status partition_uint8(const struct partition *p, struct ir_graph *g, struct diag *d);

#endif
