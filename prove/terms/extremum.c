/* extremum.c - tables of a term, and the largest or smallest of a set of terms. The set is flat (a member is no set of its
 * kind), without doubles and members that others always exceed; none goes where another is always larger. A table that
 * never falls goes inside: g(max(a, b)) = max(g(a), g(b)); one that never rises, too: min(g(a), g(b)). */
#include <string.h>

#include "normal.h"

/* Add term t, or the members of the set that it is, to m[n]. */
static uint32_t flatten(const struct prove *p, enum prove_kind kind, uint32_t t, uint32_t *m,
                        uint32_t n)
{
    const struct prove_set *s = p->term[t].structure;

    if (p->term[t].kind != kind) {
        m[n++] = t;
        return n;
    }
    for (uint32_t i = 0; i < s->n; i++)
        m[n++] = s->term[i];
    return n;
}

static uint32_t sort(const struct prove *p, uint32_t *m, uint32_t n)
{
    uint32_t kept = 0;

    for (uint32_t i = 1; i < n; i++)
        for (uint32_t j = i; j > 0 && p->term[m[j]].element < p->term[m[j - 1]].element; j--) {
            const uint32_t t = m[j];
            m[j] = m[j - 1];
            m[j - 1] = t;
        }
    for (uint32_t i = 0; i < n; i++)
        if (kept == 0 || p->term[m[i]].element != p->term[m[kept - 1]].element)
            m[kept++] = m[i];
    return kept;
}

/* Over all that members of a set can be, which is more than the set can. Sign 1: the table never falls; -1: never rises. */
static bool never_turns(const struct prove *p, const int8_t table[256], const struct prove_set *s,
                        int32_t sign)
{
    int32_t low = 127, high = -128;

    for (uint32_t i = 0; i < s->n; i++) {
        const struct prove_term *t = &p->term[s->term[i]];

        low = t->low < low ? t->low : low;
        high = t->high > high ? t->high : high;
    }
    for (int32_t v = low; v < high; v++)
        if (sign * table[v + 128] > sign * table[v + 129])
            return false;
    return true;
}

/* The entry of a table; callers ask for one table many times. */
static const struct prove_known *table_known(struct prove *p, const int8_t table[256])
{
    if (!p->table || memcmp(p->table->bytes, table, 256) != 0)
        p->table = prove_know(p, PROVE_OF_TABLE, table, 256);
    return p->table;
}

/* Note that set `id` is a table of set `from`, or of what that one is of. */
static void note_from(struct prove *p, uint32_t id, uint32_t from, const int8_t table[256])
{
    struct prove_set *s = (void *)(uintptr_t)p->term[id].structure;
    const struct prove_set *before = p->term[from].structure;
    int8_t both[256];

    for (uint32_t v = 0; v < 256; v++)
        both[v] = before->by ? table[before->by[v] + 128] : table[v];
    s->by = table_known(p, both)->bytes;
    s->from = before->by ? before->from : from;
}

/* A function that never turns, of each member of a set. */
static uint32_t of_each(struct prove *p, enum prove_kind kind, const int8_t table[256],
                        uint32_t set)
{
    const struct prove_set *s = p->term[set].structure;
    uint32_t *m = ARENA_ARRAY(p->arena, uint32_t, s->n);

    for (uint32_t i = 0; i < s->n; i++)
        m[i] = prove_table(p, table, s->term[i]);
    const uint32_t first = p->n_term, id = prove_extremum(p, kind, m, s->n);
    if (id >= first && p->term[id].kind == kind)
        note_from(p, id, set, table);
    return id;
}

/* The table changes nothing that the term can be. */
static bool keeps(const int8_t table[256], const struct prove_term *t)
{
    for (int32_t v = t->low; v <= t->high; v++)
        if (table[v + 128] != v)
            return false;
    return true;
}

