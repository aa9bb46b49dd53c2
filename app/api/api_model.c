/* api_model.c - a loaded network: its properties, its compiled forms, its runs. */
#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "app/report/report.h"
#include "app/report/run_pages.h"
#include "app/run/answer.h"
#include "app/run/prove_command.h"
#include "app/run/run.h"
#include "app/stats/stats.h"
#include "app/tune/knob_file.h"
#include "app/tune/tune.h"
#include "base/file.h"
#include "base/text.h"
#include "compiler/quantise/quantise.h"
#include "compiler/systolic/lower/disasm.h"
#include "compiler/systolic/schedule/sched.h"
#include "context.h"

static enum status load(struct heddle *h)
{
    context_forget_run(h);
    TRY(options_select(&h->set, &h->d));
    TRY(context_arena(h, &h->model));
    h->o.command = h->loaded_for;
    h->o.model = h->name;
    h->p = (struct pipeline){.arena = h->model};
    h->loaded =
        (struct run){.job = {.arena = h->model, .options = &h->o, .p = &h->p, .model = h->bytes}};
    h->stale = true; /* until all of it is loaded */
    TRY(run_load(&h->loaded.job, &h->loaded.measured, &h->d));
    h->stale = false;
    return ST_OK;
}

/* Make a copy with malloc; data is NULL if n_bytes is 0. */
static enum status copy(struct heddle *h, struct run_bytes *to, const void *data, size_t n_bytes)
{
    void *own = data ? malloc(n_bytes ? n_bytes + 1 : 1) : NULL;

    if (data && !own)
        return FAIL(&h->d, ST_NO_MEMORY, "out of memory");
    if (n_bytes && own)
        memcpy(own, data, n_bytes);
    if (own)
        ((char *)own)[n_bytes] = '\0'; /* as file_read does */
    free((void *)(uintptr_t)to->data);
    *to = (struct run_bytes){own, n_bytes};
    return ST_OK;
}

enum status context_load(struct heddle *h, enum options_command command, const char *name,
                         const struct run_bytes *bytes)
{
    h->name = NULL;
    if (!name || *name == '\0')
        return FAIL(&h->d, ST_USAGE, "no model; expected the name of a file or network");
    TRY(copy(h, &h->bytes, bytes ? bytes->data : NULL, bytes ? bytes->n_bytes : 0));
    h->loaded_for = command;
    h->name = arena_strdup(h->arena, name);
    enum status st = load(h);
    if (st != ST_OK)
        h->name = NULL;
    return st;
}

/* Ensure that the network is loaded with the current options. */
static enum status with_model(struct heddle *h)
{
    if (!h->name)
        return FAIL(&h->d, ST_USAGE, "no model is loaded");
    return h->stale ? load(h) : ST_OK;
}

/* The same as with_model, but a package is refused. */
static enum status with_graph(struct heddle *h)
{
    TRY(with_model(h));
    if (h->loaded.job.package)
        return FAIL(&h->d, ST_USAGE, "%s: a package has no graph; expected a model", h->name);
    return ST_OK;
}

/* Find the knobs of --tuned or --knobs before the first schedule of the loaded network. */
static enum status look_up_knobs(struct heddle *h)
{
    if ((!h->o.tuned && !h->o.knobs) || !h->p.graph || h->p.program)
        return ST_OK;
    TRY(pipeline_settle(&h->p, &h->d));
    return tune_lookup(&h->p, &h->o, &h->p.options.schedule.knobs, &h->d);
}

enum status context_emitted(struct heddle *h)
{
    TRY(with_graph(h));
    TRY(look_up_knobs(h));
    return h->p.emitted ? ST_OK : pipeline_back(&h->p, &h->d);
}

static void add_json(struct text *t, const cJSON *v)
{
    char *s = cJSON_PrintUnformatted(v);

    text_add(t, s ? s : "null");
    cJSON_free(s);
}

