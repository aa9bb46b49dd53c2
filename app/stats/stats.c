/* stats.c - results of a run as JSON, schema heddle.stats.v2: docs/stats.v2.schema.json, every
 * member explained in docs/REPORT.md. */
#define _GNU_SOURCE
#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "account.h"
#include "app/compare/compare_layers.h"
#include "app/compare/difference.h"
#include "app/compare/verdict_text.h"
#include "app/engine/core_targets.h"
#include "app/engine/host_core.h"
#include "app/job/results.h"
#include "app/oracle/oracle.h"
#include "base/file.h"
#include "compiler/host/host_cycles.h"
#include "compiler/plan/memory_use.h"
#include "hd_accel_tables.h"
#include "numbers.h"
#include "sim/iss/iss.h"
#include "stats.h"
#include "stats_layers.h"
#include "stats_member.h"
#include "stats_model.h"

static const char *const engine_names[] = {"ref", "func", "rtl"};
static const char *const verdict_names[] = {"match", "mismatch", "unchecked", "within"};

static cJSON *hw_json(const struct job *job, const struct hd_config *hw)
{
    const uint32_t memory = job->options->mem_bytes;
    cJSON *o = cJSON_CreateObject();

    cJSON_AddStringToObject(o, "name", hw->name);
    stats_count(o, "rows", hw->rows);
    stats_count(o, "cols", hw->columns);
    stats_count(o, "scratchpad_bytes", hw->scratchpad_bytes);
    stats_count(o, "bus_bytes", memory && memory < hw->axi_bytes ? memory : hw->axi_bytes);
    return o;
}

/* Add the configuration, or a list for several accelerators. */
static void add_hw(const struct job *job, cJSON *o)
{
    const struct target_list *list = &job->p->targets;
    uint32_t n = 0;
    cJSON *all = cJSON_CreateArray();

    for (uint32_t i = 0; i < list->n; i++) {
        const struct hd_config *hw = target_hw(list->target[i], &job->p->hw);
        if (!list->target[i]->desc->accelerator)
            continue;
        cJSON *one = hw_json(job, hw);
        cJSON_AddStringToObject(one, "instance", list->target[i]->name);
        cJSON_AddItemToArray(all, one);
        n++;
    }
    if (n > 1) {
        cJSON_AddItemToObject(o, "hw", all);
        return;
    }
    cJSON_Delete(all);
    cJSON_AddItemToObject(o, "hw", hw_json(job, &job->p->hw));
}

static void add_counters(const struct run_measured *m, cJSON *o)
{
    cJSON *units = cJSON_AddObjectToObject(o, "counters");

    for (uint32_t u = 0; u < HD_UNIT_COUNT; u++) {
        cJSON *unit = cJSON_AddObjectToObject(units, hd_unit_names[u]);
        for (uint32_t k = 0; k < HD_COUNTER_SLOTS; k++)
            if (hd_counter_names[u][k])
                stats_count(unit, hd_counter_names[u][k],
                            m->shared->counter[u * HD_COUNTER_SLOTS + k]);
    }
}

static void add_sim(const struct run *run, cJSON *o)
{
    cJSON *sim = cJSON_AddObjectToObject(o, "sim");
    double wall =
        run->measured.shared ? run->measured.shared->wall_seconds : run->results.ref_seconds;

    cJSON_AddNumberToObject(sim, "wall_seconds", wall);
    stats_count(sim, "processes", run->measured.shared ? run->measured.n_process : 1);
    if (stats_timed(&run->job, &run->measured) && wall > 0)
        cJSON_AddNumberToObject(sim, "cycles_per_second",
                                (double)run->measured.shared->sim_cycles / wall);
    else
        cJSON_AddNullToObject(sim, "cycles_per_second");
}

static const char *row_at(const struct job *job, uint32_t position)
{
    const struct ir_graph *g = job->p->graph;

    return position < g->n_op ? g->row[g->op[position]->row].name : "";
}

static void add_memory(const struct job *job, cJSON *o)
{
    const struct sched_program *p = job->p->program;

    if (!p)
        return;
    struct memory_use use = memory_use_of(p);
    cJSON *memory = cJSON_AddObjectToObject(o, "memory");
    stats_count(memory, "activation_bytes", use.at[use.peak_at].held);
    cJSON_AddStringToObject(memory, "activation_layer", row_at(job, use.peak_at));
    stats_count(memory, "live_range_bytes", use.at[use.bound_at].live);
    cJSON_AddStringToObject(memory, "live_range_layer", row_at(job, use.bound_at));
    stats_count(memory, "copy_bytes", use.copies);
    stats_count(memory, "padding_bytes", use.padding);
    stats_count(memory, "buffer_bytes", use.buffers);
    stats_count(memory, "compulsory_weight_bytes", use.weights);
    stats_count(memory, "compulsory_read_bytes", use.weights + use.read);
    stats_count(memory, "compulsory_write_bytes", use.write);
    stats_count(memory, "arena_bytes", p->arena_bytes);
    stats_count(memory, "scratchpad_bytes", p->spad_peak);
    stats_count(memory, "constant_bytes", p->constants.length);
    stats_count(memory, "command_bytes", p->command_bytes);
}

