/* layout.h - the tensors that stay in the scratchpad, their addresses, and the row tiles of each
 * operator. in: graph with targets. out: program->place by tensor, one op_plan per accelerator
 * operator. Invariant: two buffers alive at the same operator never overlap; a tensor that is not
 * on chip has tile buffers in the plans of the operators that touch it. */
#ifndef HEDDLE_COMPILER_SYSTOLIC_LAYOUT_LAYOUT_H
#define HEDDLE_COMPILER_SYSTOLIC_LAYOUT_LAYOUT_H

#include "strips.h"

#define PLAN_OPERANDS 2

/* How one operand or result of an operator passes through the scratchpad. */
struct plan_stream {
    bool streamed;   /* by row tiles in two buffers; otherwise the whole tensor is on chip */
    uint32_t buf[2]; /* scratchpad bytes */
    uint32_t pitch;  /* bytes between rows */
    uint32_t pixel;  /* bytes between pixels */
    uint32_t rows;   /* rows of a buffer */
    uint32_t skip;   /* it holds every `skip`-th row of the tensor: no window reads the others */
    bool rare;       /* loaded so rarely that one buffer is enough; a result: two do not fit */
};

/* A tensor of which a cascade keeps some rows. Each wrap writes `wrap` new rows from row `halo` of
 * the buffer on. The last `halo` rows of the previous wrap are copied in front of them, for windows
 * that span both. */
struct plan_line_buffer {
    uint32_t wrap; /* 0: the tensor has no line buffer */
    uint32_t halo, base, pitch;
};

struct op_plan {
    const struct ir_op *op;
    struct geo geo;              /* geometry of the whole operator; during lowering of one strip */
    uint32_t position;           /* in graph order */
    const struct ir_op *look_up; /* a LUT applied to the results, which may be `op` itself; NULL if
                                  * none */
    struct strip_cut cut;        /* the cut into strips, */
    uint32_t n_strip;            /* number of strips, */
    struct geo largest;          /* the largest strip; the whole operator if there is one strip */
    uint32_t n_buffer;           /* tile buffers of each streamed tensor, 1 or 2 */
    bool one_buffer;             /* two buffers do not fit, however the operator is cut */
    uint32_t tile_rows;          /* output rows per tile */
    uint32_t prologue;           /* rows of the first and last tile; 0: tile_rows */
    uint32_t n_tiles;            /* of a strip */
    uint32_t before;             /* during lowering: tiles of the previous strips, */
    bool last;                   /* true for the last strip, and if there are no strips */
    struct plan_stream in[PLAN_OPERANDS], out;
    uint32_t n_in;
    uint32_t work_bytes, work; /* scratchpad bytes for values of the operator alone; 0: none */
    bool direct;               /* a copy between memory and the scratchpad by LOAD or STORE alone */
    bool cascaded;             /* cascaded with the next operator */
    bool refetched; /* the weights of the cascade up to here do not all fit and are fetched again */
    bool ahead;     /* its rows are computed a tile before they are needed, see cascade_walk.c */
    bool channel_wise; /* interleaved by channels, see cascade.c */
    bool strip_wise;   /* the next operator processes each strip when it is complete; both have the
                      * same cut */
    bool passed; /* this is that next operator: its input is in the previous one's output tiles */
};

struct layout {
    struct sched_program *program;
    uint32_t n_plan;
    struct op_plan *plan;                 /* accelerator operators in graph order */
    struct plan_line_buffer *line_buffer; /* by tensor */
    uint64_t live_bound;                  /* memory_live_bound of the graph */
    uint32_t *n_reader;                   /* by tensor: number of operators that read it */
    const struct ir_op *unfit; /* on ST_NO_SPACE: the operator that does not fit, or NULL */
    const char *unfit_why;     /* its need, worded as a failed rule */
};

/* Return the number of tables applied to an operator's results: 0, 1, or one per column tile. */
uint32_t layout_tables(const struct op_plan *p, const struct hd_config *hw);

/* Prepare what does not depend on knobs: p->view, p->viewed, and p->layout with plans without
 * tiles. */
enum status layout_prepare(struct sched_program *p, struct diag *d);

/* Fill in p->layout, and p->place for tensors on chip. */
enum status layout_run(struct sched_program *p, struct diag *d);

/* layout_check.c: ST_INTERNAL: the message names two buffers that share bytes, or one that exceeds
 * the scratchpad. */
