/* tokens.h - the byte-pair tokenizer of a GGUF file: text to numbers of tokens and back. */
#ifndef HEDDLE_LANGUAGE_TOKENS_H
#define HEDDLE_LANGUAGE_TOKENS_H

#include "base/arena.h"
#include "base/status.h"
#include "compiler/import/gguf/gguf.h"

struct tokens;

/* Read tokens and merges of a file. ST_UNSUPPORTED: a tokenizer other than GPT-2's. */
enum status tokens_open(struct arena *a, const struct gguf *f, struct tokens **t, struct diag *d);
/* Tokens of `text`, with the names of control tokens as those. Most characters beyond
 * ASCII count as letters. ST_USAGE: a part of the text has no token. */
enum status tokens_of(struct tokens *t, const char *text, int32_t **list, uint32_t *n,
                      struct diag *d);
/* Return the bytes of token `id`, terminated; "" for a control token and a number without token. */
const char *tokens_text(const struct tokens *t, int32_t id);
/* Return true for the token that ends a text. */
bool tokens_end(const struct tokens *t, int32_t id);

#endif
