/* quantise_command.c - see quantise_command.h. Reads files, runs compiler/quantise, writes
 * files. */
#include "quantise_command.h"

#include <stdlib.h>

#include "app/inputs/data.h"
#include "app/inputs/inputs.h"
#include "app/job/job.h"
#include "app/job/monotonic.h"
#include "base/file.h"
#include "compiler/target/describe.h"

static enum status import(struct pipeline *p, struct job *job, struct diag *d)
{
    const char *name;
    uint8_t *data;
    enum status st;

    TRY(run_find_model(job->arena, job->options, job, &name, d));
    TRY(file_read(p->arena, job->model_path, DATA_MAX_BYTES, &data, &p->model.n_bytes, d));
    p->model.path = job->model_path;
    p->model.name = name;
    p->model.data = data;
    st = pipeline_run(p, STEP_import, STEP_padding, d);
    if (st != ST_OK)
        diag_prefix(d, "%s", job->model_path);
    return st;
}

/* Check that the compiler accepts the written file. */
static enum status try_import(struct arena *a, const struct options *o,
                              const struct quant_result *r, struct diag *d)
{
    struct pipeline p = {.arena = a, .options = options_pipeline(o)};

    p.options.input_shapes = p.options.signature = NULL;
    p.model = (struct pipeline_model){o->out, "quantised", r->file, r->n_bytes};
    if (pipeline_run(&p, STEP_import, STEP_renumber, d) == ST_OK)
        return ST_OK;
    diag_prefix(d, "quantise: the network that was made");
    return ST_INTERNAL;
}

static enum status check(const struct options *o, double *percentile, struct diag *d)
{
    char *end = NULL;

    if (o->n_input == 0)
        return FAIL(d, ST_USAGE, "quantise: no samples; expected -i FILE.npy or FILE.npz");
    if (!o->out || !text_ends(o->out, ".onnx"))
        return FAIL(d, ST_USAGE, "quantise: -o: found '%s', expected a name that ends in .onnx",
                    o->out ? o->out : "");
    *percentile = o->percentile ? strtod(o->percentile, &end) : 99.999;
    if ((end && *end) || !(*percentile > 50 && *percentile <= 100))
        return FAIL(d, ST_USAGE,
                    "--percentile: found '%s', expected a number above 50, at most 100",
                    o->percentile);
    if (o->percentile && o->ranges != QUANT_PERCENTILE)
        return FAIL(d, ST_USAGE, "--percentile: expected --ranges=percentile with it");
    return ST_OK;
}

/* Add the limits of an int8 operator to those of the others. */
static void add_limits(struct quant_limits *l, const struct describe_pattern *p)
{
    if (p->dtype != IR_I8)
        return;
    l->per_tensor = l->per_tensor || p->per_tensor;
    l->power_of_two = l->power_of_two || p->requantise == REQUANTISE_SHIFT_BITS;
    l->no_zero = l->no_zero || p->zero_points == ZERO_NONE;
}

static struct quant_limits limits_of(const struct target_list *list)
{
    struct quant_limits l = {0};

    for (uint32_t i = 0; i < list->n; i++) {
        const struct describe *const t = describe_of(list->target[i]);
        for (uint32_t k = 0; t && k < t->n_pattern; k++)
            add_limits(&l, &t->pattern[k]);
        for (uint32_t k = 0; t && k < t->n_composite; k++)
            for (uint32_t s = 0; s < t->composite[k].n_step; s++)
                add_limits(&l, &t->composite[k].step[s].pattern);
    }
    return l;
}

struct teller {
    const struct options *options;
    double begun;
};

static void say(void *ctx, const char *what, uint32_t done, uint32_t all)
{
    const struct teller *t = ctx;

    output_printf(t->options->output, OUTPUT_PROGRESS, "inference %u of %u, %s, %.0f s", done + 1,
                  all, what, monotonic_seconds() - t->begun);
}

enum status quantise_command(struct arena *a, const struct options *o, struct text *t,
                             struct diag *d)
{
    struct pipeline p = {.arena = a, .options = options_pipeline(o)};
    struct job job = {.arena = a, .options = o, .p = &p};
    struct teller teller = {o, monotonic_seconds()};
    struct quant_job q = {.arena = a, .progress = say, .ctx = &teller};
    struct quant_result r;
    enum status st;

    TRY(check(o, &q.options.percentile, d));
    TRY(import(&p, &job, d));
    TRY(run_inputs(&job, d));
    const uint8_t **in = ARENA_ARRAY(a, const uint8_t *, p.graph->n_in + 1);

    for (uint32_t i = 0; i < p.graph->n_in; i++)
        in[i] = job.in[i].bytes;
    q.g = p.graph;
    q.options.ranges = o->ranges;
    q.options.bias_correction = o->bias_correction;
    q.options.limits = limits_of(&o->target);
    q.options.keep_float = o->keep_float;
    q.samples = (struct quant_samples){job.n, in, o->input[0]};
    st = quantise(&q, &r, d);
    output_text(o->output, OUTPUT_PROGRESS, "");
    if (st == ST_UNSUPPORTED)
        diag_prefix(d, "%s", job.model_path);
    TRY(st);
    TRY(try_import(a, o, &r, d));
    TRY(file_write(o->out, r.file, r.n_bytes, d));
    quantise_report(o, p.graph, job.n, &r, t);
    return ST_OK;
}
