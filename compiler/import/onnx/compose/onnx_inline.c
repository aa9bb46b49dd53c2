/* onnx_inline.c - nodes that have nodes inside: calls of the model's own functions, and If.
 * in: a node and its body.  out: the body's nodes, imported one after another under names of their
 * own. A condition that is not a constant selects between both branches. */
#include "onnx_inline.h"

#include <string.h>

enum { MAX_DEPTH = 16, MAX_INLINED = 20000 };

/* One copy of a body. */
struct copy {
    struct ox *m;
    const struct ox_body *body;
    const Onnx__NodeProto *call;
    const char *scope;
};

static const char *inner(const struct copy *c, const char *name)
{
    return name && *name ? arena_printf(c->m->arena, "%s/%s", c->scope, name) : "";
}

static const char *renamed(const struct copy *c, const char *name)
{
    const char *own = inner(c, name);

    return !*own || c->body->closed || ox_called_value(c->m, own)->is_inner ? own : name;
}

static void define(const struct copy *c, const char *name)
{
    if (name && *name)
        ox_called_value(c->m, inner(c, name))->is_inner = true;
}

static char **renamed_list(const struct copy *c, size_t n, char *const *name)
{
    char **list = ARENA_ARRAY(c->m->arena, char *, n + 1);

    for (size_t i = 0; i < n; i++)
        list[i] = (char *)(uintptr_t)renamed(c, name[i]);
    return list;
}

static enum status copy_node(const struct copy *c, const Onnx__NodeProto *from,
                             Onnx__NodeProto **to);

/* A graph within the body: names that it takes from there are renamed. */
static enum status copy_graph(const struct copy *c, const Onnx__GraphProto *from,
                              Onnx__GraphProto **to)
{
    struct arena *a = c->m->arena;
    Onnx__GraphProto *g = arena_memdup(a, from, sizeof *from);

    g->node = ARENA_ARRAY(a, Onnx__NodeProto *, g->n_node + 1);
    for (size_t i = 0; i < g->n_node; i++)
        TRY(copy_node(c, from->node[i], &g->node[i]));
    g->output = ARENA_ARRAY(a, Onnx__ValueInfoProto *, g->n_output + 1);
    for (size_t i = 0; i < g->n_output; i++) {
        g->output[i] = arena_memdup(a, from->output[i], sizeof *g->output[i]);
        g->output[i]->name = (char *)(uintptr_t)renamed(c, from->output[i]->name);
    }
    *to = g;
    return ST_OK;
}

/* The attribute, or the caller's that it names; NULL where the caller has none. */
static enum status copy_attribute(const struct copy *c, const Onnx__AttributeProto *from,
                                  Onnx__AttributeProto **to)
{
    Onnx__AttributeProto *a = arena_memdup(c->m->arena, from, sizeof *from);

    *to = a;
    if (from->ref_attr_name && *from->ref_attr_name) {
        const Onnx__AttributeProto *given = NULL;

        for (size_t i = 0; i < c->call->n_attribute; i++)
            if (c->call->attribute[i]->name &&
                strcmp(c->call->attribute[i]->name, from->ref_attr_name) == 0)
                given = c->call->attribute[i];
        if (!given)
            return FAIL(c->m->d, ST_UNSUPPORTED,
                        "attribute %.80s of the function: expected the call to give it",
                        from->ref_attr_name);
        *a = *given;
        a->name = from->name;
    }
    return a->g ? copy_graph(c, a->g, &a->g) : ST_OK;
}

static enum status copy_node(const struct copy *c, const Onnx__NodeProto *from,
                             Onnx__NodeProto **to)
{
    Onnx__NodeProto *n = arena_memdup(c->m->arena, from, sizeof *from);

    if (++c->m->n_inlined > MAX_INLINED)
        return FAIL(c->m->d, ST_UNSUPPORTED,
                    "functions, loops and branches: expected at most %d nodes", MAX_INLINED);
    n->input = renamed_list(c, from->n_input, from->input);
    n->output = renamed_list(c, from->n_output, from->output);
    n->attribute = ARENA_ARRAY(c->m->arena, Onnx__AttributeProto *, from->n_attribute + 1);
    for (size_t i = 0; i < from->n_attribute; i++)
        TRY(copy_attribute(c, from->attribute[i], &n->attribute[i]));
    *to = n;
    return ST_OK;
}