/* Print a list with one element per line, so that it can be edited and compared by line. */
static void print_lines(struct text *t, const cJSON *o)
{
    const cJSON *member, *one;

    text_add(t, "{");
    cJSON_ArrayForEach(member, o)
    {
        text_printf(t, "%s\n \"%s\": ", member == o->child ? "" : ",", member->string);
        if (!cJSON_IsArray(member)) {
            add_json(t, member);
            continue;
        }
        text_add(t, "[");
        cJSON_ArrayForEach(one, member)
        {
            text_add(t, one == member->child ? "\n  " : ",\n  ");
            add_json(t, one);
        }
        text_add(t, "]");
    }
    text_add(t, "\n}\n");
}

/* docs/inspect.v1.schema.json */
static enum status inspect_json(struct heddle *h, struct text *t)
{
    const struct knob_shape shape = knob_shape_of(&h->p);
    cJSON *o = cJSON_CreateObject();

    cJSON_AddStringToObject(o, "schema", "heddle.inspect.v1");
    cJSON_AddStringToObject(o, "model", h->p.graph->name);
    cJSON_AddStringToObject(o, "hw", h->p.hw.name);
    partition_json(&h->p.partition, o);
    knob_file_add(o, &shape, h->p.program->knobs, tune_attrs_values(&h->p, &shape.attrs), true);
    print_lines(t, o);
    cJSON_Delete(o);
    return ST_OK;
}

/* Print the node data of cycles; with -o, write those of each kind to a file of that folder. */
static enum status node_data(struct heddle *h, struct text *t)
{
    const char *const *name = partition_node_data_names;

    if (!h->o.out) {
        partition_node_data(&h->p.partition, 0, t);
        return ST_OK;
    }
    TRY(file_make_dirs(h->o.out, &h->d));
    for (uint32_t i = 0; name[i]; i++) {
        const char *path = arena_printf(h->p.arena, "%s/%s.json", h->o.out, name[i]);
        struct text data;

        text_init(&data, h->p.arena);
        partition_node_data(&h->p.partition, i, &data);
        TRY(file_write(path, data.data, strlen(data.data), &h->d));
        text_printf(t, "%s\n", path);
    }
    return ST_OK;
}

/* Write a quantised TFLite network as an ONNX file. */
static enum status write_onnx(struct heddle *h, struct text *t)
{
    struct pipeline p;
    const uint8_t *file;
    size_t n;

    if (!h->o.out)
        return FAIL(&h->d, ST_USAGE, "--format=onnx: expected -o FILE.onnx");
    TRY(with_graph(h));
    if (text_ends(h->p.model.path, ".onnx") || text_ends(h->p.model.path, ".tosa"))
        return FAIL(&h->d, ST_UNSUPPORTED, "%s: --format=onnx writes TFLite files and .ir graphs",
                    h->p.model.path);
    p = (struct pipeline){.arena = h->p.arena, .options = h->p.options, .model = h->p.model};
    TRY(pipeline_run(&p, STEP_import, STEP_padding, &h->d));
    TRY(qdq_export(p.arena, p.graph, &file, &n, &h->d));
    TRY(file_write(h->o.out, file, n, &h->d));
    text_printf(t, "%s\n", h->o.out);
    return ST_OK;
}

enum status context_inspect(struct heddle *h, struct text *t)
{
    if (h->o.format == FORMAT_ONNX)
        return write_onnx(h, t);
    if (h->o.out && h->o.format != FORMAT_MODEL_EXPLORER)
        return FAIL(
            &h->d, ST_USAGE,
            "--output: heddle inspect writes files with --format=model-explorer or onnx alone");
    TRY(with_graph(h));
    TRY(look_up_knobs(h));
    if (!h->p.program)
        TRY(pipeline_schedule(&h->p, &h->d));
    if (!h->p.emitted)
        TRY(pipeline_run(&h->p, STEP_settle, STEP_settle, &h->d));
    uint32_t *group = ARENA_ARRAY(h->p.arena, uint32_t, h->p.graph->n_row + 1);
    (void)sched_groups(h->p.program, group);
    h->p.partition.group = group;
    if (h->o.format == FORMAT_DOT)
        partition_dot(&h->p.partition, t);
    else if (h->o.format == FORMAT_SVG)
        partition_svg(&h->p.partition, t);
    else if (h->o.format == FORMAT_JSON)
        return inspect_json(h, t);
    else if (h->o.format == FORMAT_MODEL_EXPLORER)
        return node_data(h, t);
    else
        partition_print(&h->p.partition, t);
    if (h->o.format == FORMAT_TEXT && h->p.program->n_stream) {
        text_printf(t, "\n%-26s %s\n", "layer on an accelerator", "knobs (else by rule)");
        pipeline_dump(&h->p, STEP_knobs, t);
    }
    if (h->o.format == FORMAT_TEXT)
        partition_print_constants(h->p.graph, t);
    return ST_OK;
}

