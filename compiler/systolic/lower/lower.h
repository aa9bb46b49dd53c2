/* lower.h - write commands from operator plans. One file per kind of operator; all add commands
 * through this interface. */
#ifndef HEDDLE_COMPILER_SYSTOLIC_LOWER_LOWER_H
#define HEDDLE_COMPILER_SYSTOLIC_LOWER_LOWER_H

#include "compiler/systolic/layout/layout.h"

/* A memory that is filled circularly; the hazard tracker keeps a block alive while it is read. */
struct lower_ring {
    uint32_t head, size;
};

/* Channels [first, first + n) of an operator's result; n is 0 before the first. */
struct lower_slice {
    uint32_t group, first, n;
};

/* The tables applied to an operator's results; n is 0 if there are none. */
struct lower_table {
    uint32_t n, number, first; /* number of tables; running number of the first, and its slot in the
                                * lanes */
    uint32_t channel;          /* the operator's channel at which it begins */
    bool by_channel;           /* one table per column tile */
};

struct lower {
    struct arena *arena;
    struct sched_program *program;
    const struct ir_graph *graph;
    const struct hd_config *hw;
    struct sched_stream *stream;
    struct lower_ring words, entries; /* weight memory, parameter memory */
    uint32_t tables; /* table slots used so far; the n-th table is in slot n modulo their number */
    struct lower_table *table;          /* by position */
    const struct ir_tensor *thresholds; /* the tensor by whose scale LOAD quantises, or NULL */
    const struct ir_tensor *floats;     /* that by whose scale STORE dequantises, or NULL */
    const struct layout *layout;
    uint8_t *packed; /* the last weights packed; room for n_packed bytes */
    size_t n_packed;
    uint32_t group;   /* position of the first of the operators that are lowered together */
    bool in_cascade;  /* several operators share weight memory, and all their weights stay */
    uint32_t *loaded; /* by tensor: rows of a resident tensor loaded from memory */
    uint32_t *made;   /* by tensor: rows of a cascade's tensor computed so far */
    struct diag *d;
};

/* Add a command at the end of the stream, without waits. `units`: its length in 16 bytes. The
 * pointer is valid until the next call. */
struct sched_command *lower_add(struct lower *l, uint32_t unit, uint32_t opcode, uint32_t units,
                                uint32_t row);
void lower_access(struct sched_command *c, enum sched_memory memory, bool write, uint64_t begin,
                  uint64_t n);
/* Restrict the last added access to `bytes` of every `pitch` bytes, from byte `first` on. */
void lower_access_slice(struct sched_command *c, uint32_t first, uint32_t bytes, uint32_t pitch);

/* Take `n` consecutive units of a circular memory and return the first. n <= size. */
uint32_t lower_take(struct lower_ring *r, uint32_t n);

/* Make the next `n` units contiguous, wrapping if necessary. */
void lower_reserve(struct lower_ring *r, uint32_t n);

/* Add a DMA read of one run of constants into `rows` rows of weight, parameter or table memory. */
void lower_fetch(struct lower *l, uint32_t row, uint32_t space, uint32_t offset, uint32_t rows,
                 uint32_t row_bytes, uint32_t dest, const char *note);

/* Load the operator's tables into the requantisation lanes unless they are there, and record that
 * *c looks up in them. */
struct lower_table lower_have_table(struct lower *l, const struct op_plan *p);
void lower_access_table(struct sched_command *c, const struct lower_table *t);

/* Load the thresholds of a float32 input, whose scale and zero point `t` has, unless they are
 * there. */
void lower_thresholds(struct lower *l, uint32_t row, const struct ir_tensor *t);
/* Load the floats of an output's bytes, unless they are there. */
void lower_floats(struct lower *l, uint32_t row, const struct ir_tensor *t);

/* Ensure that rows [lo, hi) of operand `i` of tile `tile` are on chip (LOAD if needed); *base is
 * the address that row 0 of the image would have. */
void lower_operand(struct lower *l, const struct op_plan *p, uint32_t i, uint32_t tile, uint32_t lo,
                   uint32_t hi, int32_t *base);
/* Return the address of output row `y` of the tile. After the commands of the tile, STORE the
 * result if it is also in memory. */
int32_t lower_result(const struct lower *l, const struct op_plan *p, uint32_t tile, uint32_t y);
void lower_store(struct lower *l, const struct op_plan *p, uint32_t tile, uint32_t y,
                 uint32_t rows);

/* lower_copy.c: n rows of n_bytes, `pitch` bytes apart, between addresses of the scratchpad. */
struct lower_rows {
    int32_t from, to;
    uint32_t n, n_bytes, pitch;
};
void lower_copy_rows(struct lower *l, uint32_t row, const struct lower_rows *r, const char *note);

/* Return true if rows [y, y + rows) end a result in memory and lower_store_part can store them
 * instead. It stores channels [first, first + n) once they are made, so that few bytes follow the
 * last group's. */
bool lower_stores_parts(const struct lower *l, const struct op_plan *p, uint32_t y, uint32_t rows);
void lower_store_part(struct lower *l, const struct op_plan *p, uint32_t tile, uint32_t y,
                      uint32_t rows, uint32_t first, uint32_t n);