Onnx__NodeProto *ox_new_node(struct ox *m, const char *op, size_t n_in, const char *const *in,
                             const char *out)
{
    Onnx__NodeProto *n = ARENA_NEW(m->arena, Onnx__NodeProto);

    onnx__node_proto__init(n);
    n->op_type = n->name = arena_strndup(m->arena, op, strlen(op));
    n->domain = arena_strndup(m->arena, "", 0);
    n->n_input = n_in;
    n->input = ARENA_ARRAY(m->arena, char *, n_in + 1);
    for (size_t i = 0; i < n_in; i++)
        n->input[i] = (char *)(uintptr_t)in[i];
    n->n_output = 1;
    n->output = ARENA_ARRAY(m->arena, char *, 1);
    n->output[0] = (char *)(uintptr_t)out;
    return n;
}

void ox_new_attribute(struct ox *m, Onnx__NodeProto *n, const char *name, int64_t value)
{
    Onnx__AttributeProto *a = ARENA_NEW(m->arena, Onnx__AttributeProto);

    onnx__attribute_proto__init(a);
    a->name = arena_strdup(m->arena, name);
    a->has_type = a->has_i = true;
    a->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT;
    a->i = value;
    n->n_attribute = 1;
    n->attribute = ARENA_ARRAY(m->arena, Onnx__AttributeProto *, 1);
    n->attribute[0] = a;
}

/* Import one node that is not of the file; the node around it stays the current one. */
static enum status import_one(struct ox *m, const Onnx__NodeProto *n)
{
    const Onnx__NodeProto *outer = m->node;
    const char *op = m->op, *scope = m->scope;
    const enum ir_opcode opcode = m->opcode;
    enum status st;

    for (size_t i = 0; i < n->n_input; i++)
        ox_called_value(m, n->input[i])->n_use++;
    for (size_t i = 0; i < n->n_output; i++)
        ox_name(m, n->output[i]);
    st = m->import_node(m, n, IR_NONE);
    m->node = outer;
    m->op = op;
    m->scope = scope;
    m->opcode = opcode;
    if (st != ST_OK)
        diag_prefix(m->d, "'%.80s' %.80s inside it", n->name ? n->name : "",
                    n->op_type ? n->op_type : "");
    return st;
}

/* Import a node of ours, in the newest opset's form. */
enum status ox_import_own(struct ox *m, const Onnx__NodeProto *n)
{
    const int64_t opset = m->opset;
    enum status st;

    m->opset = ONNX_LAST_OPSET;
    st = import_one(m, n);
    m->opset = opset;
    return st;
}

static enum status alias(struct ox *m, const char *from, const char *to)
{
    return *to ? ox_import_own(m, ox_new_node(m, "Identity", 1, &from, to)) : ST_OK;
}

static void define_all(const struct copy *c)
{
    const struct ox_body *b = c->body;

    for (size_t i = 0; i < b->n_input; i++)
        define(c, b->input[i]);
    for (size_t i = 0; i < b->n_initializer; i++)
        define(c, b->initializer[i]->name);
    for (size_t i = 0; i < b->n_node; i++)
        for (size_t k = 0; k < b->node[i]->n_output; k++)
            define(c, b->node[i]->output[k]);
}

static enum status initialize(const struct copy *c)
{
    for (size_t i = 0; i < c->body->n_initializer; i++) {
        const Onnx__TensorProto *t = c->body->initializer[i];
        struct ox_const value;

        TRY(ox_initializer(c->m, t, &value));
        ox_called_value(c->m, inner(c, t->name))->c = value;
        ox_called_value(c->m, inner(c, t->name))->kind = OX_CONST;
    }
    return ST_OK;
}

