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
};

/* Operators that become one: `sum`, `rescale` and `clamp` (TOSA_NONE: none). Or, where `sum` is
 * TOSA_NONE, one operator: a function of int8 with a `table`, of x at x + 128, or an average. */
struct group {
    uint32_t sum, rescale, clamp, last;
    const int8_t *table;
    bool up;                 /* an average: attribute round_up */
    int32_t low, high, zero; /* the output's */
    uint32_t n;
    int32_t multiplier[3];
    int8_t shift[3];
    struct operand operand[2];
};

#endif
