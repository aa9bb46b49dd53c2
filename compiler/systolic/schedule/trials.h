/* trials.h - build programs to compare them: a score for each set of knobs. */
#ifndef HEDDLE_COMPILER_SYSTOLIC_SCHEDULE_TRIALS_H
#define HEDDLE_COMPILER_SYSTOLIC_SCHEDULE_TRIALS_H

#include "sched_build.h"

#define TRIALS_KNOWN 1024u

struct trials {
    const struct sched_program *p;
    struct sched_program like; /* what does not depend on knobs */
    struct arena *arena;       /* reused by each trial */
    uint64_t commands;         /* commands scheduled so far, and other work in the same unit */
    uint64_t key[TRIALS_KNOWN], score[TRIALS_KNOWN];
};

/* Prepare trials of programs like `p`, which has its graph, configuration and options. False if
 * none can be built. `like` is allocated from p's arena; trials_end frees the rest. */
bool trials_begin(struct trials *t, const struct sched_program *p);
void trials_end(struct trials *t);

/* Return the score (sched_score) of the commands of operators first .. end - 1 (end 0: all) in the
 * layout of all; UINT64_MAX if the knobs cannot be built. */
uint64_t trials_score(struct trials *t, uint32_t first, uint32_t end, struct sched_knobs *knobs);

/* Build and estimate the whole program into *p, valid until the next trial, with the estimate of a
 * final program: the others look at long contention in short. Return its cycles; 0: it cannot be
 * built. */
uint64_t trials_exact(struct trials *t, struct sched_knobs *knobs, struct sched_program *p);

/* Compute by row the cycles of the whole program during which ARRAY does not work for it. Unchanged
 * if the knobs cannot be built. */
void trials_losses(struct trials *t, struct sched_knobs *knobs, uint64_t *row);

/* Return `hash` combined with x. */
static inline uint64_t trials_mix(uint64_t hash, uint64_t x)
{
    hash = (hash ^ x) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

#endif
