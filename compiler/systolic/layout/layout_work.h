/* layout_work.h - state shared by the files of one layout: layout.c decides what stays on chip and
 * where, layout_cascade.c which operators are interleaved, layout_tiles.c what a tile takes. */
#ifndef HEDDLE_COMPILER_SYSTOLIC_LAYOUT_LAYOUT_WORK_H
#define HEDDLE_COMPILER_SYSTOLIC_LAYOUT_LAYOUT_WORK_H

#include "layout.h"

/* A reader of several rows of a tensor at once. */
struct row_reads {
    uint32_t dilation; /* the largest, 0: nothing does */
    bool tails;        /* pairs of pixels, the end of one row together with the start of the next */
    bool pixels;       /* rows are pixels, read one after the other */
};

struct layout_work {
    struct arena *arena;
    struct sched_program *program;
    const struct ir_graph *graph;
    const struct hd_config *hw;
    struct layout *layout;
    uint32_t *base; /* by root: of its image in the scratchpad */
    /* By tensor; tensors that share bytes have it at their root alone (views.h): */
    bool *contiguous;            /* by tensor: rows must be contiguous */
    struct row_reads *row_reads; /* by tensor */
    bool *second;                /* by tensor: the second operand of an elementwise operator */
    /* By tensor: the first stage that reads it, if only stages of its cascade do; whether several do
     * and how many have been found. */
    const struct op_plan **cascade_to;
    uint32_t *cascade_readers;
    bool *cascade_tensor; /* by tensor: passes from stage to stage, cannot go to memory */
    const struct ir_tensor **in_place_of; /* by tensor: it is in this one's first pixel */
    uint32_t *budget; /* by position: bytes of the scratchpad that buffers alive there may have */
    uint32_t *n_bytes, *resident; /* layout_bytes by root; of tensors on chip by position */
};

/* The tensor that has the place of `t`. */
static inline uint32_t layout_root(const struct layout_work *w, const struct ir_tensor *t)
{
    return w->program ? sched_root(w->program, t->id) : t->id;
}

/* The decisions for a root tensor and all tensors that share its bytes. */
static inline struct sched_place *layout_place(struct layout_work *w, const struct ir_tensor *t)
{
    return &w->program->place[layout_root(w, t)];
}

/* --- layout_tiles.c --- */

/* Bytes from row to row of `rows` rows of `row_bytes` that are read so. */
uint32_t layout_pitch(const struct layout_work *w, uint32_t row_bytes, uint32_t rows,
                      struct row_reads read);
/* The same of a root's image that is on chip whole, and all its bytes. */
uint32_t layout_tensor_pitch(const struct layout_work *w, uint32_t root);
uint32_t layout_bytes(const struct layout_work *w, uint32_t root);
/* The operator's reads of its input's rows; its pixels are adjacent as knob `streams` specifies. */
struct row_reads layout_reads(const struct layout_work *w, const struct geo *g, uint32_t streams);
/* Rows of the first tile where a knob makes it smaller; 0: as all. */
uint32_t layout_prologue(const struct layout_work *w, const struct op_plan *p);
uint32_t layout_n_tiles(const struct layout_work *w, const struct op_plan *p, uint32_t rows);
/* Bytes between pixels of operand or result `t` as `g` visits it: `pixel`, unless it takes the
 * tensor's rows, which are contiguous then, as other pixels than the tensor has. */
uint32_t layout_pixel(const struct geo *g, const struct ir_tensor *t, uint32_t pixel);
/* Bytes of a stream's buffers. */
uint32_t layout_stream_bytes(const struct layout_work *w, const struct plan_stream *s,
                             uint32_t n_buffer);
/* Cut the operator into strips. */
void layout_cut(struct op_plan *p, const struct strip_cut *cut);
/* Bytes of the tile buffers of `p` with `rows` output rows a tile; fills the streams' pitch and
 * rows. */
uint32_t layout_tile_bytes(struct layout_work *w, struct op_plan *p, uint32_t rows);
/* The most rows of a tile, less than `rows`, that fit; 0: none do. */
uint32_t layout_most_rows(struct layout_work *w, struct op_plan *p, uint32_t rows, uint32_t space);

/* --- layout_cascade.c --- */

/* Find operators to interleave, by channels or by rows. */
void layout_find_cascades(struct layout_work *w);
/* Fit strips of `p` and of the operator that takes them over within `space` bytes; false: they
 * do not fit. */
bool layout_fit_strips(struct layout_work *w, struct op_plan *p, uint32_t space);
/* Fit tiles and line buffers of the cascade that begins at `p` within `space` bytes; false: they
 * do not fit. */
bool layout_fit_cascade(struct layout_work *w, struct op_plan *p, uint32_t space);

/* --- layout_unfit.c --- */

/* ST_NO_SPACE: `p` has no place even alone, one row a tile. */
enum status layout_no_space(struct layout_work *w, struct op_plan *p, struct diag *d);
/* The same of the operator at which the budget was cut most. */
enum status layout_fragmented(struct layout_work *w, struct diag *d);

#endif
