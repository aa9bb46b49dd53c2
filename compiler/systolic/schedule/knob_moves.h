/* knob_moves.h - the state of a search, and its moves from the current knobs to better ones. A move
 * tries some knobs and keeps them if the score falls; it returns true if it did. */
#ifndef HEDDLE_COMPILER_SYSTOLIC_SCHEDULE_KNOB_MOVES_H
#define HEDDLE_COMPILER_SYSTOLIC_SCHEDULE_KNOB_MOVES_H

#include "trials.h"

/* The search's constants. SEARCH_BUDGET: commands priced in all trials of a program, a few seconds;
 * no start begins after two fifths of it. SEARCH_LARGE: a program with more commands is tried in
 * windows; it may use two fifths of the budget, and SEARCH_OPERATOR commands per operator.
 * SEARCH_REACH: operators of a window on either side of its centre; moves reach twice as far, their
 * gains four times. SEARCH_BATCHES: batches of windows in a round; each batch is compared in the
 * whole program. SEARCH_LITTLE: rows that lose less than one part in it of the total wait for the
 * others; batches that gain less than five parts end the windows. */
enum {
    SEARCH_BUDGET = 1050000,
    SEARCH_LARGE = 250,
    SEARCH_OPERATOR = 1300,
    SEARCH_REACH = 2,
    SEARCH_BATCHES = 12,
    SEARCH_LITTLE = 500,
};

/* Operators first .. end - 1 and the score of their commands; end 0: all operators. */
struct moves_score {
    uint32_t first, end;
    uint64_t best;
};

struct search {
    struct sched_program *p;
    struct trials *trials;
    uint64_t limit;           /* maximum of commands scheduled */
    struct moves_score score; /* the score to lower */
    struct moves_score near;  /* the score of the neighbours, which must fall first; end 0: none */
    bool apart;               /* no cascades */
    /* By operator: the last equal one before it in a network that repeats itself (windows_period);
     * whether it is another one's twin; and whether it is in a block between the second and the last
     * one, which gets the knobs of others. */
    uint32_t *twin;
    bool *before, *between;
};

/* Start a descent from the current knobs by the score of operators first .. end - 1; end 0: all. */
void moves_begin(struct search *s, uint32_t first, uint32_t end);
/* Return true if the current knobs are better. Always false once the limit is reached. */
bool moves_improve(struct search *s);

/* Try all choices of one operator. */
bool moves_operator(struct search *s, uint32_t op);
/* Try a cascade of three where one of two gains nothing, for example at a sum of two tensors. */
bool moves_cascade_of_three(struct search *s, uint32_t op);
/* Try a cascade that begins here instead of one layer earlier: a pair that gains little may block
 * the next pair, which gains more (cascade.c fuses pairs only). */
bool moves_cascade_from_here(struct search *s, uint32_t op);
/* Try a product that passes strips to its softmax, without earlier cascades that keep a tensor on
 * chip for a reader after it. Strips are wide only if that tensor (the normalised tokens, which the
 * product of values reads last) is in memory. */
bool moves_strips_with_room(struct search *s, uint32_t op);
/* Try the same groups for three adjacent layers: if the next layer waits for its weights, small
 * groups gain only if all three have them. */
bool moves_groups_of_three(struct search *s, uint32_t op);
/* Try the same tile height for four adjacent operators: each reads a tile while the previous one
 * computes the next, which gains only once all of them are tiled. cut: and end the cascade of the
 * first with the next, which alone would gain nothing. */
bool moves_rows_of_four(struct search *s, uint32_t op, bool cut);

#endif
