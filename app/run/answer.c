/* answer.c - from a job to its verdict: load the model, make the inputs, execute, compare. */
#include "answer.h"
#include "app/build/object.h"
#include "app/compare/compare_layers.h"
#include "app/compare/difference.h"
#include "app/compare/expected.h"
#include "app/engine/host_iss.h"
#include "app/engine/processes.h"
#include "app/inputs/bench.h"
#include "app/inputs/inputs.h"
#include "app/job/results.h"
#include "app/job/shared.h"
#include "app/language/speak.h"
#include "app/oracle/oracle.h"
#include "compiler/target/describe.h"
#include "run_package.h"

enum status run_trusted(const struct job *job, struct diag *d)
{
    for (uint32_t i = 0; i < job->p->targets.n; i++) {
        const struct target_desc *desc = job->p->targets.target[i]->desc;
        if (emit_outside_used(job->p->emitted, desc))
            TRY(target_trusted(job->arena, desc, job->options->allow_native, d));
    }
    return ST_OK;
}

static enum status execute(struct run *run, struct diag *d)
{
    const struct ir_graph *g = run->job.p->graph;
    const char *so_path;

    if (run->job.options->engine == ENGINE_REF)
        return run_with_reference(&run->job, &run->measured, &run->results, run->measured.out, d);
    run->job.tolerance =
        describe_tolerance(run->job.arena, g, &run->job.p->targets, &run->job.p->hw);
    compare_open(&run->job, &run->results);
    if (!run->job.expected) {
        run->job.expected = ARENA_ARRAY(run->job.arena, struct run_data, g->n_out + 1);
        run->job.checked_against = "ref";
        TRY(run_with_reference(&run->job, &run->measured, &run->results, run->job.expected, d));
    } else if (run->results.compare)
        TRY(run_first_with_reference(&run->job, &run->measured, &run->results,
                                     ARENA_ARRAY(run->job.arena, struct run_data, g->n_out + 1),
                                     compare_inferences(run->results.compare), d));
    TRY(run_trusted(&run->job, d));
    if (run->job.options->host != HOST_NATIVE)
        TRY(run_iss_compile(&run->job, &run->measured, &so_path, d));
    else
        TRY(run_compile(run->job.arena, run->job.p->emitted, &so_path, d));
    return run_engine(&run->job, &run->measured, so_path, d);
}

static uint32_t count_hosted(const struct ir_graph *g)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < g->n_op; i++)
        n += ir_op_info(g->op[i]->opcode)->hosted;
    return n;
}

/* Print the importer's notes. */
static void import_notes(const struct job *job)
{
    const struct ir_bias_note *b = &job->p->graph->bias_note;
    const uint32_t n_hosted = count_hosted(job->p->graph);

    if (n_hosted)
        output_printf(
            job->options->output, OUTPUT_NOTE,
            "note: ONNX Runtime computes %u operator%s (--host-fallback): their cycles are "
            "unknown, so the host's are those of the others",
            n_hosted, n_hosted == 1 ? "" : "s");

    if (job->p->graph->newer_than)
        output_printf(
            job->options->output, OUTPUT_NOTE,
            "note: the file's opset is later than %d: its operators are taken as those of "
            "opset %d, whose attributes and inputs they have",
            job->p->graph->newer_than, job->p->graph->newer_than);
    if (job->p->graph->open_note)
        output_printf(job->options->output, OUTPUT_NOTE,
                      "note: the file leaves dimensions open; taken here: %s",
                      job->p->graph->open_note);
    if (b->n)
        output_printf(job->options->output, OUTPUT_NOTE,
                      "note: %u bias%s not have the scale of the input times that of the weights; "
                      "the first, of %s, has %.9g instead of %.9g, %s",
                      b->n, b->n == 1 ? " does" : "es do", b->name, b->found, b->product,
                      text_ends(job->p->model.path, ".onnx")
                          ? "and its values are rounded to multiples of the latter"
                          : "which is what results take it to be");
}

