/* json.c - typed reading of cJSON objects. */
#include "json.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Return line and column of a byte, counted from 1. */
static void position(const char *text, size_t at, uint32_t *line, uint32_t *column)
{
    *line = *column = 1;
    for (size_t i = 0; i < at; i++) {
        if (text[i] == '\n') {
            ++*line;
            *column = 1;
        } else {
            ++*column;
        }
    }
}

enum status json_parse(struct arena *a, const char *text, size_t n, const char *where, cJSON **out,
                       struct diag *d)
{
    const char *copy = arena_strndup(a, text, n); /* cJSON requires the terminator to be counted */
    const char *end = NULL;
    uint32_t line, column;
    size_t at;

    if (strlen(copy) == n) {
        errno = 0; /* only errno distinguishes cJSON's lack of memory from a syntax error */
        *out = cJSON_ParseWithLengthOpts(copy, n + 1, &end, 1);
        if (*out != NULL)
            return ST_OK;
        if (errno == ENOMEM)
            return FAIL(d, ST_NO_MEMORY, "%s: no memory to read it", where);
    }
    at = end != NULL ? (size_t)(end - copy) : strlen(copy);
    if (at >= n) {
        position(text, n, &line, &column);
        return FAIL(d, ST_USAGE, "%s:%u:%u: not valid JSON: the text ends too early", where, line,
                    column);
    }
    position(text, at, &line, &column);
    return FAIL(d, ST_USAGE,
                "%s:%u:%u: not valid JSON: expected a value, ',' or a closing bracket, found "
                "'%.12s'",
                where, line, column, copy + at);
}

static bool listed(const char *keys, const char *key)
{
    const size_t n = strlen(key);

    for (const char *p = strstr(keys, key); n != 0 && p != NULL; p = strstr(p + 1, key))
        if ((p == keys || p[-1] == ' ') && (p[n] == '\0' || p[n] == ' '))
            return true;
    return false;
}

enum status json_only(const cJSON *object, const char *where, const char *keys, struct diag *d)
{
    const cJSON *member;

    if (!cJSON_IsObject(object))
        return FAIL(d, ST_USAGE, "%s: expected an object with the members %s", where, keys);
    cJSON_ArrayForEach(member, object)
    {
        if (!listed(keys, member->string))
            return FAIL(d, ST_USAGE, "%s: unknown member \"%.40s\", expected: %s", where,
                        member->string, keys);
        if (cJSON_GetObjectItemCaseSensitive(object, member->string) != member)
            return FAIL(d, ST_USAGE, "%s: duplicate member \"%s\"", where, member->string);
    }
    return ST_OK;
}

static const char *kind_of(const cJSON *item)
{
    if (item == NULL)
        return "nothing";
    if (cJSON_IsString(item))
        return "a string";
    if (cJSON_IsNumber(item))
        return "a number";
    if (cJSON_IsObject(item))
        return "an object";
    if (cJSON_IsArray(item))
        return "an array";
    return cJSON_IsBool(item) ? "a boolean" : "null";
}

enum status json_uint(const cJSON *object, const char *where, const char *key, uint32_t low,
                      uint32_t high, uint32_t *out, struct diag *d)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

    if (!cJSON_IsNumber(item))
        return FAIL(d, ST_USAGE, "%s: \"%s\": expected an integer from %u to %u, found %s", where,
                    key, low, high, kind_of(item));
    if (!(item->valuedouble >= low && item->valuedouble <= high) ||
        item->valuedouble != floor(item->valuedouble))
        return FAIL(d, ST_USAGE, "%s: \"%s\": expected an integer from %u to %u, found %.15g",
                    where, key, low, high, item->valuedouble);
    *out = (uint32_t)item->valuedouble;
    return ST_OK;
}

enum status json_uint_or(const cJSON *object, const char *where, const char *key, uint32_t low,
                         uint32_t high, uint32_t fallback, uint32_t *out, struct diag *d)
{
    *out = fallback;
    if (cJSON_GetObjectItemCaseSensitive(object, key) == NULL)
        return ST_OK;
    return json_uint(object, where, key, low, high, out, d);
}

enum status json_bool_or(const cJSON *object, const char *where, const char *key, bool fallback,
                         bool *out, struct diag *d)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

    *out = fallback;
    if (item == NULL)
        return ST_OK;
    if (!cJSON_IsBool(item))
        return FAIL(d, ST_USAGE, "%s: \"%s\": expected true or false, found %s", where, key,
                    kind_of(item));
    *out = cJSON_IsTrue(item);
    return ST_OK;
}

