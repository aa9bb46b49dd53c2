/* contention_memo.h - races that earlier trials of a search simulated. A trial differs little from
 * those before it, so most of its stretches in which STORE, WEIGHT or VECTOR work while ARRAY reads
 * have been simulated, if at other cycles. A race is found by a hash of all that it depends on, and
 * then continues as if it had been simulated: the estimate is the same. */
#ifndef HEDDLE_COMPILER_SYSTOLIC_TIMING_CONTENTION_MEMO_H
#define HEDDLE_COMPILER_SYSTOLIC_TIMING_CONTENTION_MEMO_H

#include "contention.h"

/* Make an empty memo; its memory, a few MiB at most, is from arenas at `a`, until
 * contention_memo_free. */
struct contention_memo *contention_memo_new(struct arena *a);
/* Free the memo; NULL: nothing. */
void contention_memo_free(struct contention_memo *m);

/* --- for contention.c --- */

/* A race before it runs. */
struct contention_at {
    uint64_t key, since;
    bool brief;     /* simulated as fast as found */
    uint64_t reads; /* first cycle for which ARRAY's reads are not known */
    bool begins;    /* true if they begin there, instead of going on */
    bool from;      /* true if no earlier cycle remains known */
};

/* Return the cycles from a position's reads to its result. */
uint32_t contention_delay(const struct hd_config *hw);
/* Return the cycles from the last step of the previous ARRAY command to the first read. */
uint64_t contention_gap(const struct contention_array *a);
/* Return a hash of what determines ARRAY's reads from `cycle` on if they begin there. */
uint64_t contention_reads_key(const struct contention_array *a, uint64_t cycle,
                              const struct hd_config *hw);

/* Describe the race until cycle `until`; false: there is no memo. */
bool contention_at(const struct contention_trace *t, const struct contention_work *w,
                   const struct contention_array *a, uint64_t until, const struct hd_config *hw,
                   struct contention_at *at);
/* Advance the work and the trace as an equal race did; false: none is known. */
bool contention_recall(struct contention_trace *t, struct contention_work *w,
                       const struct contention_array *a, const struct contention_at *at);
/* Keep the race that has run, and name the state that it led to. */
void contention_keep(const struct contention_trace *t, struct contention_work *w,
                     const struct contention_at *at);

#endif
