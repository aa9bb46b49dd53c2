/* strips.h - cut an operator into strips: parts of its result, each computed as a separate operator
 * from the rows, columns and channels that it needs. An operator is cut if a tile cannot hold it or
 * a command cannot count it. Any size fits if a tile of one channel group does. */
#ifndef HEDDLE_COMPILER_SYSTOLIC_LAYOUT_STRIPS_H
#define HEDDLE_COMPILER_SYSTOLIC_LAYOUT_STRIPS_H

#include "geometry.h"

/* Maximum output rows, columns and channels of a strip; input channels of a kernel piece. If rows
 * are flat, columns are bytes. deep: a product's second operand comes in pieces of k, too. */
struct strip_cut {
    uint32_t rows, cols, channels, k;
    bool deep;
};

/* Return the coarsest cut that the accumulators and the fields of commands allow. */
struct strip_cut strip_least_cut(const struct geo *g, const struct hd_config *hw);

/* Make the cut finer, for fewer bytes in a tile; false if it cannot be finer. */
bool strip_finer(const struct geo *g, const struct hd_config *hw, struct strip_cut *cut);

/* The same by fewer columns alone. */
bool strip_narrower(const struct geo *g, const struct hd_config *hw, struct strip_cut *cut);

/* Return the number of strips; strip i of them; a strip whose boxes are the largest of any strip's.
 * Channels of strip i are those of strip i - 1, except where a new channel cut begins. */
uint32_t strip_count(const struct geo *g, const struct strip_cut *cut);
void strip_at(const struct geo *g, const struct strip_cut *cut, uint32_t i, struct geo *strip);
void strip_largest(const struct geo *g, const struct strip_cut *cut, struct geo *strip);

/* Cut `channels` into groups of equal size, at most n, that begin *apart from each other; those of
 * a number that has no such factor overlap. Returns the number of groups; the size is channels less
 * all but one of the distances. */
uint32_t strip_groups(uint32_t channels, uint32_t n, uint32_t *apart);

/* Restrict a strip to input channels [first, first + n). */
void strip_channels(const struct geo *g, uint32_t first, uint32_t n, struct geo *part);

#endif
