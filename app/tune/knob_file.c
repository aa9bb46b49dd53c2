/* knob_file.c - see knob_file.h. */
#include "knob_file.h"

#include <string.h>

#include "compiler/systolic/schedule/sched.h"
#include "compiler/target/describe.h"

static struct sched_knobs most_of(const struct pipeline *p, const struct ir_op *op)
{
    const struct target *target = p->targets.target[op->target];
    const struct target_question q = {p->arena, p->graph, op, target, &p->hw, {0, 0}};

    if (target->desc->accelerator)
        return sched_knobs_most(p->graph, op);
    const struct described_device *device = describe_device_of(&q);
    return device ? described_knobs_most(device, p->graph, op) : (struct sched_knobs){0};
}

struct knob_shape knob_shape_of(const struct pipeline *p)
{
    const struct ir_graph *g = p->graph;
    const char **layer = ARENA_ARRAY(p->arena, const char *, g->n_op + 1);
    struct sched_knobs *most = ARENA_ARRAY(p->arena, struct sched_knobs, g->n_op + 1);

    for (uint32_t i = 0; i < g->n_op; i++) {
        layer[i] = g->row[g->op[i]->row].name;
        most[i] = most_of(p, g->op[i]);
    }
    return (struct knob_shape){g->n_op, layer, most, tune_attrs_of(p)};
}

/* --- out --- */

static bool any_of(const struct sched_knobs *k)
{
    static const struct sched_knobs none;

    return memcmp(k, &none, sizeof none) != 0;
}

void knob_file_add(cJSON *o, const struct knob_shape *shape, const struct sched_knobs *knobs,
                   const int64_t *value, bool all)
{
    cJSON *list = cJSON_AddArrayToObject(o, "knobs");

    for (uint32_t i = 0; i < shape->n_op; i++) {
        struct sched_knobs k = knobs[i], most = shape->most[i];
        if (!any_of(all ? &most : &k))
            continue;
        cJSON *one = cJSON_CreateObject();
        cJSON_AddNumberToObject(one, "op", i);
        cJSON_AddStringToObject(one, "layer", shape->layer[i]);
        for (uint32_t n = 0; n < SCHED_KNOBS; n++)
            if (*sched_knob(&k, n) || (all && *sched_knob(&most, n)))
                cJSON_AddNumberToObject(one, sched_knob_name(n), *sched_knob(&k, n));
        cJSON_AddItemToArray(list, one);
    }
    list = cJSON_AddArrayToObject(o, "attributes");
    for (uint32_t i = 0; i < shape->attrs.n; i++) {
        cJSON *one = cJSON_CreateObject();
        cJSON_AddStringToObject(one, "target", shape->attrs.at[i].owner);
        cJSON_AddNumberToObject(one, shape->attrs.at[i].name, (double)value[i]);
        cJSON_AddItemToArray(list, one);
    }
}

/* --- in --- */

struct reader {
    const struct json_doc *doc;
    const struct knob_shape *shape;
    struct sched_knobs *knobs;
    int64_t *value;
    struct diag *d;
};

static enum status wrong(const struct reader *r, const char *list, int at, const char *member,
                         const char *message)
{
    const char *path =
        arena_printf(r->doc->arena, "%s[%d]%s%s", list, at, *member ? "." : "", member);

    return json_doc_fail(r->doc, path, r->d, "%s", message);
}

/* Return the value as written in the file. */
static const char *found(const struct reader *r, const cJSON *v)
{
    char *s = cJSON_PrintUnformatted(v);
    const char *kept = arena_strndup(r->doc->arena, s ? s : "?", 60);

    cJSON_free(s);
    return kept;
}

static bool whole(const cJSON *v, int64_t low, int64_t high)
{
    return cJSON_IsNumber(v) && v->valuedouble >= (double)low && v->valuedouble <= (double)high &&
           v->valuedouble == (double)(int64_t)v->valuedouble;
}

/* Report a member that is not a knob, and suggest the most similar name. */
static enum status unknown_knob(const struct reader *r, int at, const cJSON *v)
{
    const char *words[SCHED_KNOBS + 2] = {"op", "layer"}, *near;

    for (uint32_t k = 0; k < SCHED_KNOBS; k++)
        words[k + 2] = sched_knob_name(k);
    near = json_doc_near(v->string, words, SCHED_KNOBS + 2);
    return wrong(r, "knobs", at, v->string,
                 near ? arena_printf(r->doc->arena, "unknown knob; did you mean '%s'?", near)
                      : "unknown knob; docs/KNOBS.md lists them");
}

