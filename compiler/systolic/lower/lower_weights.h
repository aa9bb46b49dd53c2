/* lower_weights.h - constants of ARRAY commands in the order in which the array reads them. */
#ifndef HEDDLE_COMPILER_SYSTOLIC_LOWER_LOWER_WEIGHTS_H
#define HEDDLE_COMPILER_SYSTOLIC_LOWER_LOWER_WEIGHTS_H

#include "lower.h"

/* Columns [first, first + n) and the part of the kernel that one command processes. */
struct weight_block {
    uint32_t first, n;
    bool sums; /* sums over columns: one output, N weights a word */
    struct geo_piece piece;
};

/* Columns are output channels; with two pixel streams column OC + c is channel c again. */

/* Return the weight words of a block: K rows for each of its channel tiles. */
uint32_t weights_words(const struct lower *l, const struct weight_block *b);
/* Add the block to the constants (once) and emit the WEIGHT commands that load it at word `dest`.
 * *offset: IR_NONE before the first call for this block, then its offset. */
void weights_fetch(struct lower *l, const struct geo *g, const struct weight_block *b,
                   uint32_t dest, uint32_t *offset);
/* Emit the WEIGHT command that makes the block from a matrix in the scratchpad, with rows `pixel`
 * bytes apart from `base` on. */
void weights_make(struct lower *l, const struct geo *g, const struct weight_block *b, uint32_t base,
                  uint32_t pixel, uint32_t dest);
/* Return true if there are parameters by channel: biases, multipliers, shifts. */
static inline bool params_any(const struct geo *g)
{
    return g->bias || g->op->fixed.n != 1;
}
/* Return true if all biases are 0. */
bool params_no_bias(const struct geo *g);
/* Load bias and, unless one scale serves all, multipliers and shifts of channels [first, first + n)
 * to parameter entries from `dest` on. offset: three offsets, IR_NONE at first. */
void params_fetch(struct lower *l, const struct geo *g, uint32_t first, uint32_t n, uint32_t dest,
                  uint32_t offset[3]);

#endif
