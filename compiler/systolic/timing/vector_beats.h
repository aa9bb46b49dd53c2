/* vector_beats.h - VECTOR cycle by cycle: the banks that its beats read, and their waits. Beats
 * follow the order of hd_vector_walk. Each port has a queue of three operands, preceded by the
 * arrived one (word) and the requested one (fly); five stages follow. Softmax reads all rows in
 * each of three passes. Between two passes the pipeline empties, and a row's sum waits in the last
 * stage until hd_softmax_scale accepts it. A cell of an LSTM waits there for hd_lstm. */
#ifndef HEDDLE_COMPILER_SYSTOLIC_TIMING_VECTOR_BEATS_H
#define HEDDLE_COMPILER_SYSTOLIC_TIMING_VECTOR_BEATS_H

#include "compiler/systolic/program/sched_program.h"

#define VECTOR_BEATS_LANES                                                                         \
    (UINT64_C(1) << 63)        /* flag in `busy`: a result of ARRAY enters
                                                 * hd_requant */
#define VECTOR_BEATS_STAGES 5u /* cycles from taking an operand to its value */

enum vector_beats_value {
    VECTOR_BEATS_NONE,
    VECTOR_BEATS_WRITTEN,
    VECTOR_BEATS_SUM,
    VECTOR_BEATS_CELL
};

struct vector_beats {
    const struct hd_cmd_vector *v;
    uint32_t y, x, chunk, ky, kx; /* the next beat */
    uint32_t chunks, ky_n, kx_n, ky_0, kx_0;
    uint64_t left;    /* to be read */
    uint64_t a_pass;  /* beats of a pass; only the last pass writes results */
    uint64_t pending; /* beats read whose value has not left */
    double lead, cycles_a_beat;
    bool passes;     /* its values may wait in hd_requant's queue, */
    uint32_t queued; /* number of values in that queue */
    bool two;
    struct vector_beats_pipe {
        bool got[2], fly[2], word[2], stage[VECTOR_BEATS_STAGES];
        uint8_t held[2];
    } pipe;
    enum vector_beats_value value[VECTOR_BEATS_STAGES]; /* value that the stage's beat completes */
    enum vector_beats_value read[4];                    /* values of the beats read, oldest first */
    uint32_t n_read, n_popped;
    /* Softmax, LSTM */
    bool between;   /* one pass has been read and the next has not begun */
    uint64_t cycle; /* cycles since the start of the command */
    uint64_t
        scale_until[2]; /* cycles from which the scales accept sums of even and of odd cycles; */
    /* those of LSTM: [0], a cell */
    uint64_t near; /* cycle from which the scales are complete in time for the next pass, or the
                    * last cell's output leaves */
};

/* Start the command with `left` cycles to go without contention, of `cost` in total
 * (cost_vector). */
struct vector_beats vector_beats_start(const struct hd_cmd_vector *v, double left, double cost,
                                       const struct hd_config *hw);

/* Run a cycle in which others read the banks *busy; add the banks that it reads. */
void vector_beats_cycle(struct vector_beats *b, uint64_t *busy, const struct hd_config *hw);

/* Return true if all beats are read and all values have left. */
static inline bool vector_beats_ended(const struct vector_beats *b)
{
    return b->left + b->pending == 0 && b->cycle >= b->near;
}

/* Return the cycles to done_o without contention. */
double vector_beats_left(const struct vector_beats *b, const struct hd_config *hw);

#endif
