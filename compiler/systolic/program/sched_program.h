/* sched_program.h - the device program: what the scheduler makes of the operators given to an
 * accelerator. in:  a legalised graph with op->target and op->region set, a hardware configuration.
 * out: per region one command stream, the constants region, the arena's tensors; every command with
 * the byte ranges it reads and writes, from which its waits follow (hazard.c) and which
 * plan_check.c proves. */
#ifndef HEDDLE_COMPILER_SYSTOLIC_PROGRAM_SCHED_PROGRAM_H
#define HEDDLE_COMPILER_SYSTOLIC_PROGRAM_SCHED_PROGRAM_H

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"
#include "compiler/ir/ir.h"
#include "driver/hd.h"
#include "hw/gen/config.h"

/* Memories that commands touch; ranges are bytes (weights, parameters: words or entries, see
 * below). */
enum sched_memory {
    SCHED_SPAD,   /* scratchpad bytes */
    SCHED_WMEM,   /* weight memory words */
    SCHED_PARAM,  /* parameter entries (channel tiles) */
    SCHED_TABLE,  /* tables; SCHED_EXPONENTIALS: the exponentials */
    SCHED_ARENA,  /* region 2 bytes */
    SCHED_INPUT,  /* 3 + i: bytes + (i << 32) */
    SCHED_OUTPUT, /* alike */
    SCHED_MEMORIES
};

enum { SCHED_EXPONENTIALS = 8 }; /* following the most tables */

struct sched_access {
    enum sched_memory memory;
    bool write;
    uint64_t begin, end; /* [begin, end) */
    /* Only `bytes` of every `pitch` bytes, from `begin` on: a slice of the channels; pitch 0: all.
     */
    uint32_t pitch, bytes;
    bool gaps; /* not all of these; which ones is unknown */
};

union sched_words {
    uint32_t word[28];
    struct hd_common common;
    struct hd_cmd_dma_read dma_read;
    struct hd_cmd_store store;
    struct hd_cmd_array array;
    struct hd_cmd_vector vector;
    struct hd_cmd_end end;
};

#define SCHED_MAX_ACCESS 6

/* The result of which a command of ARRAY or VECTOR makes bytes, or STORE takes some to memory: byte
 * `address` + r * pitch + x * pixel + c of the scratchpad, or of the region in memory, is byte `first`
 * + r * row + x * column + c of the tensor in its own order. A run compares these bytes with the
 * reference's. pitch is at least pixel; 0: the command makes no bytes of a tensor. */
struct sched_made {
    uint32_t tensor;
    uint32_t address, pitch, pixel;
    uint32_t first, row, column;
    bool flip; /* in memory it is uint8 */
};

struct sched_command {
    union sched_words w; /* as the device reads it; waits filled by sched_waits */
    uint32_t unit;       /* enum hd_unit; END: HD_UNIT_FETCH */
    uint32_t row;        /* row of the operator table */
    uint32_t group;   /* position of the first operator whose commands are mixed with this one's */
    const char *note; /* "rows 0-7, channels 0-31": a comment in the emitted C */
    struct sched_access access[SCHED_MAX_ACCESS];
    uint32_t n_access;
    struct sched_made made; /* not in a trial */
    /* estimate.c, cycles from the doorbell */
    uint64_t cost, est_start, est_done;
    uint64_t est_steps, est_last; /* ARRAY: its steps are in the cycles (est_steps, est_last] */
};

/* One submission. */
struct sched_stream {
    uint32_t region; /* graph region */
    uint32_t device; /* index into the program's devices */
    uint32_t n, cap;
    struct sched_command *cmd;
    uint32_t offset, n_bytes; /* in the commands region, header included */
    uint64_t est_cycles;
};

/* A tensor as part of the image of `root`, which has the place of both: its element (row, column,
 * channel) is the image's (y + row * step_y, x + column * step_x, c + channel). A tensor that shares
 * nothing is all of its own image. layout/views.c decides. */
struct sched_view {
    uint32_t root;
    int32_t y, x, c;
    uint32_t step_y, step_x;
    uint32_t pixel, pitch; /* not 0: a RESHAPE's own, bytes from pixel to pixel, from row to row */
    uint32_t h, w, n;      /* a root's image: rows, columns, channels */
    bool flat;             /* a root's rows are contiguous */
    bool swapped; /* its rows are the image's columns and its columns the image's rows: heads */
};

