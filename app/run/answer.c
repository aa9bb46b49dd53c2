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
#include "app/oracle/oracle.h"
#include "compiler/target/describe.h"
#include "run_package.h"

enum status run_trusted(const struct run_job *job, struct diag *d)
{
    for (uint32_t i = 0; i < job->p->targets.n; i++) {
        const struct target_desc *desc = job->p->targets.target[i]->desc;
        if (emit_outside_used(job->p->emitted, desc))
            TRY(target_trusted(job->arena, desc, job->options->allow_native, d));
    }
    return ST_OK;
}

static enum status execute(struct run_job *job, struct diag *d)
{
    const struct ir_graph *g = job->p->graph;
    const char *so_path;

    if (job->options->engine == ENGINE_REF)
        return run_with_reference(job, job->out, d);
    job->tolerance = describe_tolerance(job->arena, g, &job->p->targets, &job->p->hw);
    compare_open(job);
    if (!job->expected) {
        job->expected = ARENA_ARRAY(job->arena, struct run_data, g->n_out + 1);
        job->checked_against = "ref";
        TRY(run_with_reference(job, job->expected, d));
    } else if (job->compare)
        TRY(run_first_with_reference(job, ARENA_ARRAY(job->arena, struct run_data, g->n_out + 1),
                                     compare_inferences(job->compare), d));
    TRY(run_trusted(job, d));
    if (job->options->host != HOST_NATIVE)
        TRY(run_iss_compile(job, &so_path, d));
    else
        TRY(run_compile(job->arena, job->p->emitted, &so_path, d));
    return run_engine(job, so_path, d);
}

/* Print the importer's notes. */
static void import_notes(const struct run_job *job)
{
    const struct ir_bias_note *b = &job->p->graph->bias_note;

    if (b->n)
        output_printf(job->options->output, OUTPUT_NOTE,
                      "note: %u bias%s not have the scale of the input times that of the weights; "
                      "the first, of %s, has %.9g instead of %.9g, which is what results take it "
                      "to be",
                      b->n, b->n == 1 ? " does" : "es do", b->name, b->found, b->product);
}

enum status run_front(struct run_job *job, struct diag *d)
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

/* The model or package of `run`, or the one layer of `bench`. */
enum status run_load(struct run_job *job, struct diag *d)
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
        return run_package_load(job, d);
    return run_front(job, d);
}

/* --oracle: the reference, on the same inputs, against the framework that the file is made for. */
static enum status ask_oracle(struct run_job *job, struct diag *d)
{
    const struct ir_graph *g = job->p->reference;
    const struct ref_options options = pipeline_ref_options(&job->options->legalise);
    const uint8_t **in = ARENA_ARRAY(job->arena, const uint8_t *, g->n_in + 1);

    if (job->options->oracle == ORACLE_NONE)
        return ST_OK;
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
    job->results.oracle = ARENA_NEW(job->arena, struct oracle_answer);
    TRY(oracle_ask(job->arena, &q, job->results.oracle, d));
    if (job->results.oracle->n_equal < job->results.oracle->n_tensor)
        job->results.verdict = VERDICT_MISMATCH;
    return ST_OK;
}

enum status run_answer(struct run_job *job, struct diag *d)
{
    job->checked_against = "ref";
    TRY(run_inputs(job, d));
    TRY(run_expectations(job, d));
    TRY(difference_options(job, d));
    if (!job->p->emitted)
        TRY(pipeline_back(job->p, d));
    TRY(execute(job, d));
    difference_judge(job);
    compare_judge(job);
    return ask_oracle(job, d);
}
