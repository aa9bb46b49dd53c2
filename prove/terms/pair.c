/* pair.c - functions of two bytes, by their 65,536 results. */
#include <string.h>

#include "normal.h"

/* The places along argument k where either changes, and which piece of each begins there. False: too many. */
static bool join_places(struct prove_draft *d, uint32_t k, const struct prove_view *a,
                        const struct prove_view *b, uint32_t piece[2][256])
{
    uint32_t i = 0, j = 0, n = 0;

    for (;; n++) {
        if (n == 256)
            return false;
        d->at[k][n] = a->at[k][i] > b->at[k][j] ? a->at[k][i] : b->at[k][j];
        piece[0][n] = i;
        piece[1][n] = j;
        const int64_t next_a = i + 1 < a->n[k] ? a->at[k][i + 1] : INT64_MAX,
                      next_b = j + 1 < b->n[k] ? b->at[k][j + 1] : INT64_MAX;
        if (next_a == INT64_MAX && next_b == INT64_MAX)
            break;
        i += next_a <= next_b;
        j += next_b <= next_a;
    }
    d->n[k] = n + 1;
    return true;
}

/* Both are functions of the same arguments. */
static bool draft_same(struct prove_draft *d, const int8_t *table, const struct prove_view *a,
                       const struct prove_view *b)
{
    uint32_t row[2][256], column[2][256];

    if (!join_places(d, 0, a, b, row) || !join_places(d, 1, a, b, column))
        return false;
    for (uint32_t i = 0; i < d->n[0]; i++)
        for (uint32_t j = 0; j < d->n[1]; j++)
            d->value[(size_t)i * d->n[1] + j] =
                table[(a->value[row[0][i] * a->n[1] + column[0][j]] + 128) * 256 +
                      b->value[row[1][i] * b->n[1] + column[1][j]] + 128];
    return true;
}

static void draft_pair(struct prove_draft *d, const int8_t *table, const struct prove_view *a,
                       const struct prove_view *b)
{
    d->n[0] = a->n[0];
    d->n[1] = b->n[0];
    memcpy(d->at[0], a->at[0], a->n[0] * sizeof *a->at[0]);
    memcpy(d->at[1], b->at[0], b->n[0] * sizeof *b->at[0]);
    for (uint32_t i = 0; i < a->n[0]; i++)
        for (uint32_t j = 0; j < b->n[0]; j++)
            d->value[(size_t)i * b->n[0] + j] =
                table[(a->value[i] + 128) * 256 + b->value[j] + 128];
}

/* A table of pairs that is the larger, or the smaller, of a table of each. */
struct extremum_of {
    enum prove_kind kind; /* PROVE_FUNCTION: it is neither */
    int8_t by[2][256];
};

/* If a result is the smaller of by[0][a] and by[1][b], by[0][a] is at least the largest result of a, and that serves too:
 * where by[0][a] is larger than all of them, by[1][b] is the result each time. */
static bool is_extremum(const int8_t *table, bool least, int8_t by[2][256])
{
    for (uint32_t i = 0; i < 256; i++)
        by[0][i] = by[1][i] = least ? INT8_MIN : INT8_MAX;
    for (uint32_t i = 0; i < 65536; i++)
        for (uint32_t k = 0; k < 2; k++) {
            int8_t *of = &by[k][k == 0 ? i / 256 : i % 256];

            *of = (table[i] > *of) == least ? table[i] : *of;
        }
    for (uint32_t i = 0; i < 65536; i++) {
        const int8_t a = by[0][i / 256], b = by[1][i % 256];

        if (table[i] != ((a < b) == least ? a : b))
            return false;
    }
    return true;
}

static bool same_arguments(const struct prove_view *a, const struct prove_view *b)
{
    return a->arg[0] == b->arg[0] && a->arg[1] == b->arg[1];
}

/* What both are functions of, if that is the same; else each as one argument, not `deep`: as a value. */
static bool views_of(const struct prove *p, const uint32_t id[2], struct prove_view v[2])
{
    for (uint32_t k = 0; k < 2; k++)
        v[k] = prove_view(&p->term[id[k]]);
    if (same_arguments(&v[0], &v[1]))
        return true;
    for (uint32_t k = 0; k < 2; k++)
        v[k] = prove_one_argument(&p->term[id[k]]);
    if (same_arguments(&v[0], &v[1]))
        return true;
    for (uint32_t k = 0; k < 2 && !p->deep; k++)
        v[k] = prove_leaf_view(&p->term[id[k]]);
    return false;
}