/* The places of a tensor: in the scratchpad, in memory, or in both. */
struct sched_place {
    bool in_memory;
    uint32_t mem_region; /* HD_REGION_ARENA, or HD_REGION_IO + i; constants: HD_REGION_CONSTANTS */
    uint32_t mem_offset, mem_bytes;
    uint32_t mem_pitch, mem_pixel; /* bytes from row to row, from pixel to pixel */
    bool flip;                     /* there it is uint8 */
    uint32_t window,
        whole;            /* lowering: commands name region `window` (sched_window), 0: mem_region;
                               all of mem_bytes from `whole` on may be theirs */
    bool on_chip;         /* whole, from producer to last reader */
    uint32_t base, pitch; /* scratchpad bytes; row r of h at base + r * pitch */
    uint32_t pixel;       /* from pixel to pixel */
    uint32_t h, cols, row_bytes; /* rows as the accelerator sees them: H, W, W * C */
    uint32_t first, last;        /* operator positions */
    bool inside; /* it takes bytes of another tensor's place, see channel_fusion.c */
};

enum { KNOB_CASCADE_AHEAD = 2 };

/* The choices for one operator on the accelerator; 0: by rule. Any value gives the same
 * bytes. sched_knob_values lists what is worth trying. */
struct sched_knobs {
    uint32_t tile_rows;   /* output rows of a tile, at most */
    uint32_t group_tiles; /* channel tiles whose weights are fetched together, at most */
    uint32_t streams;     /* pixel streams of ARRAY: 1 or 2 */
    uint32_t tail_split;  /* 1: the last group in halves, that little is left after its weights */
    uint32_t params;      /* 1: parameters of all groups by one command, if they fit at once */
    uint32_t prologue;    /* output rows of the first and of the last tile; 0: as the others */
    uint32_t cascade;     /* 1: rows go on to the next operator as they come, both interleaved;
                             KNOB_CASCADE_AHEAD: they come a tile before they are needed */
};

/* Operator positions [first, last], all interleaved. */
struct sched_span {
    uint32_t first, last;
};

struct sched_options {
    bool no_overlap;                 /* every command waits for all before it: for debugging */
    uint32_t mem_latency;            /* cycles to the first beat of a read; for the estimate */
    uint32_t mem_bytes;              /* bytes a cycle; 0: the AXI width */
    uint64_t knob_seed;              /* not 0: knobs at random, for tests */
    uint32_t work;                   /* times what a search does; 0: once; for tests */
    bool no_search;                  /* knobs by rule */
    const struct sched_knobs *knobs; /* by operator position: instead of a search; or NULL */
};

/* An accelerator that the program runs on. */
struct sched_device {
    uint32_t target; /* index into the target list */
    const struct hd_config *hw;
};
#define SCHED_MAX_DEVICES 8

struct layout;

struct sched_program {
    struct arena *arena;
    const struct ir_graph *graph;
    const struct hd_config *hw;
    struct sched_options options;
    uint32_t n_device; /* 0 or more, by target; `hw` is the first one's */
    struct sched_device device[SCHED_MAX_DEVICES];
    uint32_t n_stream;
    struct sched_stream *stream;
    struct sched_place *place;    /* by tensor id */
    struct sched_view *view;      /* by tensor id */
    bool *viewed;                 /* by operator position: a view, no command is needed */
    const struct ir_op **look_up; /* by operator position: a LUT that its results go through */
    struct text constants;        /* region 1: bytes, blocks aligned to 64 */
    uint32_t arena_bytes;         /* region 2 */
    uint32_t *scratch_bytes; /* by operator position: what its host kernel wants in the arena */
    uint32_t *scratch;       /* by operator position: where that is */
    uint32_t *buffer_bytes; /* by operator position: scratchpad for its tiles and its line buffer */
    uint32_t command_bytes; /* region 0 */
    uint32_t spad_peak;     /* bytes of the scratchpad in use at once */
    struct sched_knobs *knobs; /* by operator position in the graph */
    struct sched_span *span;   /* by operator position: operators interleaved with it */
    uint32_t *woven;           /* by operator position: the next one whose commands are mixed with
                                  its own; 0: none */
    bool dry;                  /* a trial: only sizes of constants, no bytes, no notes */
    uint32_t first, end;       /* a trial with commands of operators first .. end - 1 alone, where
                                  the layout of all puts them; end 0: of all */
    const struct sched_program *like; /* a trial: what knobs do not change is taken from it
                                         (sched_prepare); or NULL */
    uint32_t constant_bytes;          /* their size, dry or not */
    uint64_t *row_estimate; /* by row: cycles as sim/rows.h attributes them; NULL: a trial */
    uint64_t *row_end;      /* by row: cycles from the end of the row before to its own */
    uint64_t est_cycles;
    uint64_t dram_read, dram_write; /* bytes the commands move */
    struct layout *layout;          /* layout/layout.h: tiles and line buffers */
    /* Number of parts of a program for several devices, one for each (devices.c). Else 0. */
    uint32_t n_part;
    struct sched_program *part[SCHED_MAX_DEVICES];
    /* In such a part; else 0 and NULL. */
    uint32_t only;                      /* 1 + the target whose operators it runs */
    const struct sched_program *before; /* its constants come first */
};

