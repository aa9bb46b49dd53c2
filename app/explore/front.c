/* front.c - see front.h. The volume (hypervolume: Zitzler, Thiele 1998) is that between the points
 * and the corner of the worst values on the front. */
#define _GNU_SOURCE
#include "front.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DIMENSIONS = 4 };
static const enum explore_cost dimension[DIMENSIONS] = {EXPLORE_MS, EXPLORE_MULTIPLIERS,
                                                        EXPLORE_MEMORY, EXPLORE_BUS};

/* Return true if no size of p is above that of q, and one is below. */
static bool smaller(const struct explore_point *p, const struct explore_point *q)
{
    bool below = false;

    for (uint32_t i = 0; i < EXPLORE_AXES; i++) {
        if (p->at[i] > q->at[i])
            return false;
        below = below || p->at[i] < q->at[i];
    }
    return below;
}

static bool beats(const struct explore_point *p, const struct explore_point *q)
{
    bool better = false;

    for (uint32_t i = 0; i < DIMENSIONS; i++) {
        if (p->cost[dimension[i]] > q->cost[dimension[i]])
            return false;
        better = better || p->cost[dimension[i]] < q->cost[dimension[i]];
    }
    return better || smaller(p, q);
}

uint32_t explore_front(struct explore_space *s)
{
    uint32_t *at = ARENA_ARRAY(s->arena, uint32_t, s->n + 1u), n = 0;

    for (uint32_t i = 0; i < s->n; i++) {
        struct explore_point *p = &s->point[i];
        uint32_t kept = 0;
        p->front = p->tried && !p->wrong && p->meets;
        for (uint32_t k = 0; k < n && p->front; k++)
            p->front = !beats(&s->point[at[k]], p);
        if (!p->front)
            continue;
        for (uint32_t k = 0; k < n; k++) {
            s->point[at[k]].front = !beats(p, &s->point[at[k]]);
            if (s->point[at[k]].front)
                at[kept++] = at[k];
        }
        n = kept;
        at[n++] = i;
    }
    return n;
}

/* A corner of a box whose other corner is 0. */
struct box {
    double side[DIMENSIONS];
};

static int by_side(const void *a, const void *b, void *side)
{
    const struct box *x = a, *y = b;
    const uint32_t k = *(const uint32_t *)side;

    return (x->side[k] < y->side[k]) - (x->side[k] > y->side[k]); /* largest first */
}

/* The volume of the union of n boxes in the first `dimensions`, in slices from one's height to the
 * next one's. */
static double volume(const struct box *box, uint32_t n, uint32_t dimensions)
{
    const uint32_t last = dimensions - 1;
    struct box sorted[EXPLORE_CHOSEN];
    double sum = 0;

    memcpy(sorted, box, n * sizeof *box);
    qsort_r(sorted, n, sizeof *sorted, by_side, (void *)(uintptr_t)&last);
    if (last == 0)
        return sorted[0].side[0];
    for (uint32_t i = 0; i < n; i++) {
        const double below = i + 1 < n ? sorted[i + 1].side[last] : 0;
        sum += volume(sorted, i + 1, last) * (sorted[i].side[last] - below);
    }
    return sum;
}

/* How much better than the worst on the front a point is; what is alike for all is 1. */
static struct box box_of(const struct explore_point *p, const double *worst)
{
    struct box b;

    for (uint32_t i = 0; i < DIMENSIONS; i++)
        b.side[i] = 1 + log(worst[i] / fmax(p->cost[dimension[i]], 1e-9));
    return b;
}

static bool among(struct explore_point *const *chosen, uint32_t n, const struct explore_point *p)
{
    while (n > 0 && chosen[n - 1] != p)
        n--;
    return n > 0;
}

uint32_t explore_choose(const struct explore_space *s, uint32_t n, struct explore_point **chosen)
{
    double worst[DIMENSIONS] = {0};
    struct box box[EXPLORE_CHOSEN];
    uint32_t done = 0;

    for (uint32_t i = 0; i < s->n; i++)
        for (uint32_t k = 0; s->point[i].front && k < DIMENSIONS; k++)
            worst[k] = fmax(worst[k], s->point[i].cost[dimension[k]]);
    for (; done < n && done < EXPLORE_CHOSEN; done++) {
        struct explore_point *best = NULL;
        double most = -1;
        for (uint32_t i = 0; i < s->n; i++) {
            if (!s->point[i].front || among(chosen, done, &s->point[i]))
                continue;
            box[done] = box_of(&s->point[i], worst);
            const double v = volume(box, done + 1, DIMENSIONS);
            if (v > most) {
                most = v;
                best = &s->point[i];
            }
        }
        if (!best)
            break;
        chosen[done] = best;
        box[done] = box_of(best, worst);
    }
    return done;
}