/* The entry of a table of pairs; its result is a struct extremum_of. */
static const struct prove_known *pairs_known(struct prove *p, const int8_t *table)
{
    struct extremum_of *e;

    if (p->pairs && p->pairs_at == table)
        return p->pairs;
    p->pairs_at = table;
    p->pairs = prove_know(p, PROVE_OF_PAIRS, table, 65536);
    if (!p->pairs->result) {
        p->pairs->result = e = ARENA_NEW(p->arena, struct extremum_of);
        e->kind = is_extremum(table, true, e->by)    ? PROVE_LEAST
                  : is_extremum(table, false, e->by) ? PROVE_GREATEST
                                                     : PROVE_FUNCTION;
    }
    return p->pairs;
}

static uint32_t pair_of(struct prove *p, const int8_t *table, const uint32_t id[2])
{
    struct prove_key key = prove_key_of(6, &p->term[id[0]]);
    const struct prove_key other = prove_key_of(6, &p->term[id[1]]);
    struct prove_view v[2];
    const bool same = views_of(p, id, v);

    memcpy(key.word + 4, other.word + 1, 3 * sizeof *key.word);
    if (!same && !p->deep) /* leaves: their structure says nothing */
        key.word[1] = key.word[4] = 0;
    key.word[7] = (int64_t)pairs_known(p, table)->number;
    key.word[8] = same;
    void **slot = prove_memo(p, &key);
    if (!*slot) {
        struct prove_draft *d = prove_draft_in(p);

        if (!same)
            draft_pair(d, table, &v[0], &v[1]);
        else if (!draft_same(d, table, &v[0], &v[1]))
            return prove_unknown(p, "two functions of one value with more than 256 pieces");
        *slot = prove_normal(p, d);
    }
    const prove_uwide arg[2] = {v[0].arg[0], same ? v[0].arg[1] : v[1].arg[0]};
    const uint64_t span[2] = {v[0].span[0], same ? v[0].span[1] : v[1].span[0]};
    return prove_term_of(p, *slot, arg, span);
}

/* One of both is a constant: a table of the other. */
static uint32_t with_constant(struct prove *p, const int8_t *table, uint32_t a, uint32_t b)
{
    const bool first = prove_is_constant(a);
    int8_t one[256];

    for (uint32_t i = 0; i < 256; i++)
        one[i] = first ? table[a * 256 + i] : table[i * 256 + b];
    return prove_table(p, one, first ? b : a);
}

/* Table v of set *base is term t: of a set made by a table, or of any set itself. */
static bool by_set(const struct prove *p, uint32_t t, uint32_t *base, const int8_t **by)
{
    const struct prove_set *s = p->term[t].structure;

    if (p->term[t].kind != PROVE_GREATEST && p->term[t].kind != PROVE_LEAST)
        return false;
    *by = s->by;
    *base = s->by ? s->from : t;
    return true;
}

/* Both are functions of one set: so is the result. */
static bool of_one_set(struct prove *p, const int8_t *table, uint32_t a, uint32_t b, uint32_t *y)
{
    uint32_t base[2];
    const int8_t *by[2];
    int8_t both[256];

    if (!by_set(p, a, &base[0], &by[0]) || !by_set(p, b, &base[1], &by[1]) ||
        p->term[base[0]].element != p->term[base[1]].element)
        return false;
    for (int32_t v = -128; v < 128; v++)
        both[v + 128] =
            table[((by[0] ? by[0][v + 128] : v) + 128) * 256 + (by[1] ? by[1][v + 128] : v) + 128];
    *y = prove_table(p, both, base[0]);
    return true;
}

uint32_t prove_pair(struct prove *p, const int8_t *table, uint32_t a, uint32_t b)
{
    const struct extremum_of *e = pairs_known(p, table)->result;
    const uint32_t both[2] = {a, b};
    uint32_t each[2], y;
    struct prove_view v[2];

    if (prove_is_constant(a) || prove_is_constant(b))
        return with_constant(p, table, a, b);
    if (of_one_set(p, table, a, b, &y))
        return y;
    if (e->kind == PROVE_FUNCTION || views_of(p, both, v))
        return pair_of(p, table, both);
    for (uint32_t k = 0; k < 2; k++)
        each[k] = prove_table(p, e->by[k], both[k]);
    return prove_extremum(p, e->kind, each, 2);
}
