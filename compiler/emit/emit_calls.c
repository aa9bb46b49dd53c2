/* emit_calls.c - the calls of external targets: of a pattern, of a composite, with every $word filled
 * in. */
#include <string.h>

#include "compiler/target/region.h"
#include "emit_host.h"
#include "emit_outside.h"

/* A region as its target has compiled it. */
struct emit_region {
    struct region_blob blob;
    struct ir_part part;
};

/* The subject of a call: a pattern for one operator, or a composite. */
struct call {
    const struct target *target;
    const struct ir_op *op; /* its last one */
    const char *text;       /* NULL: made of the target's blocks */
    const struct describe_pattern *pattern;
    const struct describe_composite *composite; /* NULL: of the pattern */
    struct composite_match match;
    bool region;
};

static void find(const struct emit_unit *u, const struct ir_op *op, struct call *c)
{
    const struct target_question q = {u->arena,       u->graph, op, emit_outside(u, op),
                                      u->program->hw, {0, 0}};
    const char *why;

    c->target = q.target;
    c->op = op;
    c->region = op->call != IR_NONE && describe_of(q.target)->region_call;
    c->composite = c->region ? &describe_region_words : composite_of(&q, &c->match);
    c->pattern = c->composite ? NULL : describe_match(&q, &why);
    c->text = c->region      ? describe_of(q.target)->region_call
              : c->composite ? c->composite->call
                             : native_call(c->pattern, &q);
}

const char *emit_outside_pattern(const struct emit_unit *u, const struct ir_op *op)
{
    struct call c;

    find(u, op, &c);
    return c.composite ? c.composite->name : c.pattern->name;
}

const char *emit_outside_function(const struct emit_unit *u, const struct ir_op *op)
{
    struct call c;

    find(u, op, &c);
    return c.text ? arena_strndup(u->arena, c.text, strcspn(c.text, " (")) : NULL;
}

/* Parameters as the host's kernels take them, of each step that the call names. */
static enum status composite_params(struct emit_unit *u, struct text *t, const struct call *c,
                                    struct diag *d)
{
    for (uint32_t s = 0; s < c->composite->n_step; s++) {
        const struct ir_op op = composite_op(u->graph, &c->match, s);
        if (strstr(c->text, arena_printf(u->arena, "$%s.params", c->composite->step[s].name)))
            TRY(emit_host_params(u, t, &op, d));
    }
    return ST_OK;
}

/* The region that ends with `op`. */
static enum status compile_region(struct emit_unit *u, const struct ir_op *op, struct diag *d)
{
    const struct target_question q = {u->arena,       u->graph, op, emit_outside(u, op),
                                      u->program->hw, {0, 0}};
    uint32_t first = op->id;

    while (first > 0 && u->graph->op[first - 1]->call == op->call)
        first--;
    if (!u->region)
        u->region = ARENA_ARRAY(u->arena, struct emit_region, u->graph->n_op);
    return region_compile(&q, first, op->id, &u->region[op->id].part, &u->region[op->id].blob, d);
}

enum status emit_outside_params(struct emit_unit *u, struct text *t, const struct ir_op *op,
                                struct diag *d)
{
    struct call c;

    find(u, op, &c);
    if (c.composite && !ir_ends_call(u->graph, op->id))
        return ST_OK;
    if (c.composite)
        return c.region ? compile_region(u, op, d) : composite_params(u, t, &c, d);
    if (!c.text)
        return emit_blocks_params(u, t, op, d);
    return strstr(c.text, "$params") ? emit_host_params(u, t, op, d) : ST_OK;
}

/* "(void *const[]){a, b}". */
static const char *pointers(struct emit_unit *u, const char *type, const uint32_t *id, uint32_t n)
{
    struct text t;

    text_init(&t, u->arena);
    text_printf(&t, "(%s *const[]){", type);
    for (uint32_t i = 0; i < n; i++)
        text_printf(&t, "%s%s", i ? ", " : "", emit_pointer(u, id[i]));
    text_add(&t, "}");
    return t.data;
}

static const char *region_word(struct emit_unit *u, const struct call *c, uint32_t word)
{
    const struct emit_region *r = &u->region[c->op->id];
    const struct ir_graph *g = r->part.graph;

    switch (word) {
    case REGION_BLOB:
        return arena_printf(u->arena, "(model_constants + 0x%x)",
                            emit_host_constant(u, r->blob.bytes, r->blob.n_bytes));
    case REGION_BYTES: return arena_printf(u->arena, "%zu", r->blob.n_bytes);
    case REGION_INPUTS: return pointers(u, "const void", r->part.in, g->n_in);
    default: return pointers(u, "void", r->part.out, g->n_out);
    }
}

static const char *edge(struct emit_unit *u, const struct call *c, uint32_t e)
{
    if (c->region)
        return region_word(u, c, e);
    const uint32_t id = c->match.tensor[e];
    const bool output = e == c->composite->step[c->composite->n_step - 1].out;

    return arena_printf(u->arena, "%s%s",
                        emit_outside_cast(u, output ? "" : "const ", u->graph->tensor[id]->type),
                        emit_pointer(u, id));
}

static void add_word(struct emit_unit *u, struct text *t, const struct call *c,
                     const struct describe_word *w)
{
    const bool step = c->composite && w->step < c->composite->n_step;
    const struct ir_op op = step ? composite_op(u->graph, &c->match, w->step) : *c->op;
    const struct describe_pattern *p = step ? &c->composite->step[w->step].pattern : c->pattern;
    struct target_values v = {{0}};

    if (w->edge != COMPOSITE_EDGES) {
        text_add(t, edge(u, c, w->edge));
    } else if (w->pointer != POINTER_COUNT) {
        text_add(t, emit_outside_pointer(u, &op, p, w->pointer));
    } else if (w->value != TARGET_VALUE_COUNT) {
        describe_values(p, u->graph, &op, &v);
        text_printf(t, "%lld", (long long)v.v[w->value]);
    } else {
        text_add(t, emit_outside_setting(u, c->target, w->attr));
    }
}

void emit_outside_call(struct emit_unit *u, struct text *t, const struct ir_op *op)
{
    struct call c;

    find(u, op, &c);
    if (!c.text) {
        emit_blocks_call(u, t, op, emit_outside_dev(u, op));
        return;
    }
    text_add(t, "MODEL_TRY(");
    for (const char *p = c.text; *p; p++) {
        struct describe_word w;
        if (*p != '$') {
            text_add_n(t, p, 1);
            continue;
        }
        describe_word(c.target->desc, c.composite, p + 1, &w);
        add_word(u, t, &c, &w);
        p += w.n_bytes;
    }
    text_add(t, ");\n");
}