enum status context_disasm(struct heddle *h, struct text *t)
{
    TRY(context_emitted(h));
    text_add(t, "");
    sched_print(h->p.program, t);
    return ST_OK;
}

enum status context_prove(struct heddle *h, struct text *t)
{
    TRY(context_emitted(h));
    context_begin_run(h);
    h->run.job.writes = true;
    return prove_command(&h->run, t, &h->d);
}

enum status context_run(struct heddle *h)
{
    TRY(with_model(h));
    TRY(look_up_knobs(h));
    context_forget_run(h);
    TRY(context_arena(h, &h->scratch));
    context_begin_run(h);
    h->run.job.given_in = h->in;
    h->run.job.given_expect = h->expect;
    enum status st = run_loaded(&h->run, &h->d);
    h->ran = st == ST_OK || st == ST_MISMATCH;
    return st;
}

/* --- the API --- */

struct source {
    const char *name;
    const struct run_bytes *bytes;
};

static enum status load_source(struct heddle *h, void *arg)
{
    const struct source *s = arg;

    context_forget_bytes(h);
    return context_load(h, COMMAND_RUN, s->name, s->bytes);
}

enum heddle_code heddle_load(struct heddle *h, const char *model)
{
    return context_call(h, load_source, &(struct source){model, NULL});
}

enum heddle_code heddle_load_bytes(struct heddle *h, const char *name, const void *data,
                                   size_t n_bytes)
{
    const struct run_bytes bytes = {data ? data : "", data ? n_bytes : 0};

    return context_call(h, load_source, &(struct source){name, &bytes});
}

size_t heddle_count(const struct heddle *h, enum heddle_side side)
{
    if (!h->name || !h->p.graph)
        return 0;
    return side == HEDDLE_INPUT ? h->p.graph->n_in : h->p.graph->n_out;
}

struct wanted {
    enum heddle_side side;
    size_t index;
    struct heddle_tensor *tensor;
    struct run_bytes bytes; /* given, or found */
};

static enum status check_index(struct heddle *h, const struct wanted *w)
{
    TRY(with_model(h));
    if (w->index < heddle_count(h, w->side))
        return ST_OK;
    return FAIL(&h->d, ST_USAGE, "%s %zu: the model has %zu",
                w->side == HEDDLE_INPUT ? "input" : "output", w->index, heddle_count(h, w->side));
}

static enum status describe(struct heddle *h, void *arg)
{
    struct wanted *w = arg;

    TRY(check_index(h, w));
    const struct ir_graph *g = h->p.graph;
    const struct ir_tensor *t =
        ir_border(g, w->side == HEDDLE_INPUT ? g->in[w->index] : g->out[w->index]);
    *w->tensor = (struct heddle_tensor){.name = t->name,
                                        .type = ir_type_name(t->type),
                                        .rank = t->rank,
                                        .n_scale = t->quant.n,
                                        .scale = t->quant.n ? (double)t->quant.scale[0] : 0,
                                        .zero_point = ir_zero_point(t),
                                        .n_bytes = (size_t)ir_bytes(t)};
    memcpy(w->tensor->dim, t->dim, t->rank * sizeof *t->dim);
    return ST_OK;
}

enum heddle_code heddle_tensor(struct heddle *h, enum heddle_side side, size_t index,
                               struct heddle_tensor *tensor)
{
    struct wanted w = {.side = side, .index = index, .tensor = tensor};

    return context_call(h, describe, &w);
}

struct texts {
    enum status (*print)(struct heddle *h, struct text *t);
    const char **text;
};

static enum status print(struct heddle *h, void *arg)
{
    const struct texts *wanted = arg;
    struct text t;

