/* run.c - the steps of a run; see run.h. */
#define _GNU_SOURCE
#include "run.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "answer.h"
#include "app/compare/compare_layers.h"
#include "app/compare/difference.h"
#include "app/compare/layer_check.h"
#include "app/compare/strength.h"
#include "app/engine/host_iss.h"
#include "app/engine/qemu.h"
#include "app/engine/waves.h"
#include "app/inputs/inputs.h"
#include "app/inputs/stored.h"
#include "app/job/shared.h"
#include "app/mismatch/explain.h"
#include "app/oracle/oracle.h"
#include "app/report/report.h"
#include "app/report/run_pages.h"
#include "app/run/run_prove.h"
#include "app/stats/stats.h"
#include "app/stats/stats_model.h"
#include "base/file.h"
#include "program.h"
#include "run_package.h"

static const uint8_t *inference(const struct run_data *data, uint32_t k)
{
    return data->bytes + k * data->n_bytes;
}

/* Find the class at which the first output of each inference is largest; count those at the label. */
static void score(struct run *run)
{
    const struct job *const job = &run->job;
    const struct ir_graph *g = run->job.p->graph;
    const struct ir_tensor *t = ir_border(g, g->out[0]);

    if (!job->label && !job->class_name)
        return;
    run->results.best = ARENA_ARRAY(job->arena, uint32_t, job->n + 1);
    for (uint32_t k = 0; k < job->n; k++) {
        const uint8_t *bytes = inference(&run->measured.out[0], k);
        uint32_t best = 0;
        for (uint32_t i = 1; i < ir_elements(t); i++)
            if (ir_element(t, bytes, i) > ir_element(t, bytes, best))
                best = i;
        run->results.best[k] = best;
        run->results.n_right += job->label && best == (uint32_t)job->label[k];
    }
}

/* All inferences of input or output `id`, in the type of the model's file. */
static enum status write_values(const struct run *run, const char *path, uint32_t id,
                                const struct run_data *data, struct diag *d)
{
    const struct ir_tensor *t = ir_border(run->job.p->graph, id);

    if (!t->stored)
        return file_write(path, data->bytes, data->n_bytes * run->job.n, d);
    return file_write(path,
                      stored_save(run->job.arena, t, data->bytes, ir_elements(t) * run->job.n),
                      (size_t)stored_bytes(t) * run->job.n, d);
}

static enum status write_into(const struct run *run, const cJSON *stats, const char *folder,
                              struct diag *d)
{
    const struct ir_graph *g = run->job.p->graph;
    struct arena *a = run->job.arena;
    struct text t;

    for (uint32_t i = 0; i < g->n_out; i++)
        TRY(write_values(run, arena_printf(a, "%s/out_%u.bin", folder, i), g->out[i],
                         &run->measured.out[i], d));
    for (uint32_t i = 0; run->job.generated && i < g->n_in; i++)
        TRY(write_values(run, arena_printf(a, "%s/in_%u.bin", run->job.out_dir, i), g->in[i],
                         &run->job.in[i], d));
    text_init(&t, a);
    run_report(stats, &t, FORMAT_TEXT, run->job.options->verbose ? REPORT_UNITS : REPORT_LAYERS);
    TRY(file_write(arena_printf(a, "%s/report.txt", folder), t.data, t.length, d));
    TRY(run_stats_write(stats, arena_printf(a, "%s/stats.json", folder), d));
    TRY(run_pages(&run->job, &run->measured, stats, folder, d));
    if (run->job.p->emitted)
        TRY(emit_write(run->job.p->emitted, arena_printf(a, "%s/emitted", folder), d));
    return ST_OK;
}

/* Write all outputs, or none if the disk is full. */
static enum status write_outputs(struct run *run, const cJSON *stats, struct diag *d)
{
    if (!run->job.out_dir)
        return ST_OK;
    TRY(stage_begin(&run->folder.stage, run->job.out_dir, d));
    return stage_end(&run->folder.stage, write_into(run, stats, run->folder.stage.path, d), d);
}

/* Run a layer alone as a separate run. */
static enum status answer(struct run *run, struct diag *d)
{
    TRY(run_load(&run->job, &run->measured, d));
    return run_answer(run, d);
}

