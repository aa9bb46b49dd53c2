/* report.c - stats.json (schema heddle.stats.v1, DESIGN section 10) and the per-layer table. */
#define _GNU_SOURCE
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/file.h"
#include "hd_accel_tables.h"
#include "run.h"

static const char *const engine_names[] = {"ref", "func", "rtl"};
static const char *const verdict_names[] = {"match", "mismatch", "unchecked"};

static bool timed(const struct run_job *job)
{
    return job->options->engine == ENGINE_RTL && job->p->program && job->p->program->n_stream > 0;
}

static void add_mean(cJSON *o, const char *name, uint64_t sum, uint32_t n)
{
    char text[40];
    if (n && sum % n == 0) {
        snprintf(text, sizeof text, "%llu", (unsigned long long)(sum / n));
        cJSON_AddRawToObject(o, name, text);
    } else {
        cJSON_AddNumberToObject(o, name, n ? (double)sum / n : 0);
    }
}

static void add_count(cJSON *o, const char *name, uint64_t value)
{
    char text[40];
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    cJSON_AddRawToObject(o, name, text);
}

static double utilisation(const struct run_job *job, uint64_t macs, uint64_t sum_cycles)
{
    const struct hd_config *hw = &job->p->hw;
    return sum_cycles ? (double)macs * job->n / ((double)sum_cycles * hw->n * hw->n) : 0;
}

static bool on_accelerator(const struct ir_row *r)
{
    return r->fused_into == IR_NONE && r->target && strcmp(r->target, "c") != 0 &&
           strcmp(r->target, "none") != 0;
}

static cJSON *layer_json(const struct run_job *job, uint32_t i)
{
    const struct ir_row *r = &job->p->graph->row[i];
    cJSON *o = cJSON_CreateObject();
    bool has = on_accelerator(r);
    cJSON_AddStringToObject(o, "name", r->name);
    cJSON_AddStringToObject(o, "op", r->op);
    cJSON_AddStringToObject(o, "tensor", r->tensor ? r->tensor : "");
    cJSON_AddStringToObject(o, "shape", r->shape ? r->shape : "");
    cJSON_AddStringToObject(o, "target", r->target ? r->target : "none");
    if (r->fused_into == IR_NONE)
        cJSON_AddNullToObject(o, "fused_into");
    else
        cJSON_AddStringToObject(o, "fused_into", job->p->graph->row[r->fused_into].name);
    if (has && timed(job))
        add_mean(o, "cycles", job->shared->row_cycles[i], job->n);
    else
        cJSON_AddNullToObject(o, "cycles");
    if (has && job->p->program)
        add_count(o, "estimated_cycles", job->p->program->row_estimate[i]);
    else
        cJSON_AddNullToObject(o, "estimated_cycles");
    add_count(o, "macs", r->macs);
    cJSON_AddNumberToObject(
        o, "utilisation",
        has && timed(job) ? utilisation(job, r->macs, job->shared->row_cycles[i]) : 0);
    if (r->reason)
        cJSON_AddStringToObject(o, "reason", r->reason);
    else
        cJSON_AddNullToObject(o, "reason");
    return o;
}

static uint64_t all_macs(const struct run_job *job)
{
    uint64_t macs = 0;
    for (uint32_t i = 0; i < job->p->graph->n_row; i++)
        macs += job->p->graph->row[i].macs;
    return macs;
}

static void add_counters(const struct run_job *job, cJSON *o)
{
    cJSON *units = cJSON_AddObjectToObject(o, "counters");
    for (uint32_t u = 0; u < HD_UNIT_COUNT; u++) {
        cJSON *unit = cJSON_AddObjectToObject(units, hd_unit_names[u]);
        for (uint32_t k = 0; k < HD_COUNTER_SLOTS; k++)
            if (hd_counter_names[u][k])
                add_count(unit, hd_counter_names[u][k],
                          job->shared->counter[u * HD_COUNTER_SLOTS + k]);
    }
}

