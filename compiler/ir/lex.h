/* lex.h - tokens of the text form: names, numbers, strings, lists, separated by white space and #
 * comments. Every error names the line, the expected token and the one found. */
#ifndef HEDDLE_COMPILER_IR_LEX_H
#define HEDDLE_COMPILER_IR_LEX_H

#include "ir.h"

struct lex {
    struct arena *arena;
    struct diag *d;
    const char *p;
    uint32_t line;
};

enum { LEX_NAME_BYTES = 64 };

enum status lex_fail(const struct lex *l, const char *expected);
void lex_skip(struct lex *l);
bool lex_at_end(struct lex *l);
/* Consume `c` if it is next. */
bool lex_take(struct lex *l, char c);
enum status lex_want(struct lex *l, char c);
/* A name of letters, digits and _; `name` holds LEX_NAME_BYTES. */
enum status lex_name(struct lex *l, char *name);
/* If a name and then '=' are next, consume both. */
bool lex_key(struct lex *l, char *name);
enum status lex_int(struct lex *l, int64_t low, int64_t high, int64_t *v);
enum status lex_u32(struct lex *l, uint32_t *v);
/* Read "..." with the escapes of ir_print.c. */
enum status lex_string(struct lex *l, const char **s);
/* Read (1,2,-3): integers within low..high; '-' alone means `none`. */
enum status lex_ints(struct lex *l, int64_t low, int64_t high, int64_t none, uint32_t *n,
                     int64_t **v);
enum status lex_floats(struct lex *l, uint32_t *n, float **v);
/* Read hexadecimal digit pairs up to the next white space and append them at p[*n]; at most `max`
 * in all. */
enum status lex_hex(struct lex *l, uint8_t *p, size_t max, size_t *n);

#endif
