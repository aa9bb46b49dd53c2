/* run.c - the order of a run; see run.h. */
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
#include "app/job/shared.h"
#include "app/mismatch/explain.h"
#include "app/oracle/oracle.h"
#include "app/report/report.h"
#include "app/report/run_pages.h"
#include "app/stats/stats.h"
#include "app/stats/stats_model.h"
#include "base/file.h"
#include "program.h"
#include "run_package.h"

static const uint8_t *inference(const struct run_data *data, uint32_t k)
{
    return data->bytes + k * data->n_bytes;
}

/* Count how often the first output is largest at the label. */
static void score(struct run_job *job)
{
    const struct ir_graph *g = job->p->graph;
    const struct ir_tensor *t = ir_border(g, g->out[0]);

    for (uint32_t k = 0; job->label && k < job->n; k++) {
        const uint8_t *bytes = inference(&job->out[0], k);
        uint64_t best = 0;
        for (uint64_t i = 1; i < ir_elements(t); i++)
            if (ir_element(t, bytes, i) > ir_element(t, bytes, best))
                best = i;
        job->results.n_right += (int64_t)best == job->label[k];
    }
}

static enum status write_into(const struct run_job *job, const char *folder, struct diag *d)
{
    struct arena *a = job->arena;
    struct text t;

    for (uint32_t i = 0; i < job->p->graph->n_out; i++)
        TRY(file_write(arena_printf(a, "%s/out_%u.bin", folder, i), job->out[i].bytes,
                       job->out[i].n_bytes * job->n, d));
    for (uint32_t i = 0; job->generated && i < job->p->graph->n_in; i++)
        TRY(file_write(arena_printf(a, "%s/in_%u.bin", job->out_dir, i), job->in[i].bytes,
                       job->in[i].n_bytes * job->n, d));
    text_init(&t, a);
    run_report(job, &t, FORMAT_TEXT, job->options->verbose ? REPORT_UNITS : REPORT_LAYERS);
    TRY(file_write(arena_printf(a, "%s/report.txt", folder), t.data, t.length, d));
    TRY(run_stats(job, arena_printf(a, "%s/stats.json", folder), d));
    TRY(run_pages(job, folder, d));
    if (job->p->emitted)
        TRY(emit_write(job->p->emitted, arena_printf(a, "%s/emitted", folder), d));
    return ST_OK;
}

/* All of them, or none where the disk is full. */
static enum status write_outputs(struct run_job *job, struct diag *d)
{
    if (!job->out_dir)
        return ST_OK;
    TRY(stage_begin(&job->stage, job->out_dir, d));
    return stage_end(&job->stage, write_into(job, job->stage.path, d), d);
}

/* A layer alone, as a run of its own. */
static enum status answer(struct run_job *job, struct diag *d)
{
    TRY(run_load(job, d));
    return run_answer(job, d);
}

static enum status mismatch(struct run_job *job, struct diag *d)
{
    if (job->results.oracle && job->results.oracle->n_equal < job->results.oracle->n_tensor &&
        job->results.n_wrong == 0 && !job->results.layers.first.found)
        return FAIL(d, ST_MISMATCH, "the CPU reference and %s differ on this file: %s",
                    job->results.oracle->runtime, oracle_text(job->arena, job->results.oracle));
    (void)(job->results.n_wrong ? difference_fail(job, d) : compare_fail(job, d));
    if (job->results.layers.first.found)
        diag_line(d, "first wrong layer: %s", compare_first_text(job));
    if (job->tolerance == 0)
        explain_mismatch(job, answer, d);
    return ST_MISMATCH;
}

static enum status check_operators(struct run_job *job, struct diag *d)
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

static enum status run_locked(struct run_job *job, struct diag *d)
{
    const struct options *o = job->options;
    struct waves waves;
    struct text report;

    if (job->package)
        return run_package(job, d);
    TRY(waves_parse(&waves, job, d));
    if (o->bus_fault && o->engine != ENGINE_RTL)
        return FAIL(d, ST_USAGE, "--bus-fault needs --engine=rtl: nothing else has a bus");
    if (o->strength)
        TRY(strength_check(o, d));
    TRY(run_answer(job, d));
    score(job);
    TRY(write_outputs(job, d));
    if (o->stats)
        TRY(run_stats(job, o->stats, d));
    if (o->accelergy)
        TRY(stats_accelergy(job, o->accelergy, d));
    text_init(&report, job->arena);
    run_report(job, &report, o->format, run_detail(o));
    if (o->strength && job->results.verdict == VERDICT_MATCH)
        TRY(strength_run(job, &report, d));
    output_text(o->output, OUTPUT_RESULT, report.data);
    return job->results.verdict == VERDICT_MISMATCH ? mismatch(job, d) : ST_OK;
}

/* The folder of -o is this run's alone; one that it made and left empty goes again. */
enum status run_loaded(struct run_job *job, struct diag *d)
{
    const char *out = job->options->out;
    int lock = -1;

    TRY(run_qemu_check(job, d));
    TRY(run_iss_check(job, d));
    job->out_dir = out;
    job->out_made = out && !file_exists(out);
    job->checked_against = "ref";
    TRY(stats_models(job, d));
    if (out)
        TRY(file_lock_dir(out, &lock, d));
    job->out_lock = lock + 1;
    const enum status st = run_locked(job, d);
    if (st == ST_OK)
        job->out_made = false;
    run_unlock(job);
    return st;
}

enum status run_command(struct run_job *job, struct diag *d)
{
    const struct options *o = job->options;

    if (o->prog && o->engine == ENGINE_QEMU)
        return FAIL(d, ST_USAGE, "--engine=qemu: not with --prog");
    if (o->prog)
        return run_program(job->arena, o, d);
    if (o->teacher && !run_is_package(job->arena, o->model))
        return check_operators(job, d);
    TRY(run_load(job, d));
    return run_loaded(job, d);
}