enum status json_string(struct arena *a, const cJSON *object, const char *where, const char *key,
                        const char **out, struct diag *d)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

    if (!cJSON_IsString(item))
        return FAIL(d, ST_USAGE, "%s: \"%s\": expected a string, found %s", where, key,
                    kind_of(item));
    *out = arena_strdup(a, item->valuestring);
    return ST_OK;
}

enum status json_string_or(struct arena *a, const cJSON *object, const char *where, const char *key,
                           const char *fallback, const char **out, struct diag *d)
{
    *out = fallback;
    if (cJSON_GetObjectItemCaseSensitive(object, key) == NULL)
        return ST_OK;
    return json_string(a, object, where, key, out, d);
}

enum status json_check_identifier(const char *s, const char *where, struct diag *d)
{
    const size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789_");

    if (n == 0 || s[n] != '\0' || n > 40 || s[0] < 'a')
        return FAIL(d, ST_USAGE,
                    "%s: '%.60s' is not a name: expected a lower-case letter, then lower-case "
                    "letters, digits and '_', at most 40",
                    where, s);
    return ST_OK;
}

enum status json_identifier(struct arena *a, const cJSON *object, const char *where,
                            const char *key, const char **out, struct diag *d)
{
    TRY(json_string(a, object, where, key, out, d));
    return json_check_identifier(*out, where, d);
}

enum status json_child(const cJSON *object, const char *where, const char *key, bool is_array,
                       const cJSON **out, uint32_t *count, struct diag *d)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

    if (is_array ? !cJSON_IsArray(item) : !cJSON_IsObject(item))
        return FAIL(d, ST_USAGE, "%s: \"%s\": expected %s, found %s", where, key,
                    is_array ? "an array" : "an object", kind_of(item));
    *out = item;
    *count = (uint32_t)cJSON_GetArraySize(item);
    return ST_OK;
}

static void canonical_string(struct text *t, const char *s)
{
    text_add(t, "\"");
    for (; *s; s++) {
        if ((unsigned char)*s < 0x20)
            text_printf(t, "\\u%04x", (unsigned)(unsigned char)*s);
        else if (*s == '"' || *s == '\\')
            text_printf(t, "\\%c", *s);
        else
            text_add_n(t, s, 1);
    }
    text_add(t, "\"");
}

static int by_key(const void *x, const void *y)
{
    return strcmp((*(const cJSON *const *)x)->string, (*(const cJSON *const *)y)->string);
}

static void canonical_object(struct text *t, const cJSON *object)
{
    const size_t n = (size_t)cJSON_GetArraySize(object);
    const cJSON **sorted = ARENA_ARRAY(t->arena, const cJSON *, n);
    const cJSON *member;
    const char *comma = "";
    size_t i = 0;

    cJSON_ArrayForEach(member, object) sorted[i++] = member;
    qsort(sorted, n, sizeof *sorted, by_key);
    text_add(t, "{");
    for (i = 0; i < n; i++) {
        if (strcmp(sorted[i]->string, "doc") == 0 || strcmp(sorted[i]->string, "reset") == 0)
            continue;
        text_add(t, comma);
        canonical_string(t, sorted[i]->string);
        text_add(t, ":");
        json_canonical(t, sorted[i]);
        comma = ",";
    }
    text_add(t, "}");
}

void json_canonical(struct text *t, const cJSON *value)
{
    const cJSON *item;

    if (cJSON_IsObject(value)) {
        canonical_object(t, value);
    } else if (cJSON_IsArray(value)) {
        text_add(t, "[");
        cJSON_ArrayForEach(item, value)
        {
            if (item->prev->next != NULL) /* in cJSON the first item's prev is the last item */
                text_add(t, ",");
            json_canonical(t, item);
        }
        text_add(t, "]");
    } else if (cJSON_IsString(value)) {
        canonical_string(t, value->valuestring);
    } else if (cJSON_IsNumber(value)) {
        text_printf(t, "%.17g", value->valuedouble);
    } else {
        text_add(t, cJSON_IsTrue(value) ? "true" : cJSON_IsFalse(value) ? "false" : "null");
    }
}
