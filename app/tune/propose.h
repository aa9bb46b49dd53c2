/* propose.h - the next knobs worth measuring, by the estimate of the whole program. */
#ifndef HEDDLE_TUNE_PROPOSE_H
#define HEDDLE_TUNE_PROPOSE_H

#include "store.h"

/* The programs in which knobs are searched: one an accelerator of the network (arena, graph, hw,
 * options and `only` are enough). */
struct tune_space {
    struct arena *arena;
    const struct ir_graph *graph;
    uint32_t n;
    struct sched_program part[SCHED_MAX_DEVICES];
};

/* Return the search space of a scheduled network. */
struct tune_space tune_space_of(const struct pipeline *p, const struct options *o);

/* Propose knobs that none of the `n` trials (at least one) has, into `knobs` (by operator
 * position); false if none were found. They depend on the trials and on `number` (of the trial
 * to be) alone. */
bool tune_propose(const struct tune_space *space, const struct store_trial *trial, uint32_t n,
                  uint32_t number, struct sched_knobs *knobs);

#endif
