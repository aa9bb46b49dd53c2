/* function.c - functions of one integer: curves. */
#include <string.h>

#include "normal.h"

/* --- one argument --- */

/* The first place after x, where f is v, that has another value, or high + 1; that value. Widths are much alike: that
 * of the piece before is tried first. */
static int64_t end_of(prove_curve *f, const void *ctx, int64_t x, int64_t high, int64_t width,
                      int8_t v, int8_t *next)
{
    int64_t same = x, other = high + 1, step = width > 1 ? width - 1 : 1;

    while (other > high && same + step <= high)
        if ((*next = f(ctx, same + step)) == v) {
            same += step;
            step = same - x == width - 1 ? 1 : step * 2;
        } else {
            other = same + step;
        }
    while (other - same > 1) {
        const int64_t middle = same + (other - same) / 2;
        const int8_t there = f(ctx, middle);

        if (there == v) {
            same = middle;
        } else {
            other = middle;
            *next = there;
        }
    }
    return other;
}

/* Where a curve changes, from -limit on, and its values. */
struct places {
    uint32_t n;
    int64_t at[256];
    int8_t value[256];
};

static void find_places(struct places *c, prove_curve *f, const void *ctx, int64_t limit)
{
    int64_t width = 1;
    int8_t v = f(ctx, -limit);

    c->n = 0;
    for (int64_t x = -limit; x <= limit && c->n < 256; x += width) {
        c->at[c->n] = x;
        c->value[c->n++] = v;
        width = end_of(f, ctx, x, limit, width, v, &v) - x;
    }
}

/* The part over low .. high, from low on. */
static void draft_part(struct prove_draft *d, const struct places *c, int64_t low, int64_t high)
{
    uint32_t first = 0, end = c->n;

    while (end - first > 1) {
        const uint32_t middle = first + (end - first) / 2;

        if (c->at[middle] <= low)
            first = middle;
        else
            end = middle;
    }
    d->n[0] = 0;
    d->n[1] = 1;
    d->at[1][0] = 0;
    for (uint32_t i = first; i < c->n && c->at[i] <= high; i++) {
        d->at[0][d->n[0]] = i == first ? 0 : c->at[i] - low;
        d->value[d->n[0]++] = c->value[i];
    }
}

/* A sum of one term that is not constant: whether it is low + each * (t - t->low), or falls. False: neither. */
static bool one_term(const struct prove *p, const struct prove_sum *s, int64_t *each, bool *falls)
{
    if (s->low == s->high || s->only >= p->n_term)
        return false;
    const struct prove_term *t = &p->term[s->only];
    const prove_uwide value = prove_value(s);

    if (t->low == t->high)
        return false;
    *each = (s->high - s->low) / (t->high - t->low);
    for (uint32_t k = 0; k < 2; k++) {
        const int64_t factor = k ? -*each : *each, at = k ? t->high : t->low;

        *falls = k == 1;
        if (*each * (t->high - t->low) == s->high - s->low &&
            value == prove_plus(prove_element(s->low - factor * at),
                                prove_times(prove_element(factor), t->element)))
            return true;
    }
    return false;
}

/* f of a sum of one term: its table. Beyond the term's bounds it stays, so that it turns no more than f. */
static uint32_t apply_to_one(struct prove *p, prove_curve *f, const void *ctx, struct prove_key key,
                             const struct prove_sum *s, int64_t each, bool falls)
{
    const struct prove_term *t = &p->term[s->only];
    const int64_t word[5] = {1 + falls, t->low, t->high, s->low, s->high};

    memcpy(key.word + PROVE_KEY - 5, word, sizeof word);
    void **slot = prove_memo(p, &key);
    if (!*slot) {
        int8_t *table = arena_alloc(p->arena, 256);

        for (int32_t v = -128; v < 128; v++) {
            const int32_t in = v < t->low ? t->low : v > t->high ? t->high : v;

            table[v + 128] = f(ctx, s->low + each * (falls ? t->high - in : in - t->low));
        }
        *slot = table;
    }
    return prove_table(p, *slot, s->only);
}

uint32_t prove_apply(struct prove *p, prove_curve *f, const void *ctx, struct prove_key key,
                     const struct prove_sum *s, int64_t limit)
{
    int64_t each;
    bool falls;

    if (one_term(p, s, &each, &falls))
        return apply_to_one(p, f, ctx, key, s, each, falls);
    key.word[PROVE_KEY - 2] = s->low;
    key.word[PROVE_KEY - 1] = s->high;
    void **slot = prove_memo(p, &key);
    const prove_uwide arg[2] = {prove_plus(prove_value(s), prove_element(-s->low)), 0};
    const uint64_t span[2] = {(uint64_t)(s->high - s->low), 0};

    if (!*slot) {
        struct prove_draft *d = prove_draft_in(p);
        void **all;

        key.word[PROVE_KEY - 2] = 1; /* no low is above its high */
        key.word[PROVE_KEY - 1] = 0;
        all = prove_memo(p, &key);
        if (!*all) {
            *all = ARENA_NEW(p->arena, struct places);
            find_places(*all, f, ctx, limit);
        }
        draft_part(d, *all, s->low, s->high);
        *slot = prove_normal(p, d);
    }
    return prove_term_of(p, *slot, arg, span);
}

uint32_t prove_pieces(struct prove *p, const int64_t *at, const int8_t *value, uint32_t n,
                      prove_uwide arg, uint64_t span)
{
    struct prove_draft *d = prove_draft_in(p);
    const prove_uwide args[2] = {arg, 0};
    const uint64_t spans[2] = {span, 0};

    d->n[0] = n;
    d->n[1] = 1;
    d->at[1][0] = 0;
    memcpy(d->at[0], at, n * sizeof *at);
    memcpy(d->value, value, n);
    return prove_term_of(p, prove_normal(p, d), args, spans);
}