/* The programs of single devices that `p` is made of: its parts, or itself. */
static inline uint32_t sched_parts(const struct sched_program *p)
{
    return p->n_part ? p->n_part : 1;
}

static inline struct sched_program *sched_part(struct sched_program *p, uint32_t k)
{
    return p->n_part ? p->part[k] : p;
}

static inline uint32_t div_up(uint32_t a, uint32_t b)
{
    return (a + b - 1) / b;
}

static inline uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Return true if the program runs these operators. All others are the host's or another
 * device's, and exchange tensors with it in memory. */
static inline bool sched_owns(const struct sched_program *p, const struct ir_op *op)
{
    return !op->dead && op->region != IR_NONE && (p->only == 0 || op->target + 1 == p->only);
}

/* The tensor that has the place of `t`. */
static inline uint32_t sched_root(const struct sched_program *p, uint32_t t)
{
    return p->view ? p->view[t].root : t;
}

/* --- view.c --- */

/* Return true if the operator is a view in the program, or in the part of it that runs it. */
bool sched_is_view(const struct sched_program *p, const struct ir_op *op);
/* Bytes from the root's first to the tensor's, where the root's rows are `pitch` apart. */
uint32_t sched_view_offset(const struct sched_program *p, uint32_t t, uint32_t pitch);
/* Place tensors that share their bytes in memory, from the places of their roots. */
void sched_view_memory(struct sched_program *p);

/* The operators interleaved with the one at `position`, itself included. */
static inline struct sched_span sched_span_of(const struct sched_program *p, uint32_t position)
{
    return p->span ? p->span[position] : (struct sched_span){position, position};
}

/* Spans of operators that are not interleaved: those of one external call together, others alone. */
static inline void sched_call_spans(const struct ir_graph *g, struct sched_span *span)
{
    uint32_t first = 0;

    for (uint32_t i = 0; i < g->n_op; i++) {
        if (!ir_ends_call(g, i))
            continue;
        for (uint32_t k = first; k <= i; k++)
            span[k] = (struct sched_span){first, i};
        first = i + 1;
    }
}

/* groups.c: number the layers that the program interleaves. Writes the index of each row's
 * group, or IR_NONE, into group[n_row]; returns the number of groups, numbered by their first
 * rows. */
uint32_t sched_groups(const struct sched_program *p, uint32_t *group);

/* The region of the variables, after inputs and outputs; in it the bytes before variable `id`, of
 * all for n_tensor. */
static inline uint32_t sched_state_region(const struct ir_graph *g)
{
    return HD_REGION_IO + g->n_in + g->n_out;
}
uint64_t sched_state_offset(const struct ir_graph *g, uint32_t id);

/* window.c: the region by which commands reach a place in memory that is known when they run, after
 * that of the variables; operators with equal numbers, sizes and pitches share it. 0: `op` has no
 * such place; HD_REGIONS: there are no more regions. */
uint32_t sched_window(const struct ir_graph *g, const struct ir_op *op);
/* The first operator that has the same; NULL: `op` has none. */
const struct ir_op *sched_window_op(const struct ir_graph *g, const struct ir_op *op);
/* The operand of such an operator that has the start indices; devices do not read it. */
uint32_t sched_window_start(const struct ir_op *op);

/* exchange.c: the tensors that are copied to the device before submission `s`, or back after it. */
struct sched_exchange {
    uint32_t n, *tensor;
};
struct sched_exchange sched_exchange(struct arena *a, const struct sched_program *p,
                                     const struct sched_stream *s, bool in);
/* True if the host copies the output at the end: it is an input, a constant, or the same tensor twice. */
bool sched_output_copied(const struct sched_program *p, uint32_t output);

/* program_constants.c: append a block to the constants at a multiple of 64; its offset. */
uint32_t sched_constant(struct sched_program *p, const void *data, size_t n_bytes);

#endif
