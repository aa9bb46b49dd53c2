/* propose.h - choose the next knobs to measure by the estimate of the whole program. */
#ifndef HEDDLE_TUNE_PROPOSE_H
#define HEDDLE_TUNE_PROPOSE_H

#include "store.h"

/* The programs whose knobs are searched: one per accelerator of the network (arena, graph, hw,
 * options and `only` are sufficient). */
struct tune_space {
    struct arena *arena;
    const struct pipeline *pipeline;
    const struct ir_graph *graph;
    const struct sched_knobs *most; /* by operator position: of a knob_shape */
    uint32_t n;                     /* 0: no accelerator has commands */
    struct sched_program part[SCHED_MAX_DEVICES];
};

/* Return the search space of a scheduled network, whose knobs' ranges are `most`. */
struct tune_space tune_space_of(const struct pipeline *p, const struct options *o,
                                const struct sched_knobs *most);

/* Propose knobs that differ from those of all `n` trials (at least one), into `knobs` (by operator
 * position); false if none were found. They depend only on the trials and on `number`, that of the
 * new trial. */
bool tune_propose(const struct tune_space *space, const struct store_trial *trial, uint32_t n,
                  uint32_t number, struct sched_knobs *knobs);

#endif
