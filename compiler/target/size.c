/* size.c - bytes as an expression of a target.json: whole numbers, values of the operator and int
 * attributes, joined by + - * / and parentheses (base/expression.h). */
#include <stdio.h>

#include "base/expression.h"
#include "describe.h"

struct question {
    const struct target_desc *desc;
    const struct target *target;        /* NULL: only the form is checked, and names have value 1 */
    const struct target_values *values; /* NULL then */
};

static uint32_t name(void *ctx, const char *text, int64_t *value, char *error)
{
    const struct question *q = ctx;
    struct describe_word w;

    describe_word(q->desc, NULL, text, &w);
    const bool attr = w.attr < q->desc->n_attr && q->desc->attr[w.attr].type == TARGET_INT;
    if (w.value == TARGET_VALUE_COUNT && !attr) {
        const char *near = describe_near_word(q->desc, NULL, text, w.n_bytes, false);
        snprintf(error, EXPRESSION_ERROR, "'%.*s' is not a value or an attribute of type int%s%s%s",
                 w.n_bytes < 40 ? (int)w.n_bytes : 40, text, near ? "; did you mean '" : "",
                 near ? near : "", near ? "'?" : "");
        return 0;
    }
    *value = !q->target ? 1 : attr ? q->target->setting[w.attr].number : q->values->v[w.value];
    return (uint32_t)w.n_bytes;
}

const char *describe_bad_size(const struct target_desc *desc, const char *text)
{
    static _Thread_local char error[EXPRESSION_ERROR];
    struct question q = {.desc = desc};

    (void)expression_value(text, name, &q, error);
    return *error ? error : NULL;
}

uint32_t describe_size(const struct target *t, const char *text, const struct target_values *v)
{
    char error[EXPRESSION_ERROR];
    struct question q = {t->desc, t, v};
    const int64_t n = expression_value(text, name, &q, error);

    return n > 0 ? (uint32_t)n : 0;
}
