/* contention.h - how far STORE or VECTOR gets while ARRAY works: ARRAY's reads go first, then
 * VECTOR's, a bank that they take gives nothing else in that cycle, and while ARRAY's results leave
 * VECTOR's wait. Cycle by cycle as hd_spad, hd_vector and hd_requant do it; of long stretches some
 * windows, and as much progress between them. WEIGHT of the scratchpad reads as STORE does. While
 * ARRAY rests, STORE waits for VECTOR. It waits long where VECTOR reads a bank in several cycles
 * (rows narrower than a word, one value a row): both then go from bank to bank together. */
#ifndef HEDDLE_COMPILER_SYSTOLIC_TIMING_CONTENTION_H
#define HEDDLE_COMPILER_SYSTOLIC_TIMING_CONTENTION_H

#include "banks.h"
#include "vector_beats.h"

/* ARRAY reads from cycle `from` on, for `cycles` cycles, conflicts included. Results of the command
 * before may leave in the first of them: it reads in its last step in cycle before_end - 1. */
struct contention_array {
    const struct hd_cmd_array *command;
    uint64_t from, cycles;
    const struct hd_cmd_array *before; /* NULL: none */
    uint64_t before_end, before_steps; /* steps: conflicts left out */
};

/* The known use of the banks, cycle by cycle: a bit for each bank that ARRAY reads, or VECTOR up
 * to the cycle simulated so far. */
#define CONTENTION_TRACE  4096u
#define CONTENTION_DELAYS 64u /* at least N + COST_ARRAY_SUM */

struct contention_trace {
    bool rough;        /* of a trial: a long stretch is looked at through windows sooner */
    uint64_t from, to; /* cycles known */
    bool stale;        /* what follows is to be looked at anew */
    struct banks_steps steps;
    struct banks_step step;
    uint32_t extra; /* cycles that `step` still takes */
    uint32_t delay, at;
    bool result[CONTENTION_DELAYS]; /* of the last `delay` steps, a ring */
    uint64_t busy[CONTENTION_TRACE];
};

/* STORE, WEIGHT of the scratchpad: words still to be read. */
struct contention_words {
    uint64_t at;          /* bytes: row 0, of this column tile */
    uint32_t pitch, rows; /* bytes; rows */
    uint32_t bytes;       /* of a row in this column tile, */
    uint32_t after;       /* in those after it; STORE has one tile */
    uint32_t row, in_row; /* words of this row still to be read, */
    uint32_t bank;        /* the next one's bank */
    uint64_t left;
    uint32_t pace, credit; /* words that may be read a cycle, since beats limit the pace; in
                            * 65536ths */
};

/* Where a command's reads are, as of cycle `upto`. */
struct contention_race {
    bool known, vector;
    uint64_t upto;
    struct contention_words words;
    struct vector_beats beats;
};

/* A STORE, WEIGHT or VECTOR command under way: `left` cycles from cycle `since` on if nothing
 * hinders it. `cost`: all its cycles; left 0: it has ended at `since`. */
struct contention_work {
    const struct sched_command *command;
    uint64_t since;
    double left, cost;
    struct contention_race race; /* contention.c's; a new command starts with zeros */
};

/* ARRAY begins another command, which reads from cycle `from` on. */
void contention_turn(struct contention_trace *t, uint64_t from);

/* The work up to cycle `until` or the end of its stretch in parallel with `a`, or to its own end.
 * VECTOR goes before STORE. */
void contention_run(struct contention_trace *t, struct contention_work *w,
                    const struct contention_array *a, uint64_t until, const struct hd_config *hw);

/* STORE up to cycle `until` or to its end while ARRAY rests. */
void contention_rest(struct contention_work *store, const struct contention_work *vector,
                     uint64_t until, bool rough, const struct hd_config *hw);

#endif
