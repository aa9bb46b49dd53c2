/* onnx.c - an ONNX file into a graph: header, borders, nodes in file order. Everything that a file
 * can contain is checked here or in the other onnx_*.c; no later step looks at it again. */
#include "compiler/import/common/import_sizes.h"
#include "compiler/import/onnx/onnx_import.h"
#include "compiler/import/onnx/rewrites/onnx_rewrites.h"
#include "onnx_state.h"

#include <string.h>

enum { MAX_NODES = 100000 };

static enum status check_opsets(struct ox *m)
{
    for (size_t i = 0; i < m->model->n_opset_import; i++) {
        const Onnx__OperatorSetIdProto *o = m->model->opset_import[i];

        if (!o->domain || !*o->domain || strcmp(o->domain, "ai.onnx") == 0)
            m->opset = o->version;
        else if (strcmp(o->domain, "com.microsoft") == 0)
            m->ms_opset = o->version;
    }
    if (m->opset == 0)
        return FAIL(m->d, ST_MODEL, "no opset of ai.onnx is imported; expected %d to %d",
                    ONNX_FIRST_OPSET, ONNX_LAST_OPSET);
    if (m->opset < ONNX_FIRST_OPSET)
        return FAIL(m->d, ST_UNSUPPORTED, "opset of ai.onnx: expected %d to %d, found %lld",
                    ONNX_FIRST_OPSET, ONNX_LAST_OPSET, (long long)m->opset);
    return ST_OK;
}

static enum status check_header(struct ox *m)
{
    TRY(check_opsets(m));
    if (!m->model->graph)
        return FAIL(m->d, ST_MODEL, "the model has no graph");
    m->graph = m->model->graph;
    if (m->graph->n_node > MAX_NODES)
        return FAIL(m->d, ST_UNSUPPORTED, "expected up to %d nodes, found %zu", MAX_NODES,
                    m->graph->n_node);
    if (m->graph->n_sparse_initializer != 0)
        return FAIL(m->d, ST_UNSUPPORTED, "sparse initializers are not supported");
    return ST_OK;
}

static bool reads_elements(const Onnx__NodeProto *n)
{
    const char *op = n->op_type ? n->op_type : "";

    return strcmp(op, "Shape") != 0 && strcmp(op, "Size") != 0;
}

/* Count readers inside a graph of a node: of values outside, or of names that nothing has. */
static void name_inner(struct ox *m, const Onnx__GraphProto *g)
{
    for (size_t i = 0; i < g->n_output; i++)
        ox_called_value(m, g->output[i]->name)->n_use++;
    for (size_t i = 0; i < g->n_node; i++) {
        for (size_t k = 0; k < g->node[i]->n_input; k++)
            ox_called_value(m, g->node[i]->input[k])->n_use++;
        for (size_t k = 0; k < g->node[i]->n_attribute; k++)
            if (g->node[i]->attribute[k]->g)
                name_inner(m, g->node[i]->attribute[k]->g);
    }
}

/* All names are in the table before any value is pointed at. */
static enum status name_values(struct ox *m)
{
    const Onnx__GraphProto *g = m->graph;

    for (size_t i = 0; i < g->n_initializer; i++)
        ox_name(m, g->initializer[i]->name ? g->initializer[i]->name : "");
    for (size_t i = 0; i < g->n_input; i++)
        ox_name(m, g->input[i]->name ? g->input[i]->name : "");
    for (size_t i = 0; i < g->n_output; i++)
        ox_called_value(m, g->output[i]->name)->n_use++;
    for (uint32_t i = 0; i < g->n_node; i++) {
        for (size_t k = 0; k < g->node[i]->n_input; k++)
            ox_called_value(m, g->node[i]->input[k])->n_use += reads_elements(g->node[i]);
        for (size_t k = 0; k < g->node[i]->n_attribute; k++)
            if (g->node[i]->attribute[k]->g)
                name_inner(m, g->node[i]->attribute[k]->g);
        for (size_t k = 0; k < g->node[i]->n_output; k++) {
            struct ox_value *v = ox_called_value(m, g->node[i]->output[k]);

            if (*v->name == '\0')
                continue;
            if (v->maker != IR_NONE)
                return FAIL(m->d, ST_MODEL, "'%.80s' is made twice, by nodes %u and %u", v->name,
                            v->maker, i);
            v->maker = i;
        }
    }
    return ST_OK;
}

