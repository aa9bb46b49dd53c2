/* sched_program.h - the device program that the scheduler makes from an accelerator's operators.
 * in: a legalised graph with op->target and op->region set, a hardware configuration. out: per
 * region one command stream, the constants region, the arena's tensors; every command with the byte
 * ranges that it reads and writes, from which hazard.c computes its waits. */
#ifndef HEDDLE_COMPILER_SYSTOLIC_PROGRAM_SCHED_PROGRAM_H
#define HEDDLE_COMPILER_SYSTOLIC_PROGRAM_SCHED_PROGRAM_H

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"
#include "compiler/ir/ir.h"
#include "driver/hd.h"
#include "hw/gen/config.h"

/* Memories that commands access; ranges are in bytes (weights, parameters: words or entries, see
 * below). */
enum sched_memory {
    SCHED_SPAD,   /* scratchpad bytes */
    SCHED_WMEM,   /* weight memory words */
    SCHED_PARAM,  /* parameter entries (channel tiles) */
    SCHED_TABLE,  /* table slots; SCHED_EXPONENTIALS: the table of exponentials; SCHED_THRESHOLDS:
                   * those by which LOAD quantises; SCHED_FLOATS: what STORE dequantises to */
    SCHED_ARENA,  /* region 2 bytes */
    SCHED_INPUT,  /* 3 + i: bytes + (i << 32) */
    SCHED_OUTPUT, /* alike */
    SCHED_MEMORIES
};

enum {
    SCHED_EXPONENTIALS = 8, /* after the last table slot */
    SCHED_THRESHOLDS,
    SCHED_FLOATS,
    SCHED_TABLES
};

