/* cost.h - cycles of one command in its unit, as docs/HARDWARE.md states it.
 * Pure functions of the command; when it may start is timeline.c's. */
#ifndef HEDDLE_COMPILER_SYSTOLIC_TIMING_COST_H
#define HEDDLE_COMPILER_SYSTOLIC_TIMING_COST_H

#include "compiler/systolic/program/sched_program.h"
#include "hd_accel_tables.h"
#include "hd_timing.h"

enum {
    /* A position's reads to its sum, in addition to N. */
    COST_ARRAY_SUM = HD_TIMING_ARRAY_SUM - HD_TIMING_ARRAY_REQUEST,
    /* A VECTOR command's value to done_o. */
    COST_VECTOR_END = HD_TIMING_REQUANT - HD_TIMING_REQUANT_AHEAD,
    /* Its cycles in addition to its beats. */
    COST_VECTOR = HD_TIMING_VECTOR_START + HD_TIMING_VECTOR_VALUE + COST_VECTOR_END,
};

/* An ARRAY command by itself; commands follow one another as docs/HARDWARE.md states. */
struct array_cost {
    uint64_t steps;     /* of its tiles */
    uint64_t conflicts; /* cycles between them: its own ports want one bank */
    uint32_t last_tile; /* steps of the last tile */
    uint32_t still;     /* of them, after its last position */
    uint32_t tail;      /* after its last vector */
    uint32_t pipe;      /* cycles from the last vector to done_o */
    /* of a channel tile: weight words, its steps; of its segments in the first block: words, steps
     */
    uint32_t words, segment_words, segment_steps;
    uint64_t tile_steps;
    /* of a block but the last: its steps, and those before its last segment; the latter of the last
     * block */
    uint64_t block_steps, block_lead, last_lead;
    uint32_t tiles; /* of a channel tile */
};

struct array_cost cost_array(const struct hd_cmd_array *a, const struct hd_config *hw);

/* Cycles from taking it to done_o, both counted, in an empty unit. */
uint64_t cost_array_alone(const struct array_cost *c);

/* State that a command sets up in the cells in addition to weights: none, where taps enter, or
 * which columns take the second pixel. */
enum cost_cells { COST_PLAIN, COST_TAPS, COST_PAIRS, COST_CELLS };
enum cost_cells cost_array_cells(const struct hd_cmd_array *a);

/* Return true if b may follow a without a gap, whatever came before a. */
bool cost_array_same_setup(const struct hd_cmd_array *a, const struct hd_cmd_array *b);

/* Cycles from taking the command to done_o, both counted, with its own bank conflicts, without its
 * waits for ARRAY. */
uint64_t cost_vector(const struct hd_cmd_vector *v, const struct hd_config *hw);
/* Return true if each beat of the command reads two operands, or two cells. */
static inline bool cost_reads_two(const struct hd_cmd_vector *v)
{
    return hd_vop_facts[v->op].reads == 2;
}
/* Number of passes over its operands. */
static inline uint32_t cost_passes(const struct hd_cmd_vector *v)
{
    return hd_vop_facts[v->op].passes;
}
/* Beats of a VECTOR command: operands read, in all passes. */
uint64_t cost_beats(const struct hd_cmd_vector *v, const struct hd_config *hw);

/* Cycles of a WEIGHT command that reads the scratchpad, from taking it to its done_o, both counted
 * (hd_weight_spad), if no request waits. */
uint64_t cost_weight_spad(const struct hd_cmd_dma_read *m, const struct hd_config *hw);
/* The words that it reads. */
uint64_t cost_weight_words(const struct hd_cmd_dma_read *m, const struct hd_config *hw);
/* A transfer: words of scratchpad or weight memory, one a cycle. */
uint64_t cost_words(uint32_t rows, uint32_t row_bytes, const struct hd_config *hw);

#endif
