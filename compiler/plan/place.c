/* place.c - see place.h. */
#include "place.h"

#include <stdbool.h>
#include <stdlib.h>

void place_init(struct place_set *s, struct arena *a)
{
    *s = (struct place_set){.arena = a};
}

void place_add_phase(struct place_set *s, uint32_t n_bytes, uint32_t first, uint32_t last,
                     uint32_t modulus, uint32_t phase, uint32_t *result)
{
    ARENA_GROW(s->arena, s->buffer, s->n, &s->cap);
    s->buffer[s->n++] = (struct place_buffer){.n_bytes = n_bytes,
                                              .first = first,
                                              .last = last,
                                              .modulus = modulus,
                                              .phase = phase,
                                              .result = result};
}

void place_add(struct place_set *s, uint32_t n_bytes, uint32_t first, uint32_t last,
               uint32_t *result)
{
    place_add_phase(s, n_bytes, first, last, 0, 0, result);
}

static int larger_first(const void *a, const void *b)
{
    const struct place_buffer *x = *(const struct place_buffer *const *)a,
                              *y = *(const struct place_buffer *const *)b;

    if (x->n_bytes != y->n_bytes)
        return x->n_bytes > y->n_bytes ? -1 : 1;
    return x < y ? -1 : 1;
}

/* Return the smallest offset from `at` on that has the buffer's phase modulo its modulus. */
static uint64_t fit(const struct place_buffer *b, uint64_t at, uint32_t align)
{
    uint64_t modulus = b->modulus ? b->modulus : align;

    return at + (modulus + b->phase % modulus - at % modulus) % modulus;
}

/* A placed buffer; those alive at one position are sorted by offset. */
struct placed {
    const struct place_buffer *buffer;
    struct placed *next;
};

static uint32_t begin(const struct place_buffer *b)
{
    return b->first > b->lead ? b->first - b->lead : 0;
}

/* Return the lowest offset at which `b` overlaps none of the placed buffers; at: placed buffers by
 * position. */
static uint64_t lowest_gap(struct placed *const *at, const struct place_buffer *b, uint32_t align)
{
    uint64_t offset = fit(b, 0, align), before;

    do {
        before = offset;
        for (uint32_t i = begin(b); i <= b->last; i++)
            for (const struct placed *k = at[i]; k && k->buffer->offset < offset + b->n_bytes;
                 k = k->next)
                if (offset < k->buffer->offset + k->buffer->n_bytes)
                    offset = fit(b, k->buffer->offset + k->buffer->n_bytes, align);
    } while (offset != before);
    return offset;
}

static void insert(struct arena *a, struct placed **at, const struct place_buffer *b)
{
    struct placed *node =
        begin(b) <= b->last ? ARENA_ARRAY(a, struct placed, b->last - begin(b) + 1) : NULL;

    for (uint32_t i = begin(b); i <= b->last; i++, node++) {
        struct placed **to = &at[i];
        while (*to && (*to)->buffer->offset < b->offset)
            to = &(*to)->next;
        *node = (struct placed){b, *to};
        *to = node;
    }
}

static uint64_t solve(struct place_set *s, struct place_buffer **order, uint32_t end,
                      uint32_t align, uint64_t limit)
{
    struct placed **at = ARENA_ARRAY(s->arena, struct placed *, (size_t)end + 1);
    uint64_t peak = 0;

    for (uint32_t i = 0; i < s->n; i++) {
        struct place_buffer *b = order[i];

        b->offset = lowest_gap(at, b, align);
        if (b->lead > 0 && b->offset + b->n_bytes > limit) {
            b->lead = 0;
            b->offset = lowest_gap(at, b, align);
        }
        insert(s->arena, at, b);
        *b->result = (uint32_t)b->offset;
        if (b->offset + b->n_bytes > peak)
            peak = b->offset + b->n_bytes;
    }
    return peak;
}

/* Drop the leads of buffers that are alive within `around` positions of a buffer that ends above
 * `limit`; false if none had one. */
static bool drop_leads(struct place_set *s, uint64_t limit, uint32_t around)
{
    bool any = false;

    for (uint32_t i = 0; i < s->n; i++) {
        const struct place_buffer *high = &s->buffer[i];

        for (uint32_t k = 0; k < s->n && high->offset + high->n_bytes > limit; k++) {
            struct place_buffer *b = &s->buffer[k];

            if (b->lead == 0 || b->first > high->last + around || high->first > b->last + around)
                continue;
            b->lead = 0;
            any = true;
        }
    }
    return any;
}

uint64_t place_solve(struct place_set *s, uint32_t align, uint64_t limit)
{
    static const uint32_t around[] = {2, 8, UINT32_MAX / 2};
    uint32_t end = 0;
    struct place_buffer **order = ARENA_ARRAY(s->arena, struct place_buffer *, s->n + 1);

    for (uint32_t i = 0; i < s->n; i++) {
        order[i] = &s->buffer[i];
        end = order[i]->last < end ? end : order[i]->last + 1;
    }
    qsort(order, s->n, sizeof *order, larger_first);
    uint64_t peak = solve(s, order, end, align, limit);
    for (uint32_t i = 0; i < sizeof around / sizeof *around && peak > limit; i++)
        if (drop_leads(s, limit, around[i]))
            peak = solve(s, order, end, align, limit);
    return peak;
}

uint32_t place_bound(const struct place_set *s)
{
    uint32_t bound = 0;

    for (uint32_t i = 0; i < s->n; i++) {
        uint64_t sum = 0;
        for (uint32_t k = 0; k < s->n; k++)
            if (s->buffer[k].first <= s->buffer[i].first && s->buffer[i].first <= s->buffer[k].last)
                sum += s->buffer[k].n_bytes;
        if (sum > bound)
            bound = (uint32_t)sum;
    }
    return bound;
}
