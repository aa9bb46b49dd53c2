/* stats.c - results of a run as JSON, schema heddle.stats.v1 (DESIGN section 10). */
#define _GNU_SOURCE
#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/file.h"
#include "../plan/memory_use.h"
#include "../target/describe.h"
#include "cores.h"
#include "difference.h"
#include "hd_accel_tables.h"
#include "run.h"

static const char *const engine_names[] = {"ref", "func", "rtl"};
static const char *const verdict_names[] = {"match", "mismatch", "unchecked", "within"};

static bool timed(const struct run_job *job)
{
    return job->options->engine == ENGINE_RTL && job->p->program &&
           (job->p->program->n_stream > 0 || (job->cores && job->cores->n > 0));
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

static bool on_accelerator(const struct ir_row *r)
{
    return r->fused_into == IR_NONE && r->target && strcmp(r->target, "c") != 0 &&
           strcmp(r->target, "none") != 0;
}

static const struct target *target_of(const struct run_job *job, uint32_t row)
{
    const char *name = job->p->graph->row[row].target;
    for (uint32_t i = 0; i < job->p->targets.n; i++)
        if (name && strcmp(job->p->targets.target[i]->name, name) == 0)
            return job->p->targets.target[i];
    return NULL;
}

static bool on_systolic(const struct run_job *job, uint32_t row)
{
    const struct target *t = target_of(job, row);
    return t && t->desc->accelerator;
}

/* Multiplications that the row's array or core could do in its cycles, all inferences; 0: there is
 * none, or it is not known. */
static double capacity(const struct run_job *job, uint32_t row)
{
    const struct target *t = target_of(job, row);
    if (!t || !job->shared || t->desc == &target_host_desc)
        return 0;
    if (t->desc->outside)
        return (double)job->shared->row[row].cycles * describe_of(t)->macs_per_cycle;
    double n = target_hw(t, &job->p->hw)->n;
    return (double)job->shared->row[row].cycles * n * n;
}

static double utilisation(const struct run_job *job, uint64_t macs, double most)
{
    return most > 0 ? (double)macs * job->n / most : 0;
}

/* The scheduler's estimate of a row of commands, the target's own of a call. */
static uint64_t estimate(const struct run_job *job, uint32_t row)
{
    const struct partition *p = &job->p->partition;
    double cycles = 0;
    if (on_systolic(job, row))
        return job->p->program->row_estimate[row];
    for (uint32_t i = 0; i < p->graph->n_op; i++)
        if (!p->graph->op[i]->dead && p->graph->op[i]->row == row &&
            p->graph->op[i]->target + 1 < p->targets->n)
            cycles += p->candidate[i * p->targets->n + p->graph->op[i]->target].cost;
    return (uint64_t)cycles;
}

/* What the units did in a row's cycles, and the bytes its commands moved: means. */
static void add_row(cJSON *o, const struct run_row *row, uint32_t n)
{
    add_mean(o, "dram_read_bytes", row->read_bytes, n);
    add_mean(o, "dram_write_bytes", row->write_bytes, n);
    cJSON *units = cJSON_AddObjectToObject(o, "counters");
    for (uint32_t u = 0; u < HD_UNIT_COUNT; u++) {
        cJSON *unit = cJSON_AddObjectToObject(units, hd_unit_names[u]);
        for (uint32_t k = 0; k < HD_COUNTER_SLOTS; k++)
            if (hd_counter_names[u][k])
                add_mean(unit, hd_counter_names[u][k], row->counter[u][k], n);
    }
}

/* Activations alive at the row's operators, and what the plan holds of them: the largest. */
static void add_row_memory(const struct run_job *job, cJSON *o, const struct memory_at *at,
                           uint32_t row)
{
    uint64_t live = 0, held = 0;
    bool any = false;
    for (uint32_t i = 0; at && i < job->p->graph->n_op; i++) {
        if (job->p->graph->op[i]->dead || job->p->graph->op[i]->row != row)
            continue;
        any = true;
        live = at[i].live > live ? at[i].live : live;
        held = at[i].held > held ? at[i].held : held;
    }
    if (!any)
        return;
    add_count(o, "live_bytes", live);
    add_count(o, "activation_bytes", held);
}

static cJSON *layer_json(const struct run_job *job, const struct memory_at *at, uint32_t i)
{
    const struct ir_row *r = &job->p->graph->row[i];
    cJSON *o = cJSON_CreateObject();
    bool has = on_accelerator(r), cycles = has && timed(job) && cores_timed(job, r->target);
    cJSON_AddStringToObject(o, "name", r->name);
    cJSON_AddStringToObject(o, "op", r->op);
    cJSON_AddStringToObject(o, "tensor", r->tensor ? r->tensor : "");
    cJSON_AddStringToObject(o, "shape", r->shape ? r->shape : "");
    cJSON_AddStringToObject(o, "target", r->target ? r->target : "none");
    if (r->fused_into == IR_NONE)
        cJSON_AddNullToObject(o, "fused_into");
    else
        cJSON_AddStringToObject(o, "fused_into", job->p->graph->row[r->fused_into].name);
    if (cycles)
        add_mean(o, "cycles", job->shared->row[i].cycles, job->n);
    else
        cJSON_AddNullToObject(o, "cycles");
    if (has && job->p->program)
        add_count(o, "estimated_cycles", estimate(job, i));
    else
        cJSON_AddNullToObject(o, "estimated_cycles");
    add_count(o, "macs", r->macs);
    cJSON_AddNumberToObject(o, "utilisation",
                            cycles ? utilisation(job, r->macs, capacity(job, i)) : 0);
    if (r->reason)
        cJSON_AddStringToObject(o, "reason", r->reason);
    else
        cJSON_AddNullToObject(o, "reason");
    add_row_memory(job, o, at, i);
    if (cycles && on_systolic(job, i))
        add_row(o, &job->shared->row[i], job->n);
    return o;
}

/* Multiplications of cores whose peak is not known, and their cycles, left out. */
static double whole_utilisation(const struct run_job *job)
{
    uint64_t macs = 0;
    double most = 0;
    for (uint32_t i = 0; i < job->p->graph->n_row; i++) {
        const struct target *t = target_of(job, i);
        macs += t && t->desc->outside && describe_of(t)->macs_per_cycle <= 0
                    ? 0
                    : job->p->graph->row[i].macs;
        most += capacity(job, i);
    }
    return timed(job) ? utilisation(job, macs, most) : 0;
}

static cJSON *hw_json(const struct hd_config *hw)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "name", hw->name);
    add_count(o, "rows", hw->n);
    add_count(o, "cols", hw->n);
    return o;
}

