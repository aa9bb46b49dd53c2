/* report.c - a stats file as the table people read, as CSV, as JSON. */
#define _GNU_SOURCE
#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

#include "../base/file.h"
#include "hd_accel_tables.h"
#include "run.h"

static const char *text_of(const cJSON *o, const char *name)
{
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, name);
    return cJSON_IsString(v) ? v->valuestring : "";
}

static double number_of(const cJSON *o, const char *name)
{
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, name);
    return cJSON_IsNumber(v) ? v->valuedouble : -1;
}

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

/* Where most of a row's cycles were lost: what the unit that computes it waited for. */
static void add_stall(struct text *t, const cJSON *l, double cycles)
{
    const cJSON *units = cJSON_GetObjectItemCaseSensitive(l, "counters");
    const cJSON *array = cJSON_GetObjectItemCaseSensitive(units, "array"),
                *vector = cJSON_GetObjectItemCaseSensitive(units, "vector");
    const cJSON *unit = number_of(vector, "busy") > number_of(array, "busy") ? vector : array;
    const cJSON *wait = worst_wait(unit);
    if (cycles > 0 && wait)
        text_printf(t, "  %-6s %-10s %3.0f%%", unit->string, wait->string,
                    100 * wait->valuedouble / cycles);
}

static void layer_line(struct text *t, const cJSON *l)
{
    double cycles = number_of(l, "cycles"), used = number_of(l, "utilisation");
    add_name(t, text_of(l, "name"), 24);
    add_name(t, text_of(l, "shape"), 16);
    add_name(t, text_of(l, "target"), 10);
    add_cell(t, cycles, 8);
    add_cell(t, number_of(l, "estimated_cycles"), 9);
    if (cycles > 0 && used > 0)
        text_printf(t, "%6.1f%%", 100 * used);
    else
        text_printf(t, "%7s", "-");
    add_cell(t, number_of(l, "dram_read_bytes"), 9);
    add_cell(t, number_of(l, "dram_write_bytes"), 9);
    const char *fused = text_of(l, "fused_into"), *reason = text_of(l, "reason");
    if (*fused)
        text_printf(t, "  in %s", fused);
    else if (*reason)
        text_printf(t, "  %s", reason);
    else
        add_stall(t, l, cycles);
    text_add(t, "\n");
}

static void waves_line(struct text *t, const cJSON *all)
{
    const cJSON *w = cJSON_GetObjectItemCaseSensitive(all, "waves");
    if (!w)
        return;
    text_printf(t, "waves: %s, %.0f cycles, %.1f MB", text_of(w, "file"), number_of(w, "cycles"),
                number_of(w, "bytes") / 1e6);
    if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(w, "limited")))
        text_add(t, "; stopped at its size limit (--waves-limit)");
    text_add(t, "\n");
}

/* Of stats files that have it; bytes of the bus counters beside what cannot be avoided. */
static void memory_lines(struct text *t, const cJSON *all)
{
    const cJSON *m = cJSON_GetObjectItemCaseSensitive(all, "memory");
    double least = number_of(m, "compulsory_read_bytes") + number_of(m, "compulsory_write_bytes");
    double moved = number_of(all, "dram_read_bytes") + number_of(all, "dram_write_bytes");
    if (number_of(m, "live_range_bytes") <= 0)
        return;
    text_printf(t, "activations: peak %.0f bytes at %s, live-range bound %.0f at %s; apart: ",
                number_of(m, "activation_bytes"), text_of(m, "activation_layer"),
                number_of(m, "live_range_bytes"), text_of(m, "live_range_layer"));
    text_printf(t, "second copies %.0f, row padding %.0f, tile buffers and rings %.0f\n",
                number_of(m, "copy_bytes"), number_of(m, "padding_bytes"),
                number_of(m, "buffer_bytes"));
    if (number_of(all, "cycles") >= 0 && least > 0)
        text_printf(t,
                    "memory traffic: %.0f bytes, compulsory %.0f (weights %.0f once, inputs %.0f, "
                    "outputs %.0f): %.2f times\n",
                    moved, least, number_of(m, "compulsory_weight_bytes"),
                    number_of(m, "compulsory_read_bytes") - number_of(m, "compulsory_weight_bytes"),
                    number_of(m, "compulsory_write_bytes"), moved / least);
}