    TRY(with_model(h)); /* this may discard the last run */
    if (!h->ran)
        TRY(context_arena(h, &h->scratch));
    text_init(&t, h->scratch);
    TRY(wanted->print(h, &t));
    *wanted->text = t.data;
    return ST_OK;
}

enum heddle_code heddle_inspect(struct heddle *h, const char **text)
{
    return context_call(h, print, &(struct texts){context_inspect, text});
}

enum heddle_code heddle_disasm(struct heddle *h, const char **text)
{
    return context_call(h, print, &(struct texts){context_disasm, text});
}

static enum status give(struct heddle *h, void *arg)
{
    const struct wanted *w = arg;
    struct run_bytes *all = w->side == HEDDLE_INPUT ? h->in : h->expect;

    TRY(check_index(h, w));
    if (w->index >= OPTIONS_MAX_FILES)
        return FAIL(&h->d, ST_USAGE, "%s %zu: at most %d can be given",
                    w->side == HEDDLE_INPUT ? "input" : "output", w->index, OPTIONS_MAX_FILES);
    return copy(h, &all[w->index], w->bytes.data, w->bytes.n_bytes);
}

enum heddle_code heddle_input(struct heddle *h, size_t index, const void *data, size_t n_bytes)
{
    struct wanted w = {.side = HEDDLE_INPUT, .index = index, .bytes = {data, n_bytes}};

    return context_call(h, give, &w);
}

enum heddle_code heddle_expect(struct heddle *h, size_t index, const void *data, size_t n_bytes)
{
    struct wanted w = {.side = HEDDLE_OUTPUT, .index = index, .bytes = {data, n_bytes}};

    return context_call(h, give, &w);
}

static enum status run(struct heddle *h, void *arg)
{
    (void)arg;
    if (h->o.prog || h->o.teacher)
        return FAIL(&h->d, ST_USAGE, "--%s is of heddle_command(\"run\"), not of heddle_run",
                    h->o.prog ? "prog" : "teacher");
    return context_run(h);
}

enum heddle_code heddle_run(struct heddle *h)
{
    return context_call(h, run, NULL);
}

static enum status output(struct heddle *h, void *arg)
{
    struct wanted *w = arg;

    if (!h->ran)
        return FAIL(&h->d, ST_USAGE, "output %zu: nothing has run", w->index);
    if (w->index >= h->run.job.p->graph->n_out)
        return FAIL(&h->d, ST_USAGE, "output %zu: the model has %u", w->index,
                    h->run.job.p->graph->n_out);
    const struct run_data *out = &h->run.measured.out[w->index];
    w->bytes = (struct run_bytes){out->bytes, (size_t)(out->n_bytes * h->run.job.n)};
    return ST_OK;
}

enum heddle_code heddle_output(struct heddle *h, size_t index, const void **data, size_t *n_bytes)
{
    struct wanted w = {.side = HEDDLE_OUTPUT, .index = index};
    enum heddle_code code = context_call(h, output, &w);

    *data = w.bytes.data;
    *n_bytes = w.bytes.n_bytes;
    return code;
}

struct reported {
    bool page;
    const char *text;
};

static enum status report(struct heddle *h, void *arg)
{
    struct reported *wanted = arg;
    struct text t;

    if (!h->ran || h->run.job.package)
        return FAIL(&h->d, ST_USAGE, "no report: %s",
                    h->ran ? "a package has no graph" : "nothing has run");
    text_init(&t, h->scratch);
    cJSON *stats = run_stats_json(&h->run);
    if (wanted->page)
        run_page(&h->run.job, &h->run.measured, stats, &t);
    else
        run_report(stats, &t, FORMAT_JSON, REPORT_UNITS);
    cJSON_Delete(stats);
    wanted->text = t.data;
    return ST_OK;
}

const char *heddle_report(struct heddle *h)
{
    struct reported wanted = {false, NULL};

    (void)context_call(h, report, &wanted);
    return wanted.text;
}

const char *heddle_page(struct heddle *h)
{
    struct reported wanted = {true, NULL};

    (void)context_call(h, report, &wanted);
    return wanted.text;
}