/* Import the nodes of `body` for `in`, names of values outside, and leave its results' names in
 * *out. All names are made before a node is imported. */
enum status ox_inlined(struct ox *m, const struct ox_body *body, const char *const *in,
                       const char ***out)
{
    const struct copy c = {
        m, body, m->node,
        arena_printf(m->arena, "%s/%s_%u", m->node->output[0], m->op, m->n_scope++)};
    Onnx__NodeProto **node = ARENA_ARRAY(m->arena, Onnx__NodeProto *, body->n_node + 1);

    if (++m->depth > MAX_DEPTH)
        return FAIL(m->d, ST_UNSUPPORTED, "functions, loops and branches nest more than %d deep",
                    MAX_DEPTH);
    define_all(&c);
    for (size_t i = 0; i < body->n_node; i++)
        TRY(copy_node(&c, body->node[i], &node[i]));
    *out = ARENA_ARRAY(m->arena, const char *, body->n_output + 1);
    for (size_t i = 0; i < body->n_output; i++)
        (*out)[i] = renamed(&c, body->output[i]);
    TRY(initialize(&c));
    for (size_t i = 0; i < body->n_input; i++)
        if (in[i] && *in[i])
            TRY(alias(m, in[i], inner(&c, body->input[i])));
    for (size_t i = 0; i < body->n_node; i++)
        TRY(import_one(m, node[i]));
    m->depth--;
    return ST_OK;
}

/* Give the node's outputs from `first` on the values `from`. */
enum status ox_give_outputs(struct ox *m, size_t first, size_t n, const char *const *from)
{
    for (size_t i = 0; i < n && first + i < m->node->n_output; i++)
        TRY(alias(m, from[i], m->node->output[first + i]));
    return ST_OK;
}

/* --- functions --- */

const Onnx__FunctionProto *ox_called(const struct ox *m, const Onnx__NodeProto *node)
{
    const char *domain = node->domain ? node->domain : "";

    for (size_t i = 0; i < m->model->n_functions; i++) {
        const Onnx__FunctionProto *f = m->model->functions[i];

        if (f->name && node->op_type && strcmp(f->name, node->op_type) == 0 &&
            strcmp(f->domain ? f->domain : "", domain) == 0)
            return f;
    }
    return NULL;
}

enum status ox_call(struct ox *m, const Onnx__FunctionProto *f)
{
    const struct ox_body body = {.n_input = f->n_input,
                                 .n_output = f->n_output,
                                 .n_node = f->n_node,
                                 .input = (const char **)(uintptr_t)f->input,
                                 .output = (const char **)(uintptr_t)f->output,
                                 .node = f->node,
                                 .closed = true};
    const char **in = ARENA_ARRAY(m->arena, const char *, f->n_input + 1), **out;
    const int64_t opset = m->opset;
    enum status st;

    if (m->node->n_input > f->n_input || m->node->n_output > f->n_output)
        return FAIL(m->d, ST_MODEL,
                    "function: expected at most %zu inputs and %zu outputs, found %zu, %zu",
                    f->n_input, f->n_output, m->node->n_input, m->node->n_output);
    for (size_t i = 0; i < m->node->n_input; i++)
        in[i] = m->node->input[i];
    for (size_t i = 0; i < f->n_opset_import; i++)
        if (!f->opset_import[i]->domain || !*f->opset_import[i]->domain)
            m->opset = f->opset_import[i]->version;
    st = ox_inlined(m, &body, in, &out);
    m->opset = opset;
    TRY(st);
    return ox_give_outputs(m, 0, f->n_output, out);
}

/* --- graphs --- */

enum status ox_graph_of(struct ox *m, const char *name, size_t n_in, struct ox_body *b)
{
    const Onnx__AttributeProto *a = ox_attr(m, name);
    const Onnx__GraphProto *g = a ? a->g : NULL;

