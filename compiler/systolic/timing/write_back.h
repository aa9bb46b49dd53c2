/* write_back.h - which banks results of ARRAY and VECTOR take, cycle by cycle: LOAD's words wait
 * for them (hd_spad). ARRAY's are written in the order of its steps, conflicts
 * spread evenly; VECTOR's at an even pace up to its end. */
#ifndef HEDDLE_COMPILER_SYSTOLIC_TIMING_WRITE_BACK_H
#define HEDDLE_COMPILER_SYSTOLIC_TIMING_WRITE_BACK_H

#include "cost.h"

/* Results of one unit one after the other: steps [begin, end) of its command, every `every`th of
 * `all` from `begin` on has one, `pitch` bytes apart; `n`: bytes of each, 0: none. */
struct write_back_run {
    uint64_t begin, end;
    int64_t at;
    uint32_t pitch, every, all, n;
};

/* Its results land in cycles [from, from + cycles), in `steps` steps. */
struct write_back_part {
    const union sched_words *words; /* NULL: none */
    uint64_t from, cycles, steps;
    struct array_cost cost;
    struct write_back_run run;
};

#define RESULTS_PARTS 4u /* ARRAY commands whose results may be on their way */

struct write_back {
    const struct hd_config *hw;
    struct write_back_part array[RESULTS_PARTS]; /* from the oldest on */
    uint32_t n;
    struct write_back_part vector;
};

/* ARRAY reads for the command from cycle `from` on. */
void write_back_array(struct write_back *r, const struct sched_command *c,
                      const struct array_cost *cost, uint64_t from);
/* VECTOR has been at the command since it was taken, and is done at cycle `done`. */
void write_back_vector(struct write_back *r, const struct sched_command *c, uint64_t done);

/* Return the first cycle from `cycle` on, at most `limit`, in which a result may be written. `cycle`
 * never decreases between calls. */
uint64_t write_back_next(struct write_back *r, uint64_t cycle, uint64_t limit);

/* Return true if a result in that cycle takes `bank`. */
bool write_back_take(struct write_back *r, uint64_t cycle, uint32_t bank);

#endif