static enum status import_initializers(struct ox *m)
{
    for (size_t i = 0; i < m->graph->n_initializer; i++) {
        const Onnx__TensorProto *t = m->graph->initializer[i];
        struct ox_value *v = ox_called_value(m, t->name);
        enum status st = ST_OK;

        if (*v->name == '\0')
            st = FAIL(m->d, ST_MODEL, "has no name");
        else if (v->kind != OX_NONE)
            st = FAIL(m->d, ST_MODEL, "is listed twice");
        else if (v->maker != IR_NONE)
            st = FAIL(m->d, ST_MODEL, "is made by node %u as well", v->maker);
        else
            st = ox_initializer(m, t, &v->c);
        if (st != ST_OK) {
            diag_prefix(m->d, "initializer %zu '%.80s'", i, v->name);
            return st;
        }
        v->kind = OX_CONST;
    }
    return ST_OK;
}

/* Fixed dimensions of the file, --input-shapes for the others. Without it an open batch is 1. */
static enum status input_shape(struct ox *m, const Onnx__ValueInfoProto *in, uint32_t *rank,
                               int64_t *dim)
{
    const Onnx__TensorShapeProto *s = in->type->tensor_type->shape;
    int64_t given[IR_MAX_RANK];
    uint32_t n_given = 0;
    bool text;

    TRY(import_sizes(m->options->input_shapes, in->name, &text, &n_given, given, m->d));
    if (!s && !text)
        return FAIL(m->d, ST_UNSUPPORTED,
                    "has no shape; give one: --input-shapes \"%.80s:[1,...]\"", in->name);
    if (s && s->n_dim > IR_MAX_RANK)
        return FAIL(m->d, ST_UNSUPPORTED, "expected at most %d dimensions, found %zu", IR_MAX_RANK,
                    s->n_dim);
    if (s && text && n_given != s->n_dim)
        return FAIL(m->d, ST_USAGE, "--input-shapes: expected %zu numbers, found %u", s->n_dim,
                    n_given);
    *rank = s ? (uint32_t)s->n_dim : n_given;
    for (uint32_t i = 0; i < *rank; i++) {
        const Onnx__TensorShapeProto__Dimension *k = s ? s->dim[i] : NULL;
        const bool fixed =
            k && k->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;

        if (!fixed && !text && i == 0 && *rank > 1) { /* the batch */
            dim[0] = 1;
            ir_note_open(m->g, in->name, 0, 1);
            continue;
        }
        if (!fixed && !text)
            return FAIL(m->d, ST_UNSUPPORTED,
                        "dimension %u is not fixed ('%.40s'); give the shape: --input-shapes "
                        "\"%.80s:[1,...]\"",
                        i,
                        k->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM
                            ? k->dim_param
                            : "",
                        in->name);
        if (fixed && text && given[i] != k->dim_value)
            return FAIL(m->d, ST_USAGE, "--input-shapes: dimension %u is fixed to %lld, found %lld",
                        i, (long long)k->dim_value, (long long)given[i]);
        dim[i] = fixed ? k->dim_value : given[i];
    }
    return ST_OK;
}

static enum status graph_input(struct ox *m, const Onnx__ValueInfoProto *in, struct ox_value *v)
{
    int64_t dim[IR_MAX_RANK];
    struct ox_const c;
    struct ox_shape s = {0};
    enum ir_stored stored;
    enum ir_type type;
    uint32_t rank = 0;

