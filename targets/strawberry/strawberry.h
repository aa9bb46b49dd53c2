/* strawberry.h - a unit that multiplies 4 rows with 4 columns (strawberry_core.sv), for the loops
 * of kernels/hdk_blocks.h. */
#include "kernels/hdk_blocks.h"

extern const struct hdk_blocks_unit strawberry_unit;
