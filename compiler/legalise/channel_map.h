/* channel_map.h - what operators that only move bytes make of a tensor: which of its channels. */
#ifndef HEDDLE_COMPILER_LEGALISE_CHANNEL_MAP_H
#define HEDDLE_COMPILER_LEGALISE_CHANNEL_MAP_H

#include "compiler/ir/ir.h"

/* Element (i, j, ..) of a tensor is element base + off[0][i] + off[1][j] + .. of tensor `root`;
 * off[..][0] is 0. */
struct channel_map {
    uint32_t root, rank;
    int32_t dim[IR_MAX_RANK];
    int32_t *off[IR_MAX_RANK];
    int32_t base;
};

/* The map of the result of `op`: for TRANSPOSE, RESHAPE, SLICE and GATHER, from that of its
 * input, NULL if the input is a root itself. NULL: another operator, or no sum of that form. */
struct channel_map *channel_map_of(struct ir_graph *g, const struct ir_op *op,
                                   const struct channel_map *in);

/* The tensor has the root's dimensions, but of the innermost one, and of each pixel these channels
 * of the root. NULL: not so. */
const uint32_t *channel_map_selection(struct ir_graph *g, const struct ir_tensor *y,
                                      const struct channel_map *m);

/* Return true if element c of the innermost dimension is channel c of the root, which has n. */
bool channel_map_keeps_channels(const struct channel_map *m, uint32_t n);

/* Return true if the tensor is the root in another shape. */
bool channel_map_same_bytes(const struct channel_map *m);

#endif
