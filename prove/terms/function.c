/* function.c - functions of one or two integers to a byte, in normal form: the places where the
 * value changes. A function that is an integer plus a constant is that integer; one that never
 * changes is a constant; an argument that changes nothing is left out. So two ways to compute the
 * same function of the same arguments give the same term. */
#include <string.h>

#include "value.h"

/* --- normal forms --- */

struct prove_draft {
    uint32_t n[2];
    int64_t at[2][257];
    int8_t value[256 * 256];
    int64_t bytes[1 + 2 * 257 + 256 * 256 / 8]; /* all that says which function it is */
};

/* Room for a function that is being made; each of its parts is written before it is read. */
static struct prove_draft *draft_in(struct prove *p)
{
    if (!p->draft)
        p->draft = ARENA_NEW(p->arena, struct prove_draft);
    return p->draft;
}

static bool same_row(const struct prove_draft *d, uint32_t i, uint32_t j)
{
    return memcmp(d->value + (size_t)i * d->n[1], d->value + (size_t)j * d->n[1], d->n[1]) == 0;
}

static bool same_column(const struct prove_draft *d, uint32_t i, uint32_t j)
{
    for (uint32_t r = 0; r < d->n[0]; r++)
        if (d->value[(size_t)r * d->n[1] + i] != d->value[(size_t)r * d->n[1] + j])
            return false;
    return true;
}

static void merge_rows(struct prove_draft *d)
{
    uint32_t n = 1;

    for (uint32_t i = 1; i < d->n[0]; i++) {
        if (same_row(d, i, n - 1))
            continue;
        memmove(d->value + (size_t)n * d->n[1], d->value + (size_t)i * d->n[1], d->n[1]);
        d->at[0][n++] = d->at[0][i];
    }
    d->n[0] = n;
}

static void merge_columns(struct prove_draft *d)
{
    const uint32_t before = d->n[1];
    uint32_t n = 1, keep[256] = {0};

    for (uint32_t i = 1; i < before; i++)
        if (!same_column(d, i, keep[n - 1]))
            keep[n++] = i;
    for (uint32_t r = 0; r < d->n[0]; r++)
        for (uint32_t i = 0; i < n; i++)
            d->value[(size_t)r * n + i] = d->value[(size_t)r * before + keep[i]];
    for (uint32_t i = 0; i < n; i++)
        d->at[1][i] = d->at[1][keep[i]];
    d->n[1] = n;
}

/* The function of a draft in normal form: equal ones are one. */
static struct prove_function *function_of(struct prove *p, struct prove_draft *d)
{
    const size_t n = (size_t)d->n[0] * d->n[1];
    int64_t *word = d->bytes;

    *word++ = d->n[0];
    for (uint32_t k = 0; k < 2; word += d->n[k], k++)
        memcpy(word, d->at[k], d->n[k] * sizeof *word);
    memcpy(word, d->value, n);
    struct prove_known *known = prove_know(p, PROVE_OF_FUNCTION, d->bytes,
                                           (size_t)((uint8_t *)word - (uint8_t *)d->bytes) + n);
    if (known->result)
        return known->result;
    struct prove_function *f = ARENA_NEW(p->arena, struct prove_function);
    const int64_t *at = known->bytes;
    int8_t low = 127, high = -128;
    for (size_t i = 0; i < n; i++) {
        low = d->value[i] < low ? d->value[i] : low;
        high = d->value[i] > high ? d->value[i] : high;
    }
    *f = (struct prove_function){.n = {d->n[0], d->n[1]},
                                 .at = {at + 1, at + 1 + d->n[0]},
                                 .value = (const int8_t *)(at + 1 + d->n[0] + d->n[1]),
                                 .number = known->number,
                                 .low = low,
                                 .high = high};
    known->result = f;
    return f;
}

static struct prove_function *normal(struct prove *p, struct prove_draft *d)
{
    merge_rows(d);
    merge_columns(d);
    merge_rows(d);
    return function_of(p, d);
}

/* The function of the arguments exchanged. */
static struct prove_function *turned(struct prove *p, struct prove_function *f)
{
    struct prove_draft *d = draft_in(p);

    if (f->turned)
        return f->turned;
    for (uint32_t k = 0; k < 2; k++) {
        d->n[k] = f->n[1 - k];
        memcpy(d->at[k], f->at[1 - k], d->n[k] * sizeof *d->at[k]);
    }
    for (uint32_t i = 0; i < f->n[0]; i++)
        for (uint32_t j = 0; j < f->n[1]; j++)
            d->value[(size_t)j * f->n[0] + i] = f->value[(size_t)i * f->n[1] + j];
    f->turned = function_of(p, d);
    return f->turned;
}