static void add_sim(const struct run_job *job, cJSON *o)
{
    cJSON *sim = cJSON_AddObjectToObject(o, "sim");
    double wall = job->shared ? job->shared->wall_seconds : job->ref_seconds;
    cJSON_AddNumberToObject(sim, "wall_seconds", wall);
    if (timed(job) && wall > 0)
        cJSON_AddNumberToObject(sim, "cycles_per_second", (double)job->shared->sim_cycles / wall);
    else
        cJSON_AddNullToObject(sim, "cycles_per_second");
}

static void add_memory(const struct run_job *job, cJSON *o)
{
    const struct sched_program *p = job->p->program;
    if (!p)
        return;
    cJSON *memory = cJSON_AddObjectToObject(o, "memory");
    add_count(memory, "arena_bytes", p->arena_bytes);
    add_count(memory, "scratchpad_bytes", p->spad_peak);
    add_count(memory, "constant_bytes", p->constants.length);
    add_count(memory, "command_bytes", p->command_bytes);
}

static void add_waves(const struct run_job *job, cJSON *o)
{
    if (!job->shared || !job->shared->wave_bytes)
        return;
    cJSON *w = cJSON_AddObjectToObject(o, "waves");
    cJSON_AddStringToObject(
        w, "file", arena_printf(job->p->arena, "%s/waves.fst", job->out_dir ? job->out_dir : "."));
    cJSON_AddNumberToObject(w, "cycles", (double)job->shared->wave_cycles);
    cJSON_AddNumberToObject(w, "bytes", (double)job->shared->wave_bytes);
    cJSON_AddBoolToObject(w, "limited", job->shared->wave_limited != 0);
}

static cJSON *stats_json(const struct run_job *job)
{
    cJSON *o = cJSON_CreateObject(), *hw, *layers;
    uint64_t cycles = timed(job) ? job->shared->cycles : 0;
    cJSON_AddStringToObject(o, "schema", "heddle.stats.v1");
    cJSON_AddStringToObject(o, "model", job->p->graph->name);
    cJSON_AddStringToObject(o, "engine", engine_names[job->options->engine]);
    hw = cJSON_AddObjectToObject(o, "hw");
    cJSON_AddStringToObject(hw, "name", job->p->hw.name);
    add_count(hw, "rows", job->p->hw.n);
    add_count(hw, "cols", job->p->hw.n);
    add_count(o, "inferences", job->n);
    cJSON_AddStringToObject(o, "verdict", verdict_names[job->verdict]);
    cJSON_AddStringToObject(o, "checked_against", job->checked_against);
    if (timed(job))
        add_mean(o, "cycles", cycles, job->n);
    else
        cJSON_AddNullToObject(o, "cycles");
    add_count(o, "macs", all_macs(job));
    cJSON_AddNumberToObject(o, "utilisation", utilisation(job, all_macs(job), cycles));
    add_mean(o, "dram_read_bytes", timed(job) ? job->shared->read_bytes : 0, job->n);
    add_mean(o, "dram_write_bytes", timed(job) ? job->shared->write_bytes : 0, job->n);
    if (job->label)
        cJSON_AddNumberToObject(o, "accuracy", (double)job->n_right / job->n);
    layers = cJSON_AddArrayToObject(o, "layers");
    for (uint32_t i = 0; i < job->p->graph->n_row; i++)
        cJSON_AddItemToArray(layers, layer_json(job, i));
    if (timed(job))
        add_counters(job, o);
    add_waves(job, o);
    add_memory(job, o);
    add_sim(job, o);
    return o;
}

enum status run_stats(const struct run_job *job, const char *path, struct diag *d)
{
    cJSON *o = stats_json(job);
    char *text = cJSON_Print(o);
    cJSON_Delete(o);
    if (!text)
        return FAIL(d, ST_NO_MEMORY, "no memory for the stats file");
    enum status st = file_write(path, text, strlen(text), d);
    cJSON_free(text);
    return st;
}

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

