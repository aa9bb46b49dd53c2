/* describe_composites.c - read "composites" of a target.json: several operators in one call. Edges
 * are numbered in the order of their first mention. */
#include <string.h>

#include "describe_read.h"

struct wires {
    struct reader *r;
    const char *path; /* composites[0].steps[1] */
    struct describe_composite *c;
    const char **edge;
    uint32_t made[COMPOSITE_EDGES]; /* by edge: one more than the number of the step that makes it;
                                     * 0: from outside */
    bool read[COMPOSITE_EDGES];
};

#define WRONG(w, member, ...)                                                                      \
    json_doc_fail(&(w)->r->doc, arena_printf((w)->r->a, "%s%s", (w)->path, member), (w)->r->d,     \
                  __VA_ARGS__)

static uint32_t edge_of(struct wires *w, const char *name)
{
    uint32_t i = 0;

    while (i < w->c->n_edge && strcmp(w->edge[i], name) != 0)
        i++;
    if (i == w->c->n_edge)
        w->edge[w->c->n_edge++] = arena_strdup(w->r->a, name);
    return i;
}

/* Check that names of edges differ from those of attributes. */
static enum status check_name(struct wires *w, const char *name, const char *member)
{
    for (uint32_t i = 0; i < w->r->desc->n_attr; i++)
        if (strcmp(w->r->desc->attr[i].name, name) == 0)
            return WRONG(w, member, "'%s' is an attribute", name);
    return ST_OK;
}

/* Return the number of operands that are edges of the graph: not weights and biases. */
static enum status inputs(struct wires *w, const cJSON *o, struct describe_step *s)
{
    const struct ir_op_info *info = ir_op_info(s->pattern.opcode);
    const bool weights = describe_has_weights(s->pattern.opcode);
    const uint32_t least = weights ? 1 : info->in.least, most = weights ? 1 : info->in.most;
    const cJSON *list = get(o, "in"), *one;
    uint32_t *in = ARENA_ARRAY(w->r->a, uint32_t, (size_t)cJSON_GetArraySize(list));

    s->in = in;
    if ((uint32_t)cJSON_GetArraySize(list) < least || (uint32_t)cJSON_GetArraySize(list) > most)
        return WRONG(w, ".in", "found %d edges, %s has %u%s", cJSON_GetArraySize(list), info->name,
                     least, most > least ? " or more" : "");
    cJSON_ArrayForEach(one, list)
    {
        TRY(check_name(w, one->valuestring, ".in"));
        if (w->c->n_edge >= COMPOSITE_EDGES - 1)
            return WRONG(w, ".in", "more than %d edges", COMPOSITE_EDGES - 2);
        in[s->n_in] = edge_of(w, one->valuestring);
        w->read[in[s->n_in++]] = true;
    }
    return ST_OK;
}

static enum status step(struct wires *w, const cJSON *o, uint32_t i, struct describe_step *s)
{
    s->name = string(w->r, o, "name", NULL);
    TRY(check_name(w, s->name, ".name"));
    for (uint32_t k = 0; k < i; k++)
        if (strcmp(w->c->step[k].name, s->name) == 0)
            return WRONG(w, ".name", "duplicate step '%s'", s->name);
    TRY(read_operator(w->r, o, w->path, &s->pattern));
    s->broadcast = cJSON_IsTrue(get(o, "broadcast"));
    TRY(inputs(w, o, s));
    const char *out = get(o, "out")->valuestring;
    TRY(check_name(w, out, ".out"));
    s->out = edge_of(w, out);
    if (w->made[s->out])
        return WRONG(w, ".out", "edge '%s' is made twice", out);
    if (w->read[s->out])
        return WRONG(w, ".out", "edge '%s' is read before it is made", out);
    w->made[s->out] = i + 1;
    return ST_OK;
}

static enum status steps(struct wires *w, const cJSON *list)
{
    const char *path = w->path;
    struct describe_step *s =
        ARENA_ARRAY(w->r->a, struct describe_step, (size_t)cJSON_GetArraySize(list));
    const cJSON *one;

    w->c->step = s;
    cJSON_ArrayForEach(one, list)
    {
        const uint32_t i = w->c->n_step;
        w->path = arena_printf(w->r->a, "%s.steps[%u]", path, i);
        TRY(step(w, one, i, &s[i]));
        w->c->n_step++;
    }
    for (uint32_t i = 0; i + 1 < w->c->n_step; i++)
        if (!w->read[s[i].out]) {
            w->path = arena_printf(w->r->a, "%s.steps[%u]", path, i);
            return WRONG(w, ".out", "no step reads edge '%s', and only the last makes the output",
                         w->edge[s[i].out]);
        }
    w->path = path;
    return ST_OK;
}

static enum status tolerance(struct wires *w, const cJSON *o)
{
    bool may = false;

    for (uint32_t i = 0; i < w->c->n_step; i++) {
        const struct describe_pattern *p = &w->c->step[i].pattern;
        may = may || p->dtype == IR_F32 || p->requantise == REQUANTISE_FLOAT;
        w->c->tolerance = p->tolerance > w->c->tolerance ? p->tolerance : w->c->tolerance;
    }
    if (get(o, "tolerance") && !may)
        return WRONG(w, ".tolerance",
                     "its steps give the reference's bytes; only float32 and requantise of kind "
                     "float may differ");
    if (get(o, "tolerance"))
        w->c->tolerance = number(o, "tolerance");
    return ST_OK;
}

static enum status composite(struct reader *r, const cJSON *o, const char *path,
                             struct describe_composite *c)
{
    struct wires w = {
        .r = r, .path = path, .c = c, .edge = ARENA_ARRAY(r->a, const char *, COMPOSITE_EDGES)};
    const cJSON *cost = get(o, "cost");

    c->name = string(r, o, "name", NULL);
    c->edge = w.edge;
    c->call = string(r, o, "call", NULL);
    TRY(steps(&w, get(o, "steps")));
    TRY(tolerance(&w, o));
    for (uint32_t i = 0; i < COST_TERMS; i++)
        c->cost[i] = number(cost, target_cost_names[i]);
    const char *bad = describe_bad_call(r->desc, c, c->call);
    return bad ? WRONG(&w, ".call", "%s", bad) : ST_OK;
}

static bool name_taken(const struct reader *r, const char *name)
{
    for (uint32_t i = 0; i < r->detail->n_pattern; i++)
        if (strcmp(r->detail->pattern[i].name, name) == 0)
            return true;
    for (uint32_t i = 0; i + 1 < r->detail->n_composite; i++)
        if (strcmp(r->detail->composite[i].name, name) == 0)
            return true;
    return false;
}

enum status read_composites(struct reader *r, const cJSON *root)
{
    const cJSON *array = get(root, "composites"), *o;
    struct describe_composite *c =
        ARENA_ARRAY(r->a, struct describe_composite, (size_t)cJSON_GetArraySize(array) + 1);

    r->detail->composite = c;
    cJSON_ArrayForEach(o, array)
    {
        const uint32_t i = r->detail->n_composite++;
        const char *path = arena_printf(r->a, "composites[%u]", i);
        TRY(composite(r, o, path, &c[i]));
        if (name_taken(r, c[i].name))
            return json_doc_fail(&r->doc, arena_printf(r->a, "%s.name", path), r->d,
                                 "duplicate pattern '%s'", c[i].name);
    }
    if (r->detail->n_pattern + r->detail->n_composite == 0)
        return json_doc_fail(&r->doc, "operators", r->d,
                             "found no operator, and there are no \"composites\"");
    return ST_OK;
}
