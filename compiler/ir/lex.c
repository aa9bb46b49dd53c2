/* lex.c - see lex.h. */
#include "lex.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum status lex_fail(const struct lex *l, const char *expected)
{
    const size_t n = strcspn(l->p, " \t\r\n");

    if (*l->p == '\0')
        return FAIL(l->d, ST_MODEL, "line %u: expected %s, found the end of the text", l->line,
                    expected);
    return FAIL(l->d, ST_MODEL, "line %u: expected %s, found '%.*s'", l->line, expected,
                n < 40 ? (int)n : 40, l->p);
}

void lex_skip(struct lex *l)
{
    for (;; l->p++) {
        if (*l->p == '#')
            l->p += strcspn(l->p, "\n");
        if (*l->p == '\n')
            l->line++;
        else if (*l->p != ' ' && *l->p != '\t' && *l->p != '\r')
            return;
    }
}

bool lex_at_end(struct lex *l)
{
    lex_skip(l);
    return *l->p == '\0';
}

bool lex_take(struct lex *l, char c)
{
    lex_skip(l);
    if (*l->p != c || c == '\0')
        return false;
    l->p++;
    return true;
}

enum status lex_want(struct lex *l, char c)
{
    if (lex_take(l, c))
        return ST_OK;
    return lex_fail(l, (const char[]){'\'', c, '\'', '\0'});
}

static size_t name_length(const char *p)
{
    size_t n = 0;

    while (isalnum((unsigned char)p[n]) || p[n] == '_')
        n++;
    return n;
}

enum status lex_name(struct lex *l, char *name)
{
    size_t n;

    lex_skip(l);
    n = name_length(l->p);
    if (n == 0 || n >= LEX_NAME_BYTES)
        return lex_fail(l, "a name");
    memcpy(name, l->p, n);
    name[n] = '\0';
    l->p += n;
    return ST_OK;
}

bool lex_key(struct lex *l, char *name)
{
    size_t n;

    lex_skip(l);
    n = name_length(l->p);
    if (n == 0 || n >= LEX_NAME_BYTES || l->p[n] != '=')
        return false;
    memcpy(name, l->p, n);
    name[n] = '\0';
    l->p += n + 1;
    return true;
}

enum status lex_int(struct lex *l, int64_t low, int64_t high, int64_t *v)
{
    char *end;
    long long value;

    lex_skip(l);
    errno = 0;
    value = strtoll(l->p, &end, 10);
    if (end == l->p || errno != 0)
        return lex_fail(l, "a number");
    if (value < low || value > high)
        return FAIL(l->d, ST_MODEL, "line %u: expected a number from %lld to %lld, found %lld",
                    l->line, (long long)low, (long long)high, value);
    l->p = end;
    *v = value;
    return ST_OK;
}

enum status lex_u32(struct lex *l, uint32_t *v)
{
    int64_t value;

    TRY(lex_int(l, 0, UINT32_MAX, &value));
    *v = (uint32_t)value;
    return ST_OK;
}

static enum status lex_float(struct lex *l, float *v)
{
    char *end;

    lex_skip(l);
    *v = strtof(l->p, &end);
    if (end == l->p)
        return lex_fail(l, "a number");
    l->p = end;
    return ST_OK;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Return the character that follows a backslash in a string; 0 if the escape is unknown. */
static char escaped(struct lex *l)
{
    const char c = *l->p++;
    int high, low;

    if (c == '"' || c == '\\')
        return c;
    if (c != 'x')
        return '\0';
    high = hex_digit(l->p[0]);
    low = high < 0 ? -1 : hex_digit(l->p[1]);
    if (low < 0)
        return '\0';
    l->p += 2;
    return (char)(high * 16 + low);
}

enum status lex_string(struct lex *l, const char **s)
{
    char *copy;
    size_t n = 0;

    TRY(lex_want(l, '"'));
    copy = arena_alloc(l->arena, strcspn(l->p, "\n") + 1);
    while (*l->p != '"') {
        char c = *l->p;

        if (c == '\0' || c == '\n')
            return lex_fail(l, "'\"'");
        l->p++;
        if (c == '\\') {
            const char *at = l->p;

            c = *at == '\0' ? '\0' : escaped(l);
            if (c == '\0') {
                l->p = at;
                return lex_fail(l, "\\\", \\\\ or \\xHH");
            }
        }
        copy[n++] = c;
    }
    l->p++;
    *s = copy;
    return ST_OK;
}

/* Count the elements of a list up to its ')': an upper bound for the array. */
static size_t list_bound(const char *p)
{
    size_t n = 1;

    for (; *p != '\0' && *p != ')'; p++)
        n += *p == ',';
    return n;
}

enum status lex_ints(struct lex *l, int64_t low, int64_t high, int64_t none, uint32_t *n,
                     int64_t **v)
{
    TRY(lex_want(l, '('));
    *v = ARENA_ARRAY(l->arena, int64_t, list_bound(l->p));
    *n = 0;
    if (lex_take(l, ')'))
        return ST_OK;
    do {
        lex_skip(l);
        if (*l->p == '-' && (l->p[1] == ',' || l->p[1] == ')')) {
            l->p++;
            (*v)[(*n)++] = none;
        } else {
            TRY(lex_int(l, low, high, &(*v)[*n]));
            ++*n;
        }
    } while (lex_take(l, ','));
    return lex_want(l, ')');
}

enum status lex_floats(struct lex *l, uint32_t *n, float **v)
{
    TRY(lex_want(l, '('));
    *v = ARENA_ARRAY(l->arena, float, list_bound(l->p));
    *n = 0;
    do {
        TRY(lex_float(l, &(*v)[*n]));
        ++*n;
    } while (lex_take(l, ','));
    return lex_want(l, ')');
}

enum status lex_hex(struct lex *l, uint8_t *p, size_t max, size_t *n)
{
    lex_skip(l);
    for (;;) {
        const int high = hex_digit(l->p[0]);
        const int low = high < 0 ? -1 : hex_digit(l->p[1]);

        if (low < 0)
            break;
        if (*n >= max)
            return FAIL(l->d, ST_MODEL, "line %u: expected %zu bytes of data, found more", l->line,
                        max);
        p[(*n)++] = (uint8_t)(high * 16 + low);
        l->p += 2;
    }
    if (*l->p != '\0' && !isspace((unsigned char)*l->p))
        return lex_fail(l, "pairs of hexadecimal digits");
    return ST_OK;
}
