/* sweep_text.c - print a sweep as a table for people, and as CSV; see sweep.h. */
#include <stdio.h>
#include <string.h>

#include "app/report/report_csv.h"
#include "hw/gen/accel.h"
#include "sweep.h"

enum { NAME = 24, MAX_NAME = 60 };

static int name_width(const struct sweep *s)
{
    size_t most = NAME;

    for (uint32_t i = 0; i < s->n_hw; i++)
        most = strlen(s->hw[i].name) > most ? strlen(s->hw[i].name) : most;
    return most > MAX_NAME ? MAX_NAME : (int)most;
}

static void add_value(struct text *t, double v, int width, int digits, const char *mark)
{
    char number[32];

    (void)snprintf(number, sizeof number, "%s%.*f", mark, digits, v);
    text_printf(t, " %*s", width, v < 0 ? "-" : number);
}

/* Add the fronts that the point is on: "memory, energy". */
static void add_fronts(struct text *t, const struct sweep_point *p)
{
    const char *comma = "  ";

    for (int k = SWEEP_MULTIPLIERS; k < SWEEP_AXES; k++)
        if (p->front[k]) {
            text_printf(t, "%s%s", comma, sweep_axis_name((enum sweep_axis)k));
            comma = ", ";
        }
}

static void add_point(struct text *t, const struct sweep *s, const struct sweep_point *p, int width)
{
    static const int widths[] = {10, 11, 8, 7, 10}, digits[] = {4, 0, 1, 0, 3};
    double divisor;

    text_printf(t, "  %-*.*s", width, MAX_NAME, p->hw->name);
    if (p->v[SWEEP_TIME] < 0) {
        const char *why = p->run ? p->run->result.message : "not an answer of every network";
        text_printf(t, "  %s%s%s\n", p->run ? p->run->result.verdict : "no mean", *why ? ": " : "",
                    why);
        return;
    }
    for (int k = 0; k < SWEEP_AXES; k++) {
        (void)sweep_axis_unit(s, (enum sweep_axis)k, &divisor);
        add_value(t, p->v[k] < 0 ? -1 : p->v[k] / divisor, widths[k], digits[k],
                  k == SWEEP_LUT4 && !p->hw->area.counted ? "~" : "");
    }
    add_fronts(t, p);
    text_add(t, "\n");
}

void sweep_table(struct text *t, const struct sweep *s)
{
    const int width = name_width(s);
    double divisor;

    for (uint32_t i = 0; i < s->n; i++) {
        const char *unit = sweep_axis_unit(s, SWEEP_ENERGY, &divisor);
        text_printf(t, "%s\n  %-*s %10s %11s %8s %7s %10.10s  %s\n", s->series[i].name, width,
                    "configuration", "ms", "multipliers", "KiB", "LUT4", *unit ? unit : "energy",
                    "least time for its");
        for (uint32_t k = 0; k < s->series[i].n; k++)
            add_point(t, s, &s->series[i].point[k], width);
    }
    text_printf(t,
                "ms at %.0f MHz%s; KiB of memory on chip; LUT4 with ~ and energy are models "
                "(docs/AREA.md, docs/ENERGY.md)\n",
                s->mhz, s->clock_given ? "" : ", assumed (--clock)");
}

static void csv_sizes(struct text *t, const struct sweep_hw *hw)
{
    for (const struct accel_size *size = accel_sizes; size->name; size++)
        report_csv_number(t, hw->wrong ? -1.0 : (double)accel_size_of(&hw->config, size));
}

static void csv_line(struct text *t, const struct sweep_point *p)
{
    const struct suite_run *r = p->run;
    const struct suite_result *x = &r->result;

    report_csv_text(t, r->network);
    report_csv_text(t, r->configuration);
    report_csv_text(t, r->engine);
    report_csv_text(t, r->options);
    report_csv_text(t, x->verdict ? x->verdict : "not run");
    report_csv_text(t, x->message);
    report_csv_text(t, x->energy_unit);
    report_csv_text(t, p->v[SWEEP_LUT4] >= 0 ? area_origin(&p->hw->area) : "");
    text_printf(t, "%llu", (unsigned long long)r->seed);
    csv_sizes(t, p->hw);
    for (int k = SWEEP_TIME; k < SWEEP_AXES; k++)
        report_csv_number(t, p->v[k]);
    for (int i = 0; i < N_COLUMNS; i++)
        if (columns[i].run)
            report_csv_number(t, x->number.at[i]);
    for (int k = SWEEP_MULTIPLIERS; k < SWEEP_AXES; k++)
        text_printf(t, ",%d", p->front[k]);
    text_add(t, "\n");
}

void sweep_csv(struct text *t, const struct sweep *s)
{
    text_add(t, "network,configuration,engine,options,verdict,message,energy_unit,lut4_by,seed");
    for (const struct accel_size *size = accel_sizes; size->name; size++)
        text_printf(t, ",%s", size->name);
    text_add(t, ",milliseconds,multipliers,memory_bits,lut4,energy");
    for (const struct column *c = columns; c->name; c++)
        if (c->run)
            text_printf(t, ",%s", c->name);
    text_add(t, ",front_multipliers,front_memory,front_lut4,front_energy\n");
    for (uint32_t i = 0; i < s->n; i++)
        for (uint32_t k = 0; k < s->series[i].n; k++)
            if (s->series[i].point[k].run)
                csv_line(t, &s->series[i].point[k]);
}
