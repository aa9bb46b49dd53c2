/* expression.c - see expression.h. */
#include "expression.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct reading {
    const char *at;
    expression_name *name;
    void *ctx;
    uint32_t depth;
    char *error; /* "" so far */
};

enum { MOST_NESTED = 32 };

static int64_t sum(struct reading *r);

static int64_t wrong(struct reading *r, const char *expected)
{
    if (!*r->error)
        snprintf(r->error, EXPRESSION_ERROR, "expected %s, found %s%.20s%s", expected,
                 *r->at ? "'" : "the end", r->at, *r->at ? "'" : "");
    return 0;
}

static bool take(struct reading *r, char c)
{
    r->at += strspn(r->at, " ");
    if (*r->at != c)
        return false;
    r->at++;
    r->at += strspn(r->at, " ");
    return true;
}

static int64_t within(double v)
{
    return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : (int64_t)v;
}

static int64_t number(struct reading *r)
{
    int64_t n = 0;

    for (; *r->at >= '0' && *r->at <= '9'; r->at++)
        n = within(10 * (double)n + (*r->at - '0'));
    return n;
}

static int64_t name(struct reading *r)
{
    char error[EXPRESSION_ERROR] = "";
    int64_t value = 0;
    const uint32_t n_bytes = r->name(r->ctx, r->at, &value, error);

    if (!n_bytes && !*r->error)
        memcpy(r->error, error, sizeof error);
    r->at += n_bytes;
    return within((double)value);
}

static int64_t factor(struct reading *r)
{
    if (*r->at >= '0' && *r->at <= '9')
        return number(r);
    if (*r->at >= 'a' && *r->at <= 'z')
        return name(r);
    if (r->depth == MOST_NESTED || !take(r, '('))
        return wrong(r, "a number, a name or '('");
    r->depth++;
    const int64_t v = sum(r);
    r->depth--;
    return take(r, ')') ? v : wrong(r, "')'");
}

static int64_t product(struct reading *r)
{
    int64_t v = factor(r);

    for (;;) {
        if (take(r, '*')) {
            v = within((double)v * (double)factor(r));
        } else if (take(r, '/')) {
            const int64_t by = factor(r);
            v = by ? v / by : 0;
        } else {
            return v;
        }
    }
}

static int64_t sum(struct reading *r)
{
    int64_t v = product(r);

    for (;;) {
        if (take(r, '+'))
            v = within((double)v + (double)product(r));
        else if (take(r, '-'))
            v = within((double)v - (double)product(r));
        else
            return v;
    }
}

int64_t expression_value(const char *text, expression_name *name_of, void *ctx, char *error)
{
    struct reading r = {
        .at = text + strspn(text, " "), .name = name_of, .ctx = ctx, .error = error};

    *error = '\0';
    const int64_t v = sum(&r);
    return *r.at ? wrong(&r, "+, -, * or /") : v;
}
