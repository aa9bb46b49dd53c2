/* trial.h - a call of the package and operators of the reference on the same random inputs. */
#ifndef HEDDLE_PROVE_TRIAL_H
#define HEDDLE_PROVE_TRIAL_H

#include "compared.h"
#include "prove/graph/graph.h"

enum { PROVE_TRIAL_OPS = 8 }; /* operators of a trial at most */

/* Bytes of a tensor in the window. flips: 0x80 if uint8 is held as int8, else 0. */
struct prove_place {
    bool found;
    uint64_t at, n;
    uint8_t flips;
};

struct prove_trial {
    struct prove_package *k;
    const void *p;
    void *const *arg;
    void (*call)(const void *p, void *const *arg);
    const struct prove_op *op[PROVE_TRIAL_OPS]; /* in their order */
    uint32_t n_op, n_arg, n_in;
    struct prove_operand {
        const struct prove_op *op; /* the first that reads it */
        uint32_t input;            /* of op */
        struct prove_place place;
    } * in;           /* what an operator reads and none of them makes */
    uint32_t missing; /* a tensor that was not found */
    struct prove_place
        *out[PROVE_TRIAL_OPS]; /* where results may be; found: as long as all bytes agree */
    uint8_t **bytes;           /* by tensor: the reference's */
    uint8_t *window, *before;  /* a copy; the bytes before a call */
    uint8_t *wrote;            /* 1: a call changed that byte */
    uint64_t seed;
};

/* Find in the window, by their terms, the tensors that the operators read and none of them makes. False: one is not
 * there; it is t->missing. */
bool prove_trial_find(struct prove_trial *t);

/* After prove_trial_find: run both sides on 8 to 64 inputs. If one of the results of t->op is at the same place of the window, equal, for all of
 * them, and variables are too, give the window its terms and return true. */
bool prove_trial_run(struct prove_trial *t);

#endif