/* Load (store) n_bytes of a tensor's memory, such as a variable's, to (from) scratchpad address
 * `at`, a word's. */
void lower_load_bytes(struct lower *l, uint32_t row, uint32_t tensor, uint32_t n_bytes,
                      uint32_t at);
void lower_store_bytes(struct lower *l, uint32_t row, uint32_t tensor, uint32_t n_bytes,
                       uint32_t at);
/* Load n_bytes of a new constant to scratchpad address `at`, a word's. */
void lower_load_constant(struct lower *l, uint32_t row, const void *bytes, uint32_t n_bytes,
                         uint32_t at);

/* Add a copy between memory and scratchpad without a buffer (op_plan.direct). */
void lower_direct(struct lower *l, const struct op_plan *p);

/* Record the scratchpad ranges that rows [lo, hi) of an operand or result of the tile cover. */
void lower_access_in(struct lower *l, struct sched_command *c, const struct op_plan *p, uint32_t i,
                     int32_t base, uint32_t lo, uint32_t hi);
void lower_access_out(struct lower *l, struct sched_command *c, const struct op_plan *p,
                      uint32_t tile, uint32_t y, uint32_t rows);

/* Return strip i of an operator as a separate operator. */
struct op_plan lower_strip(const struct op_plan *p, uint32_t i);

enum status lower_array(struct lower *l, const struct op_plan *p);
enum status lower_vector(struct lower *l, const struct op_plan *p);

/* The same tile by tile, of any sizes from row 0 on; weights stay in weight memory. */
struct nest;
struct nest *lower_array_begin(struct lower *l, const struct op_plan *p);
void lower_array_tile(struct nest *n, uint32_t tile, uint32_t y, uint32_t rows);
void lower_vector_begin(struct lower *l, const struct op_plan *p);
void lower_vector_tile(struct lower *l, const struct op_plan *p, uint32_t tile, uint32_t y,
                       uint32_t rows);
/* Lower strip i of it. */
void lower_vector_strip(struct lower *l, const struct op_plan *p, uint32_t i);
/* lower_softmax.c */
void lower_softmax_begin(struct lower *l, const struct op_plan *p);
void lower_softmax_tile(struct lower *l, const struct op_plan *p, uint32_t tile, uint32_t y,
                        uint32_t rows);
/* lower_lstm.c: the time steps [y, y + rows) of an LSTM. */
void lower_lstm_tile(struct lower *l, const struct op_plan *p, uint32_t tile, uint32_t y,
                     uint32_t rows);
/* lower_copy.c: lower a strip of an operator that only moves bytes. */
void lower_copy_tile(struct lower *l, const struct op_plan *p, uint32_t tile, uint32_t y,
                     uint32_t rows);

/* Emit the next group of channels, for all rows; false after the last one. */
bool lower_array_slice(struct nest *n, struct lower_slice *s);
/* Emit the same channels of a VECTOR operator with operands on chip. */
void lower_vector_slice(struct lower *l, const struct op_plan *p, const struct lower_slice *s);

/* cascade.c: lower operators plan[0 .. n - 1] interleaved by channels. */
enum status lower_slices(struct lower *l, const struct op_plan *plan, uint32_t n);

/* cascade.c: lower operators plan[0 .. n - 1] interleaved by rows. */
enum status lower_cascade(struct lower *l, const struct op_plan *plan, uint32_t n);

/* lower.c: lower all operators of one device. */
enum status lower_run(struct sched_program *p, struct diag *d);
/* lower_check.c: ST_INTERNAL: the message names a command that accesses bytes outside a memory or
 * has a count of 0, or a stream whose size is wrong. */
enum status lower_check(const struct sched_program *p, struct diag *d);

/* written.c: check the whole program in execution order. ST_INTERNAL: the message names a byte that
 * a command, a host call or the caller reads before any write, or a table that no command uses. */
enum status lower_written(const struct sched_program *p, struct diag *d);

/* Return the purpose of a command, such as "rows 0-7"; NULL in a trial. */
const char *lower_note(const struct lower *l, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* hazard.c: move a LOAD of float32 into the buffer of a tile, which takes four times as long as one
 * of bytes, forward by as many ARRAY commands as its queue holds: FETCH does not come to a LOAD
 * after a full queue. blazeface at sys16: 190,706 to 184,710 cycles. */
void sched_early_loads(struct sched_stream *s);
/* hazard.c: set the waits of all commands of a stream from their accesses. */
void sched_waits(struct arena *a, struct sched_stream *s, const struct sched_options *o,
                 const struct hd_config *hw);

/* lead.c: find the tiles of ARRAY command `c` that may begin while the last results of `before`,
 * the ARRAY command just before it whose results it reads, are incomplete. *tiles 0: all may.
 * Returns false if none may. */
bool lead_tiles(const struct hd_cmd_array *before, const struct hd_cmd_array *c,
                const struct hd_config *hw, uint32_t *tiles);
/* Set the waits of all streams of one device. */
enum status lower_waits(struct sched_program *p, struct diag *d);

#endif
