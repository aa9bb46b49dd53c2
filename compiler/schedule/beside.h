/* beside.h - how far STORE or VECTOR gets while ARRAY works: ARRAY's reads go first, a bank that
 * they take gives nothing else in that cycle, and while its results leave VECTOR's wait.
 * Cycle by cycle as hd_spad, hd_vector and hd_requant do it; of long stretches some windows, and
 * as much progress between them. Left out: VECTOR's reads before STORE's. */
#ifndef HEDDLE_SCHED_BESIDE_H
#define HEDDLE_SCHED_BESIDE_H

#include "sched.h"

/* ARRAY reads from cycle `from` on, for `cycles` cycles, conflicts included. */
struct beside_array {
    const struct hd_cmd_array *command;
    uint64_t from, cycles;
};

/* A STORE or VECTOR command under way: `left` cycles from cycle `since` on if nothing hinders it.
 * `cost`: all its cycles; left 0: it has ended at `since`. */
struct beside_work {
    const struct sched_command *command;
    uint64_t since;
    double left, cost;
};

/* Cycle by which the results of the array's last reads have left. */
uint64_t beside_until(const struct beside_array *a, const struct hd_config *hw);

/* The work up to the end of its stretch beside `a`, or to its own end. */
void beside_run(struct beside_work *w, const struct beside_array *a, const struct hd_config *hw);

#endif
