/* inputs.c - find the model's file, inputs, expectations and labels of a run. */
#define _GNU_SOURCE
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/home.h"
#include "base/json/json_doc.h"
#include "data.h"
#include "generate.h"
#include "inputs.h"
#include "labels.h"

static const char *base_name(struct arena *a, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path,
               *dot = strrchr(name, '.');

    return arena_strndup(a, name, dot && dot > name ? (size_t)(dot - name) : strlen(name));
}

static enum status no_model(struct arena *a, const char *home, const char *name, struct diag *d)
{
    const char *words[64], *near;
    uint32_t n = 0;

    glob_t found = {0};

    (void)glob(arena_printf(a, "%s/tests/models/*/model.tflite", home), 0, NULL, &found);
    for (; n < found.gl_pathc && n < 64; n++) {
        const char *path = found.gl_pathv[n] + strlen(home) + strlen("/tests/models/");

        words[n] = arena_strndup(a, path, strcspn(path, "/"));
    }
    globfree(&found);
    near = json_doc_near(name, words, n);
    return FAIL(d, ST_USAGE, "'%s' is neither a file nor a network of tests/models; %s%s%s", name,
                near ? "did you mean " : "expected a .tflite, .onnx, .tosa, .gguf or .ir file",
                near ? near : "", near ? "?" : "");
}

enum status run_find_model(struct arena *a, const struct options *o, struct job *job,
                           const char **name, struct diag *d)
{
    const char *home;

    job->model_path = o->model;
    *name = base_name(a, o->model);
    if (job->model.data || strchr(o->model, '/') || strchr(o->model, '.') || file_exists(o->model))
        return ST_OK;
    TRY(home_find(a, &home, d));
    job->zoo = arena_printf(a, "%s/tests/models/%s", home, o->model);
    job->model_path = arena_printf(a, "%s/model.gguf", job->zoo);
    if (!file_exists(job->model_path))
        job->model_path = arena_printf(a, "%s/model.tflite", job->zoo);
    *name = o->model;
    return file_exists(job->model_path) ? ST_OK : no_model(a, home, o->model, d);
}

/* Return the given bytes of an input or output; NULL: none. */
static const struct run_bytes *given_for(const struct job *job, bool input, uint32_t index)
{
    const struct run_bytes *all = input ? job->given_in : job->given_expect;

    return all && index < OPTIONS_MAX_FILES && all[index].data ? &all[index] : NULL;
}

/* Return true if a file or data is given for any input, or any output. */
static bool given_any(const struct job *job, bool input)
{
    for (uint32_t i = 0; i < OPTIONS_MAX_FILES; i++)
        if (given_for(job, input, i))
            return true;
    return false;
}

/* Return the file of an input or output: -i or --expect, otherwise the zoo's in_0.bin or out_0.bin
 * ...; given bytes have only a name. NULL: none. */
static const char *file_for(const struct job *job, bool input, uint32_t index)
{
    const struct options *o = job->options;
    struct arena *a = job->arena;
    const char *kind = input ? "in" : "out", *path;
    uint32_t n = input ? o->n_input : o->n_expect;
    const char *const *given = input ? o->input : o->expect;
    struct stat st;

    if (given_any(job, input))
        return given_for(job, input, index)
                   ? arena_printf(a, "%s %u", input ? "heddle_input" : "heddle_expect", index)
                   : NULL;
    if (!input && n == 1 && stat(given[0], &st) == 0 && S_ISDIR(st.st_mode))
        return arena_printf(a, "%s/out_%u.bin", given[0], index);
    if (n == 1 && data_is_npz(given[0]))
        return given[0];
    if (n > 0)
        return index < n ? given[index] : NULL;
    if (!job->zoo || (!input && (o->n_input > 0 || given_any(job, true))))
        return NULL;
    path = arena_printf(a, "%s/%s_%u.bin", job->zoo, kind, index);
    return file_exists(path) ? path : NULL;
}

enum status run_inputs(struct job *job, struct diag *d)
{
    const struct ir_graph *g = job->p->graph;
    struct arena *a = job->arena;
    uint64_t count = 0;

