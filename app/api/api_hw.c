/* api_hw.c - "heddle hw": print configurations with their sizes and resources, the possible sizes,
 * and why others are impossible. */
#include <string.h>

#include "app/stats/area.h"
#include "base/home.h"
#include "context.h"
#include "hw/gen/accel.h"

static const char limits[] =
    "\nA JSON file states name and all sizes, or a base and what differs: {\"base\": \"sys16\", "
    "\"ports\": 2}.\n"
    "The array has `rows` x `columns` cells, n x n unless stated, each 2 to n: {\"base\": "
    "\"sys16\", \"rows\": 12}.\n"
    "n, the bytes of a word and the lanes of VECTOR, is a power of two: a byte address is a word "
    "and\n"
    "a lane, split as bits in scratchpad, DMA, readers and VECTOR. Lanes beyond the columns have "
    "no\n"
    "cells, accumulators, weights and parameters; lanes beyond the rows no cells.\n";

static enum status add_one(struct arena *a, const struct hd_config *c, struct text *t,
                           struct diag *d)
{
    struct area area;

    TRY(area_of(a, c, &area, d));
    text_printf(t, "%-31s %11.0f %10.1f %8.0f %-7s %4u %-7s", c->name, area.multipliers,
                area.memory_bits / 8 / 1024, area.lut4, area_origin(&area), c->clock_mhz,
                accel_clock_origins[c->clock_origin]);
    for (const struct accel_size *s = accel_sizes; s->name; s++)
        text_printf(t, " %*u", (int)strlen(s->name), accel_size_of(c, s));
    text_add(t, "\n");
    return ST_OK;
}

static void add_counts(struct text *t, const char *name, const double *count)
{
    text_printf(t, "%-31s", name);
    for (int i = 0; i < AREA_RESOURCES; i++)
        text_printf(t, " %*.0f", (int)strlen(area_resources[i]) + 2, count[i]);
    text_add(t, "\n");
}

/* Add the model's table, one line per unit. */
static enum status add_units(struct arena *a, const struct hd_config *c, struct text *t,
                             struct diag *d)
{
    struct area_model m;

    TRY(area_model_of(a, c, &m, d));
    text_printf(t, "\n%-31s", "by the model, on an ECP5");
    for (int i = 0; i < AREA_RESOURCES; i++)
        text_printf(t, "   %s", area_resources[i]);
    text_add(t, "\n");
    for (uint32_t i = 0; i < m.n; i++)
        add_counts(t, m.unit[i].name, m.unit[i].count);
    add_counts(t, "whole", m.whole);
    return ST_OK;
}

static void add_ranges(struct text *t)
{
    text_printf(t, "%-31s %11s %10s %8s %7s %4s %7s", "least", "", "", "", "", "", "");
    for (const struct accel_size *s = accel_sizes; s->name; s++)
        text_printf(t, " %*u", (int)strlen(s->name), s->low);
    text_printf(t, "\n%-31s %11s %10s %8s %7s %4s %7s", "most", "", "", "", "", "", "");
    for (const struct accel_size *s = accel_sizes; s->name; s++)
        text_printf(t, " %*u", (int)strlen(s->name), s->high);
    text_add(t, "\n");
}

enum status hw_print(struct arena *a, const char *name, struct text *t, struct diag *d)
{
    const struct accel *accel;
    const char *home;
    struct hd_config one;

    TRY(home_find(a, &home, d));
    TRY(accel_load(a, arena_printf(a, "%s/hw/accel.json", home), &accel, d));
    if (name)
        TRY(accel_config_find(a, accel, name, &one, d));
    text_printf(t, "%-31s %11s %10s %8s %-7s %4s %-7s", "configuration", "multipliers",
                "memory KiB", "LUT4", "by", "MHz", "by");
    for (const struct accel_size *s = accel_sizes; s->name; s++)
        text_printf(t, " %s", s->name);
    text_add(t, "\n");
    if (name) {
        TRY(add_one(a, &one, t, d));
        return add_units(a, &one, t, d);
    }
    for (uint32_t i = 0; i < accel->n_configs; i++)
        TRY(add_one(a, &accel->configs[i], t, d));
    add_ranges(t);
    text_add(t, limits);
    return ST_OK;
}