/* The configuration; of several accelerators a list. */
static void add_hw(const struct run_job *job, cJSON *o)
{
    const struct target_list *list = &job->p->targets;
    uint32_t n = 0;
    cJSON *all = cJSON_CreateArray();
    for (uint32_t i = 0; i < list->n; i++) {
        const struct hd_config *hw = target_hw(list->target[i], &job->p->hw);
        if (!list->target[i]->desc->accelerator)
            continue;
        cJSON *one = hw_json(hw);
        cJSON_AddStringToObject(one, "instance", list->target[i]->name);
        cJSON_AddItemToArray(all, one);
        n++;
    }
    if (n > 1) {
        cJSON_AddItemToObject(o, "hw", all);
        return;
    }
    cJSON_Delete(all);
    cJSON_AddItemToObject(o, "hw", hw_json(&job->p->hw));
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
    add_count(sim, "processes", job->shared ? job->n_process : 1);
    if (timed(job) && wall > 0)
        cJSON_AddNumberToObject(sim, "cycles_per_second", (double)job->shared->sim_cycles / wall);
    else
        cJSON_AddNullToObject(sim, "cycles_per_second");
}

static const char *row_at(const struct run_job *job, uint32_t position)
{
    const struct ir_graph *g = job->p->graph;
    return position < g->n_op ? g->row[g->op[position]->row].name : "";
}

static void add_memory(const struct run_job *job, cJSON *o)
{
    const struct sched_program *p = job->p->program;
    if (!p)
        return;
    struct memory_use use = memory_use_of(p);
    cJSON *memory = cJSON_AddObjectToObject(o, "memory");
    add_count(memory, "activation_bytes", use.at[use.peak_at].held);
    cJSON_AddStringToObject(memory, "activation_layer", row_at(job, use.peak_at));
    add_count(memory, "live_range_bytes", use.at[use.bound_at].live);
    cJSON_AddStringToObject(memory, "live_range_layer", row_at(job, use.bound_at));
    add_count(memory, "copy_bytes", use.copies);
    add_count(memory, "padding_bytes", use.padding);
    add_count(memory, "buffer_bytes", use.buffers);
    add_count(memory, "compulsory_weight_bytes", use.weights);
    add_count(memory, "compulsory_read_bytes", use.weights + use.read);
    add_count(memory, "compulsory_write_bytes", use.write);
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
        w, "file", arena_printf(job->arena, "%s/waves.fst", job->out_dir ? job->out_dir : "."));
    cJSON_AddNumberToObject(w, "cycles", (double)job->shared->wave_cycles);
    cJSON_AddNumberToObject(w, "bytes", (double)job->shared->wave_bytes);
    cJSON_AddBoolToObject(w, "limited", job->shared->wave_limited != 0);
}