static void add_waves(const struct job *job, const struct run_measured *m, cJSON *o)
{
    if (!m->shared || !m->shared->wave_bytes)
        return;
    cJSON *w = cJSON_AddObjectToObject(o, "waves");
    cJSON_AddStringToObject(
        w, "file", arena_printf(job->arena, "%s/waves.fst", job->out_dir ? job->out_dir : "."));
    cJSON_AddNumberToObject(w, "cycles", (double)m->shared->wave_cycles);
    cJSON_AddNumberToObject(w, "bytes", (double)m->shared->wave_bytes);
    cJSON_AddBoolToObject(w, "limited", m->shared->wave_limited != 0);
}

/* Add the size of the outputs' differences; nothing if all bytes are equal. */
static void add_differences(const struct job *job, const struct run_results *results, cJSON *o)
{
    const struct ir_graph *g = job->p->graph;
    double largest;
    uint64_t n_values;

    difference_sums(job, results, &largest, &n_values);
    if (job->options->tolerance)
        stats_count(o, "tolerance_steps", job->options->tolerance);
    if (n_values == 0)
        return;
    cJSON *all = cJSON_AddArrayToObject(o, "differences");
    for (uint32_t i = 0; i < g->n_out; i++) {
        const struct run_differ *r = &results->differ[i];
        const struct ir_tensor *t = ir_border(g, g->out[i]);
        if (r->n_values == 0)
            continue;
        cJSON *one = cJSON_CreateObject();
        stats_count(one, "output", i);
        stats_count(one, "values", r->n_values);
        stats_count(one, "inferences", r->n_inferences);
        cJSON_AddStringToObject(one, "unit", difference_step(g, t) > 0 ? "steps" : "value");
        if (isfinite(r->largest))
            cJSON_AddNumberToObject(one, "largest", r->largest);
        else
            cJSON_AddNullToObject(one, "largest");
        stats_count(one, "first_inference", r->inference);
        stats_count(one, "first_index", r->index);
        cJSON_AddItemToArray(all, one);
    }
}

/* Add the cycles of the simulated processor: total_cycles counts an inference from its first to its
 * last cycle. */
static void add_host(const struct job *job, const struct run_measured *m, cJSON *o)
{
    static const char *const split[] = {"prepare_cycles", "access_cycles", "interrupt_cycles",
                                        "finish_cycles"};
    const struct board_host *h = &m->shared->host;

    cJSON *driver = cJSON_AddObjectToObject(o, "driver");
    stats_mean(driver, "submissions", m->shared->submissions, job->n);
    stats_mean(driver, "accesses", h->accesses, job->n);
    for (uint32_t i = 0; i < sizeof h->split / sizeof *h->split; i++)
        stats_mean(driver, split[i], h->split[i], job->n);
    stats_mean(o, "waiting_cycles", h->waiting, job->n);
    cJSON_AddStringToObject(o, "host_model", run_iss_name(job->options));
    cJSON_AddStringToObject(o, "host_core", run_iss_core(job->options)->name);
    cJSON_AddNumberToObject(o, "host_clock",
                            (double)job->options->host_clock[0] / job->options->host_clock[1]);
    stats_mean(o, "total_cycles", h->total, job->n);
    if (!m->cores || m->cores->n == 0) /* their cycles are not counted separately */
        stats_mean(o, "serial_cycles", h->operators + h->driver + m->shared->cycles, job->n);
}

/* Add the cycles. Accelerator and host alternate: the host waits for each submission, even with
 * several accelerators. An inference therefore takes the sum of all. */
static void add_cycles(const struct stats *s, cJSON *o)
{
    const struct job *job = s->job;
    const struct run_measured *m = s->measured;
    const struct account *a = s->account;
    uint64_t host = a->host_cycles * job->n;
    bool alone = true; /* true if the host runs all operators */

    for (uint32_t i = 0; i < a->n_layer; i++)
        alone = alone && a->layer[i].n_accelerator == 0;
    if (job->options->host != HOST_NATIVE) {
        add_host(job, m, o);
        return stats_count(o, "crossings", a->crossings);
    }
    cJSON_AddStringToObject(o, "host_model", HOST_CYCLES_MODEL);
    if ((stats_timed(job, m) || alone) && !a->untimed)
        stats_mean(o, "total_cycles", host + (alone ? 0 : m->shared->cycles), job->n);
    else {
        cJSON_AddNullToObject(o, "total_cycles");
        if (job->p->program)
            stats_mean(o, "estimated_total_cycles", host + stats_likely(s), job->n);
    }
    stats_count(o, "crossings", a->crossings);
}

/* Add the columns of a run. */
static void add_columns(const struct stats *s, cJSON *o)
{
    const struct run_shared *shared = s->measured->shared;
    const bool timed = stats_timed(s->job, s->measured);
    const struct numbers v = {.job = s->job,
                              .account = s->account,
                              .host = shared ? &shared->host : NULL,
                              .read_bytes = timed ? shared->read_bytes : 0,
                              .write_bytes = timed ? shared->write_bytes : 0,
                              .share = {.timed = timed,
                                        .cycles = timed ? shared->cycles : 0,
                                        .estimate = s->job->p->program ? stats_estimate(s) : 0},
                              .utilisation = timed ? stats_utilisation(s) : 0,
                              .native = s->job->options->host == HOST_NATIVE};

    for (int place = COLUMN_CYCLES; place <= COLUMN_BUS; place++)
        numbers_add(o, &v, (enum column_place)place);
}

