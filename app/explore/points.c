/* points.c - see points.h. */
#include "points.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "hw/gen/accel.h"
#include "sim/build/hash.h"

enum { KIB = 8 * 1024 }; /* bits */

/* A run, to be sorted by configuration. */
struct entry {
    const struct suite_run *run;
    uint32_t number;
};

static int by_configuration(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    const int order = strcmp(x->run->configuration, y->run->configuration);

    return order ? order : (x->number > y->number) - (x->number < y->number);
}

static int by_place(const void *a, const void *b)
{
    const struct entry *const *x = a, *const *y = b;

    return ((*x)->number > (*y)->number) - ((*x)->number < (*y)->number);
}

/* Set the sizes, costs and key of a point from its runs. */
static enum status describe(struct explore_space *s, struct explore_point *p, struct diag *d)
{
    struct diag own = {0};
    struct hash128 h;
    struct area area;
    struct area_model model;

    hash_init(&h);
    for (uint32_t i = 0; i < s->n_network; i++)
        hash_string(&h, p->run[i]->key);
    p->key = hash_text(s->arena, &h);
    p->cycles = ARENA_ARRAY(s->arena, double, s->n_network);
    p->cost[EXPLORE_MS] = -1;
    p->lut4_by = "";
    if (pipeline_config(s->arena, p->hw, &p->config, &own) != ST_OK) {
        p->wrong = arena_strdup(s->arena, own.text);
        p->tried = true;
        s->n_wrong++;
        return ST_OK;
    }
    TRY(area_of(s->arena, &p->config, &area, d));
    p->cost[EXPLORE_MULTIPLIERS] = area.multipliers;
    p->cost[EXPLORE_MEMORY] = area.memory_bits / KIB;
    p->cost[EXPLORE_BUS] = p->config.axi_bytes;
    p->cost[EXPLORE_LUT4] = area.lut4;
    p->lut4_by = area_origin(&area);
    TRY(area_model_of(s->arena, &p->config, &model, d));
    p->lut4_model = model.whole[AREA_LUT4];
    return ST_OK;
}

/* --- axes ------------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* Set at[axis] of all points to the place of their `value` among all values, smallest first. */
static void place(struct explore_space *s, uint32_t axis, const uint32_t *value)
{
    uint32_t *sorted = arena_memdup(s->arena, value, (s->n + 1u) * sizeof *value), n = 0;

    qsort(sorted, s->n, sizeof *sorted, by_value);
    for (uint32_t i = 0; i < s->n; i++)
        if (i == 0 || sorted[i] != sorted[i - 1])
            sorted[n++] = sorted[i];
    for (uint32_t i = 0; i < s->n; i++) {
        const uint32_t *found = bsearch(&value[i], sorted, n, sizeof *sorted, by_value);
        s->point[i].at[axis] = (uint32_t)(found - sorted);
    }
}

static bool is_size(const char *name, size_t n)
{
    const struct accel_size *size = accel_sizes;

    while (size->name && (strlen(size->name) != n || strncmp(size->name, name, n) != 0))
        size++;
    return size->name != NULL;
}

/* Return the parts of a configuration's name that are no sizes: its options. */
static const char *options_of(struct arena *a, const char *name)
{
    struct text t;

    text_init(&t, a);
    text_add(&t, "");
    for (const char *comma; (comma = strchr(name, ',')) != NULL; name = comma + 1)
        if (!is_size(comma + 1, strcspn(comma + 1, "=")))
            text_add_n(&t, comma, 1 + strcspn(comma + 1, ","));
    return t.data;
}

static void place_options(struct explore_space *s, uint32_t axis)
{
    const char **known = ARENA_ARRAY(s->arena, const char *, s->n + 1u);
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->n; i++) {
        const char *options = options_of(s->arena, s->point[i].name);
        uint32_t k = 0;
        while (k < n && strcmp(known[k], options) != 0)
            k++;
        if (k == n)
            known[n++] = options;
        s->point[i].at[axis] = k;
    }
}

