/* vector_beats.h - VECTOR cycle by cycle: the banks that its beats read, and their waits. Beats
 * come in the order of hd_vector_walk. Each port has a queue of three operands, before it what has
 * come (word) and what comes (fly); five stages follow. Softmax reads all rows in each of three
 * passes: between two of them the pipe empties, and a row's sum waits in the last stage until
 * hd_softmax_scale takes it. */
#ifndef HEDDLE_COMPILER_SYSTOLIC_TIMING_VECTOR_BEATS_H
#define HEDDLE_COMPILER_SYSTOLIC_TIMING_VECTOR_BEATS_H

#include "compiler/systolic/program/sched_program.h"

#define VECTOR_BEATS_LANES  (UINT64_C(1) << 63) /* in `busy`: a result of ARRAY enters hd_requant */
#define VECTOR_BEATS_STAGES 5u                  /* from an operand taken to its value */

enum vector_beats_value { VECTOR_BEATS_NONE, VECTOR_BEATS_WRITTEN, VECTOR_BEATS_SUM };

struct vector_beats {
    const struct hd_cmd_vector *v;
    uint32_t y, x, chunk, ky, kx; /* the next beat */
    uint32_t chunks, ky_n, kx_n, ky_0, kx_0;
    uint64_t left;    /* to be read */
    uint64_t a_pass;  /* beats of a pass; those of the last one are written */
    uint64_t pending; /* read, but their value has not left */
    double lead, cycles_a_beat;
    bool passes;     /* its values may wait in hd_requant's queue, */
    uint32_t queued; /* the number that does */
    bool two;
    struct vector_beats_pipe {
        bool got[2], fly[2], word[2], stage[VECTOR_BEATS_STAGES];
        uint8_t held[2];
    } pipe;
    enum vector_beats_value value[VECTOR_BEATS_STAGES]; /* that the stage's beat completes */
    enum vector_beats_value read[4];                    /* of beats read, from the oldest on */
    uint32_t n_read, n_popped;
    /* Softmax */
    bool between;            /* a pass has been read, the next one has not begun */
    uint64_t cycle;          /* counted from the start of the command */
    uint64_t scale_until[2]; /* scales take sums of even, of odd cycles, from then on; */
    uint64_t near;           /* the scales are complete in time for the next pass, from then on */
};

/* The command with `left` cycles to go if nothing hinders it, of `cost` (cost_vector). */
struct vector_beats vector_beats_start(const struct hd_cmd_vector *v, double left, double cost,
                                       const struct hd_config *hw);

/* A cycle in which others read the banks *busy; adds those that it reads. */
void vector_beats_cycle(struct vector_beats *b, uint64_t *busy, const struct hd_config *hw);

/* Return true if all beats are read and all values have left. */
static inline bool vector_beats_ended(const struct vector_beats *b)
{
    return b->left + b->pending == 0;
}

/* Cycles to done_o if nothing hinders it. */
double vector_beats_left(const struct vector_beats *b, const struct hd_config *hw);

#endif
