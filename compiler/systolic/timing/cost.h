/* cost.h - cycles of one command in its unit, as docs/HARDWARE.md states it. Pure functions of the
 * command; timeline.c decides when it may start. */
#ifndef HEDDLE_COMPILER_SYSTOLIC_TIMING_COST_H
#define HEDDLE_COMPILER_SYSTOLIC_TIMING_COST_H

#include "compiler/systolic/program/sched_program.h"
#include "hd_accel_tables.h"
#include "hd_timing.h"

enum {
    /* Cycles from a position's reads to its sum, in addition to N. */
    COST_ARRAY_SUM = HD_TIMING_ARRAY_SUM - HD_TIMING_ARRAY_REQUEST,
    /* Cycles from a VECTOR command's last value to done_o. */
    COST_VECTOR_END = HD_TIMING_REQUANT - HD_TIMING_REQUANT_AHEAD,
    /* Cycles of a VECTOR command in addition to its beats. */
    COST_VECTOR = HD_TIMING_VECTOR_START + HD_TIMING_VECTOR_VALUE + COST_VECTOR_END,
};

/* Cost of an ARRAY command alone; docs/HARDWARE.md states how commands follow one another. */
struct array_cost {
    uint64_t steps;     /* of its tiles */
    uint64_t conflicts; /* stall cycles because its own ports need one bank */
    uint32_t last_tile; /* steps of the last tile */
    uint32_t still;     /* those of them after its last position */
    uint32_t tail;      /* steps after its last vector */
    uint32_t pipe;      /* cycles from the last vector to done_o */
    /* of a channel tile: weight words, steps; of a K tile in the first block: words, steps */
    uint32_t words, segment_words, segment_steps;
    uint64_t tile_steps;
    /* of a block but the last: its steps, and those before its last K tile; the latter for the last
     * block */
    uint64_t block_steps, block_lead, last_lead;
    uint32_t tiles; /* number of channel tiles */
};

struct array_cost cost_array(const struct hd_cmd_array *a, const struct hd_config *hw);

/* Return the cycles from taking the command to done_o, both included, in an idle unit. */
uint64_t cost_array_alone(const struct array_cost *c);

/* State that a command sets up in the cells in addition to weights: none, where taps enter, or
 * which columns read the second pixel. */
enum cost_cells { COST_PLAIN, COST_TAPS, COST_PAIRS, COST_CELLS };
enum cost_cells cost_array_cells(const struct hd_cmd_array *a);

/* Return true if b may follow a without a gap, whatever preceded a. */
bool cost_array_same_setup(const struct hd_cmd_array *a, const struct hd_cmd_array *b);

/* Return the cycles from taking the command to done_o, both included, with its own bank conflicts
 * but without waits for ARRAY. */
uint64_t cost_vector(const struct hd_cmd_vector *v, const struct hd_config *hw);
/* Return true if each beat of the command reads two operands, or two cells. */
static inline bool cost_reads_two(const struct hd_cmd_vector *v)
{
    return hd_vop_facts[v->op].reads == 2;
}
/* Return the number of passes over its operands. */
static inline uint32_t cost_passes(const struct hd_cmd_vector *v)
{
    return hd_vop_facts[v->op].passes;
}
/* Return the beats of a VECTOR command: operands read in all passes. */
uint64_t cost_beats(const struct hd_cmd_vector *v, const struct hd_config *hw);

/* Return the cycles of a WEIGHT command that reads the scratchpad, from taking it to done_o, both
 * included (hd_weight_spad), if no request waits. */
uint64_t cost_weight_spad(const struct hd_cmd_dma_read *m, const struct hd_config *hw);
/* Return the number of words that it reads. */
uint64_t cost_weight_words(const struct hd_cmd_dma_read *m, const struct hd_config *hw);
/* Return the words of scratchpad or weight memory that a transfer moves, one per cycle. */
uint64_t cost_words(uint32_t rows, uint32_t row_bytes, const struct hd_config *hw);

#endif
