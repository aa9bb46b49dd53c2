/* refuse.h - macros for a target's rules: a function that answers a question `q` with an `arena`
 * returns NULL, or the failed rule with its values. */
#ifndef HEDDLE_COMPILER_TARGET_REFUSE_H
#define HEDDLE_COMPILER_TARGET_REFUSE_H

#include "base/text.h"

#define REFUSE(q, ...) return arena_printf((q)->arena, __VA_ARGS__)
#define ASK(expr)                                                                                  \
    do {                                                                                           \
        const char *why_ = (expr);                                                                 \
        if (why_)                                                                                  \
            return why_;                                                                           \
    } while (0)

#endif