static void counter_lines(struct text *t, const cJSON *all)
{
    const cJSON *units = cJSON_GetObjectItemCaseSensitive(all, "counters"), *unit, *kind;
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
        text_add(t, text_of(hw, "name"));
        return;
    }
    cJSON_ArrayForEach(one, hw) text_printf(t, "%s%s %s", one == hw->child ? "" : ", ",
                                            text_of(one, "instance"), text_of(one, "name"));
}

/* Rows that no accelerator could take because they compute in float32 (partition's reason). */
static void float_line(struct text *t, const cJSON *all)
{
    const cJSON *l;
    uint32_t n = 0;
    cJSON_ArrayForEach(l, cJSON_GetObjectItemCaseSensitive(all, "layers")) n +=
        strncmp(text_of(l, "reason"), "float32", 7) == 0;
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
    cJSON_ArrayForEach(one, cJSON_GetObjectItemCaseSensitive(all, "differences"))
    {
        largest = number_of(one, "largest") > largest ? number_of(one, "largest") : largest;
        values += number_of(one, "values");
    }
    text_printf(t, " %.0f steps (largest %.4g, %.0f values) of %s",
                number_of(all, "tolerance_steps"), largest, values, against);
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
    const char *verdict = text_of(all, "verdict"),
               *against = strcmp(text_of(all, "checked_against"), "ref") == 0
                              ? "the CPU reference"
                              : "the expected outputs";
    if (strcmp(verdict, "match") == 0 && number_of(all, "outputs") > 0) {
        const char *expected = text_of(all, "expected_from");
        text_printf(t, "verdict: %s\n",
                    run_match_text(t->arena, (uint32_t)number_of(all, "outputs"),
                                   (uint32_t)number_of(all, "inferences"),
                                   *expected ? expected : NULL));
        return;
    }
    text_printf(t, "verdict: %s", verdict);
    if (strcmp(verdict, "within") == 0 && number_of(all, "tolerance_steps") >= 0 &&
        number_of(all, "difference") <= 0) /* none needed a pattern's tolerance */
        add_steps(t, all, against);
    else if (strcmp(verdict, "within") == 0)
        text_printf(t,
                    " %.3g of the output's range against %s, not bit for bit: operators on "
                    "targets whose patterns round otherwise may add up to %.3g",
                    number_of(all, "difference"), against, number_of(all, "tolerance"));
    else if (strcmp(verdict, "match") == 0)
        text_printf(t, ", bit for bit against %s", against);
    else if (strcmp(verdict, "mismatch") == 0)
        text_printf(t, " against %s", against);
    text_add(t, "\n");
}

static void text_report(struct text *t, const cJSON *all)
{
    const cJSON *l, *sim = cJSON_GetObjectItemCaseSensitive(all, "sim");
    text_printf(t, "%-24s %-16s %-9s %8s %8s %6s %8s %8s  %s\n", "layer", "output", "target",
                "cycles", "estimate", "util", "read", "written", "waits most for");
    cJSON_ArrayForEach(l, cJSON_GetObjectItemCaseSensitive(all, "layers")) layer_line(t, l);
    counter_lines(t, all);
    text_printf(t, "%s on ", text_of(all, "model"));
    add_hw(t, cJSON_GetObjectItemCaseSensitive(all, "hw"));
    text_printf(t, ", engine %s: %.0f inferences", text_of(all, "engine"),
                number_of(all, "inferences"));
    if (number_of(all, "cycles") >= 0)
        text_printf(t, ", %.1f cycles each, utilisation %.1f %%, %.0f bytes read, %.0f written",
                    number_of(all, "cycles"), 100 * number_of(all, "utilisation"),
                    number_of(all, "dram_read_bytes"), number_of(all, "dram_write_bytes"));
    if (number_of(sim, "cycles_per_second") > 0)
        text_printf(t, "; %.2f M cycles/s", number_of(sim, "cycles_per_second") / 1e6);
    text_add(t, "\n");
    memory_lines(t, all);
    float_line(t, all);
    waves_line(t, all);
    if (number_of(all, "accuracy") >= 0)
        text_printf(t, "accuracy: %.2f %%\n", 100 * number_of(all, "accuracy"));
    verdict_line(t, all);
}