static void add_verdict(const struct run *run, cJSON *o)
{
    const struct job *const job = &run->job;
    const struct run_results *const results = &run->results;

    cJSON_AddStringToObject(o, "verdict", verdict_names[results->verdict]);
    cJSON_AddStringToObject(o, "checked_against", job->checked_against);
    if (job->tolerance > 0) {
        cJSON_AddNumberToObject(o, "tolerance", job->tolerance);
        cJSON_AddNumberToObject(o, "difference", results->difference);
    }
    add_differences(job, results, o);
    if (job->expected_from)
        cJSON_AddStringToObject(o, "expected_from", job->expected_from);
    stats_count(o, "outputs", job->p->graph->n_out);
    if (results->verdict == VERDICT_MATCH && job->p->graph->n_out)
        cJSON_AddStringToObject(o, "statement", run_match_text(job, &run->measured, results));
    if (results->proof)
        cJSON_AddStringToObject(o, "proof", results->proof);
    if (job->class_name) {
        cJSON *classes = cJSON_AddArrayToObject(o, "classes");

        for (uint32_t k = 0; k < job->n; k++)
            cJSON_AddItemToArray(classes, cJSON_CreateString(job->class_name[results->best[k]]));
    }
    if (job->label)
        cJSON_AddNumberToObject(o, "accuracy", (double)results->n_right / job->n);
}

/* Add the number of layers compared, and the first that differs. */
static void add_compared(const struct job *job, const struct run_results *results, cJSON *o)
{
    const struct compare_sums *s = &results->layers;

    if (!results->compare)
        return;
    cJSON *compared = cJSON_AddObjectToObject(o, "compared");
    stats_count(compared, "layers", s->n_layers);
    stats_count(compared, "equal", s->n_equal);
    stats_count(compared, "inferences", s->n_inferences);
    if (!s->first.found)
        return;
    const struct ir_tensor *t = job->p->graph->tensor[s->first.tensor];
    cJSON *first = cJSON_AddObjectToObject(compared, "first");
    cJSON_AddStringToObject(first, "layer",
                            job->p->graph->row[compare_first_row(job, results)].name);
    cJSON_AddStringToObject(first, "by", s->first.compiler ? "passes" : "execution");
    stats_count(first, "inference", s->first.inference);
    stats_count(first, "values", ir_elements(t));
    stats_count(first, "wrong", s->first.wrong);
    stats_count(first, "index", s->first.index);
    cJSON_AddStringToObject(first, "text", compare_first_text(job, results));
}

/* Add the framework's answer for --oracle. */
static void add_oracle(const struct job *job, const struct run_results *results, cJSON *o)
{
    const struct oracle_answer *answer = results->oracle;

    if (!answer)
        return;
    cJSON *one = cJSON_AddObjectToObject(o, "oracle");
    cJSON_AddStringToObject(one, "runtime", answer->runtime);
    stats_count(one, "tensors", answer->n_tensor);
    stats_count(one, "equal", answer->n_equal);
    cJSON_AddStringToObject(one, "text", oracle_text(job->arena, answer));
}

cJSON *run_stats_json(const struct run *run)
{
    const struct stats s = {&run->job, &run->measured, account_of(run->job.arena, run->job.p),
                            stats_actions(&run->job, &run->measured)};

    errno = 0; /* without memory cJSON drops a member silently */
    cJSON *o = cJSON_CreateObject();

    cJSON_AddStringToObject(o, "schema", "heddle.stats.v2");
    cJSON_AddStringToObject(o, "model", run->job.p->graph->name);
    cJSON_AddStringToObject(o, "engine", engine_names[run->job.options->engine]);
    add_hw(&run->job, o);
    stats_count(o, "inferences", run->job.n);
    add_verdict(run, o);
    add_compared(&run->job, &run->results, o);
    add_oracle(&run->job, &run->results, o);
    add_columns(&s, o);
    add_cycles(&s, o);
    stats_model(&s, o);
    stats_layers(&s, o);
    if (stats_timed(&run->job, &run->measured) && run->job.p->program->n_stream)
        add_counters(&run->measured, o);
    add_waves(&run->job, &run->measured, o);
    add_memory(&run->job, o);
    add_sim(run, o);
    if (!o || errno == ENOMEM) {
        cJSON_Delete(o);
        arena_exhausted(run->job.arena);
    }
    return o;
}

enum status run_stats_write(const cJSON *stats, const char *path, struct diag *d)
{
    char *text = cJSON_Print(stats);

    if (!text)
        return FAIL(d, ST_NO_MEMORY, "no memory for the stats file");
    enum status st = file_write(path, text, strlen(text), d);
    cJSON_free(text);
    return st;
}
