/* layout_work.h - state shared by the files of one layout: layout.c decides what stays on chip,
 * layout_assign.c where, layout_cascade.c which operators are interleaved, layout_tiles.c the size of tiles. */
#ifndef HEDDLE_COMPILER_SYSTOLIC_LAYOUT_LAYOUT_WORK_H
#define HEDDLE_COMPILER_SYSTOLIC_LAYOUT_LAYOUT_WORK_H

#include "layout.h"

enum {
    LAYOUT_BUDGET_STEPS =
        32,             /* fractions of the scratchpad by which an operator's budget shrinks */
    LAYOUT_NEARBY = 16, /* operators considered near; placing all takes half the search's time */
};

/* A reader of several rows of a tensor at once. */
struct row_reads {
    uint32_t dilation; /* the largest dilation; 0: no such reader */
    bool tails;        /* pairs of pixels: the end of one row is read together with the start of the
                        * next */
    bool pixels;       /* rows are pixels, read in sequence */
};

struct layout_work {
    struct arena *arena;
    struct sched_program *program;
    const struct ir_graph *graph;
    const struct hd_config *hw;
    struct layout *layout;
    uint32_t *base; /* by root: address of its image in the scratchpad */
    /* By tensor; for tensors that share bytes only the root's entry is used (views.h): */
    bool *contiguous;            /* by tensor: rows must be contiguous */
    struct row_reads *row_reads; /* by tensor */
    uint32_t *
        phase; /* by tensor: bytes modulo the banks at which it begins; not 0: the second operand of an
                      * elementwise operator */
    /* By tensor: the first stage that reads it, if all its readers are stages of its cascade;
     * whether it has several readers, and how many have been found. */
    const struct op_plan **cascade_to;
    uint32_t *cascade_readers;
    bool *cascade_tensor;                 /* by tensor: passed between stages, never in memory */
    const struct ir_tensor **in_place_of; /* by tensor: the tensor whose first pixel holds it */
    uint32_t *budget; /* by position: scratchpad bytes available to the buffers alive there */
    uint32_t *n_bytes, *resident; /* by root: layout_bytes; by position: bytes of tensors on chip */
};

/* Return the tensor whose place `t` shares. */
static inline uint32_t layout_root(const struct layout_work *w, const struct ir_tensor *t)
{
    return w->program ? sched_root(w->program, t->id) : t->id;
}

/* Return the place of a root tensor and all tensors that share its bytes. */
static inline struct sched_place *layout_place(struct layout_work *w, const struct ir_tensor *t)
{
    return &w->program->place[layout_root(w, t)];
}

/* Return true if result `t` shares its input's buffer, since both stay on chip. */
static inline bool layout_inside(const struct layout_work *w, uint32_t t)
{
    return w->in_place_of[t] && w->program->place[t].on_chip &&
           w->program->place[w->in_place_of[t]->id].on_chip;
}

/* Return true if a trial needs the layout at interval `alive`. A trial of some operators needs only
 * their buffers and those nearby, which displace them. */
static inline bool layout_matters(const struct sched_program *p, struct sched_span alive)
{
    return p->end == 0 ||
           (alive.last + LAYOUT_NEARBY >= p->first && alive.first < p->end + LAYOUT_NEARBY);
}

/* --- layout_assign.c --- */

/* Give every resident and tile buffer an address. If fragmentation needs more space than there is,
 * lower the budget where buffers end too high and return false. */
bool layout_assign(struct layout_work *w);
/* Set every tensor's place in the scratchpad and in memory from the addresses of layout_assign, and
 * record what operators hold in addition to whole tensors. */
void layout_fill_places(struct layout_work *w);

/* --- layout_tiles.c --- */

/* Return the pitch of `rows` rows of `row_bytes` bytes under these reads. */
uint32_t layout_pitch(const struct layout_work *w, uint32_t row_bytes, uint32_t rows,
                      struct row_reads read);
/* Return the same for a root's image that is whole on chip, and all its bytes. */
uint32_t layout_tensor_pitch(const struct layout_work *w, uint32_t root);
uint32_t layout_bytes(const struct layout_work *w, uint32_t root);
/* Return how the operator reads its input's rows; pixels are paired as knob `streams` specifies. */
struct row_reads layout_reads(const struct layout_work *w, const struct geo *g, uint32_t streams);
/* Return the rows of the first tile if a knob makes it smaller; 0: all tiles are equal. */
uint32_t layout_prologue(const struct layout_work *w, const struct op_plan *p);
uint32_t layout_n_tiles(const struct layout_work *w, const struct op_plan *p, uint32_t rows);
/* Return the bytes between pixels of operand or result `t` in the order of `g`: `pixel`, unless `g`
 * splits the tensor's rows, which are then contiguous, into different pixels. */
uint32_t layout_pixel(const struct geo *g, const struct ir_tensor *t, uint32_t pixel);
/* Return the bytes of a stream's buffers. */
uint32_t layout_stream_bytes(const struct layout_work *w, const struct plan_stream *s,
                             uint32_t n_buffer);
/* Cut the operator into strips. */
void layout_cut(struct op_plan *p, const struct strip_cut *cut);
/* Return the bytes of the tile buffers of `p` with `rows` output rows per tile; set the streams'
 * pitch and rows. */
uint32_t layout_tile_bytes(struct layout_work *w, struct op_plan *p, uint32_t rows);
/* Return the most rows of a tile, below `rows`, that fit; 0 if none do. */
uint32_t layout_most_rows(struct layout_work *w, struct op_plan *p, uint32_t rows, uint32_t space);

/* --- layout_cascade.c --- */

/* Find operators to interleave, by channels or by rows. */
void layout_find_cascades(struct layout_work *w);
/* Fit strips of `p` and of the operator that reads them within `space` bytes; false if they do not
 * fit. */
bool layout_fit_strips(struct layout_work *w, struct op_plan *p, uint32_t space);
/* Fit tiles and line buffers of the cascade that begins at `p` within `space` bytes; false if they
 * do not fit. */
bool layout_fit_cascade(struct layout_work *w, struct op_plan *p, uint32_t space);

/* --- layout_unfit.c --- */

/* Return ST_NO_SPACE: `p` does not fit even alone, with one row per tile. */
enum status layout_no_space(struct layout_work *w, struct op_plan *p, struct diag *d);
/* The same for the operator whose budget was reduced most. */
enum status layout_fragmented(struct layout_work *w, struct diag *d);

#endif
