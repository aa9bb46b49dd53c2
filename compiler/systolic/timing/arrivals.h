/* arrivals.h - the arrival of WEIGHT commands' words, burst by burst, and the waits of an ARRAY
 * command that uses weight streaming (docs/HARDWARE.md): each of its tiles begins once its words
 * have arrived. */
#ifndef HEDDLE_COMPILER_SYSTOLIC_TIMING_ARRIVALS_H
#define HEDDLE_COMPILER_SYSTOLIC_TIMING_ARRIVALS_H

#include "cost.h"

/* A burst of a command. */
struct arrival {
    uint64_t from, at;      /* its first word arrives after `from`, its last one at `at` */
    uint64_t before, words; /* words of the command before the burst, and in it */
};

struct arrivals {
    struct arrival *burst;
    uint32_t n;
    uint32_t *first;    /* by WEIGHT command: its first burst; the last entry is for the next
                         * command */
    uint32_t n_command; /* commands whose bursts are all known */
};

/* Prepare for `n_commands` commands with `n_bursts` bursts in total. */
void arrivals_init(struct arrivals *l, struct arena *a, uint32_t n_commands, uint64_t n_bursts);
/* Add a burst of the current command; ends: it is the last. */
void arrivals_add(struct arrivals *l, uint64_t from, uint64_t at, uint32_t words, bool ends);
/* Add a command without bursts: its words come from the scratchpad. */
void arrivals_skip(struct arrivals *l);

/* Return the cycle in which an ARRAY command loads its first tile, of n words, if it could at
 * `begin`; UINT64_MAX while that depends on later bursts. It reads the words of WEIGHT command `k`
 * from word `skip` on. */
uint64_t follow_begin(const struct arrivals *l, uint32_t k, uint64_t skip, uint32_t n,
                      uint64_t begin);

/* Return the last step of an ARRAY command that could load its first tile at *begin, and set *begin
 * to the cycle in which it does. It reads the words of WEIGHT command `k` from word `skip` on. n:
 * N. */
uint64_t follow_end(const struct arrivals *l, uint32_t k, uint64_t skip,
                    const struct array_cost *cost, uint32_t n, uint64_t *begin);

#endif
