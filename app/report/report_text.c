/* report_text.c - the report that people read: the first lines (report_first.c), the layers, then
 * the meaning of the columns (report_legend.c). */
#define _GNU_SOURCE
#include "report_text.h"
#include "report.h"
#include "report_first.h"
#include "report_legend.h"
#include "report_read.h"

#include <stdio.h>
#include <string.h>

#include "app/stats/columns.h"

static void add_cell(struct text *t, double v, int width)
{
    if (v < 0)
        text_printf(t, "%*s", width, "-");
    else
        text_printf(t, "%*.0f", width, v);
}

/* Print the wait that cost a layer or group most of its cycles, in the unit that computes. */
static void add_stall(struct text *t, const cJSON *l, double cycles)
{
    const cJSON *unit = report_busier(l), *wait = report_worst_wait(unit);

    if (cycles > 0 && wait)
        text_printf(t, "  %-6s %-10s %3.0f%%", unit->string, wait->string,
                    100 * wait->valuedouble / cycles);
}

/* Add "busy 96, bytes 768" for a core. */
static void add_core(struct text *t, const cJSON *core)
{
    const cJSON *one;

    cJSON_ArrayForEach(one, core)
        text_printf(t, "%s%s %.0f", one == core->child ? "" : ", ", one->string, one->valuedouble);
}

static void core_lines(struct text *t, const cJSON *all)
{
    const cJSON *core;

    cJSON_ArrayForEach(core, report_member(all, "core_counters"))
    {
        text_printf(t, "core of %s: ", core->string);
        add_core(t, core);
        text_add(t, "\n");
    }
}

/* Add where a layer's time went, or why it is on its target. */
static void add_remark(struct text *t, const cJSON *l)
{
    const char *fused = report_word(l, "fused_into"), *reason = report_word(l, "reason");
    const cJSON *core = report_member(l, "core_counters");

    if (*fused)
        text_printf(t, "  in %s", fused);
    else if (*reason)
        text_printf(t, "  %s", reason);
    else if (report_number(l, "group") >= 0 && report_number(l, "array_cycles") >= 0)
        text_printf(t, "  busy: array %.0f, vector %.0f", report_number(l, "array_cycles"),
                    report_number(l, "vector_cycles"));
    else if (core) {
        text_add(t, "  ");
        add_core(t, core->child);
    } else
        add_stall(t, l, report_number(l, "cycles"));
}

/* Return the sum over a group's layers: the bytes that its commands moved. */
static double sum_of(const cJSON *layers, double group, const char *name)
{
    const cJSON *l;
    double sum = -1;

    cJSON_ArrayForEach(l, layers)
    {
        double v = report_number(l, name);
        if (report_number(l, "group") == group && v >= 0)
            sum = v + (sum > 0 ? sum : 0);
    }
    return sum;
}

/* Add a column of a layer, or of group `group` (-1: a layer), whose members are among `layers`. */
static void add_column(struct text *t, const struct column *c, const cJSON *l, const cJSON *layers,
                       int group)
{
    const double v = c->cell == COLUMN_MOVED && group >= 0 ? sum_of(layers, group, c->name)
                                                           : report_number(l, c->name);

    if (c->cell == COLUMN_SHARE && v > 0)
        text_printf(t, "%*.1f%%", c->width - 1, 100 * v);
    else if (c->cell == COLUMN_NUMBER || c->cell == COLUMN_MOVED)
        add_cell(t, v, c->width);
    else
        add_cell(t, c->cell == COLUMN_POSITIVE && v > 0 ? v : -1, c->width);
}

static void add_columns(struct text *t, const cJSON *l, const cJSON *layers, int group)
{
    for (const struct column *c = columns; c->name; c++)
        if (*c->heading)
            add_column(t, c, l, layers, group);
}

