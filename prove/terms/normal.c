/* normal.c - functions of one or two integers to a byte, in normal form: the places where the value
 * changes. A function that is an integer plus a constant is that integer; one that never changes is a
 * constant; an argument that changes nothing is left out. So two ways to compute the same function of the
 * same arguments give the same term. */
#include "normal.h"

#include <string.h>

struct prove_draft *prove_draft_in(struct prove *p)
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

/* The function of a draft in prove_normal form: equal ones are one. */
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

/* The same with one column. */
static void merge_values(struct prove_draft *d)
{
    uint32_t n = 1;

    for (uint32_t i = 1; i < d->n[0]; i++) {
        d->value[n] = d->value[i];
        d->at[0][n] = d->at[0][i];
        n += d->value[n] != d->value[n - 1];
    }
    d->n[0] = n;
}

struct prove_function *prove_normal(struct prove *p, struct prove_draft *d)
{
    if (d->n[1] == 1) {
        merge_values(d);
        return function_of(p, d);
    }
    merge_rows(d);
    merge_columns(d);
    merge_rows(d);
    return function_of(p, d);
}

/* The function of the arguments exchanged. */
static struct prove_function *turned(struct prove *p, struct prove_function *f)
{
    struct prove_draft *d = prove_draft_in(p);

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

uint32_t prove_term_of(struct prove *p, struct prove_function *f, const prove_uwide arg[2],
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
    const prove_uwide word[] = {(prove_uwide)3 << 64 | (turns ? turned(p, f)->number : f->number),
                                t.arg[turns], t.arg[!turns]};
    t.element = prove_hash(p, word, t.arg[!turns] ? 3 : 2);
    return add(p, t);
}

/* --- views --- */

#define TEN(n) n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7, n + 8, n + 9
#define HUNDRED(n)                                                                                 \
    TEN(n), TEN(n + 10), TEN(n + 20), TEN(n + 30), TEN(n + 40), TEN(n + 50), TEN(n + 60),          \
        TEN(n + 70), TEN(n + 80), TEN(n + 90)
#define BYTES(n)                                                                                   \
    HUNDRED(n), HUNDRED(n + 100), TEN(n + 200), TEN(n + 210), TEN(n + 220), TEN(n + 230),          \
        TEN(n + 240), n + 250, n + 251, n + 252, n + 253, n + 254, n + 255
static const int64_t upwards[256] = {BYTES(0)};
static const int8_t bytes[256] = {BYTES(-128)};

struct prove_view prove_view(const struct prove_term *t)
{
    const struct prove_function *f = t->structure;

    if (t->kind == PROVE_FUNCTION)
        return (struct prove_view){{f->n[0], f->n[1]},
                                   {f->at[0], f->at[1]},
                                   f->value,
                                   {t->arg[0], t->arg[1]},
                                   {t->span[0], t->span[1]}};
    return (struct prove_view){{(uint32_t)(t->high - t->low + 1), 1},
                               {upwards, upwards},
                               bytes + t->low + 128,
                               {prove_plus(t->element, prove_element(-t->low)), 0},
                               {(uint64_t)(t->high - t->low), 0}};
}

struct prove_view prove_leaf_view(const struct prove_term *t)
{
    struct prove_term leaf = *t;

    leaf.kind = PROVE_LEAF;
    return prove_view(&leaf);
}

struct prove_view prove_one_argument(const struct prove_term *t)
{
    if (t->kind != PROVE_FUNCTION || t->arg[0] == 0 || t->arg[1] == 0) {
        struct prove_view v = prove_view(t);
        if (v.n[0] == 1 && v.n[1] > 1) { /* of its second argument alone */
            v.n[0] = v.n[1];
            v.at[0] = v.at[1];
            v.arg[0] = v.arg[1];
            v.span[0] = v.span[1];
        }
        return v;
    }
    return prove_leaf_view(t);
}

struct prove_key prove_key_of(uint32_t rule, const struct prove_term *t)
{
    return (struct prove_key){
        {rule, t->kind == PROVE_FUNCTION ? (int64_t)(intptr_t)t->structure : 0, t->low, t->high}};
}
