/* pool.h - child processes, a few at a time, each with a slot of memory that it shares with this
 * process. */
#ifndef HEDDLE_JOB_POOL_H
#define HEDDLE_JOB_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"

struct pool;

/* Make a pool of at most n processes with slots of n_bytes, aligned to 64 bytes. ST_NO_MEMORY. */
enum status pool_new(struct arena *a, uint32_t n, size_t n_bytes, struct pool **pool,
                     struct diag *d);
/* Return the slot, all 0, of a process that may start; NULL: as many run as there may be. */
void *pool_slot(struct pool *p);
/* Start work(ctx, slot) in a process of its own, which leaves interrupts to this one and ends with
 * exit code 0 when work returns. ST_NO_MEMORY: it could not start. */
enum status pool_start(struct pool *p, void *slot, void (*work)(void *ctx, void *slot), void *ctx,
                       struct diag *d);
/* Wait for a process, set *slot to its slot and *state as waitpid does. *slot is NULL if none runs.
 * ST_INTERNAL: a process is lost. The caller bounds the time of the work. */
enum status pool_wait(struct pool *p, void **slot, int *state, struct diag *d);
/* Kill what runs, and release the slots. */
void pool_stop(struct pool *p);

#endif
