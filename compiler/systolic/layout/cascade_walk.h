/* cascade_walk.h - in which order the stages of a cascade make their rows. Layout walks it to see
 * how many rows line buffers must keep, lowering to write the commands.
 * in:  operators plan[0 .. n - 1] with their tiles, the line buffers between them. */
#ifndef HEDDLE_COMPILER_SYSTOLIC_LAYOUT_CASCADE_WALK_H
#define HEDDLE_COMPILER_SYSTOLIC_LAYOUT_CASCADE_WALK_H

#include "layout.h"

/* The next tile: rows [y, y + rows) of plan[stage]'s result. */
struct cascade_tile {
    uint32_t stage, tile, y, rows;
    bool wraps; /* a new wrap of the result's line buffer begins with it */
};

struct cascade_walk {
    const struct op_plan *plan;
    uint32_t n;
    const struct plan_line_buffer *line_buffer; /* by tensor */
    uint32_t *done, *tiles;                     /* by stage: rows made so far, in how many tiles */
    void *context;
    void (*visit)(struct cascade_walk *c, const struct cascade_tile *t);
};

/* Visit every tile; what a tile reads has been visited before. Fill all but done and tiles. */
void cascade_walk(struct arena *a, struct cascade_walk *c);

/* A tile's read of a line buffer: rows [lo, hi) of `tensor`, of which `made` are made. */
struct cascade_read {
    const struct plan_line_buffer *buffer;
    uint32_t tensor, lo, hi, made;
};

/* Find the rows of operand i that tile `t` reads; false if that is in no line buffer. */
bool cascade_read(const struct cascade_walk *c, const struct cascade_tile *t, uint32_t i,
                  struct cascade_read *r);

#endif