/* Argument `k` plus a constant, over all of 0 .. span? */
static bool is_argument(const struct prove_function *f, uint32_t k, uint64_t span)
{
    if (f->n[1 - k] != 1 || f->n[k] != span + 1)
        return false;
    for (uint32_t i = 1; i < f->n[k]; i++)
        if (f->value[i] != f->value[i - 1] + 1)
            return false;
    return true;
}

static uint32_t add(struct prove *p, struct prove_term t)
{
    const uint32_t id = prove_leaf(p, t.element, t.low, t.high);

    if (!prove_is_constant(id))
        p->term[id] = t;
    return id;
}

/* The term f(arg[0], arg[1]), which are in 0 .. span. */
static uint32_t term_of(struct prove *p, struct prove_function *f, const prove_uwide arg[2],
                        const uint64_t span[2])
{
    struct prove_term t = {.structure = f, .low = f->low, .high = f->high, .kind = PROVE_FUNCTION};

    if (f->low == f->high)
        return prove_constant((int8_t)f->low);
    for (uint32_t k = 0; k < 2; k++)
        if (is_argument(f, k, span[k]))
            return prove_leaf(p, prove_plus(arg[k], prove_element(f->value[0])), f->low, f->high);
    for (uint32_t k = 0; k < 2; k++) {
        t.arg[k] = f->n[k] > 1 ? arg[k] : 0;
        t.span[k] = (uint32_t)span[k];
    }
    const bool turns = t.arg[0] < t.arg[1];
    const prove_uwide word[] = {3, turns ? turned(p, f)->number : f->number, t.arg[turns],
                                t.arg[!turns]};
    t.element = prove_hash(p, word, 4);
    return add(p, t);
}

/* --- one argument --- */

/* The first place after x where f has another value, or high + 1. Widths are much alike: that of the piece
 * before is tried first. */
static int64_t end_of(prove_curve *f, const void *ctx, int64_t x, int64_t high, int64_t width)
{
    const int8_t v = f(ctx, x);
    int64_t same = x, other = high + 1, step = width > 1 ? width - 1 : 1;

    while (other > high && same + step <= high)
        if (f(ctx, same + step) == v) {
            same += step;
            step = same - x == width - 1 ? 1 : step * 2;
        } else {
            other = same + step;
        }
    while (other - same > 1) {
        const int64_t middle = same + (other - same) / 2;

        if (f(ctx, middle) == v)
            same = middle;
        else
            other = middle;
    }
    return other;
}

static void draft_curve(struct prove_draft *d, prove_curve *f, const void *ctx, int64_t low,
                        int64_t high)
{
    int64_t width = 1;

    d->n[0] = 0;
    d->n[1] = 1;
    d->at[1][0] = 0;
    for (int64_t x = low; x <= high && d->n[0] < 256; x += width) {
        d->at[0][d->n[0]] = x - low;
        d->value[d->n[0]++] = f(ctx, x);
        width = end_of(f, ctx, x, high, width) - x;
    }
}

uint32_t prove_apply(struct prove *p, prove_curve *f, const void *ctx, struct prove_key key,
                     const struct prove_sum *s)
{
    key.word[PROVE_KEY - 2] = s->low;
    key.word[PROVE_KEY - 1] = s->high;
    void **slot = prove_memo(p, &key);
    const prove_uwide arg[2] = {prove_plus(prove_value(s), prove_element(-s->low)), 0};
    const uint64_t span[2] = {(uint64_t)(s->high - s->low), 0};

    if (!*slot) {
        struct prove_draft *d = draft_in(p);

        draft_curve(d, f, ctx, s->low, s->high);
        *slot = normal(p, d);
    }
    return term_of(p, *slot, arg, span);
}

/* --- functions of terms --- */

/* A term as a function of integers from 0 on. A leaf: itself. */
struct view {
    uint32_t n[2];
    const int64_t *at[2];
    const int8_t *value;
    prove_uwide arg[2];
    uint64_t span[2];
};