static void layer_line(struct text *t, const cJSON *l)
{
    bool member = report_number(l, "group") >= 0;
    const char *target = report_word(l, "target");

    text_add(t, member ? "| " : "");
    report_name(t, report_word(l, "name"), member ? 22 : 24);
    report_name(t, report_word(l, "shape"), 16);
    report_name(t, arena_strndup(t->arena, target, strcspn(target, " ")), 10);
    add_columns(t, l, NULL, -1);
    text_add(t, strstr(target, "(not simulated)") ? "  not simulated" : "");
    add_remark(t, l);
    if (*report_word(l, "slow"))
        text_printf(t, "; slow: %s", report_word(l, "slow"));
    text_add(t, "\n");
}

static void group_line(struct text *t, const cJSON *layers, const cJSON *g, int index)
{
    int n = cJSON_GetArraySize(report_member(g, "members"));
    char name[48], of[32];

    snprintf(name, sizeof name, "group %d", index);
    snprintf(of, sizeof of, "%d layers", n);
    report_name(t, name, 24);
    report_name(t, of, 16);
    report_name(t, "", 10);
    add_columns(t, g, layers, index);
    add_stall(t, g, report_number(g, "cycles"));
    text_add(t, "\n");
}

/* Print the table in the model's order; a group's line precedes its first member. */
static void table(struct text *t, const cJSON *all)
{
    const cJSON *layers = report_member(all, "layers"), *groups = report_member(all, "groups"), *l;
    int shown = 0;

    text_printf(t, "%-24s %-16s %-9s ", "layer", "output", "target");
    for (const struct column *c = columns; c->name; c++)
        if (*c->heading)
            text_printf(t, "%*s", c->width, c->heading);
    text_add(t, "  waits most for\n");
    cJSON_ArrayForEach(l, layers)
    {
        double group = report_number(l, "group");
        if (group >= shown)
            group_line(t, layers, cJSON_GetArrayItem(groups, shown), shown);
        shown += group >= shown;
        layer_line(t, l);
    }
}

static void waves_line(struct text *t, const cJSON *all)
{
    const cJSON *w = report_member(all, "waves");

    if (!w)
        return;
    text_printf(t, "waves: %s, %.0f cycles, %.1f MB", report_word(w, "file"),
                report_number(w, "cycles"), report_number(w, "bytes") / 1e6);
    if (cJSON_IsTrue(report_member(w, "limited")))
        text_add(t, "; stopped at its size limit (--waves-limit)");
    text_add(t, "\n");
}

/* Print lines about memory if the stats have it: bytes of the bus counters next to the compulsory
 * bytes. */
static void memory_lines(struct text *t, const cJSON *all)
{
    const cJSON *m = report_member(all, "memory");
    double least =
        report_number(m, "compulsory_read_bytes") + report_number(m, "compulsory_write_bytes");
    double moved = report_number(all, "dram_read_bytes") + report_number(all, "dram_write_bytes");

    if (report_number(m, "live_range_bytes") <= 0)
        return;
    text_printf(t, "activations: peak %.0f bytes at %s, live-range bound %.0f at %s; in addition: ",
                report_number(m, "activation_bytes"), report_word(m, "activation_layer"),
                report_number(m, "live_range_bytes"), report_word(m, "live_range_layer"));
    text_printf(t, "second copies %.0f, row padding %.0f, tile buffers and line buffers %.0f\n",
                report_number(m, "copy_bytes"), report_number(m, "padding_bytes"),
                report_number(m, "buffer_bytes"));
    if (report_number(all, "cycles") >= 0 && least > 0)
        text_printf(t,
                    "memory traffic: %.0f bytes, compulsory %.0f (weights %.0f once, inputs %.0f, "
                    "outputs %.0f): %.2f times\n",
                    moved, least, report_number(m, "compulsory_weight_bytes"),
                    report_number(m, "compulsory_read_bytes") -
                        report_number(m, "compulsory_weight_bytes"),
                    report_number(m, "compulsory_write_bytes"), moved / least);
}