    job->in = ARENA_ARRAY(a, struct run_data, g->n_in + 1);
    for (uint32_t i = 0; i < g->n_in; i++)
        job->in[i].n_bytes = ir_border_bytes(g->tensor[g->in[i]]);
    if (job->options->n_input > g->n_in)
        return FAIL(d, ST_USAGE, "-i: found %u files, expected at most %u (the model's inputs)",
                    job->options->n_input, g->n_in);
    if (g->n_in == 0 || (!given_any(job, true) && !file_for(job, true, 0))) {
        job->n = generate_count(job);
        job->generated = true;
        return generate_inputs(job, d);
    }
    for (uint32_t i = 0; i < g->n_in; i++) {
        const char *path = file_for(job, true, i);
        if (!path)
            return FAIL(d, ST_USAGE, "-i: file for input %u of %u is missing", i, g->n_in);
        uint64_t n;
        TRY(data_read(job, true, i, path, given_for(job, true, i), &job->in[i].bytes, &n, d));
        if (i > 0 && n != count)
            return FAIL(d, ST_USAGE,
                        "%s: found %llu inferences, expected %llu as in the inputs before", path,
                        (unsigned long long)n, (unsigned long long)count);
        count = n;
    }
    job->n = (uint32_t)count;
    return ST_OK;
}

static enum status read_labels(struct job *job, struct diag *d)
{
    const char *path = job->options->labels;
    uint8_t *text;
    size_t n_bytes;
    uint32_t n = 0;

    if (!path && job->zoo && job->options->n_input == 0 && !given_any(job, true))
        path = arena_printf(job->arena, "%s/labels.txt", job->zoo);
    if (!path || (!job->options->labels && !file_exists(path)))
        return ST_OK;
    if (strcmp(path, "auto") == 0)
        return labels_auto(job, d);
    TRY(file_read(job->arena, path, DATA_MAX_BYTES, &text, &n_bytes, d));
    job->label = ARENA_ARRAY(job->arena, int32_t, job->n + 1);
    for (char *at = (char *)text, *end; n < job->n; at = end) {
        long value = strtol(at, &end, 10);
        if (end == at)
            return FAIL(d, ST_USAGE, "%s: found %u class numbers, expected %u (one an inference)",
                        path, n, job->n);
        job->label[n++] = (int32_t)value;
    }
    return ST_OK;
}

/* Return "tests/models/digits", or the first --expect. */
static const char *expected_from(const struct job *job)
{
    if (given_any(job, false))
        return "given as bytes";
    if (job->options->n_expect)
        return job->options->expect[0];
    return arena_printf(job->arena, "tests/models/%s", job->options->model);
}

enum status run_expectations(struct job *job, struct diag *d)
{
    const struct ir_graph *g = job->p->graph;

    TRY(read_labels(job, d));
    if (job->options->n_expect > g->n_out)
        return FAIL(d, ST_USAGE,
                    "--expect: found %u files, expected at most %u (the model's outputs)",
                    job->options->n_expect, g->n_out);
    if (g->n_out == 0 || (!given_any(job, false) && !file_for(job, false, 0)))
        return ST_OK;
    job->expected = ARENA_ARRAY(job->arena, struct run_data, g->n_out + 1);
    for (uint32_t i = 0; i < g->n_out; i++) {
        const char *path = file_for(job, false, i);
        if (!path)
            return FAIL(d, ST_USAGE, "--expect: file for output %u of %u is missing", i, g->n_out);
        uint64_t n;
        TRY(data_read(job, false, i, path, given_for(job, false, i), &job->expected[i].bytes, &n,
                      d));
        if (n != job->n)
            return FAIL(d, ST_USAGE, "%s: found %llu inferences, expected %u as in the inputs",
                        path, (unsigned long long)n, job->n);
        job->expected[i].n_bytes = ir_border_bytes(g->tensor[g->out[i]]);
    }
    job->checked_against = "expect";
    job->expected_from = expected_from(job);
    return ST_OK;
}