static const int64_t upwards[256] = {
#define TEN(n) n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7, n + 8, n + 9
    TEN(0),   TEN(10),  TEN(20),  TEN(30),  TEN(40),  TEN(50),  TEN(60),  TEN(70),
    TEN(80),  TEN(90),  TEN(100), TEN(110), TEN(120), TEN(130), TEN(140), TEN(150),
    TEN(160), TEN(170), TEN(180), TEN(190), TEN(200), TEN(210), TEN(220), TEN(230),
    TEN(240), 250,      251,      252,      253,      254,      255};

/* value: room for 256 of a leaf's. */
static struct view view_of(const struct prove_term *t, int8_t value[256])
{
    const struct prove_function *f = t->structure;

    if (t->kind == PROVE_FUNCTION)
        return (struct view){{f->n[0], f->n[1]},
                             {f->at[0], f->at[1]},
                             f->value,
                             {t->arg[0], t->arg[1]},
                             {t->span[0], t->span[1]}};
    for (int32_t i = 0; i <= t->high - t->low; i++)
        value[i] = (int8_t)(t->low + i);
    return (struct view){{(uint32_t)(t->high - t->low + 1), 1},
                         {upwards, upwards},
                         value,
                         {prove_plus(t->element, prove_element(-t->low)), 0},
                         {(uint64_t)(t->high - t->low), 0}};
}

/* Over all that members of a set can be, which is more than the set can. */
static bool never_falls(const struct prove *p, const int8_t table[256], const struct prove_set *s)
{
    int32_t low = 127, high = -128;

    for (uint32_t i = 0; i < s->n; i++) {
        const struct prove_term *t = &p->term[s->term[i]];

        low = t->low < low ? t->low : low;
        high = t->high > high ? t->high : high;
    }
    for (int32_t v = low; v < high; v++)
        if (table[v + 128] > table[v + 129])
            return false;
    return true;
}

/* A function that never falls, of each member of a set. */
static uint32_t of_each(struct prove *p, const int8_t table[256], uint32_t set)
{
    const enum prove_kind kind = (enum prove_kind)p->term[set].kind;
    const struct prove_set *s = p->term[set].structure;
    uint32_t *m = ARENA_ARRAY(p->arena, uint32_t, s->n);

    for (uint32_t i = 0; i < s->n; i++)
        m[i] = prove_table(p, table, s->term[i]);
    return prove_extremum(p, kind, m, s->n);
}

/* What is equal for all terms that share a function of a table. */
static struct prove_key key_of(uint32_t rule, const struct prove_term *t)
{
    return (struct prove_key){
        {rule, t->kind == PROVE_FUNCTION ? (int64_t)(intptr_t)t->structure : 0, t->low, t->high}};
}

/* The entry of a table; callers ask for one table many times. */
static const struct prove_known *table_known(struct prove *p, const int8_t table[256])
{
    if (!p->table || memcmp(p->table->bytes, table, 256) != 0)
        p->table = prove_know(p, PROVE_OF_TABLE, table, 256);
    return p->table;
}

uint32_t prove_table(struct prove *p, const int8_t table[256], uint32_t id)
{
    const struct prove_term *t = &p->term[id];
    struct prove_key key = key_of(4, t);
    int8_t value[256];

    if (prove_is_constant(id))
        return prove_constant(table[t->low + 128]);
    if ((t->kind == PROVE_GREATEST || t->kind == PROVE_LEAST) &&
        never_falls(p, table, t->structure))
        return of_each(p, table, id);
    const struct view v = view_of(t, value);
    key.word[4] = (int64_t)table_known(p, table)->number;
    void **slot = prove_memo(p, &key);
    if (!*slot) {
        struct prove_draft *d = draft_in(p);

        for (uint32_t k = 0; k < 2; k++) {
            d->n[k] = v.n[k];
            memcpy(d->at[k], v.at[k], v.n[k] * sizeof *v.at[k]);
        }
        for (size_t i = 0; i < (size_t)v.n[0] * v.n[1]; i++)
            d->value[i] = table[v.value[i] + 128];
        *slot = normal(p, d);
    }
    return term_of(p, *slot, v.arg, v.span);
}

uint32_t prove_flip(struct prove *p, uint32_t t)
{
    int8_t table[256];

    for (int32_t v = -128; v < 128; v++)
        table[v + 128] = (int8_t)(v < 0 ? v + 128 : v - 128);
    return prove_table(p, table, t);
}

/* A term as one argument: of a function of two, what it gives. */
static struct view one_argument(const struct prove_term *t, int8_t value[256])
{
    struct prove_term leaf = *t;