    if (!in->type || in->type->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE)
        return FAIL(m->d, ST_UNSUPPORTED, "expected a tensor");
    if (v->maker != IR_NONE || v->is_input)
        return FAIL(m->d, ST_MODEL, "%s",
                    v->is_input ? "is listed twice" : "is made by a node as well");
    TRY(input_shape(m, in, &rank, dim));
    TRY(ox_shape(m, "input", rank, dim, in->type->tensor_type->elem_type, &c));
    if (c.n == 0)
        return FAIL(m->d, ST_UNSUPPORTED, "shape %s: expected at least one element",
                    ir_shape_text(m->arena, c.rank, c.dim));
    type = ox_border_type(c.type, &stored); /* ox_shape takes types with one alone */
    s.rank = rank;
    memcpy(s.dim, c.dim, sizeof s.dim);
    v->tensor = ox_tensor(m, v->name, type, s, NULL);
    m->g->tensor[v->tensor]->stored = (uint8_t)stored;
    v->kind = OX_TENSOR;
    if (ox_state_of(m, v->name, NULL))
        return ox_read_state(m, v);
    v->is_input = true;
    m->g->tensor[v->tensor]->role = IR_INPUT;
    m->g->in[m->g->n_in++] = v->tensor;
    return ST_OK;
}

/* Check --input-shapes against the inputs that no initializer has. */
static enum status check_shapes(struct ox *m)
{
    const char **input = ARENA_ARRAY(m->arena, const char *, m->graph->n_input + 1);
    uint32_t n = 0;

    for (size_t i = 0; i < m->graph->n_input; i++)
        if (ox_called_value(m, m->graph->input[i]->name)->kind != OX_CONST)
            input[n++] = m->graph->input[i]->name;
    return import_sizes_check(m->arena, m->options->input_shapes, n, input, m->d);
}

/* Inputs that have an initializer are constants. */
static enum status import_inputs(struct ox *m)
{
    TRY(check_shapes(m));
    m->g->in = ARENA_ARRAY(m->arena, uint32_t, m->graph->n_input + 1);
    for (size_t i = 0; i < m->graph->n_input; i++) {
        const Onnx__ValueInfoProto *in = m->graph->input[i];
        struct ox_value *v = ox_called_value(m, in->name);
        enum status st;

        if (v->kind == OX_CONST)
            continue;
        st = *v->name ? graph_input(m, in, v) : FAIL(m->d, ST_MODEL, "has no name");
        if (st != ST_OK) {
            diag_prefix(m->d, "graph input %zu '%.80s'", i, v->name);
            return st;
        }
    }
    if (m->g->n_in == 0)
        return FAIL(m->d, ST_UNSUPPORTED,
                    "expected at least one graph input that is no initializer");
    return ST_OK;
}

/* Import node `i`; in place of a refusal of an earlier attempt as an operator of ONNX Runtime. */
static enum status import_node(struct ox *m, const char **refusal, uint32_t i)
{
    const Onnx__NodeProto *node = m->graph->node[i];
    const char **of = &refusal[m->place[i]];
    enum status st;

    if (!*of) {
        st = ox_import_node(m, node, i);
        if (st == ST_UNSUPPORTED && m->options->fallback)
            *of = arena_strdup(m->arena, m->d->text);
        return st;
    }
    st = ox_fallback(m, node);
    if (st != ST_OK) {
        diag_prefix(m->d, "ONNX Runtime");
        diag_line(m->d, "heddle itself: %s", *of);
    }
    return st;
}

static enum status import_nodes(struct ox *m, const char **refusal)
{
    const uint32_t n = (uint32_t)m->graph->n_node;

    for (uint32_t i = 0; i < n; i++) {
        const Onnx__NodeProto *node = m->graph->node[i];
        const enum status st = import_node(m, refusal, i);

        if (st != ST_OK) {
            diag_prefix(m->d, "node %u '%.80s' %.80s (%.40s, opset %lld)", m->place[i],
                        node->name ? node->name : "", node->op_type ? node->op_type : "",
                        node->domain && *node->domain ? node->domain : "ai.onnx",
                        (long long)m->opset);
            return st;
        }
    }
    return ST_OK;
}

/* Check that the file's declaration of an output fits the imported one, where it is fixed. */
static enum status check_declared(struct ox *m, const Onnx__ValueInfoProto *out,
                                  struct ir_tensor *t)
{
    enum ir_stored stored;
    const Onnx__TypeProto__Tensor *type =
        out->type && out->type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE
            ? out->type->tensor_type
            : NULL;