static enum status take_knob(const struct reader *r, int at, uint32_t op, const cJSON *v)
{
    struct arena *a = r->doc->arena;
    struct sched_knobs most = r->shape->most[op];

    for (uint32_t k = 0; k < SCHED_KNOBS; k++) {
        if (strcmp(sched_knob_name(k), v->string) != 0)
            continue;
        const uint32_t high = *sched_knob(&most, k);
        if (!whole(v, 0, high))
            return wrong(r, "knobs", at, v->string,
                         arena_printf(a,
                                      high ? "found %s, expected 0 (by rule) to %u for %s"
                                           : "found %s, expected %u: %s has no such knob",
                                      found(r, v), high, r->shape->layer[op]));
        *sched_knob(&r->knobs[op], k) = (uint32_t)v->valuedouble;
        return ST_OK;
    }
    return unknown_knob(r, at, v);
}

static enum status take_operator(const struct reader *r, int at, const cJSON *one)
{
    const cJSON *op = cJSON_GetObjectItemCaseSensitive(one, "op"), *v;
    const cJSON *layer = cJSON_GetObjectItemCaseSensitive(one, "layer");
    struct arena *a = r->doc->arena;

    if (!whole(op, 0, (int64_t)r->shape->n_op - 1))
        return wrong(r, "knobs", at, op ? "op" : "",
                     arena_printf(a, "found %s, expected an operator from 0 to %u of this network",
                                  op ? found(r, op) : "no op", r->shape->n_op - 1));
    const uint32_t i = (uint32_t)op->valuedouble;
    if (layer && (!cJSON_IsString(layer) || strcmp(layer->valuestring, r->shape->layer[i]) != 0))
        return wrong(r, "knobs", at, "layer",
                     arena_printf(a, "found %s, expected \"%s\": the file is of another network",
                                  found(r, layer), r->shape->layer[i]));
    cJSON_ArrayForEach(v, one)
    {
        if (v != op && v != layer)
            TRY(take_knob(r, at, i, v));
    }
    return ST_OK;
}

static enum status take_attribute(const struct reader *r, int at, const char *target,
                                  const cJSON *v)
{
    const struct tune_attrs *attrs = &r->shape->attrs;

    for (uint32_t k = 0; k < attrs->n; k++) {
        const struct tune_attr *to = &attrs->at[k];
        if (strcmp(to->owner, target) != 0 || strcmp(to->name, v->string) != 0)
            continue;
        if (!whole(v, to->low, to->high))
            return wrong(r, "attributes", at, v->string,
                         arena_printf(r->doc->arena, "found %s, expected %lld to %lld", found(r, v),
                                      (long long)to->low, (long long)to->high));
        r->value[k] = (int64_t)v->valuedouble;
        return ST_OK;
    }
    return wrong(r, "attributes", at, v->string,
                 arena_printf(r->doc->arena, "target '%s' has no such knob in this run", target));
}

static enum status take_target(const struct reader *r, int at, const cJSON *one)
{
    const cJSON *target = cJSON_GetObjectItemCaseSensitive(one, "target"), *v;

    if (!cJSON_IsString(target))
        return wrong(r, "attributes", at, "", "expected a \"target\" by name");
    cJSON_ArrayForEach(v, one)
    {
        if (v != target)
            TRY(take_attribute(r, at, target->valuestring, v));
    }
    return ST_OK;
}

enum status knob_file_take(const struct json_doc *doc, const struct knob_shape *shape,
                           struct sched_knobs *knobs, int64_t *value, struct diag *d)
{
    const struct reader r = {doc, shape, knobs, value, d};
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(doc->root, "knobs"), *one;
    int at = 0;

    if (!cJSON_IsArray(list))
        return json_doc_fail(doc, "", d,
                             "expected \"knobs\": [...], as heddle inspect --format=json prints");
    memset(knobs, 0, shape->n_op * sizeof *knobs);
    cJSON_ArrayForEach(one, list) TRY(take_operator(&r, at++, one));
    at = 0;
    list = cJSON_GetObjectItemCaseSensitive(doc->root, "attributes");
    cJSON_ArrayForEach(one, list) TRY(take_target(&r, at++, one));
    return ST_OK;
}
