/* layout.h - which tensors stay in the scratchpad, where, and how each operator is cut into row
 * tiles. in:  graph with targets.   out: program->place by tensor, one op_plan per accelerator
 * operator. Invariant: two buffers alive at the same operator never overlap; a tensor that is not
 * on chip has tile buffers in the plans of the operators that touch it. */
#ifndef HEDDLE_COMPILER_SYSTOLIC_LAYOUT_LAYOUT_H
#define HEDDLE_COMPILER_SYSTOLIC_LAYOUT_LAYOUT_H

#include "strips.h"

#define PLAN_OPERANDS 2

/* The passage of one operand or the result of an operator through the scratchpad. */
struct plan_stream {
    bool streamed;   /* row tiles in two buffers; else the tensor is on chip whole */
    uint32_t buf[2]; /* scratchpad bytes */
    uint32_t pitch;  /* bytes from row to row */
    uint32_t pixel;  /* from pixel to pixel */
    uint32_t rows;   /* rows a buffer holds */
    uint32_t skip;   /* it holds one of `skip` rows of the tensor: no window reads the others */
};

/* A tensor of which a cascade keeps some rows: wrap after wrap, `wrap` new rows from row `halo` of
 * the buffer on, with the last `halo` rows of the wrap before copied in front of them, for windows
 * over both. */
struct plan_line_buffer {
    uint32_t wrap; /* 0: the tensor has no line buffer */
    uint32_t halo, base, pitch;
};

struct op_plan {
    const struct ir_op *op;
    struct geo geo;              /* geometry of the whole operator; while lowering of one strip */
    uint32_t position;           /* in graph order */
    const struct ir_op *look_up; /* a LUT that results go through, which may be `op`; NULL: none */
    struct strip_cut cut;        /* how it is cut into strips, */
    uint32_t n_strip;            /* number of strips, */
    struct geo largest;          /* a strip as large as any; the whole operator if it is one */
    uint32_t n_buffer;           /* tile buffers of each streamed tensor, 1 or 2 */
    bool one_buffer;             /* two do not fit, however it is cut */
    uint32_t tile_rows;          /* output rows per tile */
    uint32_t prologue;           /* rows of the first and last tile; 0: as tile_rows */
    uint32_t n_tiles;            /* of a strip */
    uint32_t before;             /* lowering: tiles of the strips before, */
    bool last;                   /* the last strip, or not one */
    struct plan_stream in[PLAN_OPERANDS], out;
    uint32_t n_in;
    bool direct;    /* a copy between memory and a place in the scratchpad: LOAD or STORE alone */
    bool cascaded;  /* with the next operator */
    bool refetched; /* up to here weights of the cascade do not all fit: they come again */
    bool ahead;     /* its rows are made a tile before they are needed, see cascade_walk.c */
    bool channel_wise; /* the same by channels, see channel_fusion.c */
    bool strip_wise; /* the next operator takes each strip when it is made; their cuts are alike */
    bool passed;     /* such a next one: its input is in the output tiles of the one before */
};

struct layout {
    struct sched_program *program;
    uint32_t n_plan;
    struct op_plan *plan;                 /* accelerator operators in graph order */
    struct plan_line_buffer *line_buffer; /* by tensor */
    uint64_t live_bound;                  /* memory_live_bound of the graph */
    uint32_t *n_reader;                   /* by tensor: operators that read it */
    const struct ir_op *unfit;            /* ST_NO_SPACE: the operator that has no place, or NULL */
    const char *unfit_why;                /* and what it needs, as a rule that failed */
};

/* Tables that the results of an operator go through: 0, 1, or one of each column tile. */
uint32_t layout_tables(const struct op_plan *p, const struct hd_config *hw);

/* Prepare what knobs do not change: p->view, p->viewed, and p->layout with plans without tiles. */
enum status layout_prepare(struct sched_program *p, struct diag *d);

/* p->layout, and the tensors on chip in p->place. */
enum status layout_run(struct sched_program *p, struct diag *d);

/* layout_check.c: ST_INTERNAL names two buffers that share bytes, or one that exceeds the
 * scratchpad. */
enum status layout_check(const struct sched_program *p, struct diag *d);
/* layout_text.c: tensors on chip, tiles and line buffers as text. */
void layout_print(const struct sched_program *p, struct text *t);

/* Tile number `tile` of `oh` output rows: rows [*y, *y + the result); 0 if there are fewer
 * tiles. With a prologue the first tile has `prologue` rows, each next one half as many more up
 * to `rows`, the last one twice that. */
uint32_t layout_tile(uint32_t oh, uint32_t rows, uint32_t prologue, uint32_t tile, uint32_t *y);

/* Smallest scratchpad need of one operator, everything streamed and cut as finely as it may be; bytes.
 */
uint32_t layout_least(const struct geo *g, const struct hd_config *hw);
/* Blocks of weights that an ARRAY operator alone takes, about: all of them again for each tile, which
 * has *rows rows. */
uint64_t layout_blocks(const struct geo *g, const struct hd_config *hw, uint32_t *rows);

/* layout_cascade.c: weight words and parameter entries that an ARRAY operator keeps in a cascade;
 * 0, 0 for VECTOR. */
void layout_cascade_needs(struct arena *a, const struct geo *g, const struct hd_config *hw,
                          const struct sched_knobs *knobs, uint32_t *words, uint32_t *entries);
/* Return true if every operand of operators plan[0 .. n - 1], which are interleaved by channels,
 * is whole and on chip and each operator is one tile. Else they run one by one. */
bool layout_slices_whole(const struct op_plan *plan, uint32_t n);

/* Return true if stream i (0, 1: operands; 2: the result) has tile buffers of its own. */
static inline bool layout_has_buffers(const struct op_plan *p, uint32_t i)
{
    return (i < PLAN_OPERANDS ? &p->in[i] : &p->out)->streamed && !(p->passed && i == 0);
}

/* Operators of the cascade that begins at `p`; 1: it is in none. */
static inline uint32_t cascade_length(const struct op_plan *p)
{
    uint32_t n = 1;

    while (p[n - 1].cascaded)
        n++;
    return n;
}

/* First new row of the wrap that row `y` is in. */
static inline uint32_t line_buffer_wrap(const struct plan_line_buffer *r, uint32_t y)
{
    return y / r->wrap * r->wrap;
}

/* Once `made` rows are made, the first row for readers of rows [lo, hi): of the current wrap, or
 * of the one before, whose rows stay until new ones take their places. UINT32_MAX: they are
 * lost. */
static inline uint32_t line_buffer_read(const struct plan_line_buffer *r, uint32_t lo, uint32_t hi,
                                        uint32_t made)
{
    const uint32_t now = line_buffer_wrap(r, made - 1), own = line_buffer_wrap(r, hi - 1);

    if (lo + r->halo >= now)
        return now;
    return own + r->wrap == now && lo >= own && lo + r->wrap >= made ? own : UINT32_MAX;
}

/* Address that row 0 of the tensor would have in the wrap that begins with row `wrap`. */
static inline int32_t line_buffer_row0(const struct plan_line_buffer *r, uint32_t wrap)
{
    return (int32_t)(r->base + r->halo * r->pitch) - (int32_t)(wrap * r->pitch);
}

#endif
