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
    "The array is n x n, n a power of two. Another array is refused, and this is what it would "
    "take:\n"
    "  n that is no power of two (6 x 6): a byte address is a word and a lane of n, split as bits\n"
    "    in scratchpad, DMA, readers and VECTOR; it would take a division in each, or addresses "
    "of\n"
    "    words and lanes apart in every command and every plan.\n"
    "  rows and columns apart (12 x 16, 4 x 32): a word holds n bytes, one for each row when it "
    "is\n"
    "    read and one for each column when results are written; it would take two widths of word\n"
    "    in array, requantisation and scratchpad, K tiles and channel tiles of two sizes in the\n"
    "    commands, and all that the compiler counts in words.\n";

static enum status add_one(struct arena *a, const struct hd_config *c, struct text *t,
                           struct diag *d)
{
    struct area area;

    TRY(area_of(a, c, &area, d));
    text_printf(t, "%-31s %11.0f %10.1f", c->name, area.multipliers, area.memory_bits / 8 / 1024);
    if (area.lut4 >= 0)
        text_printf(t, " %8.0f", area.lut4);
    else
        text_printf(t, " %8s", "-");
    for (const struct accel_size *s = accel_sizes; s->name; s++)
        text_printf(t, " %*u", (int)strlen(s->name), accel_size_of(c, s));
    text_add(t, "\n");
    return ST_OK;
}

static void add_ranges(struct text *t)
{
    text_printf(t, "%-31s %11s %10s %8s", "least", "", "", "");
    for (const struct accel_size *s = accel_sizes; s->name; s++)
        text_printf(t, " %*u", (int)strlen(s->name), s->low);
    text_printf(t, "\n%-31s %11s %10s %8s", "most", "", "", "");
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
    text_printf(t, "%-31s %11s %10s %8s", "configuration", "multipliers", "memory KiB", "LUT4");
    for (const struct accel_size *s = accel_sizes; s->name; s++)
        text_printf(t, " %s", s->name);
    text_add(t, "\n");
    if (name)
        return add_one(a, &one, t, d);
    for (uint32_t i = 0; i < accel->n_configs; i++)
        TRY(add_one(a, &accel->configs[i], t, d));
    add_ranges(t);
    text_add(t, limits);
    return ST_OK;
}
