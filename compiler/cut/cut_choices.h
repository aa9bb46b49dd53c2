/* cut_choices.h - all sizes of parts that give a number of parts within bounds. */
#ifndef HEDDLE_COMPILER_CUT_CUT_CHOICES_H
#define HEDDLE_COMPILER_CUT_CUT_CHOICES_H

#include "cut.h"

struct cut_sizes {
    uint32_t size[CUT_DIMS], n_parts;
};

/* n_found sizes: fewest parts first, then the larger parts of earlier dimensions. */
struct cut_choices {
    uint32_t low, high; /* numbers of parts: more than low, up to high */
    uint32_t n[CUT_DIMS], *size[CUT_DIMS];
    const uint32_t *all;
    uint32_t n_found;
    struct cut_sizes *found;
};

/* Extents `all`; more than `low` parts, up to `high`. */
struct cut_choices cut_choices(struct arena *a, const uint32_t *all, uint32_t low, uint32_t high);

#endif
