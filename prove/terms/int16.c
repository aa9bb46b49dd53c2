/* int16.c - int16 activations. An element is the integer that its two bytes are, 256 * upper + lower + 128 with the lower
 * byte's top bit flipped; a sum of products of elements is a polynomial of theirs. What is made of it, and of elements, is opaque: of equal parameters and arguments it is equal. */
#include "rules.h"

#include <stdlib.h>
#include <string.h>

enum { SET_BUCKETS = 1 << 16 };
/* What is known of an element. */
struct prove_set16 {
    prove_uwide element; /* the largest or smallest of its members; PROVE_SUM_16: it is 0 or more */
    enum prove_opaque_rule rule;
    uint32_t n;
    const prove_uwide *member;
    struct prove_set16 *next;
};

static struct prove_set16 **bucket_of(struct prove *p, prove_uwide element)
{
    if (!p->sets)
        p->sets = ARENA_ARRAY(p->arena, struct prove_set16 *, SET_BUCKETS);
    return &p->sets[(uint64_t)(element ^ element >> 61) % SET_BUCKETS];
}

static const struct prove_set16 *set_of(struct prove *p, enum prove_opaque_rule rule,
                                        prove_uwide element)
{
    const struct prove_set16 *s = *bucket_of(p, element);

    while (s && (s->element != element || s->rule != rule))
        s = s->next;
    return s;
}

static void keep_set(struct prove *p, const struct prove_set16 *of)
{
    struct prove_set16 **to = bucket_of(p, of->element), *s;

    if (set_of(p, of->rule, of->element))
        return;
    s = ARENA_NEW(p->arena, struct prove_set16);
    *s = *of;
    s->next = *to;
    *to = s;
}

static bool is_positive(struct prove *p, prove_uwide element)
{
    return set_of(p, PROVE_SUM_16, element) != NULL;
}

prove_uwide prove_i16(struct prove *p, const uint32_t x[2])
{
    struct prove_sum s = {0};
    prove_uwide element;

    prove_add(&s, p, x[1], 0, 256);
    prove_add(&s, p, prove_flip(p, x[0]), 128, 1);
    element = prove_value(&s);
    if (p->term[x[1]].low >= 0)
        keep_set(p, &(struct prove_set16){.element = element, .rule = PROVE_SUM_16});
    return element;
}

const prove_uwide *prove_i16s(struct prove *p, const uint32_t *x, size_t n)
{
    prove_uwide *e = ARENA_ARRAY(p->arena, prove_uwide, n + 1);

    for (size_t i = 0; i < n; i++)
        e[i] = prove_i16(p, x + 2 * i);
    return e;
}

static prove_uwide hash_of(struct prove *p, const struct prove_opaque *o)
{
    prove_uwide word[PROVE_PARAMETERS + PROVE_ARGUMENTS + 2] = {15, (prove_uwide)o->rule};

    for (uint32_t i = 0; i < PROVE_PARAMETERS; i++)
        word[2 + i] = (uint64_t)o->parameter[i];
    for (uint32_t i = 0; i < PROVE_ARGUMENTS; i++)
        word[2 + PROVE_PARAMETERS + i] = o->of[i];
    return prove_hash(p, word, sizeof word / sizeof *word);
}

void prove_opaque(struct prove *p, const struct prove_opaque *o, uint32_t *y, uint32_t n)
{
    const prove_uwide all = hash_of(p, o);

    for (uint32_t b = 0; b < n; b++)
        y[b] = prove_leaf(p, prove_hash(p, (const prove_uwide[]){16, all, b}, 3), -128, 127);
}

/* A product by 1 scales the other operand, as QUANTIZE does. */
static struct prove_opaque least_form(const struct prove_opaque *o)
{
    const int64_t *q = o->parameter;

    if (o->rule != PROVE_MUL_16 || (o->of[0] != 1 && o->of[1] != 1))
        return *o;
    return (struct prove_opaque){
        PROVE_UNARY_16, {0, q[0], q[0], q[1], q[1], q[2], q[3]}, {o->of[o->of[0] == 1]}};
}

