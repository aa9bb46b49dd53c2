/* text.h - a growing string in an arena, for all text that heddle writes. */
#ifndef HEDDLE_BASE_TEXT_H
#define HEDDLE_BASE_TEXT_H

#include <stdbool.h>

#include "arena.h"
#include "status.h"

struct text {
    struct arena *arena;
    char *data; /* always terminated; NULL until the first write */
    size_t length, capacity;
};

void text_init(struct text *t, struct arena *a);
void text_add(struct text *t, const char *s);
void text_add_n(struct text *t, const char *s, size_t n);
void text_printf(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Add text from a model made safe for C comments and strings: no control bytes, no comment ends, no
 * backslash, no trigraphs, no non-ASCII; truncated after `max` bytes with "...". */
void text_add_escaped(struct text *t, const char *s, size_t max);

/* Add a JSON string with its quotes. '<' is escaped too, since the string may be inside HTML. */
void text_add_json(struct text *t, const char *s);
/* A field of CSV (RFC 4180): in quotes, themselves doubled, where it has a comma, a quote or a line's end. */
void text_add_csv(struct text *t, const char *s);
/* Hash `n` bytes, 32 bits (FNV-1a), after those whose hash is `h`; TEXT_HASH: none. */
#define TEXT_HASH 2166136261u
uint32_t text_hash(uint32_t h, const char *s, size_t n);
/* Return a word of a command line, quoted if a shell would change it. */
const char *text_shell_word(struct arena *a, const char *word);
/* Return true if `name` is longer than the suffix `end` and ends in it. */
bool text_ends(const char *name, const char *end);

#endif