static void time_line(struct text *t, const cJSON *all, const cJSON *time)
{
    const cJSON *clock = report_member(all, "clock"), *target;
    const double density = report_number(time, "gops_per_klut");

    text_printf(t, "time at %.0f MHz (%s)%s: %.3f ms, %.1f inferences/s, %.2f GOPS, ",
                report_number(clock, "mhz"), report_word(clock, "origin"),
                cJSON_IsTrue(report_member(time, "estimated")) ? ", estimate" : "",
                report_number(time, "milliseconds"), report_number(time, "inferences_per_second"),
                report_number(time, "gops"));
    if (density > 0)
        text_printf(t, "%.3g GOPS/kLUT4 (%s), ", density, report_word(time, "lut4_by"));
    text_printf(t, "host %s\n",
                strcmp(report_word(all, "host_model"), "estimate") != 0 ? "simulated"
                                                                        : "estimated");
    cJSON_ArrayForEach(target, report_member(clock, "targets"))
        text_printf(t, "target %s: clock of %.0f MHz; its cycles are converted\n", target->string,
                    target->valuedouble);
}

/* Print the parts of the driver's cycles, and the total without overlap of host and accelerator. */
static void driver_line(struct text *t, const cJSON *all)
{
    const cJSON *d = report_member(all, "driver");
    const double n = report_number(d, "submissions"), serial = report_number(all, "serial_cycles");

    if (n > 0)
        text_printf(t,
                    "driver, cycles a submission: %.0f before the start, %.0f for %.0f register "
                    "accesses, %.0f from the end to the interrupt's handling, %.0f after\n",
                    report_number(d, "prepare_cycles") / n, report_number(d, "access_cycles") / n,
                    report_number(d, "accesses") / n, report_number(d, "interrupt_cycles") / n,
                    report_number(d, "finish_cycles") / n);
    if (n > 0 && serial >= 0)
        text_printf(t, "end to end: %.0f cycles; host and accelerator one after the other: %.0f\n",
                    report_number(all, "total_cycles"), serial);
}

/* Print the figures that are models, marked as such. */
static void model_line(struct text *t, const cJSON *all)
{
    const cJSON *time = report_member(all, "time"), *energy = report_member(all, "energy");
    const char *unit = report_word(energy, "unit");
    const bool pj = strcmp(unit, "pJ") == 0;

    if (cJSON_IsObject(time))
        time_line(t, all, time);
    if (energy)
        text_printf(t, "energy by model (counted actions x %s): %.4g %s without the host\n",
                    report_word(energy, "table"), report_number(energy, "energy") * (pj ? 1e-6 : 1),
                    pj ? "uJ" : unit);
}

static void counter_lines(struct text *t, const cJSON *all)
{
    const cJSON *units = report_member(all, "counters"), *unit, *kind;

    if (!units)
        return;
    text_add(t, "units, cycles of the first inference:\n");
    cJSON_ArrayForEach(unit, units)
    {
        text_printf(t, "  %-8s", unit->string);
        cJSON_ArrayForEach(kind, unit) text_printf(t, " %s %.0f", kind->string, kind->valuedouble);
        text_add(t, "\n");
    }
}

/* Print the layers that no accelerator accepts because they compute in float32 (partition's
 * reason). */
static void float_line(struct text *t, const cJSON *all)
{
    const cJSON *l;
    uint32_t n = 0;

    cJSON_ArrayForEach(l, report_member(all, "layers")) n +=
        strncmp(report_word(l, "reason"), "float32", 7) == 0;
    if (n != 0)
        text_printf(t,
                    "float32: %u operators ran on the host, for accelerators compute int8; "
                    "quantise the model to offload them\n",
                    n);
}

void report_text(struct text *t, const cJSON *all, enum report_detail detail)
{
    report_first(t, all, detail);
    if (detail == REPORT_VERDICT)
        return;
    table(t, all);
    report_legend(t, all, detail);
    memory_lines(t, all);
    core_lines(t, all);
    driver_line(t, all);
    model_line(t, all);
    float_line(t, all);
    waves_line(t, all);
    if (detail == REPORT_UNITS)
        counter_lines(t, all);
}
