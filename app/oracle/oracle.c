/* oracle.c - see oracle.h. oracle.py runs the framework in a temporary folder of the cache and
 * exchanges files with it. */
#define _GNU_SOURCE
#include "oracle.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/home.h"
#include "base/json/json_doc.h"
#include "oracle_compare.h"
#include "sim/build/evict.h"
#include "sim/build/tools.h"

#define ORACLE_SECONDS 600 /* time limit of the framework */

/* By enum oracle_kind. */
static const struct framework {
    const char *name, *package, *ending;
} frameworks[] = {{"", "", ""},
                  {"litert", "ai-edge-litert", ".tflite"},
                  {"onnxruntime", "onnxruntime and onnx", ".onnx"}};

struct session {
    struct arena *arena;
    const struct oracle_question *q;
    const struct framework *framework;
    const char *folder, *python, *script, *log;
};

static const char *in_folder(const struct session *s, const char *name)
{
    return arena_printf(s->arena, "%s/%s", s->folder, name);
}

/* Find Python: $HEDDLE_PYTHON, the environment made by .ci/venv, or python3. */
static enum status find_python(struct session *s, struct diag *d)
{
    const char *given = getenv("HEDDLE_PYTHON"), *venv = getenv("HEDDLE_VENV_NEW"), *home;

    TRY(home_find(s->arena, &home, d));
    s->script = arena_printf(s->arena, "%s/app/oracle/oracle.py", home);
    s->python =
        arena_printf(s->arena, "%s/bin/python",
                     venv && *venv ? venv : arena_printf(s->arena, "%s/build/venv-new", home));
    if (given && *given)
        s->python = given;
    else if (access(s->python, X_OK) != 0)
        s->python = "python3";
    return ST_OK;
}

static enum status write_question(struct session *s, const char **model, struct diag *d)
{
    const struct oracle_question *q = s->q;
    const struct ir_graph *g = q->graph;

    *model = q->path;
    if (q->model) {
        *model = in_folder(s, arena_printf(s->arena, "model%s", s->framework->ending));
        TRY(file_write(*model, q->model, q->n_model, d));
    }
    *model = realpath(*model, NULL);
    if (!*model)
        return FAIL(d, ST_USAGE, "'%s': %s", q->path, strerror(errno));
    const char *own = arena_strdup(s->arena, *model);
    free((void *)(uintptr_t)*model);
    *model = own;
    for (uint32_t i = 0; i < g->n_in; i++)
        TRY(file_write(in_folder(s, arena_printf(s->arena, "in_%u.bin", i)), q->in[i],
                       (size_t)(ir_bytes(g->tensor[g->in[i]]) * q->n), d));
    return ST_OK;
}

/* Return the last line of the framework's output. */
static const char *last_line(const struct session *s)
{
    struct diag ignored = {.status = ST_OK};
    uint8_t *data;
    size_t n;

    if (file_read(s->arena, s->log, (size_t)64 << 20, &data, &n, &ignored) != ST_OK)
        return "";
    while (n > 0 && data[n - 1] == '\n')
        data[--n] = 0;
    const char *line = strrchr((const char *)data, '\n');
    return arena_strndup(s->arena, line ? line + 1 : (const char *)data, 300);
}

/* Run oracle.py; exit codes 3 and 4 are refusals. */
static enum status run_framework(struct session *s, const char *model, struct diag *d)
{
    const struct framework *f = s->framework;
    const char *const argv[] = {s->python,
                                s->script,
                                f->name,
                                model,
                                s->folder,
                                arena_printf(s->arena, "%u", s->q->n),
                                s->q->reset_state ? "--reset-state" : NULL,
                                NULL};
    const struct tool_watch watch = {.seconds = ORACLE_SECONDS,
                                     .output = s->q->output,
                                     .doing = arena_printf(s->arena, "asking %s...", f->name),
                                     .begin = tool_now()};
    struct diag own = {.status = ST_OK};
    const enum status st = tool_run_for(s->arena, "the framework", "/", s->log, argv, &watch, &own);

    if (st == ST_OK || st == ST_INTERRUPTED || strstr(own.text, "was stopped after"))
        return st == ST_OK ? ST_OK : FAIL(d, st, "--oracle=%s: %s", f->name, own.text);
    if (strstr(own.text, "(exit 3)") || strstr(own.text, "(exit 127)"))
        return FAIL(d, ST_USAGE,
                    "--oracle=%s: '%s' has no %s (PyPI): run .ci/venv new in heddle's folder, or "
                    "set HEDDLE_PYTHON to a Python that has it",
                    f->name, s->python, f->package);
    return FAIL(d, ST_USAGE, "--oracle=%s: '%s': %s", f->name, s->q->path, last_line(s));
}

