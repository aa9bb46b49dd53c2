/* report_text.c - the report that people read: verdict, cycles and MACs first, then the layers. */
#define _GNU_SOURCE
#include "report.h"

#include <stdio.h>
#include <string.h>

#include "run.h"

static void add_cell(struct text *t, double v, int width)
{
    if (v < 0)
        text_printf(t, "%*s", width, "-");
    else
        text_printf(t, "%*.0f", width, v);
}

/* Not more than `n` columns of a text from the model, bytes outside ASCII as '?'. */
static void add_name(struct text *t, const char *s, int n)
{
    int i = 0;

    for (; s[i] && i < n; i++)
        text_add_n(t, s[i] >= 0x20 && s[i] < 0x7f ? &s[i] : "?", 1);
    text_printf(t, "%*s ", n - i, "");
}

/* Cycles of a unit's counters that are not `busy`: the largest, or NULL. */
static const cJSON *worst_wait(const cJSON *unit)
{
    const cJSON *kind, *worst = NULL;

    cJSON_ArrayForEach(kind, unit)
    {
        if (strcmp(kind->string, "busy") != 0 && kind->valuedouble > 0 &&
            (!worst || kind->valuedouble > worst->valuedouble))
            worst = kind;
    }
    return worst;
}

/* Where most of the cycles of a layer or group were lost: what the unit that computes waited for.
 */
static void add_stall(struct text *t, const cJSON *l, double cycles)
{
    const cJSON *units = report_member(l, "counters");
    const cJSON *array = report_member(units, "array"), *vector = report_member(units, "vector");
    const cJSON *unit =
        report_number(vector, "busy") > report_number(array, "busy") ? vector : array;
    const cJSON *wait = worst_wait(unit);

    if (cycles > 0 && wait && unit)
        text_printf(t, "  %-6s %-10s %3.0f%%", unit->string, wait->string,
                    100 * wait->valuedouble / cycles);
}

/* How far a layer or group uses its multipliers. */
static void add_share(struct text *t, const cJSON *o)
{
    double used = report_number(o, "utilisation");

    if (used > 0)
        text_printf(t, "%6.1f%%", 100 * used);
    else
        text_printf(t, "%7s", "-");
}

/* Cycles of the host; nothing where it does nothing. */
static void add_host(struct text *t, const cJSON *l)
{
    double host = report_number(l, "host_cycles");

    add_cell(t, host > 0 ? host : -1, 9);
}

/* Where a layer's time went, or why it is where it is. */
static void add_remark(struct text *t, const cJSON *l)
{
    const char *fused = report_word(l, "fused_into"), *reason = report_word(l, "reason");

    if (*fused)
        text_printf(t, "  in %s", fused);
    else if (*reason)
        text_printf(t, "  %s", reason);
    else if (report_number(l, "group") >= 0 && report_number(l, "array_cycles") >= 0)
        text_printf(t, "  busy: array %.0f, vector %.0f", report_number(l, "array_cycles"),
                    report_number(l, "vector_cycles"));
    else
        add_stall(t, l, report_number(l, "cycles"));
}

static void layer_line(struct text *t, const cJSON *l)
{
    bool member = report_number(l, "group") >= 0;

    text_add(t, member ? "| " : "");
    add_name(t, report_word(l, "name"), member ? 22 : 24);
    add_name(t, report_word(l, "shape"), 16);
    add_name(t, report_word(l, "target"), 10);
    add_cell(t, report_number(l, "cycles"), 8);
    add_cell(t, report_number(l, "estimated_cycles"), 9);
    add_host(t, l);
    add_share(t, l);
    add_cell(t, report_number(l, "dram_read_bytes"), 9);
    add_cell(t, report_number(l, "dram_write_bytes"), 9);
    add_remark(t, l);
    text_add(t, "\n");
}

/* Its members' bytes: what the group's commands moved. */
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

static void group_line(struct text *t, const cJSON *layers, const cJSON *g, int index)
{
    int n = cJSON_GetArraySize(report_member(g, "members"));
    char name[48], of[32];

    snprintf(name, sizeof name, "group %d", index);
    snprintf(of, sizeof of, "%d layers", n);
    add_name(t, name, 24);
    add_name(t, of, 16);
    add_name(t, "", 10);
    add_cell(t, report_number(g, "cycles"), 8);
    add_cell(t, report_number(g, "estimated_cycles"), 9);
    add_cell(t, -1, 9);
    add_share(t, g);
    add_cell(t, sum_of(layers, index, "dram_read_bytes"), 9);
    add_cell(t, sum_of(layers, index, "dram_write_bytes"), 9);
    add_stall(t, g, report_number(g, "cycles"));
    text_add(t, "\n");
}

