/* banks.h - what ARRAY's reads do to the scratchpad's banks (hd_spad): two ports that want
 * different words of one bank take two cycles. Its own conflicts are found by looking at some of a
 * command's positions: reads repeat from row to row. For others in parallel with it, step by
 * step. */
#ifndef HEDDLE_COMPILER_SYSTOLIC_TIMING_BANKS_H
#define HEDDLE_COMPILER_SYSTOLIC_TIMING_BANKS_H

#include "compiler/systolic/program/sched_program.h"
#include "driver/hd_walk.h"

/* Cycles that the command's pipe is frozen. */
uint64_t banks_conflicts(const struct hd_cmd_array *a, const struct hd_config *hw);

/* Beats, of `all`, of a command with two operands that want one bank: they take two cycles. */
uint64_t banks_vector_conflicts(const struct hd_cmd_vector *v, uint64_t all,
                                const struct hd_config *hw);

/* ARRAY's steps in the order of its loops: channel tile, block, segment, row, scan position. A
 * segment may have more steps than positions. */
struct banks_port {
    int64_t row, at; /* address of the row's first byte; position of lane 0 at scan position 0 */
    uint32_t lo, hi; /* lanes wanted */
};

struct banks_step {
    uint32_t busy;  /* banks read, a bit each */
    uint32_t extra; /* cycles that it takes in addition to the first */
    bool result;    /* makes a vector of results, which leaves once it is through the array */
};

struct banks_steps {
    const struct hd_cmd_array *a;
    const struct hd_config *hw;
    struct hd_walk walk;
    struct hd_segment s;
    uint32_t tile, block, y, j;   /* where the next step is */
    uint32_t rows, step, n_steps; /* of the segment */
    uint32_t n_port;
    struct banks_port port[2 * HD_WALK_PORTS];
    bool turns; /* positions of the row read as `middle`, (turned + j turn) banks further on */
    uint32_t turned, turn;
    struct banks_step middle;
    bool ended;
};

/* `a` and `hw` must outlive *t. */
void banks_steps_start(struct banks_steps *t, const struct hd_cmd_array *a,
                       const struct hd_config *hw);
void banks_steps_skip(struct banks_steps *t, uint64_t n);
/* Compute the next step. False after the last one; *out is then a step without reads. */
bool banks_steps_next(struct banks_steps *t, struct banks_step *out);

/* Banks of n <= N bytes at `at`, a bit each. */
uint32_t banks_of(const struct hd_config *hw, int64_t at, uint32_t n);

#endif