static enum status read_answer(struct session *s, struct oracle_answer *answer, struct diag *d)
{
    struct json_doc doc;
    const cJSON *t;
    struct oracle_goldens goldens = {.folder = s->folder};

    enum status st = json_doc_read(s->arena, in_folder(s, "oracle.json"), &doc, d);
    if (st == ST_OK) {
        const cJSON *all = cJSON_GetObjectItem(doc.root, "tensors");
        const char *runtime = cJSON_GetStringValue(cJSON_GetObjectItem(doc.root, "runtime"));
        answer->runtime = arena_strdup(s->arena, runtime ? runtime : s->framework->name);
        goldens.n_inner =
            (uint32_t)cJSON_GetNumberValue(cJSON_GetObjectItem(doc.root, "inferences"));
        goldens.inner =
            ARENA_ARRAY(s->arena, struct oracle_golden, (size_t)cJSON_GetArraySize(all) + 1);
        cJSON_ArrayForEach(t, all)
        {
            const char *name = cJSON_GetStringValue(cJSON_GetObjectItem(t, "name"));
            const char *file = cJSON_GetStringValue(cJSON_GetObjectItem(t, "file"));
            const char *type = cJSON_GetStringValue(cJSON_GetObjectItem(t, "type"));
            if (name && file && type)
                goldens.inner[goldens.n++] = (struct oracle_golden){arena_strdup(s->arena, name),
                                                                    arena_strdup(s->arena, file),
                                                                    arena_strdup(s->arena, type)};
        }
        st = oracle_compare(s->arena, s->q, &goldens, answer, d);
    }
    json_doc_free(&doc);
    return st;
}

static enum status ask_in_folder(struct session *s, struct oracle_answer *answer, struct diag *d)
{
    const char *model;

    s->log = in_folder(s, "log");
    TRY(find_python(s, d));
    TRY(write_question(s, &model, d));
    TRY(run_framework(s, model, d));
    return read_answer(s, answer, d);
}

static bool has_ending(const char *path, const char *ending)
{
    const size_t n = strlen(path), m = strlen(ending);

    return n >= m && strcasecmp(path + n - m, ending) == 0;
}

enum status oracle_ask(struct arena *a, const struct oracle_question *q,
                       struct oracle_answer *answer, struct diag *d)
{
    struct session s = {.arena = a, .q = q, .framework = &frameworks[q->kind]};
    const char *cache;

    *answer = (struct oracle_answer){0};
    if (!has_ending(q->path, s.framework->ending))
        return FAIL(d, ST_USAGE, "--oracle=%s: expected a %s file, found '%s'", s.framework->name,
                    s.framework->ending, q->path);
    TRY(home_cache(a, &cache, d));
    char *folder = arena_printf(a, "%s/oracle-XXXXXX", cache);
    if (!mkdtemp(folder))
        return FAIL(d, ST_USAGE, "cannot make a folder '%s': %s", folder, strerror(errno));
    s.folder = folder;
    const enum status st = ask_in_folder(&s, answer, d);
    evict_tree(folder);
    return st;
}

const char *oracle_text(struct arena *a, const struct oracle_answer *answer)
{
    const struct oracle_difference *f = &answer->first;
    const char *near = "";

    if (answer->n_near)
        near = arena_printf(a, " (%llu values one step apart: it adds in float32)",
                            (unsigned long long)answer->n_near);
    if (answer->n_equal == answer->n_tensor)
        return arena_printf(a, "%u of %u tensors of %u inference%s equal to those of %s%s",
                            answer->n_equal, answer->n_tensor, answer->n_inference,
                            answer->n_inference == 1 ? "" : "s", answer->runtime, near);
    return arena_printf(a,
                        "%u of %u tensors differ from those of %s; first %s, tensor '%.80s': %llu "
                        "values, inference %u, value %llu: expected %.9g, the reference has %.9g",
                        answer->n_tensor - answer->n_equal, answer->n_tensor, answer->runtime,
                        f->layer, f->tensor, (unsigned long long)f->n_values, f->inference,
                        (unsigned long long)f->index, f->expected, f->found);
}