/* In the model's order; a group's line stands before its first member. */
static void table(struct text *t, const cJSON *all)
{
    const cJSON *layers = report_member(all, "layers"), *groups = report_member(all, "groups"), *l;
    int shown = 0;

    text_printf(t, "%-24s %-16s %-9s %8s %8s %8s %6s %8s %8s  %s\n", "layer", "output", "target",
                "cycles", "estimate", "host", "util", "read", "written", "waits most for");
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

/* Of stats files that have it; bytes of the bus counters compared with what cannot be avoided. */
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

/* "sys16"; of several accelerators "a sys16, b sys8". */
static void add_hw(struct text *t, const cJSON *hw)
{
    const cJSON *one;

    if (!cJSON_IsArray(hw)) {
        text_add(t, report_word(hw, "name"));
        return;
    }
    cJSON_ArrayForEach(one, hw) text_printf(t, "%s%s %s", one == hw->child ? "" : ", ",
                                            report_word(one, "instance"), report_word(one, "name"));
}

/* Rows that no accelerator could take because they compute in float32 (partition's reason). */
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

/* " 2 steps (largest 1, 34 values) of the expected outputs" */
static void add_steps(struct text *t, const cJSON *all, const char *against)
{
    const cJSON *one;
    double largest = 0, values = 0;

    cJSON_ArrayForEach(one, report_member(all, "differences"))
    {
        largest = report_number(one, "largest") > largest ? report_number(one, "largest") : largest;
        values += report_number(one, "values");
    }
    text_printf(t, " %.0f steps (largest %.4g, %.0f values) of %s",
                report_number(all, "tolerance_steps"), largest, values, against);
}

const char *run_match_text(struct arena *a, uint32_t n_out, uint32_t n, const char *expected)
{
    const char *to = expected
                         ? arena_printf(a, "the expected outputs (%s)", expected)
                         : "the CPU reference, which runs the network as imported (decoding the "
                           "file is common to both)";

    return arena_printf(a, "match: %u output%s of %u inference%s equal, bit for bit, to %s", n_out,
                        n_out == 1 ? "" : "s", n, n == 1 ? "" : "s", to);
}

static void verdict_line(struct text *t, const cJSON *all)
{
    const char *verdict = report_word(all, "verdict"),
               *against = strcmp(report_word(all, "checked_against"), "ref") == 0
                              ? "the CPU reference"
                              : "the expected outputs";

    if (strcmp(verdict, "match") == 0 && report_number(all, "outputs") > 0) {
        const char *expected = report_word(all, "expected_from");
        text_printf(t, "verdict: %s\n",
                    run_match_text(t->arena, (uint32_t)report_number(all, "outputs"),
                                   (uint32_t)report_number(all, "inferences"),
                                   *expected ? expected : NULL));
        return;
    }
    text_printf(t, "verdict: %s", verdict);
    if (strcmp(verdict, "within") == 0 && report_number(all, "tolerance_steps") >= 0 &&
        report_number(all, "difference") <= 0) /* none needed a pattern's tolerance */
        add_steps(t, all, against);
    else if (strcmp(verdict, "within") == 0)
        text_printf(t,
                    " %.3g of the output's range against %s, not bit for bit: operators on "
                    "targets whose patterns round otherwise may add up to %.3g",
                    report_number(all, "difference"), against, report_number(all, "tolerance"));
    else if (strcmp(verdict, "match") == 0)
        text_printf(t, ", bit for bit against %s", against);
    else if (strcmp(verdict, "mismatch") == 0)
        text_printf(t, " against %s", against);
    text_add(t, "\n");
}

/* Accelerator, host, and both one after the other. */
static void cycles_line(struct text *t, const cJSON *all)
{
    double cycles = report_number(all, "cycles"), host = report_number(all, "host_cycles"),
           estimate = report_number(all, "estimated_cycles"),
           total = report_number(all, "total_cycles"), crossings = report_number(all, "crossings");

    text_printf(t, "%s on ", report_word(all, "model"));
    add_hw(t, report_member(all, "hw"));
    text_printf(t, ", engine %s: %.0f inferences, ", report_word(all, "engine"),
                report_number(all, "inferences"));
    if (cycles >= 0)
        text_printf(t, "%.1f cycles each on the accelerator", cycles);
    else
        text_printf(t, "about %.0f cycles each on the accelerator (estimate)",
                    estimate > 0 ? estimate : 0);
    text_printf(t, " and %.0f on the host (%s)", host, report_word(all, "host_model"));
    if (total >= 0)
        text_printf(t, ": %.1f in all", total);
    if (crossings > 0)
        text_printf(t, ", %.0f crossing%s", crossings, crossings > 1 ? "s" : "");
    text_add(t, "\n");
}

static void macs_line(struct text *t, const cJSON *all)
{
    double macs = report_number(all, "macs"), folded = report_number(all, "folded_macs"),
           used = report_number(all, "utilisation");
    const cJSON *sim = report_member(all, "sim");

    if (macs > 0)
        text_printf(t, "%.0f MACs, %.1f %% on the accelerator", macs,
                    100 * report_number(all, "accelerator_macs") / macs);
    if (macs > 0 && folded > 0)
        text_printf(t, ", %.1f %% folded away", 100 * folded / macs);
    if (used > 0)
        text_printf(t, ", utilisation %.1f %%", 100 * used);
    if (report_number(sim, "cycles_per_second") > 0)
        text_printf(t, "%ssimulated at %.2f M cycles/s", macs > 0 ? "; " : "",
                    report_number(sim, "cycles_per_second") / 1e6);
    if (macs > 0 || report_number(sim, "cycles_per_second") > 0)
        text_add(t, "\n");
}

void report_text(struct text *t, const cJSON *all, bool units)
{
    verdict_line(t, all);
    if (report_number(all, "accuracy") >= 0)
        text_printf(t, "accuracy: %.2f %%\n", 100 * report_number(all, "accuracy"));
    cycles_line(t, all);
    macs_line(t, all);
    table(t, all);
    memory_lines(t, all);
    float_line(t, all);
    waves_line(t, all);
    if (units)
        counter_lines(t, all);
}