static void place_all(struct explore_space *s)
{
    uint32_t *value = ARENA_ARRAY(s->arena, uint32_t, s->n + 1u), axis = 0;

    place_options(s, axis++);
    for (const struct accel_size *size = accel_sizes; size->name && axis < EXPLORE_AXES; size++) {
        for (uint32_t i = 0; i < s->n; i++)
            value[i] = accel_is_side(size) /* lanes that a side lacks: 0 for a square of any n */
                           ? s->point[i].config.n - accel_size_of(&s->point[i].config, size)
                           : accel_size_of(&s->point[i].config, size);
        place(s, axis++, value);
    }
}

int explore_by_time(const void *a, const void *b)
{
    const struct explore_point *const *x = a, *const *y = b;
    const double s = (*x)->cost[EXPLORE_MS], t = (*y)->cost[EXPLORE_MS];

    if ((s < 0) != (t < 0))
        return s < 0 ? 1 : -1;
    return s < t ? -1 : s > t ? 1 : (*x > *y) - (*x < *y);
}

bool explore_adjacent(const struct explore_point *p, const struct explore_point *q)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < EXPLORE_AXES; i++) {
        const uint32_t x = p->at[i], y = q->at[i];
        if (x != y && x != y + 1 && y != x + 1)
            return false;
        n += x != y;
    }
    return n == 1;
}

/* --- points ----------------------------------------------------------------------------------- */

/* The name of what a configuration runs: network, engine and options. */
static const char *network_of(struct arena *a, const struct suite_run *r)
{
    return *r->options ? arena_printf(a, "%s %s", r->network, r->options)
                       : arena_strdup(a, r->network);
}

/* Return true if run i of each point is of the same network. */
static bool same_networks(const struct explore_point *p, const struct explore_point *first,
                          uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(p->run[i]->network, first->run[i]->network) != 0 ||
            strcmp(p->run[i]->options, first->run[i]->options) != 0 ||
            strcmp(p->run[i]->engine, first->run[i]->engine) != 0)
            return false;
    return true;
}

enum status explore_points(struct arena *a, const struct suite *suite, struct explore_space *s,
                           struct diag *d)
{
    struct entry *entry = ARENA_ARRAY(a, struct entry, suite->n + 1u), **first;
    const struct suite_run **run = ARENA_ARRAY(a, const struct suite_run *, suite->n + 1u);

    *s = (struct explore_space){.arena = a, .suite = suite};
    for (uint32_t i = 0; i < suite->n; i++)
        entry[i] = (struct entry){&suite->run[i], i};
    qsort(entry, suite->n, sizeof *entry, by_configuration);
    first = ARENA_ARRAY(a, struct entry *, suite->n + 1u);
    for (uint32_t i = 0; i < suite->n; i++) {
        run[i] = entry[i].run;
        if (i == 0 || strcmp(run[i]->configuration, run[i - 1]->configuration) != 0)
            first[s->n++] = &entry[i];
    }
    s->n_network = suite->n / (s->n ? s->n : 1);
    qsort(first, s->n, sizeof(struct entry *), by_place);
    s->point = ARENA_ARRAY(a, struct explore_point, s->n + 1u);
    s->network = ARENA_ARRAY(a, const char *, s->n_network + 1u);
    for (uint32_t i = 0; i < s->n; i++) {
        struct explore_point *p = &s->point[i];
        const size_t at = (size_t)(first[i] - entry);
        *p = (struct explore_point){
            .name = run[at]->configuration, .hw = run[at]->hw, .run = &run[at]};
        if (s->n_network * s->n != suite->n || at + s->n_network > suite->n ||
            strcmp(run[at + s->n_network - 1]->configuration, p->name) != 0 ||
            !same_networks(p, &s->point[0], s->n_network))
            return FAIL(d, ST_USAGE,
                        "%s: not all configurations have the same networks, engines, options and "
                        "seeds as '%s'; explore compares those of one block",
                        suite->path, s->point[0].name);
        TRY(describe(s, p, d));
    }
    for (uint32_t i = 0; i < s->n_network; i++)
        s->network[i] = network_of(a, s->point[0].run[i]);
    place_all(s);
    return ST_OK;
}
