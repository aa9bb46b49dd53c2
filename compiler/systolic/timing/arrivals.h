/* arrivals.h - the arrival of WEIGHT commands' words, burst by burst, and the waits of an ARRAY
 * command that follows one (docs/HARDWARE.md): each of its tiles begins once its words have come.
 */
#ifndef HEDDLE_COMPILER_SYSTOLIC_TIMING_ARRIVALS_H
#define HEDDLE_COMPILER_SYSTOLIC_TIMING_ARRIVALS_H

#include "cost.h"

/* A burst of a command. */
struct arrival {
    uint64_t from, at;      /* its first word comes after `from`, its last one at `at` */
    uint64_t before, words; /* of the command, before it and with it */
};

struct arrivals {
    struct arrival *burst;
    uint32_t n;
    uint32_t *first;    /* by WEIGHT command: its first burst; one more for the next command */
    uint32_t n_command; /* whose bursts are all known */
};

/* Prepare for n_commands commands with n_bursts bursts in all. */
void arrivals_init(struct arrivals *l, struct arena *a, uint32_t n_commands, uint64_t n_bursts);
/* A burst of the command after the last whole one; ends: its last. */
void arrivals_add(struct arrivals *l, uint64_t from, uint64_t at, uint32_t words, bool ends);
/* A command after the last whole one that has no bursts: its words are the scratchpad's. */
void arrivals_skip(struct arrivals *l);

/* When an ARRAY command loads its first tile, of n words, if it could at `begin`; UINT64_MAX while
 * that depends on bursts to come. It reads the words of WEIGHT command `k` from the skip-th on. */
uint64_t follow_begin(const struct arrivals *l, uint32_t k, uint64_t skip, uint32_t n,
                      uint64_t begin);

/* An ARRAY command whose first tile could be loaded at *begin loads it at *begin; returns its last
 * step. It reads the words of WEIGHT command `k` from the skip-th on. n: N. */
uint64_t follow_end(const struct arrivals *l, uint32_t k, uint64_t skip,
                    const struct array_cost *cost, uint32_t n, uint64_t *begin);

#endif