static int32_t upper_byte(int64_t v)
{
    return (int32_t)((v - (v & UINT8_MAX)) / 256);
}

void prove_opaque16(struct prove *p, const struct prove_opaque *of, int64_t low, int64_t high,
                    uint32_t y[2])
{
    const struct prove_opaque o = least_form(of);
    const prove_uwide all = hash_of(p, &o);

    if (o.rule == PROVE_UNARY_16 && low < 0 && o.parameter[1] >= 0 && is_positive(p, o.of[0]))
        low = 0;
    y[0] = prove_leaf(p, prove_hash(p, (const prove_uwide[]){16, all, 0}, 3), -128, 127);
    y[1] = prove_leaf(p, prove_hash(p, (const prove_uwide[]){16, all, 1}, 3), upper_byte(low),
                      upper_byte(high));
}

void prove_table16(const struct prove *p, const int16_t *table, struct prove_opaque *o)
{
    enum { WORDS = PROVE_CODES_16 * sizeof *table / sizeof(prove_uwide) };
    prove_uwide *word = ARENA_ARRAY(p->arena, prove_uwide, WORDS), all;
    int16_t low = table[0], high = table[0];

    memcpy(word, table, PROVE_CODES_16 * sizeof *table);
    all = prove_hash(p, word, WORDS);
    for (uint32_t i = 1; i < PROVE_CODES_16; i++) {
        low = table[i] < low ? table[i] : low;
        high = table[i] > high ? table[i] : high;
    }
    *o = (struct prove_opaque){
        PROVE_TABLE_16, {(int64_t)(uint64_t)all, (int64_t)(uint64_t)(all >> 64), low, high}, {0}};
}

void prove_tabled16(struct prove *p, const struct prove_opaque *o, uint32_t y[2])
{
    prove_opaque16(p, o, o->parameter[2], o->parameter[3], y);
}

void prove_narrow_by(const struct prove *p, int32_t multiplier, int32_t shift, const int32_t by[3],
                     struct prove_narrow16 *n)
{
    int8_t *pair = ARENA_ARRAY(p->arena, int8_t, PROVE_CODES_16);

    for (int32_t i = 0; i < PROVE_CODES_16; i++) {
        const int32_t v = i - PROVE_CODES_16 / 2 + by[0];

        pair[i] = (int8_t)(v < by[1] ? by[1] : v > by[2] ? by[2] : v);
    }
    n->pair = pair;
    n->scaled = (struct prove_opaque){
        PROVE_UNARY_16, {0, multiplier, multiplier, shift, shift, -256, 255}, {0}};
}

uint32_t prove_narrow(struct prove *p, const struct prove_narrow16 *n, prove_uwide x)
{
    struct prove_opaque o = n->scaled;
    uint32_t y[2];

    o.of[0] = x;
    prove_opaque16(p, &o, -256, 255, y);
    return prove_pair(p, n->pair, y[1], prove_flip(p, y[0]));
}

static int by_value(const void *a, const void *b)
{
    const prove_uwide x = *(const prove_uwide *)a, y = *(const prove_uwide *)b;

    return (x > y) - (x < y);
}

void prove_extremum16(struct prove *p, enum prove_opaque_rule rule, prove_uwide *member, uint32_t n,
                      uint32_t y[2])
{
    uint32_t room = 0, all = 0, kept = 0, positive = 0;

    for (uint32_t i = 0; i < n; i++) {
        const struct prove_set16 *s = set_of(p, rule, member[i]);
        room += s ? s->n : 1;
    }
    prove_uwide *m = ARENA_ARRAY(p->arena, prove_uwide, room);
    for (uint32_t i = 0; i < n; i++) {
        const struct prove_set16 *s = set_of(p, rule, member[i]);

        memcpy(m + all, s ? s->member : &member[i], (s ? s->n : 1) * sizeof *m);
        all += s ? s->n : 1;
    }
    qsort(m, all, sizeof *m, by_value);
    for (uint32_t i = 0; i < all; i++)
        if (i == 0 || m[i] != m[kept - 1])
            m[kept++] = m[i];
    const prove_uwide hash = prove_hash(p, m, kept);
    const struct prove_opaque o = {
        rule, {(int64_t)(uint64_t)hash, (int64_t)(uint64_t)(hash >> 64), kept}, {0}};

    for (uint32_t i = 0; i < kept; i++)
        positive += is_positive(p, m[i]);
    prove_opaque16(p, &o, positive >= (rule == PROVE_LARGEST_16 ? 1 : kept) ? 0 : INT16_MIN,
                   INT16_MAX, y);
    keep_set(p, &(struct prove_set16){prove_i16(p, y), rule, kept, m, NULL});
}

