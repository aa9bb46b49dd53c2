/* expression.h - whole numbers and names, joined by + - * / and parentheses, in files that describe
 * something. A quotient rounds towards 0; division by 0 gives 0; results beyond int32 become its
 * nearest value. */
#ifndef HEDDLE_BASE_EXPRESSION_H
#define HEDDLE_BASE_EXPRESSION_H

#include <stdint.h>

enum { EXPRESSION_ERROR = 160 }; /* bytes of a message */

/* Set *value of the name at `text` and return its bytes; 0: there is no such name, and `error` (of
 * EXPRESSION_ERROR bytes) says so. */
typedef uint32_t expression_name(void *ctx, const char *text, int64_t *value, char *error);

/* Return the value of `text`; `error` (of EXPRESSION_ERROR bytes) is then "", otherwise it has the
 * first thing that is wrong: "expected a number, a name or '(', found 'x'". */
int64_t expression_value(const char *text, expression_name *name, void *ctx, char *error);

#endif
