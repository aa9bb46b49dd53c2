/* size.c - bytes as an expression of a target.json: whole numbers, values of the operator and int
 * attributes, joined by + - * / and parentheses. A quotient rounds towards 0; division by 0 gives
 * 0. */
#include <stdio.h>
#include <string.h>

#include "describe.h"

struct reading {
    const struct target_desc *desc;
    const struct target *target;        /* NULL: only the form is checked, and names have value 1 */
    const struct target_values *values; /* NULL then */
    const char *at;
    uint32_t depth;
    char *error; /* "" so far */
};

enum { ERROR_BYTES = 160, MOST_NESTED = 32 };

static int64_t sum(struct reading *r);

static int64_t wrong(struct reading *r, const char *expected)
{
    if (!*r->error)
        snprintf(r->error, ERROR_BYTES, "expected %s, found %s%.20s%s", expected,
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
    struct describe_word w;

    describe_word(r->desc, NULL, r->at, &w);
    const bool attr = w.attr < r->desc->n_attr && r->desc->attr[w.attr].type == TARGET_INT;
    if (w.value == TARGET_VALUE_COUNT && !attr) {
        const char *near = describe_near_word(r->desc, NULL, r->at, w.n_bytes, false);
        if (!*r->error)
            snprintf(r->error, ERROR_BYTES,
                     "'%.*s' is not a value or an attribute of type int%s%s%s",
                     w.n_bytes < 40 ? (int)w.n_bytes : 40, r->at, near ? "; did you mean '" : "",
                     near ? near : "", near ? "'?" : "");
        return 0;
    }
    r->at += w.n_bytes;
    if (!r->target)
        return 1;
    return within((double)(attr ? r->target->setting[w.attr].number : r->values->v[w.value]));
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

static int64_t all(struct reading *r)
{
    r->at += strspn(r->at, " ");
    const int64_t v = sum(r);

    return *r->at ? wrong(r, "+, -, * or /") : v;
}

const char *describe_bad_size(const struct target_desc *desc, const char *text)
{
    static _Thread_local char error[ERROR_BYTES];
    struct reading r = {.desc = desc, .at = text, .error = error};

    *error = '\0';
    (void)all(&r);
    return *error ? error : NULL;
}

uint32_t describe_size(const struct target *t, const char *text, const struct target_values *v)
{
    char error[ERROR_BYTES] = "";
    struct reading r = {.desc = t->desc, .target = t, .values = v, .at = text, .error = error};
    const int64_t n = all(&r);

    return n > 0 ? (uint32_t)n : 0;
}
