/* native.c - load the shared object of an external target and call its functions
 * (include/heddle_target.h). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

#include "base/file.h"
#include "native.h"
#include "registry.h"

enum status native_load(struct arena *a, const struct target_desc *desc, bool allow, struct diag *d)
{
    if (desc->detail && desc->detail->estimator)
        TRY(target_trusted(a, desc, allow, d));
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

void native_settings(const struct target_question *q, const char *const **names,
                     const char *const **texts)
{
    const struct target_desc *desc = q->target->desc;
    const char **name = ARENA_ARRAY(q->arena, const char *, desc->n_attr + 1);
    const char **text = ARENA_ARRAY(q->arena, const char *, desc->n_attr + 1);

    for (uint32_t i = 0; i < desc->n_attr; i++) {
        name[i] = desc->attr[i].name;
        text[i] = q->target->setting[i].text;
    }
    *names = name;
    *texts = text;
}

void native_ask(const struct describe_pattern *p, const struct target_question *q,
                struct native_question *k)
{

    describe_values(p, q->graph, q->op, &k->values);
    for (uint32_t i = 0; i < TARGET_VALUE_COUNT; i++)
        k->names[i] = target_value_name((enum target_value)i);
    k->q = (struct heddle_question){.op = ir_op_info(p->opcode)->name,
                                    .pattern = p->name,
                                    .n_values = TARGET_VALUE_COUNT,
                                    .value_name = k->names,
                                    .value = k->values.v,
                                    .n_settings = q->target->desc->n_attr};
    native_settings(q, &k->q.setting_name, &k->q.setting);
}

const char *native_refusal(const struct describe_pattern *p, const struct target_question *q)
{
    const struct heddle_target_api *api = describe_of(q->target)->native;
    char why[256] = "";
    struct native_question k = {0};

    if (!api)
        return NULL;
    native_ask(p, q, &k);
    if (api->supports && !api->supports(&k.q, why, sizeof why)) {
        why[sizeof why - 1] = '\0';
        return arena_strdup(q->arena, *why ? why : "its native code refuses it");
    }
    const char *call = native_call(p, q);
    const char *bad = call ? describe_bad_call(q->target->desc, NULL, call) : NULL;
    return bad ? arena_printf(q->arena, "its native code wrote an invalid call: %s", bad) : NULL;
}

double native_cost(const struct describe_pattern *p, const struct target_question *q)
{
    const struct heddle_target_api *api = describe_of(q->target)->native;
    struct native_question k = {0};

    if (!api || !api->cost)
        return -1;
    native_ask(p, q, &k);
    return api->cost(&k.q);
}

const char *native_call(const struct describe_pattern *p, const struct target_question *q)
{
    const struct heddle_target_api *api = describe_of(q->target)->native;
    char call[2048] = "";
    struct native_question k = {0};

    if (!api || !api->emit)
        return p->call;
    native_ask(p, q, &k);
    if (!api->emit(&k.q, call, sizeof call))
        return p->call;
    call[sizeof call - 1] = '\0';
    return arena_strdup(q->arena, call);
}