/* By how much the outputs differ; nothing where all bytes are equal. */
static void add_differences(const struct run_job *job, cJSON *o)
{
    const struct ir_graph *g = job->p->graph;
    double largest;
    uint64_t n_values;
    difference_sums(job, &largest, &n_values);
    if (job->options->tolerance)
        add_count(o, "tolerance_steps", job->options->tolerance);
    if (n_values == 0)
        return;
    cJSON *all = cJSON_AddArrayToObject(o, "differences");
    for (uint32_t i = 0; i < g->n_out; i++) {
        const struct run_differ *r = &job->differ[i];
        const struct ir_tensor *t = g->tensor[g->out[i]];
        if (r->n_values == 0)
            continue;
        cJSON *one = cJSON_CreateObject();
        add_count(one, "output", i);
        add_count(one, "values", r->n_values);
        add_count(one, "inferences", r->n_inferences);
        cJSON_AddStringToObject(one, "unit", difference_step(g, t) > 0 ? "steps" : "value");
        if (isfinite(r->largest))
            cJSON_AddNumberToObject(one, "largest", r->largest);
        else
            cJSON_AddNullToObject(one, "largest");
        add_count(one, "first_inference", r->inference);
        add_count(one, "first_index", r->index);
        cJSON_AddItemToArray(all, one);
    }
}

cJSON *run_stats_json(const struct run_job *job)
{
    cJSON *o = cJSON_CreateObject(), *layers;
    uint64_t cycles = timed(job) ? job->shared->cycles : 0;
    const struct memory_at *at = job->p->program ? memory_use_of(job->p->program).at : NULL;
    cJSON_AddStringToObject(o, "schema", "heddle.stats.v1");
    cJSON_AddStringToObject(o, "model", job->p->graph->name);
    cJSON_AddStringToObject(o, "engine", engine_names[job->options->engine]);
    add_hw(job, o);
    add_count(o, "inferences", job->n);
    cJSON_AddStringToObject(o, "verdict", verdict_names[job->verdict]);
    cJSON_AddStringToObject(o, "checked_against", job->checked_against);
    if (job->expected_from)
        cJSON_AddStringToObject(o, "expected_from", job->expected_from);
    add_count(o, "outputs", job->p->graph->n_out);
    if (job->tolerance > 0) {
        cJSON_AddNumberToObject(o, "tolerance", job->tolerance);
        cJSON_AddNumberToObject(o, "difference", job->difference);
    }
    add_differences(job, o);
    if (timed(job))
        add_mean(o, "cycles", cycles, job->n);
    else
        cJSON_AddNullToObject(o, "cycles");
    add_count(o, "macs", all_macs(job));
    cJSON_AddNumberToObject(o, "utilisation", whole_utilisation(job));
    add_mean(o, "dram_read_bytes", timed(job) ? job->shared->read_bytes : 0, job->n);
    add_mean(o, "dram_write_bytes", timed(job) ? job->shared->write_bytes : 0, job->n);
    if (job->label)
        cJSON_AddNumberToObject(o, "accuracy", (double)job->n_right / job->n);
    layers = cJSON_AddArrayToObject(o, "layers");
    for (uint32_t i = 0; i < job->p->graph->n_row; i++)
        cJSON_AddItemToArray(layers, layer_json(job, at, i));
    if (timed(job) && job->p->program->n_stream)
        add_counters(job, o);
    add_waves(job, o);
    add_memory(job, o);
    add_sim(job, o);
    return o;
}

enum status run_stats(const struct run_job *job, const char *path, struct diag *d)
{
    cJSON *o = run_stats_json(job);
    char *text = cJSON_Print(o);
    cJSON_Delete(o);
    if (!text)
        return FAIL(d, ST_NO_MEMORY, "no memory for the stats file");
    enum status st = file_write(path, text, strlen(text), d);
    cJSON_free(text);
    return st;
}
