/* report_legend.c - explain the columns, units and counters that a report shows. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "app/stats/columns.h"
#include "hd_accel_tables.h"
#include "report.h"
#include "report_legend.h"
#include "report_read.h"

struct meaning {
    const char *name, *text;
};

static const struct meaning counters[] = {
    {"busy", "moves or computes"},
    {"idle", "has no command"},
    {"wait_token", "the next command waits for other units"},
    {"wait_bus", "for the memory bus"},
    {"wait_port", "for a bank of the scratchpad, or of weight memory"},
    {"wait_weight", "for words of a weight command under way"},
    {"conflict", "two reads want one bank"},
    {"drain", "results leave, no step"},
    {"wait_lane", "for a requantisation lane that array uses"},
    {"wait_queue", "the unit's queue is full"},
    {"wait_end", "all commands are handed out"},
};

static const struct meaning units[] = {
    {"load", "memory to scratchpad"},    {"weight", "memory to weight memory"},
    {"array", "convolutions, products"}, {"vector", "sums, pools, tables"},
    {"store", "scratchpad to memory"},   {"fetch", "reads commands"},
};

static const char *find(const struct meaning *m, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(m[i].name, name) == 0)
            return m[i].text;
    return NULL;
}

const char *report_counter_text(const char *name)
{
    return find(counters, sizeof counters / sizeof *counters, name);
}

const char *report_unit_text(const char *name)
{
    return find(units, sizeof units / sizeof *units, name);
}

/* Add "name: meaning", on a new line if the line would be too long. */
static void add(struct text *t, size_t *column, const char *name, const char *text)
{
    const size_t n = strlen(name) + strlen(text) + 4;

    if (*column + n > 118) {
        text_add(t, "\n  ");
        *column = 2;
    }
    text_printf(t, " %s: %s;", name, text);
    *column += n;
}

/* Return true if the report shows the counter: in the lines of units, or as a layer's main wait. */
static bool shown(const cJSON *all, const char *name, enum report_detail detail)
{
    static const char *const lists[] = {"layers", "groups"};
    const cJSON *one;

    if (detail == REPORT_UNITS && report_member(all, "counters"))
        return true;
    for (int i = 0; i < 2; i++)
        cJSON_ArrayForEach(one, report_member(all, lists[i]))
        {
            const cJSON *wait = report_worst_wait(report_busier(one));
            if (wait && (strcmp(wait->string, name) == 0 || strcmp("busy", name) == 0))
                return true;
        }
    return false;
}

/* Add the columns of the table; adjacent columns with one meaning share it. */
static void add_columns(struct text *t, size_t *place, const char *host)
{
    char name[64] = "", meaning[96];

    for (const struct column *c = columns; c->name; c++) {
        const size_t n = strlen(name);
        if (!*c->heading)
            continue;
        snprintf(name + n, sizeof name - n, "%s%s", n ? ", " : "", c->heading);
        if (c[1].name && *c[1].heading && strcmp(c[1].meaning, c->meaning) == 0)
            continue;
        snprintf(meaning, sizeof meaning, c->meaning, host);
        add(t, place, name, meaning);
        *name = '\0';
    }
}

void report_legend(struct text *t, const cJSON *all, enum report_detail detail)
{
    const bool simulated = strcmp(report_word(all, "host_model"), "estimate") != 0;
    const bool with_units = detail == REPORT_UNITS && report_member(all, "counters");
    size_t column = 7;

    text_add(t, "legend:");
    add_columns(t, &column, simulated ? "the driver's included" : "by model");
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++)
        if (shown(all, counters[i].name, detail))
            add(t, &column, counters[i].name, counters[i].text);
    for (size_t i = 0; with_units && i < sizeof units / sizeof *units; i++)
        add(t, &column, units[i].name, units[i].text);
    t->data[t->length - 1] = '\n';
}