enum status layout_check(const struct sched_program *p, struct diag *d);
/* layout_text.c: print tensors on chip, tiles and line buffers. */
void layout_print(const struct sched_program *p, struct text *t);
/* Print the tiles of the operators of one row alone. */
void layout_print_row(const struct sched_program *p, uint32_t row, struct text *t);

/* Return the rows of tile number `tile` of `oh` output rows, beginning at *y; 0 if there are fewer
 * tiles. With a prologue the first and the last tile have `prologue` rows; each tile in between is
 * half as large again as the previous one, up to `rows`. */
uint32_t layout_tile(uint32_t oh, uint32_t rows, uint32_t prologue, uint32_t tile, uint32_t *y);

/* Return the smallest scratchpad need, in bytes, of one operator with everything streamed and cut
   as finely as possible. */
uint32_t layout_least(const struct geo *g, const struct hd_config *hw);
/* Return the approximate number of weight blocks that an ARRAY operator fetches: all of them for
 * each tile, which has *rows rows. */
uint64_t layout_blocks(const struct geo *g, const struct hd_config *hw, uint32_t *rows);

/* --- lstm_places.c --- */

/* Byte offsets in an LSTM's work buffer: the sums of `rows` time steps' inputs from 0 on, the
 * recurrent sums of one step, the cells' state and the last output. Bytes of one sum are `plane`
 * bytes apart, 4 k + 1; those of a cell's four gates are adjacent. */
struct lstm_places {
    uint32_t plane, row; /* bytes between the sums of two steps */
    uint32_t recurrent, state, output, n_bytes;
};
struct lstm_places lstm_places(uint32_t cells, uint32_t rows, const struct hd_config *hw);
/* Return NULL if the accelerator can run the LSTM `op`, otherwise the reason, from `a`. */
const char *lstm_refusal(struct arena *a, const struct ir_graph *graph, const struct ir_op *op,
                         const struct hd_config *hw);
/* Return shift_a of VECTOR's lstm, from the state's scale. */
int32_t lstm_shift(const struct ir_tensor *state);

/* layout_cascade.c: return the weight words and parameter entries that an ARRAY operator keeps in a
 * cascade; 0, 0 for VECTOR. */
void layout_cascade_needs(struct arena *a, const struct geo *g, const struct hd_config *hw,
                          const struct sched_knobs *knobs, uint32_t *words, uint32_t *entries);
/* Return true if every operand of operators plan[0 .. n - 1], which are interleaved by channels, is
 * whole and on chip and each operator is one tile. Otherwise they run one by one. */
bool layout_slices_whole(const struct op_plan *plan, uint32_t n);

/* Return the number of separate tile buffers of stream i (0, 1: operands; 2: the result). */
static inline uint32_t layout_buffers(const struct op_plan *p, uint32_t i)
{
    const struct plan_stream *s = i < PLAN_OPERANDS ? &p->in[i] : &p->out;

    return !s->streamed || (p->passed && i == 0) ? 0 : s->rare ? 1 : p->n_buffer;
}

/* Return the number of operators in the cascade that begins at `p`; 1 if it is in none. */
static inline uint32_t cascade_length(const struct op_plan *p)
{
    uint32_t n = 1;

    while (p[n - 1].cascaded)
        n++;
    return n;
}

/* Return the first new row of the wrap that contains row `y`. */
static inline uint32_t line_buffer_wrap(const struct plan_line_buffer *r, uint32_t y)
{
    return y / r->wrap * r->wrap;
}

/* Return the first row of the wrap that readers of rows [lo, hi) use once `made` rows are made: the
 * current wrap, or the previous one, whose rows stay until new ones overwrite them. UINT32_MAX:
 * they are overwritten. */
static inline uint32_t line_buffer_read(const struct plan_line_buffer *r, uint32_t lo, uint32_t hi,
                                        uint32_t made)
{
    const uint32_t now = line_buffer_wrap(r, made - 1), own = line_buffer_wrap(r, hi - 1);

    if (lo + r->halo >= now)
        return now;
    return own + r->wrap == now && lo >= own && lo + r->wrap >= made ? own : UINT32_MAX;
}

/* Return the address that row 0 of the tensor would have in the wrap that begins with row
 * `wrap`. */
static inline int32_t line_buffer_row0(const struct plan_line_buffer *r, uint32_t wrap)
{
    return (int32_t)(r->base + r->halo * r->pitch) - (int32_t)(wrap * r->pitch);
}

#endif
