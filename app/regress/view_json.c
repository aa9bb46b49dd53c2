/* view_json.c - see session_views.h. */
#include <cjson/cJSON.h>
#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "session_views.h"

static void add_number(cJSON *o, const char *name, double v)
{
    if (v < 0)
        cJSON_AddNullToObject(o, name);
    else
        cJSON_AddNumberToObject(o, name, v);
}

static void add_findings(cJSON *o, const struct judge *j, uint32_t run, uint32_t *finding)
{
    cJSON *all = cJSON_AddArrayToObject(o, "findings");

    for (; *finding < j->n && j->finding[*finding].run == run; ++*finding) {
        const struct judge_finding *f = &j->finding[*finding];
        cJSON *one = cJSON_CreateObject();
        cJSON_AddStringToObject(one, "kind", f->kind);
        cJSON_AddStringToObject(one, "text", f->text);
        if (f->why)
            cJSON_AddStringToObject(one, "known", f->why);
        cJSON_AddItemToArray(all, one);
    }
}

static cJSON *run_json(const struct suite_run *r)
{
    const struct suite_result *x = &r->result;
    cJSON *o = cJSON_CreateObject();

    cJSON_AddStringToObject(o, "label", r->label);
    cJSON_AddStringToObject(o, "network", r->network);
    cJSON_AddStringToObject(o, "configuration", r->configuration);
    cJSON_AddStringToObject(o, "engine", r->engine);
    cJSON_AddStringToObject(o, "options", r->options);
    cJSON_AddNumberToObject(o, "seed", (double)r->seed);
    cJSON_AddStringToObject(o, "model_hash", r->model);
    cJSON_AddStringToObject(o, "verdict", x->verdict ? x->verdict : "not run");
    cJSON_AddNumberToObject(o, "exit", x->exit);
    cJSON_AddStringToObject(o, "message", x->message ? x->message : "");
    add_number(o, "inferences", x->inferences);
    add_number(o, "baseline_cycles", r->baseline);
    for (int i = 0; i < N_COLUMNS; i++)
        if (columns[i].run)
            add_number(o, columns[i].name, x->number.at[i]);
    add_number(o, "wall_seconds", x->wall_seconds);
    return o;
}

static cJSON *session_json(const struct view *v)
{
    const struct history_session *s = &v->session;
    cJSON *o = cJSON_CreateObject();
    uint32_t finding = 0;

    cJSON_AddStringToObject(o, "schema", "heddle.regress.v1");
    cJSON_AddStringToObject(o, "suite", s->suite);
    cJSON_AddNumberToObject(o, "session", (double)s->id);
    cJSON_AddStringToObject(o, "commit", s->commit);
    cJSON_AddStringToObject(o, "versions", s->versions);
    cJSON_AddNumberToObject(o, "started", (double)s->started);
    cJSON_AddNumberToObject(o, "ended", (double)s->ended);
    cJSON_AddNumberToObject(o, "planned", (double)s->n_planned);
    cJSON_AddNumberToObject(o, "done", (double)s->n_done);
    cJSON_AddNumberToObject(o, "wrong", (double)s->n_bad);
    cJSON *runs = cJSON_AddArrayToObject(o, "runs");
    for (uint32_t i = 0; i < v->suite.n; i++) {
        cJSON *one = run_json(&v->suite.run[i]);
        add_findings(one, &v->judge, i, &finding);
        cJSON_AddItemToArray(runs, one);
    }
    return o;
}

enum status view_json(struct arena *a, const struct view *v, const char *path, struct diag *d)
{
    errno = 0; /* without memory cJSON drops a member silently */
    cJSON *o = session_json(v);
    char *text = cJSON_Print(o);

    cJSON_Delete(o);
    if (!text || errno == ENOMEM) {
        cJSON_free(text);
        arena_exhausted(a);
    }
    enum status st = file_write(path, text, strlen(text), d);
    cJSON_free(text);
    return st;
}