/* A field of CSV (RFC 4180); names may come from the model. */
static void csv_text(struct text *t, const char *s)
{
    bool quote = strpbrk(s, ",\"\r\n") != NULL;
    text_add(t, quote ? "\"" : "");
    for (; *s; s++)
        text_printf(t, *s == '"' ? "\"\"" : "%c", *s);
    text_add(t, quote ? "\"," : ",");
}

/* A number, or nothing where there is none. */
static void csv_number(struct text *t, double v)
{
    if (v >= 0)
        text_printf(t, ",%.10g", v);
    else
        text_add(t, ",");
}

static void csv_line(struct text *t, const cJSON *l)
{
    const cJSON *units = cJSON_GetObjectItemCaseSensitive(l, "counters");
    csv_text(t, text_of(l, "name"));
    csv_text(t, text_of(l, "op"));
    csv_text(t, text_of(l, "shape"));
    text_add(t, text_of(l, "target"));
    csv_number(t, number_of(l, "cycles"));
    csv_number(t, number_of(l, "estimated_cycles"));
    text_printf(t, ",%.0f,%.6f", number_of(l, "macs"), number_of(l, "utilisation"));
    csv_number(t, number_of(l, "dram_read_bytes"));
    csv_number(t, number_of(l, "dram_write_bytes"));
    csv_number(t, number_of(l, "live_bytes"));
    csv_number(t, number_of(l, "activation_bytes"));
    for (uint32_t u = 0; u < HD_UNIT_COUNT; u++) {
        const cJSON *unit = cJSON_GetObjectItemCaseSensitive(units, hd_unit_names[u]);
        for (uint32_t k = 0; k < HD_COUNTER_SLOTS; k++)
            if (hd_counter_names[u][k])
                csv_number(t, number_of(unit, hd_counter_names[u][k]));
    }
    text_add(t, "\n");
}

static void csv_report(struct text *t, const cJSON *all)
{
    const cJSON *l;
    text_add(t, "layer,op,shape,target,cycles,estimated_cycles,macs,utilisation,dram_read_bytes,"
                "dram_write_bytes,live_bytes,activation_bytes");
    for (uint32_t u = 0; u < HD_UNIT_COUNT; u++)
        for (uint32_t k = 0; k < HD_COUNTER_SLOTS; k++)
            if (hd_counter_names[u][k])
                text_printf(t, ",%s_%s", hd_unit_names[u], hd_counter_names[u][k]);
    text_add(t, "\n");
    cJSON_ArrayForEach(l, cJSON_GetObjectItemCaseSensitive(all, "layers")) csv_line(t, l);
}

static void format_report(struct text *t, const cJSON *all, enum options_format format)
{
    if (format == FORMAT_TEXT)
        text_report(t, all);
    else if (format == FORMAT_CSV)
        csv_report(t, all);
    else {
        char *s = cJSON_Print(all);
        text_add(t, s ? s : "{}");
        text_add(t, "\n");
        cJSON_free(s);
    }
}

void run_report(const struct run_job *job, struct text *t, enum options_format format)
{
    cJSON *o = run_stats_json(job);
    char *s = cJSON_PrintUnformatted(o);
    cJSON *parsed = s ? cJSON_Parse(s) : NULL; /* raw numbers become numbers again */
    format_report(t, parsed ? parsed : o, format);
    cJSON_Delete(parsed);
    cJSON_free(s);
    cJSON_Delete(o);
}

enum status run_report_file(struct arena *a, const char *path, enum options_format format,
                            struct text *t, struct diag *d)
{
    uint8_t *data;
    size_t n;
    TRY(file_read(a, path, (size_t)64 << 20, &data, &n, d));
    cJSON *o = cJSON_ParseWithLengthOpts((const char *)data, n + 1, NULL, 1);
    if (!o || strcmp(text_of(o, "schema"), "heddle.stats.v1") != 0) {
        cJSON_Delete(o);
        return FAIL(
            d, ST_USAGE,
            "%s: not a stats file; expected JSON of schema heddle.stats.v1, as --stats writes it",
            path);
    }
    format_report(t, o, format);
    cJSON_Delete(o);
    return ST_OK;
}
