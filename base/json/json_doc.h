/* json_doc.h - JSON files that people write: every error has file, line, column, the member's path,
 * what was expected and what was found. Parsed by cJSON, checked against a JSON Schema. */
#ifndef HEDDLE_BASE_JSON_JSON_DOC_H
#define HEDDLE_BASE_JSON_JSON_DOC_H

#include <cjson/cJSON.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"

struct json_doc {
    struct arena *arena;
    const char *name; /* name of the file, or "--target"; every message begins with it */
    const char *text; /* terminated */
    cJSON *root;
};

/* Parse a text (at most 1 MiB) or a file. Release with json_doc_free, also after a failure. */
enum status json_doc_parse(struct arena *a, const char *name, const char *text, size_t n_bytes,
                           struct json_doc *doc, struct diag *d);
enum status json_doc_read(struct arena *a, const char *path, struct json_doc *doc, struct diag *d);
void json_doc_free(struct json_doc *doc);

/* Put "file:line:column: path: " before the message. path: "operators[0].where.in_c", "" for the
 * root; the position is that of the value, or of the nearest enclosing object. */
enum status json_doc_fail(const struct json_doc *doc, const char *path, struct diag *d,
                          const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The text of the value at `path`, up to *end; of the nearest object around it, if there is none. */
const char *json_doc_value(const struct json_doc *doc, const char *path, const char **end);

/* Check the document against `schema`. The supported part of JSON Schema is type, const, enum,
 * required, properties, additionalProperties, items, minItems, maxItems, minimum, maximum,
 * minLength, maxLength, pattern (POSIX extended) and $ref "#/$defs/NAME". A member given twice
 * is refused. */
enum status json_doc_check(const struct json_doc *doc, const cJSON *schema, struct diag *d);

/* Print a document that was built with errno set to 0 before, and a newline, to `t`; `o` is
 * deleted. If cJSON had no memory for a part of it, which would be silently missing, the arena is
 * exhausted. */
void json_doc_print(struct text *t, cJSON *o);

/* Return the word among `words` (n of them) closest to `word`, for "did you mean"; NULL if none is
   similar. */
const char *json_doc_near(const char *word, const char *const *words, size_t n);

#endif