    if (!g)
        return FAIL(m->d, ST_MODEL, "attribute %s: expected a graph", name);
    if (g->n_input != n_in)
        return FAIL(m->d, ST_MODEL, "%s: expected %zu inputs, found %zu", name, n_in, g->n_input);
    *b = (struct ox_body){.n_input = g->n_input,
                          .n_output = g->n_output,
                          .n_node = g->n_node,
                          .n_initializer = g->n_initializer,
                          .input = ARENA_ARRAY(m->arena, const char *, g->n_input + 1),
                          .output = ARENA_ARRAY(m->arena, const char *, g->n_output + 1),
                          .node = g->node,
                          .initializer = g->initializer};
    for (size_t i = 0; i < g->n_input; i++)
        b->input[i] = g->input[i]->name ? g->input[i]->name : "";
    for (size_t i = 0; i < g->n_output; i++)
        b->output[i] = g->output[i]->name ? g->output[i]->name : "";
    return ST_OK;
}

enum status ox_want_outputs(struct ox *m, const struct ox_body *b, size_t least)
{
    if (b->n_output >= least)
        return ST_OK;
    return FAIL(m->d, ST_MODEL, "its graph: expected at least %zu outputs, found %zu", least,
                b->n_output);
}

/* Select between the results of both branches, which have one shape. */
static enum status selected(struct ox *m, const char *const *yes, const char *const *no)
{
    for (size_t i = 0; i < m->node->n_output; i++) {
        const uint32_t id[2] = {ox_name(m, yes[i]), ox_name(m, no[i])};
        const struct ox_value *a = &m->value[id[0]], *b = &m->value[id[1]], *c = ox_in(m, 0);

        if (a->kind == OX_NONE || b->kind == OX_NONE)
            return FAIL(m->d, ST_MODEL, "its graph: no node computes output '%.80s'",
                        a->kind == OX_NONE ? a->name : b->name);
        const uint32_t rank = ox_rank(m, a);
        if (rank != ox_rank(m, b) || rank < ox_rank(m, c) ||
            memcmp(ox_dim(m, a), ox_dim(m, b), rank * sizeof *ox_dim(m, a)) != 0)
            return FAIL(m->d, ST_UNSUPPORTED,
                        "a condition that is no constant: expected branches of one shape, found "
                        "%s and %s",
                        ir_shape_text(m->arena, rank, ox_dim(m, a)),
                        ir_shape_text(m->arena, ox_rank(m, b), ox_dim(m, b)));
        TRY(ox_import_own(m, ox_new_node(m, "Where", 3,
                                         (const char *const[]){m->node->input[0], yes[i], no[i]},
                                         m->node->output[i])));
    }
    return ST_OK;
}

enum status ox_if(struct ox *m)
{
    const struct ox_value *condition = ox_in(m, 0);
    struct ox_body yes, no;
    const char **y, **n;

    TRY(ox_graph_of(m, "then_branch", 0, &yes));
    TRY(ox_graph_of(m, "else_branch", 0, &no));
    TRY(ox_want_outputs(m, &yes, m->node->n_output));
    TRY(ox_want_outputs(m, &no, m->node->n_output));
    if (!condition)
        return FAIL(m->d, ST_MODEL, "condition: input 0 is absent");
    for (uint32_t i = 0; i < ox_rank(m, condition); i++)
        if (ox_dim(m, condition)[i] != 1)
            return FAIL(m->d, ST_MODEL, "condition: expected one element, found shape %s",
                        ir_shape_text(m->arena, ox_rank(m, condition), ox_dim(m, condition)));
    if (condition->kind == OX_CONST) {
        const bool holds = ox_int(&condition->c, 0) != 0;

        TRY(ox_inlined(m, holds ? &yes : &no, NULL, &y));
        return ox_give_outputs(m, 0, m->node->n_output, y);
    }
    TRY(ox_inlined(m, &yes, NULL, &y));
    TRY(ox_inlined(m, &no, NULL, &n));
    return selected(m, y, n);
}