struct sched_access {
    enum sched_memory memory;
    bool write;
    uint64_t begin, end; /* [begin, end) */
    /* Restrict the range to `bytes` of every `pitch` bytes from `begin` on, a slice of the
       channels; pitch 0: all bytes. */
    uint32_t pitch, bytes;
    bool gaps; /* some bytes are not accessed; it is unknown which */
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
/* Bursts end at multiples of it, so equal submissions at equal places in a page take equal cycles. */
#define SCHED_PAGE 4096u

/* The result bytes that an ARRAY or VECTOR command makes, or STORE moves to memory. Byte `address`
 * + r * pitch + x * pixel + c of the scratchpad, or of the region in memory, is byte `first` + r *
 * row + x * column + c of the tensor in its own order. A run compares these bytes with the
 * reference's. pitch is at least pixel; 0: the command makes no bytes of a tensor. */
struct sched_made {
    uint32_t tensor;
    uint32_t address, pitch, pixel;
    uint32_t first, row, column;
    bool flip; /* uint8 in memory */
};

struct sched_command {
    union sched_words w; /* the words that the device reads; waits are set by sched_waits */
    uint32_t unit;       /* enum hd_unit; END: HD_UNIT_FETCH */
    uint32_t row;        /* row of the operator table */
    uint32_t group;      /* position of the first operator whose commands are interleaved with this
                       * one's */
    bool early;          /* LOAD of float32 into the buffer of a tile: sched_early_loads */
    const char *note;    /* "rows 0-7, channels 0-31": a comment in the emitted C */
    struct sched_access access[SCHED_MAX_ACCESS];
    uint32_t n_access;
    struct sched_made made; /* empty in a trial */
    /* cycles from the doorbell, from estimate.c */
    uint64_t cost, est_start, est_done;
    uint64_t est_steps, est_last; /* ARRAY: its steps occupy the cycles (est_steps, est_last] */
};

/* One submission. */
struct sched_stream {
    uint32_t region; /* graph region */
    uint32_t device; /* index into the program's devices */
    uint32_t n, cap;
    struct sched_command *cmd;
    uint32_t offset, n_bytes; /* within the commands region, header included */
    uint64_t est_cycles;
};

/* A tensor as part of the image of `root`, whose place determines both: its element (row, column,
 * channel) is element (y + row * step_y, x + column * step_x, c + channel) of the image. A tensor
 * that shares no bytes is its whole image. layout/views.c decides. */
struct sched_view {
    uint32_t root;
    int32_t y, x, c;
    uint32_t step_y, step_x;
    uint32_t pixel,
        pitch;        /* for a RESHAPE, if not 0: its own bytes between pixels and between rows */
    uint32_t h, w, n; /* a root's image size: rows, columns, channels */
    bool flat;        /* a root's rows are contiguous */
    bool swapped; /* its rows are the image's columns and its columns the image's rows (heads) */
};

/* The places of a tensor in the scratchpad, in memory, or in both. */
struct sched_place {
    bool in_memory;
    uint32_t mem_region; /* HD_REGION_ARENA, or HD_REGION_IO + i; constants: HD_REGION_CONSTANTS */
    uint32_t mem_offset, mem_bytes;
    uint32_t mem_pitch, mem_pixel; /* bytes between rows and between pixels */
    bool flip;                     /* uint8 in memory */
    /* NULL, or the tensor by whose scale LOAD and STORE convert: float32 in memory. mem_offset, mem_pitch,
     * mem_pixel count values, mem_bytes bytes. */
    const struct ir_tensor *quantised;
    uint32_t window, whole; /* during lowering: commands name region `window` (sched_window), or
                             mem_region if 0;
                             they may access all of mem_bytes from `whole` on */
    bool on_chip;           /* on chip as a whole, from producer to last reader */
    uint32_t base, pitch;   /* scratchpad bytes; row r of h at base + r * pitch */
    uint32_t pixel;         /* bytes between pixels */
    uint32_t h, cols, row_bytes; /* rows in the accelerator's terms: H, W, W * C */
    uint32_t first, last;        /* operator positions */
    bool inside;                 /* it overwrites bytes of another tensor's place, see cascade.c */
};

/* Return the bytes in memory of one value, and the place's first byte in its region. */
static inline uint32_t sched_value_bytes(const struct sched_place *s)
{
    return s->quantised ? 4 : 1;
}
static inline uint32_t sched_memory_at(const struct sched_place *s)
{
    return s->mem_offset * sched_value_bytes(s);
}

enum { KNOB_CASCADE_AHEAD = 2 };

/* The choices for one operator on the accelerator or on a described device; 0: chosen by rule. All
 * values give the same results. sched_knob_values lists the values to try. */
struct sched_knobs {
    uint32_t tile_rows;   /* maximum output rows of a tile */
    uint32_t group_tiles; /* maximum channel tiles whose weights are fetched together */
    uint32_t streams;     /* pixel streams of ARRAY: 1 or 2 */
    uint32_t
        tail_split;    /* 1: halve the last groups, so that little remains after the last weights */
    uint32_t params;   /* 1: one command fetches the parameters of all groups, if they fit */
    uint32_t prologue; /* output rows of the first and of the last tile; 0: those of the others */
    uint32_t cascade;  /* 1: interleave with the next operator, which reads rows as they are
                             completed;
                             KNOB_CASCADE_AHEAD: rows are computed a tile before they are needed */
    /* of a described device (compiler/described) */
    uint32_t band;         /* output rows at once */
    uint32_t weight_group; /* blocks of channels whose weights are brought at once */
    uint32_t to_host;      /* 1: the result does not stay on the chip */
};

/* Operator positions [first, last], which are interleaved. */
struct sched_span {
    uint32_t first, last;
};

struct sched_options {
    bool no_overlap;                 /* for debugging: every command waits for all earlier ones */
    uint32_t mem_latency;            /* cycles to the first beat of a read, for the estimate */
    uint32_t mem_bytes;              /* bytes per cycle; 0: the AXI width */
    uint64_t knob_seed;              /* if not 0: random knobs and cuts, for tests */
    uint32_t work;                   /* factor of the search's work, for tests; 0: 1 */
    bool no_search;                  /* knobs by rule */
    uint32_t segments;               /* most submissions into which streams are cut; 0, 1: no cut */
    const struct sched_knobs *knobs; /* by operator position, used instead of a search; or NULL */
};

/* An accelerator on which the program runs. */
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
    uint32_t n_device; /* any number, by target; `hw` is that of the first */
    struct sched_device device[SCHED_MAX_DEVICES];
    uint32_t n_stream;
    struct sched_stream *stream;
    struct sched_place *place; /* by tensor id */
    struct sched_view *view;   /* by tensor id */
    bool *viewed;              /* by operator position: true for a view, which needs no command */
    const struct ir_op **look_up; /* by operator position: the LUT applied to its results */
    struct text constants;        /* region 1, in blocks aligned to 64 bytes */
    struct text constant_gaps;    /* between them: pairs of uint32_t, offset and bytes */
    uint32_t arena_bytes;         /* region 2 */
    uint32_t *scratch_bytes;      /* by operator position: arena bytes that its host kernel uses as
                              * scratch */
    uint32_t *scratch;            /* by operator position: arena offset of that scratch */
    uint32_t
        *buffer_bytes; /* by operator position: scratchpad bytes of its tiles and line buffer */
    uint32_t command_bytes;    /* region 0 */
    uint32_t spad_peak;        /* most bytes of the scratchpad in use at once */
    struct sched_knobs *knobs; /* by operator position in the graph */
    struct sched_knobs *uncut; /* likewise, of a program without cuts; NULL: `knobs` */
    struct sched_span *span;   /* by operator position: the operators interleaved with it */
    uint32_t *woven;           /* by operator position: the next one whose commands are interleaved
                                  with
                                  it; 0: none */
    bool *cut;                 /* by operator position: a submission begins with it; NULL: no cut */
    bool new_page;             /* the next constant begins at a multiple of SCHED_PAGE */
    bool dry;                  /* a trial: only the sizes of constants, without bytes and notes */
    uint32_t first, end;       /* a trial of only operators first .. end - 1, placed by
                                  the layout of all; end 0: of all operators */
    const struct sched_program *like; /* a trial: source of what does not depend on knobs
                                         (sched_prepare); or NULL */
    struct contention_memo *memo;     /* a trial: races of ARRAY with other units that earlier
                                         trials estimated (timing/contention_memo.h); or NULL */
    uint32_t constant_bytes;          /* size of the constants, also in a trial */
    uint64_t *row_estimate; /* by row: cycles as sim/rows.h attributes them; NULL in a trial */
    uint64_t *row_end;      /* by row: cycles from the end of the previous row to its own */
    uint64_t est_cycles;
    uint64_t dram_read, dram_write; /* bytes that the commands move */
    struct layout *layout;          /* layout/layout.h: tiles and line buffers */
    /* Number of parts of a program for several devices, one per device (devices.c). Otherwise 0. */
    uint32_t n_part;
    struct sched_program *part[SCHED_MAX_DEVICES];
    /* In such a part; otherwise 0 and NULL. */
    uint32_t only;                      /* 1 + the target whose operators the part runs */
    const struct sched_program *before; /* the part whose constants precede its own */
};