    if (!type)
        return ST_OK;
    if (type->has_elem_type && type->elem_type == OX_BFLOAT)
        return FAIL(m->d, ST_UNSUPPORTED,
                    "is bfloat16, to which every operator would round: convert the model to "
                    "float32 or float16");
    if (type->has_elem_type && ox_border_type(type->elem_type, &stored) != t->type)
        return FAIL(m->d, ST_MODEL, "is declared as %s, computed as %s",
                    ox_type_name(type->elem_type), ir_type_name(t->type));
    if (type->has_elem_type)
        t->stored = (uint8_t)stored;
    if (!type->shape)
        return ST_OK;
    if (type->shape->n_dim != t->rank)
        return FAIL(m->d, ST_MODEL, "is declared with %zu dimensions, computed as %s",
                    type->shape->n_dim, ir_shape_text(m->arena, t->rank, t->dim));
    for (uint32_t i = 0; i < t->rank; i++) {
        const Onnx__TensorShapeProto__Dimension *k = type->shape->dim[i];

        if (k->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE &&
            k->dim_value != t->dim[i])
            return FAIL(m->d, ST_MODEL, "dimension %u is declared as %lld, computed as %s", i,
                        (long long)k->dim_value, ir_shape_text(m->arena, t->rank, t->dim));
    }
    return ST_OK;
}

/* A constant as a tensor that is copied. */
static enum status constant_output(struct ox *m, struct ox_value *v)
{
    const struct ox_const c = v->real ? ox_const_values(m, &v->c, &v->quant) : v->c;
    const enum ir_type type = ox_ir_type(c.type);

    if (c.n == 0 || type == IR_TYPE_COUNT)
        return FAIL(m->d, ST_UNSUPPORTED, "is a constant of %llu elements of %s",
                    (unsigned long long)c.n, ox_type_name(c.type));
    m->op = "Constant";
    m->row = IR_NONE;
    v->tensor = ox_ir_const(m, ox_inner(m, v->name, "value"), type, c.rank, c.dim, c.data);
    v->tensor = ox_reshape(m, v->name, v->tensor, ox_shape_of(m, v->tensor));
    v->kind = OX_TENSOR;
    v->real = false;
    v->wide = 0;
    return ST_OK;
}

/* A tensor of the output's own name: quantised values, or floats from a DEQUANTIZE. */
static enum status graph_output(struct ox *m, const Onnx__ValueInfoProto *out, struct ox_value *v)
{
    struct ir_tensor *t;
    enum ir_stored stored;
    uint32_t id;

    if (v->kind == OX_NONE)
        return FAIL(m->d, ST_MODEL, "is made by no node");
    TRY(ox_settle(m, v));
    if (v->kind == OX_CONST)
        TRY(constant_output(m, v));
    id = v->tensor;
    if (ox_state_of(m, NULL, v->name))
        return ox_assign_state(m, ox_state_of(m, NULL, v->name), id);
    if (v->kind == OX_TENSOR && !v->real && m->g->tensor[id]->type == IR_I16)
        v->wide = OX_INT16;
    if (v->wide) {
        m->op = "Cast";
        m->row = IR_NONE;
        id = ox_number_as(m, v->name, id, IR_I32);
        (void)ox_border_type(v->wide, &stored);
        m->g->tensor[id]->stored = (uint8_t)stored;
    }
    if (v->real) {
        m->op = "DequantizeLinear";
        m->row = IR_NONE;
        id = ox_dequantized(m, v->name, id);
    }
    if (m->g->tensor[id]->role == IR_INPUT || m->g->tensor[id]->is_output) {
        m->op = "Identity";
        m->row = IR_NONE;
        id = ox_reshape(m, v->name, id, ox_shape_of(m, id));
    }
    t = m->g->tensor[id];
    t->is_output = true;
    m->g->out[m->g->n_out++] = id;
    return check_declared(m, out, t);
}

