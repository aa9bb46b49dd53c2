/* native.c - the shared object of a target from outside: loading it, and asking it
 * (include/heddle_target.h). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

#include "base/file.h"
#include "describe.h"
#include "registry.h"

enum status native_load(struct arena *a, const struct target_desc *desc, bool allow, struct diag *d)
{
    if (!desc->detail || !desc->detail->native_file || desc->detail->native)
        return ST_OK;
    struct describe *detail = (struct describe *)(uintptr_t)desc->detail;
    const char *path = arena_printf(a, "%s/%s", desc->origin, detail->native_file);
    TRY(target_trusted(a, desc, allow, d));
    if (!file_exists(path))
        return FAIL(d, ST_USAGE, "target %s: file '%s' not found; build it first", desc->name,
                    path);
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!object)
        return FAIL(d, ST_USAGE, "target %s: cannot load: %s", desc->name, dlerror());
    const struct heddle_target_api *api = dlsym(object, "heddle_target");
    if (!api)
        return FAIL(d, ST_USAGE, "%s: found no variable heddle_target (heddle_target.h)", path);
    if (api->abi != HEDDLE_TARGET_ABI)
        return FAIL(d, ST_USAGE, "%s: ABI %u, this heddle has %u; compile it again", path, api->abi,
                    HEDDLE_TARGET_ABI);
    if (!api->name || strcmp(api->name, desc->name) != 0)
        return FAIL(d, ST_USAGE, "%s: found name '%s', expected '%s' as in target.json", path,
                    api->name ? api->name : "", desc->name);
    detail->native = api;
    return ST_OK;
}

struct asked {
    struct heddle_question q;
    struct target_values values;
    const char *names[TARGET_VALUE_COUNT];
};

static void ask(const struct describe_pattern *p, const struct target_question *q, struct asked *k)
{
    const struct target_desc *desc = q->target->desc;
    const char **name = ARENA_ARRAY(q->arena, const char *, desc->n_attr + 1);
    const char **text = ARENA_ARRAY(q->arena, const char *, desc->n_attr + 1);

    target_values_of(q->graph, q->op, &k->values);
    for (uint32_t i = 0; i < TARGET_VALUE_COUNT; i++)
        k->names[i] = target_value_name((enum target_value)i);
    for (uint32_t i = 0; i < desc->n_attr; i++) {
        name[i] = desc->attr[i].name;
        text[i] = q->target->setting[i].text;
    }
    k->q = (struct heddle_question){.op = ir_op_info(p->opcode)->name,
                                    .pattern = p->name,
                                    .n_values = TARGET_VALUE_COUNT,
                                    .value_name = k->names,
                                    .value = k->values.v,
                                    .n_settings = desc->n_attr,
                                    .setting_name = name,
                                    .setting = text};
}

const char *native_refusal(const struct describe_pattern *p, const struct target_question *q)
{
    const struct heddle_target_api *api = describe_of(q->target)->native;
    char why[256] = "";
    struct asked k = {0};

    if (!api)
        return NULL;
    ask(p, q, &k);
    if (api->supports && !api->supports(&k.q, why, sizeof why)) {
        why[sizeof why - 1] = '\0';
        return arena_strdup(q->arena, *why ? why : "its native code refuses it");
    }
    const char *call = native_call(p, q);
    const char *bad = call ? describe_bad_call(q->target->desc, call) : NULL;
    return bad ? arena_printf(q->arena, "its native code wrote an invalid call: %s", bad) : NULL;
}

double native_cost(const struct describe_pattern *p, const struct target_question *q)
{
    const struct heddle_target_api *api = describe_of(q->target)->native;
    struct asked k = {0};

    if (!api || !api->cost)
        return -1;
    ask(p, q, &k);
    return api->cost(&k.q);
}

const char *native_call(const struct describe_pattern *p, const struct target_question *q)
{
    const struct heddle_target_api *api = describe_of(q->target)->native;
    char call[2048] = "";
    struct asked k = {0};

    if (!api || !api->emit)
        return p->call;
    ask(p, q, &k);
    if (!api->emit(&k.q, call, sizeof call))
        return p->call;
    call[sizeof call - 1] = '\0';
    return arena_strdup(q->arena, call);
}

bool native_tune(const struct target_question *q, uint32_t target, struct heddle_tuning *about,
                 int64_t *value)
{
    const struct heddle_target_api *api = describe_of(q->target)->native;

    if (!api || !api->tune)
        return false;
    struct asked *k = ARENA_ARRAY(q->arena, struct asked, q->graph->n_op + 1);
    struct heddle_question *question =
        ARENA_ARRAY(q->arena, struct heddle_question, q->graph->n_op + 1);
    about->target = q->target->name;
    about->question = question;
    about->n_questions = 0;
    for (uint32_t i = 0; i < q->graph->n_op; i++) {
        struct target_question one = *q;
        const char *why;
        one.op = q->graph->op[i];
        if (one.op->dead || one.op->target != target)
            continue;
        ask(describe_match(&one, &why), &one, &k[i]);
        question[about->n_questions++] = k[i].q;
    }
    return api->tune(about, value) == 1;
}
