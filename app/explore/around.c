/* around.c - see explore.h. Each size of a configuration is halved and doubled, one at a time. */
#include <stdlib.h>
#include <string.h>

#include "explore.h"
#include "hw/gen/accel.h"
#include "sim/build/hash.h"

/* Return the configuration with one size changed (NULL: none) as a value for --hw. */
static const char *hw_of(struct arena *a, const struct hd_config *c,
                         const struct accel_size *changed, uint32_t value)
{
    struct text t;

    text_init(&t, a);
    text_add(&t, "{\"name\":\"around");
    if (changed)
        text_printf(&t, "-%s-%u", changed->name, value);
    text_add(&t, "\"");
    for (const struct accel_size *s = accel_sizes; s->name; s++)
        if (s == changed || !accel_is_side(s) || accel_size_of(c, s) != c->n)
            text_printf(&t, ",\"%s\":%u", s->name, s == changed ? value : accel_size_of(c, s));
    text_add(&t, "}");
    return t.data;
}

/* Append a configuration: the runs of the suite's first one with another --hw. */
static void add(const struct suite *from, struct suite *s, const char *name, const char *hw)
{
    struct arena *a = from->arena;

    for (uint32_t i = 0; i < from->n; i++) {
        const struct suite_run *r = &from->run[i];
        struct hash128 h;
        uint32_t n = 0;

        if (strcmp(r->configuration, from->run[0].configuration) != 0)
            continue;
        while (r->argv[n])
            n++;
        const char **argv = arena_memdup(a, r->argv, (n + 1u) * sizeof *argv);
        for (uint32_t k = 0; k < n; k++)
            if (strncmp(argv[k], "--hw=", 5) == 0)
                argv[k] = arena_printf(a, "--hw=%s", hw);
        hash_init(&h);
        hash_string(&h, r->key);
        hash_string(&h, hw);
        struct suite_run *to = &s->run[s->n++];
        *to = *r;
        to->configuration = name;
        to->argv = argv;
        to->hw = hw;
        to->key = hash_text(a, &h);
        to->label = arena_printf(a, "%s %s%s", r->network, name,
                                 r->label + strlen(r->network) + 1 + strlen(r->configuration));
    }
}

enum status explore_suite_around(const struct suite *from, const char *hw, struct suite *s,
                                 struct diag *d)
{
    struct arena *a = from->arena;
    struct hd_config c;
    uint32_t n_size = 0;

    TRY(pipeline_config(a, hw, &c, d));
    while (accel_sizes[n_size].name)
        n_size++;
    *s = *from;
    s->run = ARENA_ARRAY(a, struct suite_run, (size_t)from->n * (2u * n_size + 1u));
    s->n = 0;
    add(from, s, arena_strdup(a, c.name), hw_of(a, &c, NULL, 0));
    for (const struct accel_size *size = accel_sizes; size->name; size++) {
        const uint32_t value = accel_size_of(&c, size), to[2] = {value / 2, value * 2};
        for (uint32_t k = 0; k < 2; k++)
            if (value > 0 && to[k] >= size->low && to[k] <= size->high) {
                const char *name = arena_printf(a, "%s,%s=%u", c.name, size->name, to[k]);
                add(from, s, name, hw_of(a, &c, size, to[k]));
            }
    }
    return ST_OK;
}

/* --- the table -------------------------------------------------------------------------------- */

static void add_change(struct text *t, double from, double to)
{
    if (to > 0 && from > 0)
        text_printf(t, " %+10.2f %%", 100 * (to / from - 1));
    else
        text_printf(t, " %12s", "-");
}

static double cycles_of(const struct explore_space *s, const struct explore_point *p)
{
    double sum = 0;

    for (uint32_t i = 0; i < s->n_network; i++)
        sum += p->cycles[i];
    return sum;
}

/* Add the change in the cycles of all networks for one more of a resource. */
static void add_rate(struct text *t, double cycles, double more, const char *what)
{
    if (more != 0 && cycles != 0)
        text_printf(t, "  %+.3g a %s", cycles / more, what);
}

static void add_row(struct text *t, const struct explore_space *s, const struct explore_point *p)
{
    const char *change = strrchr(p->name, ',') + 1;
    const struct explore_point *base = &s->point[0];
    const double *from = base->cost, *to = p->cost;

    if (p->wrong) {
        text_printf(t, "%-26s refused: %.*s\n", change, (int)strcspn(p->wrong, "\n"), p->wrong);
        return;
    }
    const double cycles = cycles_of(s, p) - cycles_of(s, base);

    text_printf(t, "%-26s %10.4f", change, to[EXPLORE_MS]);
    for (int cost = EXPLORE_MS; cost < EXPLORE_LUT4; cost++)
        add_change(t, from[cost], to[cost]);
    add_change(t, base->lut4_model, p->lut4_model);
    add_rate(t, cycles, p->lut4_model - base->lut4_model, "LUT4");
    add_rate(t, cycles, to[EXPLORE_MEMORY] - from[EXPLORE_MEMORY], "KiB");
    add_rate(t, cycles, 8 * (to[EXPLORE_BUS] - from[EXPLORE_BUS]), "bit of bus");
    text_add(t, "\n");
}

void explore_table_around(struct text *t, const struct explore_space *s)
{
    const struct explore_point **sorted =
                                   ARENA_ARRAY(s->arena, const struct explore_point *, s->n + 1u),
                               *base = &s->point[0], *best;
    const double *c = base->cost;

    if (base->wrong) {
        text_printf(t, "%s: %s\n", base->name, base->wrong);
        return;
    }
    for (uint32_t i = 0; i < s->n; i++)
        sorted[i] = &s->point[i];
    qsort(sorted + 1, s->n - 1, sizeof *sorted, explore_by_time); /* the first is `hw` itself */
    text_printf(t,
                "%s: %.4f ms (estimate, geometric mean of %u network%s), %.0f multipliers, %.1f "
                "KiB, bus of %.0f bytes, %.0f LUT4 (%s)\n",
                base->name, c[EXPLORE_MS], s->n_network, s->n_network == 1 ? "" : "s",
                c[EXPLORE_MULTIPLIERS], c[EXPLORE_MEMORY], c[EXPLORE_BUS], c[EXPLORE_LUT4],
                base->lut4_by);
    text_printf(t, "%-26s %10s %12s %12s %12s %12s %12s  %s\n", "with", "ms", "time", "multipliers",
                "memory", "bus", "LUT4 (model)", "cycles for one more");
    for (uint32_t i = 1; i < s->n; i++)
        add_row(t, s, sorted[i]);
    best = s->n > 1 ? sorted[1] : base;
    if (best->cost[EXPLORE_MS] > 0 && best->cost[EXPLORE_MS] < c[EXPLORE_MS])
        text_printf(t, "binds most: %.*s, %+.2f %% of the time\n",
                    (int)strcspn(strrchr(best->name, ',') + 1, "="), strrchr(best->name, ',') + 1,
                    100 * (best->cost[EXPLORE_MS] / c[EXPLORE_MS] - 1));
    else
        text_add(t, "no size, doubled or halved alone, makes it faster\n");
}