uint32_t prove_table(struct prove *p, const int8_t table[256], uint32_t id)
{
    const struct prove_term *t = &p->term[id];
    struct prove_key key = prove_key_of(4, t);

    if (prove_is_constant(id))
        return prove_constant(table[t->low + 128]);
    if (keeps(table, t))
        return id;
    if (t->kind == PROVE_GREATEST || t->kind == PROVE_LEAST) {
        const enum prove_kind kind = (enum prove_kind)t->kind,
                              other = kind == PROVE_LEAST ? PROVE_GREATEST : PROVE_LEAST;

        if (never_turns(p, table, t->structure, 1))
            return of_each(p, kind, table, id);
        if (never_turns(p, table, t->structure, -1))
            return of_each(p, other, table, id);
    }
    const struct prove_view v = prove_view(t);
    key.word[4] = (int64_t)table_known(p, table)->number;
    void **slot = prove_memo(p, &key);
    if (!*slot) {
        struct prove_draft *d = prove_draft_in(p);

        for (uint32_t k = 0; k < 2; k++) {
            d->n[k] = v.n[k];
            memcpy(d->at[k], v.at[k], v.n[k] * sizeof *v.at[k]);
        }
        for (size_t i = 0; i < (size_t)v.n[0] * v.n[1]; i++)
            d->value[i] = table[v.value[i] + 128];
        *slot = prove_normal(p, d);
    }
    return prove_term_of(p, *slot, v.arg, v.span);
}

uint32_t prove_flip(struct prove *p, uint32_t t)
{
    int8_t table[256];

    for (int32_t v = -128; v < 128; v++)
        table[v + 128] = (int8_t)(v < 0 ? v + 128 : v - 128);
    return prove_table(p, table, t);
}

/* Return member t, or `low` where it is less (more, of the smallest): the set has a member that is always as large. */
static uint32_t above(struct prove *p, int32_t sign, int32_t low, uint32_t t)
{
    int8_t table[256];

    for (int32_t v = -128; v < 128; v++)
        table[v + 128] = (int8_t)(sign * v < low ? sign * low : v);
    return prove_table(p, table, t);
}

uint32_t prove_extremum(struct prove *p, enum prove_kind kind, const uint32_t *t, uint32_t n)
{
    const int32_t sign = kind == PROVE_GREATEST ? 1 : -1;
    uint32_t room = 0, all = 0, kept = 0;
    int32_t low = INT32_MIN, high = INT32_MIN; /* times sign */

    for (uint32_t i = 0; i < n; i++)
        room +=
            p->term[t[i]].kind == kind ? ((const struct prove_set *)p->term[t[i]].structure)->n : 1;
    uint32_t *m = ARENA_ARRAY(p->arena, uint32_t, room);
    for (uint32_t i = 0; i < n; i++)
        all = flatten(p, kind, t[i], m, all);
    for (uint32_t i = 0; i < all; i++) {
        const struct prove_term *x = &p->term[m[i]];
        const int32_t a = sign > 0 ? x->low : -x->high, b = sign > 0 ? x->high : -x->low;

        low = a > low ? a : low;
        high = b > high ? b : high;
    }
    if (low == high)
        return prove_constant((int8_t)(sign * low));
    for (uint32_t i = 0; i < all; i++) { /* what reaches `low` at most is never alone the largest */
        const struct prove_term *x = &p->term[m[i]];

        if ((sign > 0 ? x->high : -x->low) > low)
            m[kept++] = above(p, sign, low, m[i]);
    }
    kept = sort(p, m, kept);
    if (kept == 1)
        return m[0];
    struct prove_set *s = ARENA_NEW(p->arena, struct prove_set);
    prove_uwide *word = ARENA_ARRAY(p->arena, prove_uwide, kept + 1);
    *s = (struct prove_set){.n = kept, .term = m};
    word[0] = 20 + kind; /* unlike other rules' first words */
    for (uint32_t i = 0; i < kept; i++)
        word[1 + i] = p->term[m[i]].element;
    if (sign < 0) {
        const int32_t swap = low;
        low = -high;
        high = -swap;
    }
    const uint32_t id = prove_leaf(p, prove_hash(p, word, kept + 1), low, high);
    p->term[id].kind = (uint8_t)kind;
    p->term[id].structure = s;
    return id;
}