/* Return the alignment of streams in the commands region. */
static inline uint32_t sched_stream_align(const struct sched_program *p)
{
    return p->cut ? SCHED_PAGE : 64;
}

/* Return the number of single-device programs that `p` consists of: its parts, or 1. */
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

/* Return true if the program runs this operator. All others run on the host or another device and
 * exchange tensors with it in memory. */
static inline bool sched_owns(const struct sched_program *p, const struct ir_op *op)
{
    return !op->dead && op->region != IR_NONE && (p->only == 0 || op->target + 1 == p->only);
}

/* Return the tensor whose place `t` shares. */
static inline uint32_t sched_root(const struct sched_program *p, uint32_t t)
{
    return p->view ? p->view[t].root : t;
}

/* --- view.c --- */

/* Return true if the operator is a view in the program, or in the part of it that runs it. */
bool sched_is_view(const struct sched_program *p, const struct ir_op *op);
/* Return the bytes from the root's first byte to the tensor's, if the root's rows are `pitch`
 * apart. */
uint32_t sched_view_offset(const struct sched_program *p, uint32_t t, uint32_t pitch);
/* Set the places in memory of tensors that share bytes, from the places of their roots. */
void sched_view_memory(struct sched_program *p);

/* Return the operators interleaved with the one at `position`, itself included. */
static inline struct sched_span sched_span_of(const struct sched_program *p, uint32_t position)
{
    return p->span ? p->span[position] : (struct sched_span){position, position};
}

/* Set the spans of operators that are not interleaved: those of one external call together, all
 * others alone. */
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

/* groups.c: number the groups of layers that the program interleaves. Writes the index of each
 * row's group, or IR_NONE, into group[n_row]; returns the number of groups, numbered by their first
 * rows. */
uint32_t sched_groups(const struct sched_program *p, uint32_t *group);

/* Return the region of the variables, which follows inputs and outputs; and the bytes in it before
 * variable `id`, or of all variables for n_tensor. */
static inline uint32_t sched_state_region(const struct ir_graph *g)
{
    return HD_REGION_IO + g->n_in + g->n_out;
}
uint64_t sched_state_offset(const struct ir_graph *g, uint32_t id);

/* window.c: return the region through which commands access a position in memory that is known at
 * run time only. These regions follow that of the variables; operators with equal start indices,
 * sizes and pitches share one. 0: `op` has no such position; HD_REGIONS: no region is left. */
uint32_t sched_window(const struct ir_graph *g, const struct ir_op *op);
/* Return the first operator that uses the same window; NULL if `op` has none. */
const struct ir_op *sched_window_op(const struct ir_graph *g, const struct ir_op *op);
/* Return the operand of such an operator that holds the start indices; devices do not read it. */
uint32_t sched_window_start(const struct ir_op *op);

/* exchange.c: return the tensors that are copied to the device before submission `s`, or back after
 * it. */
struct sched_exchange {
    uint32_t n, *tensor;
};
struct sched_exchange sched_exchange(struct arena *a, const struct sched_program *p,
                                     const struct sched_stream *s, bool in);
/* Return true if the host copies the output at the end, because it is an input, a constant, or a
 * tensor listed twice. */
bool sched_output_copied(const struct sched_program *p, uint32_t output);

/* program_constants.c: append a block to the constants at a multiple of 64 bytes, or of a page, and
 * return its offset. */
uint32_t sched_constant(struct sched_program *p, const void *data, size_t n_bytes);

#endif