static void layer_line(struct text *t, const cJSON *l, const cJSON *all)
{
    const cJSON *hw = cJSON_GetObjectItemCaseSensitive(all, "hw");
    double cycles = number_of(l, "cycles"), macs = number_of(l, "macs");
    double cells = number_of(hw, "rows") * number_of(hw, "cols");
    add_name(t, text_of(l, "name"), 24);
    add_name(t, text_of(l, "shape"), 16);
    add_name(t, text_of(l, "target"), 9);
    add_cell(t, cycles, 9);
    add_cell(t, number_of(l, "estimated_cycles"), 9);
    if (cycles > 0 && macs > 0)
        text_printf(t, "%6.1f%%", 100 * macs / (cycles * cells));
    else
        text_printf(t, "%7s", "-");
    const char *fused = text_of(l, "fused_into"), *reason = text_of(l, "reason");
    if (*fused)
        text_printf(t, "  in %s", fused);
    else if (*reason)
        text_printf(t, "  %s", reason);
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

static void text_report(struct text *t, const cJSON *all)
{
    const cJSON *l, *sim = cJSON_GetObjectItemCaseSensitive(all, "sim");
    const cJSON *hw = cJSON_GetObjectItemCaseSensitive(all, "hw");
    text_printf(t, "%-24s %-16s %-9s %8s %8s %6s\n", "layer", "output", "target", "cycles",
                "estimate", "util");
    cJSON_ArrayForEach(l, cJSON_GetObjectItemCaseSensitive(all, "layers")) layer_line(t, l, all);
    counter_lines(t, all);
    text_printf(t, "%s on %s, engine %s: %.0f inferences", text_of(all, "model"),
                text_of(hw, "name"), text_of(all, "engine"), number_of(all, "inferences"));
    if (number_of(all, "cycles") >= 0)
        text_printf(t, ", %.1f cycles each, utilisation %.1f %%, %.0f bytes read, %.0f written",
                    number_of(all, "cycles"), 100 * number_of(all, "utilisation"),
                    number_of(all, "dram_read_bytes"), number_of(all, "dram_write_bytes"));
    if (number_of(sim, "cycles_per_second") > 0)
        text_printf(t, "; %.2f M cycles/s", number_of(sim, "cycles_per_second") / 1e6);
    text_add(t, "\n");
    waves_line(t, all);
    if (number_of(all, "accuracy") >= 0)
        text_printf(t, "accuracy: %.2f %%\n", 100 * number_of(all, "accuracy"));
    text_printf(t, "verdict: %s", text_of(all, "verdict"));
    if (strcmp(text_of(all, "verdict"), "unchecked") != 0)
        text_printf(t, ", bit for bit against %s",
                    strcmp(text_of(all, "checked_against"), "ref") == 0 ? "the CPU reference"
                                                                        : "the expected outputs");
    text_add(t, "\n");
}

static void csv_report(struct text *t, const cJSON *all)
{
    const cJSON *l;
    text_add(t, "layer,op,shape,target,cycles,estimated_cycles,macs,utilisation\n");
    cJSON_ArrayForEach(l, cJSON_GetObjectItemCaseSensitive(all, "layers"))
    {
        text_printf(t, "%s,%s,%s,%s,", text_of(l, "name"), text_of(l, "op"), text_of(l, "shape"),
                    text_of(l, "target"));
        if (number_of(l, "cycles") >= 0)
            text_printf(t, "%.10g", number_of(l, "cycles"));
        text_add(t, ",");
        if (number_of(l, "estimated_cycles") >= 0)
            text_printf(t, "%.0f", number_of(l, "estimated_cycles"));
        text_printf(t, ",%.0f,%.6f\n", number_of(l, "macs"), number_of(l, "utilisation"));
    }
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
    cJSON *o = stats_json(job);
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
