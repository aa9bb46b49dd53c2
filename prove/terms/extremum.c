/* extremum.c - the largest or smallest of a set of terms. The set is flat (a member is no set of
 * its kind), without doubles, and without members that others always exceed. A function that never
 * falls goes inside: g(max(a, b)) = max(g(a), g(b)). */
#include "value.h"

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
    for (uint32_t i = 0; i < all; i++) { /* what reaches `low` at most is never alone the largest */
        const struct prove_term *x = &p->term[m[i]];

        if ((sign > 0 ? x->high : -x->low) > low)
            m[kept++] = m[i];
    }
    if (low == high)
        return prove_constant((int8_t)(sign * low));
    /* Of those left out one may be a constant `low` that the others do not always reach. */
    int32_t rest = INT32_MIN;
    for (uint32_t i = 0; i < kept; i++) {
        const struct prove_term *x = &p->term[m[i]];
        const int32_t a = sign > 0 ? x->low : -x->high;
        rest = a > rest ? a : rest;
    }
    if (rest < low && kept < all)
        m[kept++] = prove_constant((int8_t)(sign * low));
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
