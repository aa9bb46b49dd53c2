/* tosa_group.h - what tosa_match.c finds and tosa_fuse.c makes. */
#ifndef HEDDLE_COMPILER_IMPORT_TOSA_TOSA_GROUP_H
#define HEDDLE_COMPILER_IMPORT_TOSA_TOSA_GROUP_H

#include "tosa_import.h"

enum { CHAIN = 4 }; /* RESCALEs before an operand */

/* An int32 operand as a function of an int8 tensor: RESCALEs one after the other. */
struct operand {
    uint32_t source, n;
    uint32_t op[CHAIN]; /* from the operand back to the source */
    int32_t zero;       /* zero point of the source */
    int64_t value[256]; /* of -128 .. 127 */
    double scale;       /* about value / (x - zero) */
    int64_t multiplier;
};

/* Operators that become one: `sum`, `rescale` (TOSA_NONE: none) and `clamp` (TOSA_NONE: none). */
struct group {
    uint32_t sum, rescale, clamp, last;
    int32_t low, high, zero; /* the output's */
    uint32_t n;
    int32_t multiplier[3];
    int8_t shift[3];
    struct operand operand[2];
};

/* Fill `g` for the RESCALE at `at` and what it reads; false if it is to be computed by itself. */
bool tosa_match_rescale(struct tosa *m, uint32_t at, struct group *g);
/* Set m->group of all that `g` is made of. */
void tosa_mark(struct tosa *m, const struct group *g);
/* Set value[x + 128] to what the operator computes of int8 x; false if it is no such function. */
bool tosa_byte_function(struct tosa *m, const struct tosa_operator *op, int8_t value[256]);
/* Return true for an AVG_POOL2D of int8 that the IR's gives the same results; *up: its attribute
 * round_up. */
bool tosa_match_average(struct tosa *m, const struct tosa_operator *op, bool *up);

#endif
