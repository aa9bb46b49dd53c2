/* npy.c - see npy.h. Format: numpy.lib.format, "\x93NUMPY", version, header length, a Python dict
 * as text: {'descr': '<f4', 'fortran_order': False, 'shape': (1, 8), }. Parsed from left to right
 * like Python, so text inside a string is never a key. */
#include "npy.h"

#include <stdbool.h>
#include <string.h>

enum { DESCR = 1, ORDER = 2, SHAPE = 4, ALL = DESCR | ORDER | SHAPE, MAX_HEADER = 4096 };

struct reader {
    const char *path, *at;
    struct npy *npy;
    struct diag *d;
};

static void blanks(struct reader *r)
{
    r->at += strspn(r->at, " \t\r\n");
}

static bool take(struct reader *r, const char *word)
{
    const size_t n = strlen(word);

    blanks(r);
    if (strncmp(r->at, word, n) != 0)
        return false;
    r->at += n;
    return true;
}

static enum status broken(struct reader *r, const char *expected)
{
    return FAIL(r->d, ST_USAGE, "%s: .npy header: expected %s, found '%.20s'", r->path, expected,
                r->at);
}

/* Read a Python string without escapes into to[size]. */
static enum status string(struct reader *r, char *to, size_t size)
{
    blanks(r);
    const char quote = *r->at;
    const char *end = quote == '\'' || quote == '"' ? strchr(r->at + 1, quote) : NULL;

    if (!end || memchr(r->at, '\\', (size_t)(end - r->at)))
        return broken(r, "a string");
    const size_t n = (size_t)(end - r->at) - 1;

    if (n >= size)
        return broken(r, "a shorter string");
    memcpy(to, r->at + 1, n);
    to[n] = '\0';
    r->at = end + 1;
    return ST_OK;
}

/* Read '<f4' or '|i1': little-endian numbers, or bytes, which have no order. */
static enum status descr(struct reader *r)
{
    char text[64];

    blanks(r);
    if (*r->at == '[' || *r->at == '(')
        return FAIL(r->d, ST_USAGE, "%s: .npy element type: expected numbers, found a structure",
                    r->path);
    TRY(string(r, text, sizeof text));
    const size_t n = strlen(text);
    const bool bytes = n == 3 && text[2] == '1';

    if (n < 3 || n > sizeof r->npy->type || !strchr(bytes ? "<>|=" : "<=", text[0]))
        return FAIL(r->d, ST_USAGE,
                    "%s: .npy element type '%s': expected little-endian numbers such as '<f4' or "
                    "'|i1'",
                    r->path, text);
    memcpy(r->npy->type, text + 1, n);
    return ST_OK;
}

static enum status order(struct reader *r)
{
    if (take(r, "True"))
        return FAIL(r->d, ST_USAGE,
                    "%s: .npy is in Fortran order; save it with numpy.ascontiguousarray", r->path);
    return take(r, "False") ? ST_OK : broken(r, "True or False");
}

static enum status shape(struct reader *r)
{
    struct npy *npy = r->npy;

    if (!take(r, "("))
        return broken(r, "a shape such as (1, 8, 8, 1)");
    for (npy->rank = 0; !take(r, ")"); npy->rank++) {
        uint64_t v = 0;

        blanks(r);
        if (npy->rank == NPY_MAX_RANK || *r->at < '0' || *r->at > '9')
            return broken(r, "a shape such as (1, 8, 8, 1)");
        for (; *r->at >= '0' && *r->at <= '9'; r->at++) {
            if (v > (UINT64_C(1) << 40))
                return broken(r, "smaller dimensions");
            v = 10 * v + (uint64_t)(*r->at - '0');
        }
        npy->dim[npy->rank] = v;
        (void)take(r, "L"); /* Python 2 */
        if (!take(r, ",")) {
            if (!take(r, ")") || npy->rank == 0) /* (8) is a number, (8,) is a shape */
                return broken(r, "',' or ')'");
            npy->rank++;
            return ST_OK;
        }
    }
    return ST_OK;
}

static enum status member(struct reader *r, uint32_t *seen)
{
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    static enum status (*const values[])(struct reader *) = {descr, order, shape};
    char key[32];
    uint32_t k = 0;

    TRY(string(r, key, sizeof key));
    while (k < 3 && strcmp(keys[k], key) != 0)
        k++;
    if (k == 3 || (*seen & 1u << k))
        return FAIL(r->d, ST_USAGE, "%s: .npy header: key '%s' %s", r->path, key,
                    k == 3 ? "is unknown" : "is a duplicate");
    *seen |= 1u << k;
    return take(r, ":") ? values[k](r) : broken(r, "':'");
}

static enum status dict(struct reader *r)
{
    uint32_t seen = 0;

    if (!take(r, "{"))
        return broken(r, "'{'");
    while (!take(r, "}")) {
        TRY(member(r, &seen));
        if (take(r, ","))
            continue;
        if (!take(r, "}"))
            return broken(r, "',' or '}'");
        break;
    }
    if (seen != ALL)
        return FAIL(r->d, ST_USAGE, "%s: .npy header: key '%s' is missing", r->path,
                    !(seen & DESCR)   ? "descr"
                    : !(seen & ORDER) ? "fortran_order"
                                      : "shape");
    blanks(r);
    return *r->at ? broken(r, "its end") : ST_OK;
}

enum status npy_parse(const char *path, const uint8_t *file, size_t n_bytes, struct npy *npy,
                      struct diag *d)
{
    char header[MAX_HEADER];
    struct reader r = {path, header, npy, d};

    *npy = (struct npy){0};
    if (n_bytes < 12 || memcmp(file, "\x93NUMPY", 6) != 0 || file[6] < 1 || file[6] > 3)
        return FAIL(d, ST_USAGE, "%s: not a .npy file of version 1 to 3", path);
    size_t start = file[6] == 1 ? 10 : 12, length = (size_t)file[8] | (size_t)file[9] << 8;
    if (file[6] > 1)
        length |= (size_t)file[10] << 16 | (size_t)file[11] << 24;
    if (length >= sizeof header || start + length > n_bytes)
        return FAIL(d, ST_USAGE, "%s: .npy header of %zu bytes is cut short or too long", path,
                    length);
    memcpy(header, file + start, length);
    npy->data = file + start + length;
    npy->n_bytes = n_bytes - start - length;
    while (length > 0 && strchr(" \n", header[length - 1])) /* padding */
        length--;
    header[length] = '\0';
    return dict(&r);
}
