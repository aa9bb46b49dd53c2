/* normal.h - normal forms: drafts, and terms seen as functions. Of this folder. */
#ifndef HEDDLE_PROVE_TERMS_NORMAL_H
#define HEDDLE_PROVE_TERMS_NORMAL_H

#include "value.h"

/* A function that is being made: value[i][j] from at[0][i], at[1][j] on, [n[0]][n[1]]. */
struct prove_draft {
    uint32_t n[2];
    int64_t at[2][257];
    int8_t value[256 * 256];
    int64_t bytes[1 + 2 * 257 + 256 * 256 / 8]; /* all that says which function it is */
};

/* Room for a draft, the same at each call; each of its parts is written before it is read. */
struct prove_draft *prove_draft_in(struct prove *p);
/* The function of a draft, which this changes. */
struct prove_function *prove_normal(struct prove *p, struct prove_draft *d);
/* The term f(arg[0], arg[1]), which are in 0 .. span. */
uint32_t prove_term_of(struct prove *p, struct prove_function *f, const prove_uwide arg[2],
                       const uint64_t span[2]);

/* A term as a function of integers from 0 on. A leaf: itself. */
struct prove_view {
    uint32_t n[2];
    const int64_t *at[2];
    const int8_t *value;
    prove_uwide arg[2];
    uint64_t span[2];
};

struct prove_view prove_view(const struct prove_term *t);
/* The term as a leaf, whatever it is. */
struct prove_view prove_leaf_view(const struct prove_term *t);
/* The term as a function of one argument: of a function of two, what it gives. */
struct prove_view prove_one_argument(const struct prove_term *t);
/* What is equal for all terms that share a function of a table. */
struct prove_key prove_key_of(uint32_t rule, const struct prove_term *t);

#endif
