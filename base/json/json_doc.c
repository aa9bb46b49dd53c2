/* json_doc.c - see json_doc.h. Parses, and finds the position of a member in the text. */
#include "json_doc.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

#define MAX_BYTES ((size_t)1 << 20)

static void position(const char *text, const char *at, unsigned *line, unsigned *column)
{
    *line = *column = 1;
    for (; text < at; text++)
        if (*text == '\n') {
            ++*line;
            *column = 1;
        } else {
            ++*column;
        }
}

static enum status not_json(const struct json_doc *doc, const char *at, struct diag *d)
{
    unsigned line, column;

    position(doc->text, at, &line, &column);
    if (*at == '\0')
        return FAIL(d, ST_USAGE, "%s:%u:%u: not valid JSON: the text ends too early", doc->name,
                    line, column);
    return FAIL(d, ST_USAGE,
                "%s:%u:%u: not valid JSON: expected a value, ',' or a closing bracket, found "
                "'%.12s'",
                doc->name, line, column, at);
}

enum status json_doc_parse(struct arena *a, const char *name, const char *text, size_t n_bytes,
                           struct json_doc *doc, struct diag *d)
{
    const char *end = NULL;

    *doc = (struct json_doc){a, name, arena_strndup(a, text, n_bytes), NULL};
    if (strlen(doc->text) != n_bytes) {
        unsigned line, column;
        position(doc->text, doc->text + strlen(doc->text), &line, &column);
        return FAIL(d, ST_USAGE, "%s:%u:%u: not valid JSON: expected text, found a NUL byte", name,
                    line, column);
    }
    errno = 0; /* only errno distinguishes cJSON's lack of memory from a syntax error */
    doc->root = cJSON_ParseWithLengthOpts(doc->text, n_bytes + 1, &end, 1);
    if (!doc->root && errno == ENOMEM)
        return FAIL(d, ST_NO_MEMORY, "%s: no memory to read it", name);
    return doc->root ? ST_OK : not_json(doc, end ? end : doc->text + n_bytes, d);
}

enum status json_doc_read(struct arena *a, const char *path, struct json_doc *doc, struct diag *d)
{
    uint8_t *data;
    size_t n;

    *doc = (struct json_doc){0};
    TRY(file_read(a, path, MAX_BYTES, &data, &n, d));
    return json_doc_parse(a, path, (const char *)data, n, doc, d);
}

void json_doc_free(struct json_doc *doc)
{
    cJSON_Delete(doc->root);
    doc->root = NULL;
}

/* --- the position of a path; the text is valid JSON --- */

static const char *blanks(const char *p)
{
    return p + strspn(p, " \t\r\n");
}

static const char *behind_string(const char *p)
{
    for (p++; *p && *p != '"'; p++)
        if (*p == '\\' && p[1])
            p++;
    return *p ? p + 1 : p;
}

static const char *behind_value(const char *p)
{
    unsigned depth = 0;

    do {
        if (*p == '"') {
            p = behind_string(p);
            continue;
        }
        if (*p == '{' || *p == '[')
            depth++;
        else if (*p == '}' || *p == ']')
            depth--;
        else if (depth == 0 && strchr(", \t\r\n]}", *p))
            return p;
        p++;
    } while (*p && (depth > 0 || !strchr(",]}", *p)));
    return p;
}

/* Return the value of member `key` of the object at p; NULL if there is none. */
static const char *member(const char *p, const char *key, size_t n)
{
    if (*p != '{')
        return NULL;
    for (p = blanks(p + 1); *p == '"';) {
        const char *name = p + 1;
        p = behind_string(p);
        bool found = (size_t)(p - 1 - name) == n && memcmp(name, key, n) == 0;
        p = blanks(blanks(p) + 1);
        if (found)
            return p;
        p = blanks(behind_value(p));
        p = blanks(*p == ',' ? p + 1 : p);
    }
    return NULL;
}

static const char *element(const char *p, unsigned long i)
{
    if (*p != '[')
        return NULL;
    for (p = blanks(p + 1); *p && *p != ']'; i--) {
        if (i == 0)
            return p;
        p = blanks(behind_value(p));
        p = blanks(*p == ',' ? p + 1 : p);
    }
    return NULL;
}

static const char *locate(const char *text, const char *path)
{
    const char *at = blanks(text);

    while (*path) {
        const char *next;
        if (*path == '[') {
            char *end;
            next = element(at, strtoul(path + 1, &end, 10));
            path = end + (*end == ']');
        } else {
            path += *path == '.';
            size_t n = strcspn(path, ".[");
            next = member(at, path, n);
            path += n;
        }
        if (!next)
            return at;
        at = next;
    }
    return at;
}

const char *json_doc_value(const struct json_doc *doc, const char *path, const char **end)
{
    const char *const at = locate(doc->text, path);

    *end = behind_value(at);
    return at;
}

enum status json_doc_fail(const struct json_doc *doc, const char *path, struct diag *d,
                          const char *format, ...)
{
    char message[1024];
    unsigned line, column;
    va_list args;

    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    position(doc->text, locate(doc->text, path), &line, &column);
    return FAIL(d, ST_USAGE, "%s:%u:%u: %s%s%s", doc->name, line, column, path, *path ? ": " : "",
                message);
}

/* --- similar words --- */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Return the edit distance of words of at most 63 bytes. */
static size_t distance(const char *a, const char *b)
{
    size_t row[64], n = strlen(b);

    if (strlen(a) > 63 || n > 63)
        return 64;
    for (size_t k = 0; k <= n; k++)
        row[k] = k;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t k = 1; k <= n; k++) {
            size_t change = corner + (a[i - 1] != b[k - 1]);
            corner = row[k];
            row[k] = least(change, least(row[k], row[k - 1]) + 1);
        }
    }
    return row[n];
}

const char *json_doc_near(const char *word, const char *const *words, size_t n)
{
    const char *best = NULL;
    size_t limit = strlen(word) / 3 + 1;

    for (size_t i = 0; i < n; i++) {
        size_t far = distance(word, words[i]);
        if (far <= limit) {
            best = words[i];
            limit = far ? far - 1 : 0;
        }
    }
    return best;
}

void json_doc_print(struct text *t, cJSON *o)
{
    char *text = cJSON_Print(o);
    const bool whole = text && errno != ENOMEM;

    cJSON_Delete(o);
    if (whole) {
        text_add(t, text);
        text_add(t, "\n");
    }
    cJSON_free(text);
    if (!whole)
        arena_exhausted(t->arena);
}