    if (t->kind != PROVE_FUNCTION || t->arg[0] == 0 || t->arg[1] == 0) {
        struct view v = view_of(t, value);
        if (v.n[0] == 1 && v.n[1] > 1) { /* of its second argument alone */
            v.n[0] = v.n[1];
            v.at[0] = v.at[1];
            v.arg[0] = v.arg[1];
            v.span[0] = v.span[1];
        }
        return v;
    }
    leaf.kind = PROVE_LEAF;
    return view_of(&leaf, value);
}

/* The places along argument k where either changes, and which piece of each begins there. False: too many. */
static bool join_places(struct prove_draft *d, uint32_t k, const struct view *a,
                        const struct view *b, uint32_t piece[2][256])
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
static bool draft_same(struct prove_draft *d, const int8_t *table, const struct view *a,
                       const struct view *b)
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

static void draft_pair(struct prove_draft *d, const int8_t *table, const struct view *a,
                       const struct view *b)
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

/* The larger, or the smaller, of both? */
static bool is_extremum(const int8_t *table, bool least)
{
    for (int32_t a = -128; a < 128; a++)
        for (int32_t b = -128; b < 128; b++)
            if (table[(a + 128) * 256 + b + 128] != ((a < b) == least ? a : b))
                return false;
    return true;
}

static bool same_arguments(const struct view *a, const struct view *b)
{
    return a->arg[0] == b->arg[0] && a->arg[1] == b->arg[1];
}

/* What both are functions of, if that is the same; else each as one argument. */
static bool views_of(const struct prove *p, const uint32_t id[2], struct view v[2],
                     int8_t value[2][256])
{
    for (uint32_t k = 0; k < 2; k++)
        v[k] = view_of(&p->term[id[k]], value[k]);
    if (same_arguments(&v[0], &v[1]))
        return true;
    for (uint32_t k = 0; k < 2; k++)
        v[k] = one_argument(&p->term[id[k]], value[k]);
    return same_arguments(&v[0], &v[1]);
}

/* The entry of a table of pairs; its result is '+' for the larger of both, '-' for the smaller, or '.'. */
static const struct prove_known *pairs_known(struct prove *p, const int8_t *table)
{
    static const char kinds[] = "-+.";

    if (!p->pairs || p->pairs_at != table) {
        p->pairs_at = table;
        p->pairs = prove_know(p, PROVE_OF_PAIRS, table, 65536);
        if (!p->pairs->result)
            p->pairs->result = (void *)(uintptr_t)(is_extremum(table, false)  ? kinds + 1
                                                   : is_extremum(table, true) ? kinds
                                                                              : kinds + 2);
    }
    return p->pairs;
}

static uint32_t pair_of(struct prove *p, const int8_t *table, const uint32_t id[2])
{
    struct prove_key key = key_of(6, &p->term[id[0]]);
    const struct prove_key other = key_of(6, &p->term[id[1]]);
    int8_t value[2][256];
    struct view v[2];
    const bool same = views_of(p, id, v, value);

    /* A function of two arguments counts as a leaf here if the other one is not of the same: its structure
     * says nothing then. */
    memcpy(key.word + 4, other.word + 1, 3 * sizeof *key.word);
    key.word[7] = (int64_t)pairs_known(p, table)->number;
    key.word[8] = same;
    void **slot = prove_memo(p, &key);
    if (!*slot) {
        struct prove_draft *d = draft_in(p);

        if (!same)
            draft_pair(d, table, &v[0], &v[1]);
        else if (!draft_same(d, table, &v[0], &v[1]))
            return prove_unknown(p, "two functions of one value with more than 256 pieces");
        *slot = normal(p, d);
    }
    const prove_uwide arg[2] = {v[0].arg[0], same ? v[0].arg[1] : v[1].arg[0]};
    const uint64_t span[2] = {v[0].span[0], same ? v[0].span[1] : v[1].span[0]};
    return term_of(p, *slot, arg, span);
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

uint32_t prove_pair(struct prove *p, const int8_t *table, uint32_t a, uint32_t b)
{
    const char kind = *(const char *)pairs_known(p, table)->result;
    const uint32_t both[2] = {a, b};
    int8_t value[2][256];
    struct view v[2];

    if (prove_is_constant(a) || prove_is_constant(b))
        return with_constant(p, table, a, b);
    if (kind == '.' || views_of(p, both, v, value))
        return pair_of(p, table, both);
    return prove_extremum(p, kind == '+' ? PROVE_GREATEST : PROVE_LEAST, both, 2);
}
