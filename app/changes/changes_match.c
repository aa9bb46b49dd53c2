/* changes_match.c - see changes_match.h. */
#include "changes_match.h"

#include <string.h>

#include "app/report/report_read.h"

enum { NONE = -1 };

/* The layers of a run: the items of its list before the groups. */
struct layers {
    const cJSON **at;
    int *match; /* index of the layer of the other run, or NONE */
    int n;
};

static struct layers layers_of(struct arena *a, const cJSON *list)
{
    const size_t most = (size_t)cJSON_GetArraySize(list) + 1;
    struct layers l = {ARENA_ARRAY(a, const cJSON *, most), ARENA_ARRAY(a, int, most), 0};
    const cJSON *item;

    cJSON_ArrayForEach(item, list)
    {
        if (report_member(item, "members"))
            continue;
        l.at[l.n] = item;
        l.match[l.n++] = NONE;
    }
    return l;
}

/* Return the operator in a layer's name: 05_conv2d. */
static const char *operator_of(const cJSON *layer)
{
    const char *name = report_word(layer, "name");

    return name + strspn(name, "0123456789");
}

static bool same_tensor(const cJSON *x, const cJSON *y)
{
    return *report_word(x, "tensor") &&
           strcmp(report_word(x, "tensor"), report_word(y, "tensor")) == 0;
}

static bool same_name(const cJSON *x, const cJSON *y)
{
    return strcmp(report_word(x, "name"), report_word(y, "name")) == 0;
}

static bool same_operator(const cJSON *x, const cJSON *y)
{
    return strcmp(operator_of(x), operator_of(y)) == 0;
}

/* Match each free layer of `b` with the first free one of `a` for which `same` holds, among all, or
 * among those between the matches of its neighbours. */
static void match_by(struct layers *a, struct layers *b, bool between,
                     bool (*same)(const cJSON *x, const cJSON *y))
{
    for (int j = 0, from = 0; j < b->n; j++) {
        for (int i = from; b->match[j] == NONE && i < a->n; i++) {
            if (between && a->match[i] != NONE)
                break;
            if (a->match[i] == NONE && same(a->at[i], b->at[j])) {
                a->match[i] = j;
                b->match[j] = i;
            }
        }
        if (between && b->match[j] != NONE)
            from = b->match[j] + 1;
    }
}

/* Merge both runs into rows: those of `b` in order, those of `a` alone before the next matched. */
static uint32_t merge(const struct layers *a, const struct layers *b, struct changes_row *row)
{
    uint32_t n = 0;
    int i = 0;

    for (int j = 0; j <= b->n; j++) {
        const int upto = j == b->n ? a->n : b->match[j];

        for (; i < upto; i++)
            if (a->match[i] == NONE)
                row[n++].of[0] = a->at[i];
        if (j < b->n) {
            row[n].of[0] = b->match[j] == NONE ? NULL : a->at[b->match[j]];
            row[n++].of[1] = b->at[j];
        }
    }
    return n;
}

static struct changes_row *row_of(struct changes_row *row, uint32_t n, int side, const cJSON *layer)
{
    for (uint32_t i = 0; i < n; i++)
        if (row[i].of[side] == layer)
            return &row[i];
    return NULL;
}

static void join(struct changes_row *row, uint32_t n, uint32_t x, uint32_t y)
{
    for (uint32_t i = 0; i < n; i++)
        if (row[i].block == x || row[i].block == y)
            row[i].block = x < y ? x : y;
}

/* Join the rows of each group of a run to a block. */
static void join_groups(struct changes_row *row, uint32_t n, int side, const cJSON *list,
                        const struct layers *l)
{
    const cJSON *group, *member;

    cJSON_ArrayForEach(group, list)
    {
        const struct changes_row *first = NULL;

        cJSON_ArrayForEach(member, report_member(group, "members"))
        {
            const int at = member->valueint;
            const struct changes_row *r =
                at >= 0 && at < l->n ? row_of(row, n, side, l->at[at]) : NULL;

            if (r && first)
                join(row, n, first->block, r->block);
            first = first ? first : r;
        }
    }
}

uint32_t changes_match(struct arena *a, const cJSON *before, const cJSON *after,
                       struct changes_row **rows)
{
    struct layers x = layers_of(a, before), y = layers_of(a, after);

    *rows = ARENA_ARRAY(a, struct changes_row, (size_t)(x.n + y.n) + 1);
    match_by(&x, &y, false, same_tensor);
    match_by(&x, &y, false, same_name);
    match_by(&x, &y, true, same_operator);
    const uint32_t n = merge(&x, &y, *rows);
    for (uint32_t i = 0; i < n; i++)
        (*rows)[i].block = i;
    join_groups(*rows, n, 0, before, &x);
    join_groups(*rows, n, 1, after, &y);
    return n;
}
