/* verilog_text.c - see verilog_text.h. */
#define _GNU_SOURCE
#include "verilog_text.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

struct reducer {
    const char *text;
    size_t n, at;
    char *to;
    size_t length;
    uint32_t ends; /* of lines, since the last token */
    bool blank;
    bool lines;
};

/* The words that begin a comment for tools: IEEE 1364's and 1800's users, Verilator's manual. */
static bool tools_read(const char *comment, size_t n)
{
    static const char *const words[] = {"verilator", "synthesis", "synopsys", "pragma",
                                        "ambit",     "cadence",   "verilint"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (memmem(comment, n, words[i], strlen(words[i])) != NULL)
            return true;
    return comment[n - 1] == '\\'; /* the macro continues in the next line */
}

static size_t end_of_comment(const struct reducer *r)
{
    const char *const from = r->text + r->at, *const end = r->text + r->n;
    const char *found;

    if (from[1] == '/') {
        found = memchr(from, '\n', (size_t)(end - from));
        return found != NULL ? (size_t)(found - r->text) : r->n;
    }
    found = memmem(from + 2, (size_t)(end - from) - 2, "*/", 2);
    return found != NULL ? (size_t)(found - r->text) + 2 : r->n;
}

/* A string ends with its line if not before. */
static size_t end_of_string(const struct reducer *r)
{
    for (size_t i = r->at + 1; i < r->n; i++) {
        if (r->text[i] == '"')
            return i + 1;
        if (r->text[i] == '\n')
            return i;
        if (r->text[i] == '\\')
            i++;
    }
    return r->n;
}

static size_t end_of_escaped(const struct reducer *r)
{
    size_t i = r->at;

    while (i < r->n && !isspace((unsigned char)r->text[i]))
        i++;
    return i;
}

/* The end of a run of bytes that are none of the others. */
static size_t end_of_plain(const struct reducer *r)
{
    size_t i = r->at + 1;

    while (i < r->n && !isspace((unsigned char)r->text[i]) && r->text[i] != '/' &&
           r->text[i] != '"' && r->text[i] != '\\')
        i++;
    return i;
}

static void skip_to(struct reducer *r, size_t end)
{
    for (; r->at < end; r->at++)
        r->ends += r->text[r->at] == '\n';
    r->blank = true;
}

static void copy_to(struct reducer *r, size_t end)
{
    if (r->ends != 0 || r->blank) {
        const size_t n = r->lines && r->ends > 1 ? r->ends : 1;

        memset(r->to + r->length, r->ends != 0 ? '\n' : ' ', n);
        r->length += n;
    }
    r->ends = 0;
    r->blank = false;
    memcpy(r->to + r->length, r->text + r->at, end - r->at);
    r->length += end - r->at;
    r->at = end;
}

char *verilog_reduced(struct arena *a, const char *text, size_t n, bool lines, size_t *length)
{
    struct reducer r = {.text = text, .n = n, .to = arena_alloc(a, n + 2), .lines = lines};

    while (r.at < n) {
        const char c = text[r.at], next = r.at + 1 < n ? text[r.at + 1] : '\0';

        if (isspace((unsigned char)c)) {
            skip_to(&r, r.at + 1);
        } else if (c == '/' && (next == '/' || next == '*')) {
            const size_t end = end_of_comment(&r);

            (tools_read(text + r.at, end - r.at) ? copy_to : skip_to)(&r, end);
        } else if (c == '"') {
            copy_to(&r, end_of_string(&r));
        } else {
            copy_to(&r, c == '\\' ? end_of_escaped(&r) : end_of_plain(&r));
        }
    }
    r.to[r.length] = '\0';
    *length = r.length;
    return r.to;
}
