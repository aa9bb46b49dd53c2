/* banks.h - bank contention of ARRAY's reads in the scratchpad (hd_spad): two ports that need
 * different words of one bank take two cycles. ARRAY's own conflicts are computed from some of a
 * command's positions, since reads repeat from row to row. For units in parallel with it they are
 * computed step by step. */
#ifndef HEDDLE_COMPILER_SYSTOLIC_TIMING_BANKS_H
#define HEDDLE_COMPILER_SYSTOLIC_TIMING_BANKS_H

#include "compiler/systolic/program/sched_program.h"
#include "driver/hd_walk.h"

/* Return the cycles for which the command's pipeline stalls. */
uint64_t banks_conflicts(const struct hd_cmd_array *a, const struct hd_config *hw);

/* An output of a VECTOR command, and a cell of its window. */
struct banks_cell {
    uint32_t y, x, ky, kx;
};
/* Set the scratchpad addresses of the first chunk there: of A, and of what the other port reads. */
void banks_beat(const struct hd_cmd_vector *v, const struct banks_cell *of, int64_t at[2]);
/* Return the beats, of `all`, of a command with two operands in which both need one bank and so
 * take two cycles. */
uint64_t banks_vector_conflicts(const struct hd_cmd_vector *v, uint64_t all,
                                const struct hd_config *hw);

/* ARRAY's steps in the order of its loops: channel tile, block, K tile, row, scan position. A K
 * tile may have more steps than positions. */
struct banks_port {
    int64_t row, at; /* address of the row's first byte; address of lane 0 at scan position 0 */
    uint32_t lo, hi; /* lanes wanted */
};

struct banks_step {
    uint32_t busy;  /* banks read, one bit each */
    uint32_t extra; /* cycles in addition to the first */
    bool result;    /* true if it produces a vector of results, which leaves after passing through
                     * the array */
};

struct banks_steps {
    const struct hd_cmd_array *a;
    const struct hd_config *hw;
    struct hd_walk walk;
    struct hd_segment s;
    uint32_t tile, block, y, j;   /* position of the next step */
    uint32_t rows, step, n_steps; /* of the segment */
    uint32_t n_port;
    struct banks_port port[2 * HD_WALK_PORTS];
    bool
        rotates; /* positions of the row read the banks of `middle`, rotated by rotation + j * rotation_step */
    uint32_t rotation, rotation_step;
    struct banks_step middle;
    bool ended;
};

/* Start the steps of `a`; `a` and `hw` must outlive *t. */
void banks_steps_start(struct banks_steps *t, const struct hd_cmd_array *a,
                       const struct hd_config *hw);
void banks_steps_skip(struct banks_steps *t, uint64_t n);
/* Compute the next step. Return false after the last one; *out is then a step without reads. */
bool banks_steps_next(struct banks_steps *t, struct banks_step *out);

/* Return the banks of n <= N bytes at `at`, one bit each. */
uint32_t banks_of(const struct hd_config *hw, int64_t at, uint32_t n);

#endif
