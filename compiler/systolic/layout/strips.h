/* strips.h - an operator cut into strips: parts of its result, each computed like an operator of its
 * own from the rows, columns and channels that it needs. An operator that one tile cannot hold
 * or a command cannot count is cut; every size fits while a tile of one channel group does. */
#ifndef HEDDLE_COMPILER_SYSTOLIC_LAYOUT_STRIPS_H
#define HEDDLE_COMPILER_SYSTOLIC_LAYOUT_STRIPS_H

#include "geometry.h"

/* Output rows, columns and channels of a strip, at most; input channels of a kernel piece. Where
 * rows are flat, columns are bytes. */
struct strip_cut {
    uint32_t rows, cols, channels, k;
};

/* The coarsest cut that the accumulators and the fields of commands allow. */
struct strip_cut strip_least_cut(const struct geo *g, const struct hd_config *hw);

/* Make the cut finer, for fewer bytes in a tile; false: there is no finer one. */
bool strip_finer(const struct geo *g, const struct hd_config *hw, struct strip_cut *cut);

/* Number of strips; strip i of them, whose channels are those of strip i - 1 or, once for
 * each channel cut, others; one whose boxes are as large as any strip's. */
uint32_t strip_count(const struct geo *g, const struct strip_cut *cut);
void strip_at(const struct geo *g, const struct strip_cut *cut, uint32_t i, struct geo *strip);
void strip_largest(const struct geo *g, const struct strip_cut *cut, struct geo *strip);

/* Part of a strip with input channels [first, first + n) alone. */
void strip_channels(const struct geo *g, uint32_t first, uint32_t n, struct geo *part);

#endif
