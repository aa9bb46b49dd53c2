/* json.h - typed reading of cJSON objects with messages that state where, what was expected and
 * what was found. `where` is the path of the object, such as "accel.json: registers[3]". */
#ifndef HEDDLE_HW_GEN_JSON_H
#define HEDDLE_HW_GEN_JSON_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"

/* Parse n bytes; only white space may follow the value. Free with cJSON_Delete. */
enum status json_parse(struct arena *a, const char *text, size_t n, const char *where, cJSON **out,
                       struct diag *d);

/* Allow only the listed keys (separated by spaces), each at most once. */
enum status json_only(const cJSON *object, const char *where, const char *keys, struct diag *d);

/* Read members. The _or forms return `fallback` if the key is absent; the others require it.
 * Strings are copied into the arena. */
enum status json_uint(const cJSON *object, const char *where, const char *key, uint32_t low,
                      uint32_t high, uint32_t *out, struct diag *d);
enum status json_uint_or(const cJSON *object, const char *where, const char *key, uint32_t low,
                         uint32_t high, uint32_t fallback, uint32_t *out, struct diag *d);
enum status json_bool_or(const cJSON *object, const char *where, const char *key, bool fallback,
                         bool *out, struct diag *d);
enum status json_string(struct arena *a, const cJSON *object, const char *where, const char *key,
                        const char **out, struct diag *d);
enum status json_string_or(struct arena *a, const cJSON *object, const char *where, const char *key,
                           const char *fallback, const char **out, struct diag *d);
/* Read a string of the form [a-z][a-z0-9_]*, at most 40 bytes. */
enum status json_identifier(struct arena *a, const cJSON *object, const char *where,
                            const char *key, const char **out, struct diag *d);
enum status json_check_identifier(const char *s, const char *where, struct diag *d);
/* Read an object or array member and its count. */
enum status json_child(const cJSON *object, const char *where, const char *key, bool is_array,
                       const cJSON **out, uint32_t *count, struct diag *d);

/* Write canonical text: keys sorted bytewise, no white space, without members named "doc" or
 * "reset". */
void json_canonical(struct text *t, const cJSON *value);

#endif
