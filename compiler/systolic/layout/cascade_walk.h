/* cascade_walk.h - the order in which the stages of a cascade compute their rows. Layout uses it to
 * size line buffers, lowering to write the commands. in: operators plan[0 .. n - 1] with their
 * tiles, the line buffers between them. */
#ifndef HEDDLE_COMPILER_SYSTOLIC_LAYOUT_CASCADE_WALK_H
#define HEDDLE_COMPILER_SYSTOLIC_LAYOUT_CASCADE_WALK_H

#include "layout.h"

/* The next tile: rows [y, y + rows) of plan[stage]'s result. */
struct cascade_tile {
    uint32_t stage, tile, y, rows;
    bool wraps; /* true if it starts a new wrap of the result's line buffer */
};

struct cascade_walk {
    const struct op_plan *plan;
    uint32_t n;
    const struct plan_line_buffer *line_buffer; /* by tensor */
    uint32_t *done, *tiles;                     /* by stage: rows and tiles completed so far */
    void *context;
    void (*visit)(struct cascade_walk *c, const struct cascade_tile *t);
};

/* Visit every tile, after all tiles that it reads. The caller fills all fields but done and
 * tiles. */
void cascade_walk(struct arena *a, struct cascade_walk *c);

/* A tile's read of a line buffer: rows [lo, hi) of `tensor`, of which the first `made` exist. */
struct cascade_read {
    const struct plan_line_buffer *buffer;
    uint32_t tensor, lo, hi, made;
};

/* Find the rows of operand i that tile `t` reads; false if the operand has no line buffer. */
bool cascade_read(const struct cascade_walk *c, const struct cascade_tile *t, uint32_t i,
                  struct cascade_read *r);

#endif
