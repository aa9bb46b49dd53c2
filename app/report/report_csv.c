/* report_csv.c - print the report as CSV (RFC 4180): one line per layer, then one per group. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "app/stats/columns.h"
#include "hd_accel_tables.h"
#include "report_csv.h"
#include "report_read.h"

void report_csv_text(struct text *t, const char *s)
{
    text_add_csv(t, s);
    text_add(t, ",");
}

void report_csv_number(struct text *t, double v)
{
    if (v >= 0)
        text_printf(t, ",%.10g", v);
    else
        text_add(t, ",");
}

static void csv_line(struct text *t, const cJSON *l, const char *name, const char *op, double group)
{
    const cJSON *units = report_member(l, "counters");

    report_csv_text(t, name);
    report_csv_text(t, op);
    report_csv_text(t, report_word(l, "shape"));
    text_add(t, report_word(l, "target"));
    report_csv_number(t, group);
    for (const struct column *c = columns; c->name; c++)
        if (c->csv)
            report_csv_number(t, report_number(l, c->name));
    for (uint32_t u = 0; u < HD_UNIT_COUNT; u++) {
        const cJSON *unit = report_member(units, hd_unit_names[u]);
        for (uint32_t k = 0; k < HD_COUNTER_SLOTS; k++)
            if (hd_counter_names[u][k])
                report_csv_number(t, report_number(unit, hd_counter_names[u][k]));
    }
    text_add(t, "\n");
}

/* Print layers, then groups, whose `op` is "group". */
void report_csv(struct text *t, const cJSON *all)
{
    const cJSON *l;
    int n = 0;

    text_add(t, "layer,op,shape,target,group");
    for (const struct column *c = columns; c->name; c++)
        if (c->csv)
            text_printf(t, ",%s", c->name);
    for (uint32_t u = 0; u < HD_UNIT_COUNT; u++)
        for (uint32_t k = 0; k < HD_COUNTER_SLOTS; k++)
            if (hd_counter_names[u][k])
                text_printf(t, ",%s_%s", hd_unit_names[u], hd_counter_names[u][k]);
    text_add(t, "\n");
    cJSON_ArrayForEach(l, report_member(all, "layers"))
        csv_line(t, l, report_word(l, "name"), report_word(l, "op"), report_number(l, "group"));
    cJSON_ArrayForEach(l, report_member(all, "groups"))
    {
        char name[48];
        snprintf(name, sizeof name, "group %d", n);
        csv_line(t, l, name, "group", n++);
    }
}