enum status run_front(struct job *job, struct diag *d)
{
    const struct options *o = job->options;
    const char *name;

    TRY(run_find_model(job->p->arena, o, job, &name, d));
    job->p->options = options_pipeline(o);
    if (job->model.data) {
        const struct pipeline_model m = {job->model_path, name, job->model.data,
                                         job->model.n_bytes};
        TRY(pipeline_front_bytes(job->p, &m, d));
    } else
        TRY(pipeline_front(job->p, job->model_path, name, d));
    import_notes(job);
    return ST_OK;
}

/* Load the model or package of `run`, or the one layer of `bench`. */
enum status run_load(struct job *job, struct run_measured *m, struct diag *d)
{
    const struct options *o = job->options;

    if (o->command == COMMAND_BENCH) {
        struct text ir;
        TRY(bench_graph(job->p->arena, o, &ir, &job->model_path, d));
        job->p->options = options_pipeline(o);
        return pipeline_front_bytes(
            job->p,
            &(struct pipeline_model){"graph.ir", "graph", (const uint8_t *)ir.data, ir.length}, d);
    }
    if (o->command == COMMAND_RUN && !job->model.data && run_is_package(job->p->arena, o->model))
        return run_package_load(job, m, d);
    return run_front(job, d);
}

/* The importer keeps ONNX's roundings in the reference's graph only under --onnx-rounding=onnx, so
 * for ONNX Runtime import the file once more under it. */
static enum status in_its_rounding(const struct job *job, const struct ir_graph **g, struct diag *d)
{
    struct pipeline again = *job->p;

    *g = job->p->reference;
    if (job->options->oracle != ORACLE_ONNXRUNTIME || !text_ends(again.model.path, ".onnx"))
        return ST_OK;
    again.options.legalise.rounding = LGL_ROUND_ONNX;
    TRY(pipeline_run(&again, STEP_import, STEP_import, d));
    *g = again.reference;
    return ST_OK;
}

/* --oracle: compare the reference, on the same inputs, with the framework of the file's format. */
static enum status ask_oracle(const struct job *job, struct run_results *results, struct diag *d)
{
    const struct ref_options options = pipeline_ref_options(&job->options->legalise);
    const struct ir_graph *g;
    const uint8_t **in;

    if (job->options->oracle == ORACLE_NONE)
        return ST_OK;
    TRY(in_its_rounding(job, &g, d));
    in = ARENA_ARRAY(job->arena, const uint8_t *, g->n_in + 1);
    for (uint32_t i = 0; i < g->n_in; i++)
        in[i] = job->in[i].bytes;
    const struct oracle_question q = {.kind = job->options->oracle,
                                      .path = job->model_path,
                                      .model = job->model.data,
                                      .n_model = job->model.n_bytes,
                                      .graph = g,
                                      .options = &options,
                                      .in = in,
                                      .n = job->n,
                                      .reset_state = job->options->reset_state,
                                      .output = job->options->output};
    results->oracle = ARENA_NEW(job->arena, struct oracle_answer);
    TRY(oracle_ask(job->arena, &q, results->oracle, d));
    if (results->oracle->n_equal < results->oracle->n_tensor)
        results->verdict = VERDICT_MISMATCH;
    return ST_OK;
}

enum status run_answer(struct run *run, struct diag *d)
{
    run->job.checked_against = "ref";
    TRY(speak_wanted(&run->job) ? speak_inputs(&run->job, d) : run_inputs(&run->job, d));
    run_outputs(&run->job, &run->measured);
    TRY(run_expectations(&run->job, d));
    TRY(difference_options(&run->job, d));
    if (!run->job.p->emitted)
        TRY(pipeline_back(run->job.p, d));
    TRY(execute(run, d));
    difference_judge(&run->job, &run->measured, &run->results);
    compare_judge(&run->job, &run->measured, &run->results);
    return ask_oracle(&run->job, &run->results, d);
}
