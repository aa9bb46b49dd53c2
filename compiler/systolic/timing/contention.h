/* contention.h - progress of STORE or VECTOR while ARRAY works. ARRAY's reads have priority, then
 * VECTOR's; a bank that they use serves no other read in that cycle, and while ARRAY's results
 * leave, VECTOR's wait. Simulated cycle by cycle as hd_spad, hd_vector and hd_requant do; of long
 * stretches only some windows are simulated, with the same rate of progress between them. WEIGHT
 * from the scratchpad reads as STORE does. While ARRAY rests, STORE waits for VECTOR. It waits long
 * if VECTOR reads a bank in several cycles (rows narrower than a word, one value per row): both
 * then advance from bank to bank together. */
#ifndef HEDDLE_COMPILER_SYSTOLIC_TIMING_CONTENTION_H
#define HEDDLE_COMPILER_SYSTOLIC_TIMING_CONTENTION_H

#include "banks.h"
#include "vector_beats.h"

/* ARRAY reads from cycle `from` on, for `cycles` cycles, conflicts included. Results of the
 * previous command may leave in the first of them; the last step of that command is in cycle
 * before_end - 1. */
struct contention_array {
    const struct hd_cmd_array *command;
    uint64_t from, cycles;
    const struct hd_cmd_array *before; /* NULL: none */
    uint64_t before_end, before_steps; /* steps: without conflicts */
};

/* The known use of the banks by cycle: one bit per bank that ARRAY reads, or that VECTOR reads up
 * to the cycle simulated so far. */
#define CONTENTION_TRACE  4096u
#define CONTENTION_DELAYS 64u /* at least N + COST_ARRAY_SUM */

/* ARRAY's reads, cycle by cycle. */
struct contention_reads {
    uint64_t key;    /* hash of what they began with, */
    uint64_t cycles; /* and their number since then: both determine what follows */
    struct banks_steps steps;
    struct banks_step step;
    uint32_t extra; /* remaining cycles of `step` */
    uint32_t delay, at;
    bool result[CONTENTION_DELAYS]; /* of the last `delay` steps, a circular buffer */
};

struct contention_memo;

struct contention_trace {
    bool rough;                   /* for a trial: a long stretch is sampled by windows sooner */
    struct contention_memo *memo; /* races simulated before, or NULL */
    uint64_t from, to;            /* cycles known */
    bool stale;                   /* the following stretch must be computed again */
    struct contention_reads reads;
    uint64_t busy[CONTENTION_TRACE];
};

/* STORE, or WEIGHT from the scratchpad: words left to read. */
struct contention_words {
    uint64_t at;          /* byte address of row 0 of this column tile */
    uint32_t pitch, rows; /* bytes; rows */
    uint32_t bytes;       /* bytes of a row in this column tile, */
    uint32_t after;       /* and in the later ones; STORE has one column tile */
    uint32_t row, in_row; /* row, and words left to read in it, */
    uint32_t bank;        /* bank of the next word */
    uint64_t left;
    uint32_t pace,
        credit; /* words that may be read per cycle, which the beats limit; in 65536ths */
};

/* Position of a command's reads at cycle `upto`. */
struct contention_race {
    bool known, vector;
    uint64_t upto;
    uint64_t key; /* in a trial: hash of all that led there; contention_memo.h */
    struct contention_words words;
    struct vector_beats beats;
};

/* A STORE, WEIGHT or VECTOR command under way: `left` cycles remain from cycle `since` on without
 * contention. `cost`: all its cycles; left 0: it ended at `since`. */
struct contention_work {
    const struct sched_command *command;
    uint64_t since;
    double left, cost;
    struct contention_race race; /* private to contention.c; zeros for a new command */
};

/* Start another ARRAY command, which reads from cycle `from` on. */
void contention_turn(struct contention_trace *t, uint64_t from);

/* Advance the work in parallel with `a` until cycle `until`, the end of the stretch, or its own
 * end. VECTOR goes before STORE. */
void contention_run(struct contention_trace *t, struct contention_work *w,
                    const struct contention_array *a, uint64_t until, const struct hd_config *hw);

/* Advance STORE until cycle `until` or its end while ARRAY rests. */
void contention_rest(struct contention_work *store, const struct contention_work *vector,
                     uint64_t until, bool rough, const struct hd_config *hw);

#endif