static enum status import_outputs(struct ox *m)
{
    if (m->graph->n_output == 0)
        return FAIL(m->d, ST_MODEL, "expected at least one graph output");
    m->g->out = ARENA_ARRAY(m->arena, uint32_t, m->graph->n_output);
    for (size_t i = 0; i < m->graph->n_output; i++) {
        const Onnx__ValueInfoProto *out = m->graph->output[i];
        struct ox_value *v = ox_called_value(m, out->name);
        const enum status st = graph_output(m, out, v);

        if (st != ST_OK) {
            diag_prefix(m->d, "graph output %zu '%.80s'", i, out->name ? out->name : "");
            return st;
        }
    }
    return ST_OK;
}

/* Quantised values that were only moved take the scale of those they are moved from; 1 where none
 * is said. */
static void settle_scales(struct ox *m)
{
    static const float one = 1;
    static const int32_t zero = 0;

    for (uint32_t i = 0; i < m->g->n_tensor; i++) {
        struct ir_tensor *t = m->g->tensor[i];
        uint32_t root = i;

        if ((t->type != IR_I8 && t->type != IR_U8) || t->quant.n != 0)
            continue;
        while (root < m->cap_same && m->same_as[root] != root)
            root = m->same_as[root];
        t->quant = m->g->tensor[root]->quant;
        if (t->quant.n == 0)
            t->quant = (struct ir_quant){1, 0, &one, &zero};
    }
}

/* A cycle is reported when its nodes are imported. */
static void rewrite_nodes(struct ox *m)
{
    if (!ox_sort_nodes(m))
        return;
    ox_replace_quants(m);
    ox_read_quantised(m);
    (void)ox_sort_nodes(m);
    ox_single_scales(m);
    ox_quantise_inputs(m);
    ox_quantise_factors(m);
    ox_quantise_arguments(m);
    ox_join_sums(m);
    ox_quantise_first(m);
    ox_quantise_slopes(m);
    ox_quantise_matrices(m);
    ox_quantise_states(m);
    ox_centre_codes(m);
    ox_clamp_once(m);
}

/* Import the graph of `model`, except nodes with a refusal. A node that is refused gets one. */
static enum status import_graph(struct arena *a, const char *name, const Onnx__ModelProto *model,
                                const char **refusal, const struct onnx_options *o,
                                struct ir_graph **graph, struct diag *d)
{
    struct ox m = {.arena = a,
                   .model = model,
                   .options = o,
                   .d = d,
                   .row = IR_NONE,
                   .import_node = ox_import_node};

    TRY(check_header(&m));
    m.g = ir_graph_new(a, name);
    m.g->newer_than = m.opset > ONNX_LAST_OPSET ? ONNX_LAST_OPSET : 0;
    TRY(name_values(&m));
    TRY(import_initializers(&m));
    TRY(import_inputs(&m));
    rewrite_nodes(&m);
    TRY(import_nodes(&m, refusal));
    TRY(import_outputs(&m));
    settle_scales(&m);
    TRY(ir_link(m.g, d));
    if (!o->literal && !o->exact) {
        TRY(ox_cells(&m));
        TRY(ox_layer_norms(&m));
        TRY(ox_interpolations(&m));
        TRY(ox_squares(&m));
    }
    if (!o->literal)
        TRY(ir_infer(m.g, d));
    *graph = m.g;
    return ST_OK;
}

static uint32_t count(const char *const *list, size_t n)
{
    uint32_t all = 0;

    for (size_t i = 0; i < n; i++)
        all += list[i] != NULL;
    return all;
}

/* A refusal leaves the graph half made, so each is the end of an attempt. */
enum status onnx_import(struct arena *a, const char *name, const uint8_t *data, size_t n_bytes,
                        const struct onnx_options *o, struct ir_graph **graph, struct diag *d)
{
    const Onnx__ModelProto *model = o->unpacked;
    const char **refusal;
    size_t n;

    if (!model)
        TRY(onnx_unpack(a, data, n_bytes, &model, d));
    n = model->graph ? model->graph->n_node : 0;
    refusal = ARENA_ARRAY(a, const char *, n + 1);
    for (;;) {
        const uint32_t before = count(refusal, n);
        const enum status st = import_graph(a, name, model, refusal, o, graph, d);

        if (count(refusal, n) == before)
            return st;
        *d = (struct diag){0};
    }
}
