/* byte_set.c - see byte_set.h. Ranges are processed word by word. */
#include "byte_set.h"

enum { BITS = 64 };

struct byte_set byte_set_new(struct arena *a, uint64_t n)
{
    return (struct byte_set){n, ARENA_ARRAY(a, uint64_t, n / BITS + 1)};
}

/* Return the bits of word `k` that are in [begin, end). */
static uint64_t mask(uint64_t k, uint64_t begin, uint64_t end)
{
    const uint64_t first = k * BITS;
    uint64_t m = UINT64_MAX;

    if (begin > first)
        m &= UINT64_MAX << (begin - first);
    if (end < first + BITS)
        m &= UINT64_MAX >> (first + BITS - end);
    return m;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

void byte_set_add(struct byte_set *s, uint64_t begin, uint64_t end)
{
    end = least(end, s->n);
    for (uint64_t k = begin / BITS; begin < end && k <= (end - 1) / BITS; k++)
        s->word[k] |= mask(k, begin, end);
}

void byte_set_remove(struct byte_set *s, uint64_t begin, uint64_t end)
{
    end = least(end, s->n);
    for (uint64_t k = begin / BITS; begin < end && k <= (end - 1) / BITS; k++)
        s->word[k] &= ~mask(k, begin, end);
}

void byte_set_take(struct byte_set *s, const struct byte_set *from, uint64_t begin, uint64_t end)
{
    end = least(end, s->n);
    for (uint64_t k = begin / BITS; begin < end && k <= (end - 1) / BITS; k++) {
        const uint64_t m = mask(k, begin, end);
        s->word[k] = (s->word[k] & ~m) | (from->word[k] & m);
    }
}

uint64_t byte_set_missing(const struct byte_set *s, uint64_t begin, uint64_t end)
{
    const uint64_t inside = least(end, s->n);

    for (uint64_t k = begin / BITS; begin < inside && k <= (inside - 1) / BITS; k++) {
        const uint64_t out = mask(k, begin, inside) & ~s->word[k];
        if (out)
            return k * BITS + (uint64_t)__builtin_ctzll(out);
    }
    return inside < end ? (begin > inside ? begin : inside) : end;
}
