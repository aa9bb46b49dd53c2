/* cut_choices.c - see cut_choices.h. */
#include "cut_choices.h"

#include <stdlib.h>

/* Sizes that give different numbers of parts of at most `most`, largest first. */
static uint32_t sizes_of(struct arena *a, uint32_t all, uint32_t most, uint32_t **list)
{
    uint32_t n = 0;

    *list = ARENA_ARRAY(a, uint32_t, most + 1);
    for (uint32_t k = 1; k <= most && k <= all; k++)
        if (n == 0 || cut_steps(all, k) != (*list)[n - 1])
            (*list)[n++] = cut_steps(all, k);
    return n;
}

/* All choices for the dimensions from `d` on; without memory for them only their number. */
static void choose(struct cut_choices *c, uint32_t d, struct cut_sizes *z)
{
    if (d == CUT_DIMS) {
        if (z->n_parts <= c->low)
            return;
        if (c->found)
            c->found[c->n_found] = *z;
        c->n_found++;
        return;
    }
    const uint32_t parts = z->n_parts;
    for (uint32_t i = 0; i < c->n[d]; i++) {
        z->size[d] = c->size[d][i];
        z->n_parts = parts * cut_steps(c->all[d], z->size[d]);
        if (z->n_parts > c->high)
            break;
        choose(c, d + 1, z);
    }
    z->n_parts = parts;
}

/* Fewest parts first; larger parts of earlier dimensions first. */
static int compare(const void *a, const void *b)
{
    const struct cut_sizes *x = a, *y = b;

    if (x->n_parts != y->n_parts)
        return x->n_parts < y->n_parts ? -1 : 1;
    for (uint32_t d = 0; d < CUT_DIMS; d++)
        if (x->size[d] != y->size[d])
            return x->size[d] > y->size[d] ? -1 : 1;
    return 0;
}

struct cut_choices cut_choices(struct arena *a, const uint32_t *all, uint32_t low, uint32_t high)
{
    struct cut_choices c = {.low = low, .high = high, .all = all};
    struct cut_sizes z = {{0}, 1};

    for (uint32_t d = 0; d < CUT_DIMS; d++)
        c.n[d] = sizes_of(a, all[d], high, &c.size[d]);
    choose(&c, 0, &z);
    c.found = ARENA_ARRAY(a, struct cut_sizes, c.n_found + 1);
    c.n_found = 0;
    choose(&c, 0, &z);
    qsort(c.found, c.n_found, sizeof *c.found, compare);
    return c;
}