enum status run_mismatch(struct run *run, struct diag *d)
{
    if (run->results.oracle && run->results.oracle->n_equal < run->results.oracle->n_tensor &&
        run->results.n_wrong == 0 && !run->results.layers.first.found)
        return FAIL(d, ST_MISMATCH, "the CPU reference and %s differ on this file: %s",
                    run->results.oracle->runtime, oracle_text(run->job.arena, run->results.oracle));
    (void)(run->results.n_wrong ? difference_fail(&run->job, &run->measured, &run->results, d)
                                : compare_fail(&run->results, d));
    if (run->results.layers.first.found)
        diag_line(d, "first wrong layer: %s", compare_first_text(&run->job, &run->results));
    if (run->job.tolerance == 0)
        explain_mismatch(run, answer, d);
    return ST_MISMATCH;
}

static enum status check_operators(struct job *job, struct diag *d)
{
    struct text report;
    const char *name;
    bool agrees;

    TRY(run_find_model(job->arena, job->options, job, &name, d));
    text_init(&report, job->arena);
    TRY(layer_check_run(job->p, job->options, job->model_path, name, &report, &agrees, d));
    output_text(job->options->output, OUTPUT_RESULT, report.data);
    return agrees ? ST_OK
                  : FAIL(d, ST_MISMATCH,
                         "with golden inputs some operators are off by more than one unit");
}

/* Write all files of the run, and the report that is printed. */
static enum status write_all(struct run *run, struct text *report, struct diag *d)
{
    const struct options *o = run->job.options;
    cJSON *stats = run_stats_json(run);
    enum status st = write_outputs(run, stats, d);

    if (st == ST_OK && o->stats)
        st = run_stats_write(stats, o->stats, d);
    if (st == ST_OK && o->accelergy)
        st = stats_accelergy(&run->job, &run->measured, o->accelergy, d);
    if (st == ST_OK)
        run_report(stats, report, o->format, run_detail(o));
    cJSON_Delete(stats);
    return st;
}

static enum status run_locked(struct run *run, struct diag *d)
{
    const struct options *o = run->job.options;
    struct waves waves;
    struct text report;

    if (run->job.package)
        return run_package(run, d);
    TRY(waves_parse(&waves, &run->job, d));
    if (o->bus_fault && o->engine != ENGINE_RTL)
        return FAIL(d, ST_USAGE, "--bus-fault needs --engine=rtl: nothing else has a bus");
    if (o->strength)
        TRY(strength_check(o, d));
    if (o->prove)
        TRY(prove_verdict(run, d));
    TRY(run_answer(run, d));
    score(run);
    text_init(&report, run->job.arena);
    TRY(write_all(run, &report, d));
    if (o->strength && run->results.verdict == VERDICT_MATCH)
        TRY(strength_run(run, &report, d));
    output_text(o->output, OUTPUT_RESULT, report.data);
    if (run->results.verdict == VERDICT_MISMATCH)
        return run_mismatch(run, d);
    return o->prove ? prove_strict(run, d) : ST_OK;
}

/* Run a loaded job. The folder of -o belongs to this run only; if the run created it and leaves it
 * empty, it is removed. */
enum status run_loaded(struct run *run, struct diag *d)
{
    const char *out = run->job.options->out;
    int lock = -1;

    TRY(run_qemu_check(&run->job, d));
    TRY(run_iss_check(&run->job, d));
    run->job.out_dir = out;
    run->folder.made = out && !file_exists(out);
    run->job.checked_against = "ref";
    TRY(stats_models(&run->job, &run->measured, d));
    if (out)
        TRY(file_lock_dir(out, &lock, d));
    run->folder.lock = lock + 1;
    const enum status st = run_locked(run, d);
    if (st == ST_OK)
        run->folder.made = false;
    run_unlock(run);
    return st;
}

enum status run_command(struct run *run, struct diag *d)
{
    const struct options *o = run->job.options;

    if (o->prog && o->engine == ENGINE_QEMU)
        return FAIL(d, ST_USAGE, "--engine=qemu: not with --prog");
    if (o->prog)
        return run_program(run->job.arena, o, d);
    if (o->teacher && !run_is_package(run->job.arena, o->model))
        return check_operators(&run->job, d);
    TRY(run_load(&run->job, &run->measured, d));
    return run_loaded(run, d);
}