void prove_pair16(struct prove *p, const struct prove_opaque *of, int64_t low, int64_t high,
                  uint32_t y[2])
{
    prove_uwide x[2] = {of->of[0], of->of[1]};

    if (of->rule == PROVE_LARGEST_16 || of->rule == PROVE_SMALLEST_16)
        prove_extremum16(p, of->rule, x, 2, y);
    else
        prove_opaque16(p, of, low, high, y);
}

/* Rounded once: the odd part of the multiplier, and all bits to the right. */
static void rounded_once(struct prove_opaque *o, int64_t multiplier, int64_t right)
{
    for (; multiplier != 0 && multiplier % 2 == 0; right--)
        multiplier /= 2;
    o->parameter[0] = 1;
    o->parameter[1] = multiplier;
    o->parameter[2] = right;
}

static void sum16(struct prove *p, struct prove_opaque *o, int32_t low, int32_t high, uint32_t y[2])
{
    o->parameter[3] = low;
    o->parameter[4] = high;
    prove_opaque16(p, o, low, high, y);
}

void prove_sum16(struct prove *p, const struct prove_sum16 *by, prove_uwide sum, uint32_t y[2])
{
    const int32_t m = by->multiplier;
    struct prove_opaque o = {PROVE_SUM_16, {2, m, by->shift}, {sum}};

    if (!by->narrow)
        rounded_once(&o, m < 0x7fff0000 ? (m + (1 << 15)) >> 16 : 0x7fff, 15 - by->shift);
    else if (by->shift >= 0)
        rounded_once(&o, m, 31 - by->shift);
    sum16(p, &o, by->low, by->high, y);
}

uint32_t prove_half(struct prove *p, const struct prove_sum *s, int32_t multiplier, int32_t shift,
                    int32_t low, int32_t high, bool lower)
{
    struct prove_opaque o = {PROVE_SUM_16, {2, multiplier, shift}, {prove_value(s)}};
    const int64_t most = INT32_MAX >> (shift > 0 ? shift : 0);
    uint32_t y[2];

    if (shift < -31 || shift > 30 || low > high || s->low < -most || s->high > most)
        return prove_unknown(p, "a sum of int16 that may leave 32 bits");
    if (shift >= 0)
        rounded_once(&o, multiplier, 31 - shift);
    sum16(p, &o, low * 256, high * 256 + 255, y);
    return lower ? prove_flip(p, y[0]) : y[1];
}

void prove_sum32(struct prove *p, const struct prove_sum *s, uint32_t y[4])
{
    const struct prove_opaque o = {PROVE_SUM_32, {0}, {prove_value(s)}};

    prove_opaque(p, &o, y, 4);
}

void prove_average16(struct prove *p, const prove_uwide *x, uint32_t n, int32_t low, int32_t high,
                     uint32_t y[2])
{
    struct prove_sum s = {0};

    for (uint32_t i = 0; i < n; i++)
        prove_add_i16(&s, x[i], 1);
    if (n > 1 && n <= 181) {
        const struct prove_sum16 by = {true, (int32_t)((INT64_C(1) << 31) / n + 1), 0, low, high};
        prove_sum16(p, &by, prove_value(&s), y);
        return;
    }
    const struct prove_opaque o = {PROVE_AVERAGE_16, {n, low, high}, {prove_value(&s)}};
    prove_opaque16(p, &o, low, high, y);
}
