/* value.c - terms: constants, inputs, values without a rule; sums and products of them. */
#include "value.h"

#include <string.h>

enum { FEWEST = 1 << 10, MOST = 1 << 30 };

static uint32_t add(struct prove *p, const struct prove_term *t)
{
    if (p->n_term == p->cap_term) {
        struct prove_term *old = p->term;

        p->cap_term *= 2;
        p->term = ARENA_ARRAY(p->arena, struct prove_term, p->cap_term);
        memcpy(p->term, old, p->n_term * sizeof *old);
    }
    p->term[p->n_term] = *t;
    return p->n_term++;
}

struct prove *prove_new(struct arena *a, uint64_t seed, uint64_t n_term)
{
    struct prove *p = ARENA_NEW(a, struct prove);

    p->arena = a;
    p->seed = seed;
    p->cap_term = n_term < FEWEST ? FEWEST : n_term < MOST ? (uint32_t)n_term : MOST;
    p->term = ARENA_ARRAY(a, struct prove_term, p->cap_term);
    for (int32_t v = -128; v < 128; v++)
        add(p, &(struct prove_term){
                   .element = prove_element(v), .low = (int16_t)v, .high = (int16_t)v});
    return p;
}

prove_uwide prove_hash(const struct prove *p, const prove_uwide *word, uint32_t n)
{
    uint64_t h = prove_mix(p->seed, n), g = prove_mix(~p->seed, n);

    for (uint32_t i = 0; i < n; i++) {
        h = prove_mix(prove_mix(h, (uint64_t)word[i]), (uint64_t)(word[i] >> 64));
        g = prove_mix(prove_mix(g, (uint64_t)(word[i] >> 64)), (uint64_t)word[i]);
    }
    return prove_reduce((prove_uwide)prove_mix(g, p->seed) << 64 | prove_mix(h, p->seed));
}

uint32_t prove_leaf(struct prove *p, prove_uwide h, int32_t low, int32_t high)
{
    if (low == high)
        return prove_constant((int8_t)low);
    return add(p,
               &(struct prove_term){
                   .element = h, .low = (int16_t)low, .high = (int16_t)high, .kind = PROVE_LEAF});
}

uint32_t prove_fresh(struct prove *p)
{
    const prove_uwide word[] = {1, p->fresh++};

    return prove_leaf(p, prove_hash(p, word, 2), -128, 127);
}

uint32_t prove_again(struct prove *p, uint32_t t)
{
    const struct prove_term same = p->term[t];

    return prove_is_constant(t) ? t : add(p, &same);
}

uint32_t prove_input(struct prove *p, uint64_t which, uint64_t index)
{
    const prove_uwide word[] = {2, which, index};

    return prove_leaf(p, prove_hash(p, word, 3), -128, 127);
}

uint32_t prove_unknown(struct prove *p, const char *why)
{
    uint32_t i = 0;

    while (i < p->n_unknown &&
           (p->unknown[i].layer != p->layer || strcmp(p->unknown[i].why, why) != 0))
        i++;
    if (i == p->n_unknown && i < PROVE_MAX_UNKNOWN)
        p->unknown[p->n_unknown++] = (struct prove_unknown){why, p->layer};
    return prove_fresh(p);
}

void prove_add_product(struct prove_sum *s, const struct prove *p, uint32_t a, int64_t offset_a,
                       uint32_t b, int64_t offset_b)
{
    const struct prove_term *x = &p->term[a], *y = &p->term[b];
    const int64_t x0 = x->low + offset_a, x1 = x->high + offset_a, y0 = y->low + offset_b,
                  y1 = y->high + offset_b, corner[4] = {x0 * y0, x0 * y1, x1 * y0, x1 * y1};
    int64_t low = corner[0], high = corner[0];

    for (uint32_t i = 1; i < 4; i++) {
        low = corner[i] < low ? corner[i] : low;
        high = corner[i] > high ? corner[i] : high;
    }
    const prove_uwide product = prove_times(prove_plus(x->element, prove_element(offset_a)),
                                            prove_plus(y->element, prove_element(offset_b)));
    if (low != high)
        prove_one_more(s, prove_is_constant(a) ? b : prove_is_constant(b) ? a : PROVE_NOTHING);
    s->part[0] += (uint64_t)product;
    s->part[1] += (uint64_t)(product >> 64);
    s->low += low;
    s->high += high;
}
