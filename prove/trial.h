/* trial.h - a call of the package and operators of the reference on the same random inputs. */
#ifndef HEDDLE_PROVE_TRIAL_H
#define HEDDLE_PROVE_TRIAL_H

#include "compared.h"
#include "prove/graph/graph.h"

enum { PROVE_TRIAL_OPS = 8 }; /* operators of a trial at most */

/* A tensor that operators of a trial read and none of them makes. */
struct prove_operand {
    const struct prove_op *op; /* the first that reads it */
    uint32_t input;            /* of op */
    uint32_t first;            /* its first byte in prove_trial.value */
    uint32_t digits;           /* the same of its sums' digits (trial_digits.c); 0: none */
};

struct prove_trial {
    struct prove_package *k;
    struct arena *arena; /* of the trial alone */
    const void *p;
    void *const *arg;
    void (*call)(const void *p, void *const *arg);
    const struct prove_op *op[PROVE_TRIAL_OPS]; /* in their order */
    uint32_t n_op, n_arg, n_in, n_value;
    struct prove_operand *in;
    struct prove_variable { /* an operand that is a variable, at an argument */
        struct prove_operand in;
        uint64_t at, n;
    } * state;
    uint32_t n_state;
    uint32_t missing; /* an operand that is not in the window */
    uint8_t *value;   /* bytes of the operands */
    /* Links: 2 * (1 + byte of value), + 1 with its top bit flipped; 0: none. */
    uint32_t *same;  /* by byte of value: the first that has the same term; 0: a constant */
    uint32_t *link;  /* by byte of the window */
    uint8_t **bytes; /* by tensor: the reference's */
    uint8_t *window, *before; /* a copy; the bytes before a call */
    uint8_t *wrote;           /* 1: a call changed that byte */
    uint64_t *print;          /* by byte of the window: of what it was after each call */
    uint64_t
        *made[PROVE_TRIAL_OPS][2]; /* the same by byte of each result; with its top bit flipped */
    uint64_t seed;
};

/* --- trial_digits.c --- */

/* The number of digits of the products of input i, an LSTM's, and the gates' weights; 0: it is no such input. */
uint64_t prove_digits(const struct prove_op *o, uint32_t i);
/* Digit d of the operand, of the sums over all values that it has terms for. */
uint32_t prove_digit_term(const struct prove_operand *in, uint64_t d);
/* The same of bytes x of the operand. */
uint8_t prove_digit_byte(const struct prove_operand *in, const uint8_t *x, uint64_t d);

/* Find the operands in the window by their terms. False: t->missing is not there. */
bool prove_trial_find(struct prove_trial *t);

/* After prove_trial_find: run both sides on 8 to 64 inputs. If one of the results of t->op is in the window, equal for all of
 * them, and variables are too, give the window its terms and return true. A result may be without some
 * channels, and have them in another order. */
bool prove_trial_run(struct prove_trial *t);

#endif
