/* write_back.h - the banks that results of ARRAY and VECTOR write, by cycle: LOAD's words wait for
 * them (hd_spad). ARRAY's results are written in the order of its steps, with conflicts spread
 * evenly; VECTOR's at an even rate up to its end. */
#ifndef HEDDLE_COMPILER_SYSTOLIC_TIMING_WRITE_BACK_H
#define HEDDLE_COMPILER_SYSTOLIC_TIMING_WRITE_BACK_H

#include "cost.h"

/* Consecutive results of one unit: of steps [begin, end) of its command, every `every`th has a
 * result, of `all` from `begin` on, `pitch` bytes apart. `n`: bytes of each; 0: none. */
struct write_back_run {
    uint64_t begin, end;
    int64_t at;
    uint32_t pitch, every, all, n;
};

/* Its results are written in cycles [from, from + cycles), in `steps` steps. */
struct write_back_part {
    const union sched_words *words; /* NULL: none */
    uint64_t from, cycles, steps;
    struct array_cost cost;
    struct write_back_run run;
};

#define RESULTS_PARTS 4u /* maximum of ARRAY commands with unwritten results */

struct write_back {
    const struct hd_config *hw;
    struct write_back_part array[RESULTS_PARTS]; /* oldest first */
    uint32_t n;
    struct write_back_part vector;
};

/* Record that ARRAY reads for the command from cycle `from` on. */
void write_back_array(struct write_back *r, const struct sched_command *c,
                      const struct array_cost *cost, uint64_t from);
/* Record that VECTOR works on the command from when it was taken until cycle `done`. */
void write_back_vector(struct write_back *r, const struct sched_command *c, uint64_t done);

/* Return the first cycle from `cycle` on, at most `limit`, in which a result may be written. `cycle`
 * never decreases between calls. */
uint64_t write_back_next(struct write_back *r, uint64_t cycle, uint64_t limit);

/* Return true if a result in that cycle uses `bank`. */
bool write_back_take(struct write_back *r, uint64_t cycle, uint32_t bank);

#endif
