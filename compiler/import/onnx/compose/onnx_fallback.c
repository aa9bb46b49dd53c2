/* onnx_fallback.c - a node that heddle does not import, computed by ONNX Runtime (--host-fallback).
 * in: the node as in the file.  out: for each output that is read, an operator ONNX_NODE whose
 * first input is the bytes of a model of this node alone. Its constants are in the model; Casts at
 * its border give it the file's types, which the IR does not have all. */
#include "onnx_inline.h"

#include <ctype.h>
#include <string.h>

#include "base/onnxruntime/onnxruntime.h"
#include "compiler/import/onnx/onnx_proto.h"

/* Integers of 8 bits are quantised values of scale 1. */
static const float one = 1;
static const int32_t zero = 0;
static const struct ir_quant plain = {1, 0, &one, &zero};

/* The model under construction. */
struct alone {
    struct ox *m;
    Onnx__GraphProto graph;
    Onnx__NodeProto node;                  /* the file's, with our names */
    uint32_t n_in, id[1 + ORT_MAX_INPUTS]; /* tensors: the model's bytes, its inputs */
};

static const char *numbered(const struct alone *a, const char *letter, uint32_t i)
{
    return arena_printf(a->m->arena, "%s%u", letter, i);
}

static const int64_t *wide(const struct alone *a, uint32_t rank, const int32_t *dim)
{
    int64_t *to = ARENA_ARRAY(a->m->arena, int64_t, rank + 1);

    for (uint32_t i = 0; i < rank; i++)
        to[i] = dim[i];
    return to;
}

static void add_cast(struct alone *a, const char *from, const char *to, int32_t type)
{
    Onnx__NodeProto *n = ox_new_node(a->m, "Cast", 1, &from, to);

    n->name = n->output[0]; /* names of nodes differ */
    ox_new_attribute(a->m, n, "to", type);
    a->graph.node[a->graph.n_node++] = n;
}

static void add_constant(struct alone *a, const char *name, const struct ox_const *c)
{
    a->graph.initializer[a->graph.n_initializer++] =
        ox_new_initializer(a->m->arena, name, c->type, c->rank, wide(a, c->rank, c->dim), c->data);
}

/* The type that the file declares for the value, or `otherwise`. */
static int32_t declared_type(const struct ox *m, const char *name, int32_t otherwise)
{
    const Onnx__GraphProto *g = m->graph;

    for (size_t i = 0; i < g->n_input + g->n_value_info; i++) {
        const Onnx__ValueInfoProto *v =
            i < g->n_input ? g->input[i] : g->value_info[i - g->n_input];

        if (v->name && strcmp(v->name, name) == 0 && v->type &&
            v->type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE &&
            v->type->tensor_type->has_elem_type)
            return v->type->tensor_type->elem_type;
    }
    return otherwise;
}

/* The type at the model's border of a tensor of the IR. */
static int32_t border_type(enum ir_type type)
{
    return type == IR_F32    ? OX_FLOAT
           : type == IR_I64  ? OX_INT64
           : type == IR_BOOL ? OX_BOOL
                             : OX_INT32;
}

/* Input `i` of the node, a tensor, is the model's next input; *name is what the node reads. */
static enum status add_tensor(struct alone *a, uint32_t i, const char **name)
{
    struct ox *m = a->m;
    const struct ox_value *v = ox_in(m, i);
    const char *own = numbered(a, "x", a->n_in);
    const struct ir_tensor *t;
    int32_t type, border;
    uint32_t id;

    if (a->n_in == ORT_MAX_INPUTS)
        return FAIL(m->d, ST_UNSUPPORTED, "expected at most %d inputs", ORT_MAX_INPUTS);
    if (!v->real && v->kind == OX_TENSOR && ir_type_bytes(m->g->tensor[v->tensor]->type) == 1 &&
        ir_is_code(m->g->tensor[v->tensor]->type)) {
        type = m->g->tensor[v->tensor]->type == IR_U8 ? OX_UINT8 : OX_INT8;
        TRY(ox_set_quant(m, v->tensor, &plain));
        id = ox_as_float(m, v->tensor);
    } else {
        TRY(ox_number_input(m, i, "input", &id));
        v = ox_in(m, i);
        type = declared_type(m, v->name, border_type(m->g->tensor[id]->type));
    }
    t = m->g->tensor[id];
    border = border_type(t->type);
    *name = type == border ? own : numbered(a, "v", a->n_in);
    a->id[++a->n_in] = id;
    a->graph.input[a->graph.n_input++] =
        ox_new_border(m->arena, own, border, t->rank, wide(a, t->rank, t->dim));
    if (type != border)
        add_cast(a, own, *name, type);
    return ST_OK;
}

static enum status add_inputs(struct alone *a)
{
    struct ox *m = a->m;
    const size_t n = m->node->n_input;

    a->graph.node = ARENA_ARRAY(m->arena, Onnx__NodeProto *, n + 2);
    a->graph.input = ARENA_ARRAY(m->arena, Onnx__ValueInfoProto *, n + 1);
    a->graph.initializer = ARENA_ARRAY(m->arena, Onnx__TensorProto *, n + 1);
    a->node.input = ARENA_ARRAY(m->arena, char *, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        const struct ox_value *v = ox_in(m, i);
        const char *name = v ? numbered(a, "c", i) : "";

        if (v && v->kind == OX_CONST) {
            const struct ox_const c = v->real ? ox_const_values(m, &v->c, &v->quant) : v->c;

            if (c.halves)
                return FAIL(m->d, ST_UNSUPPORTED, "input %u: integers of 4 bits", i);
            add_constant(a, name, &c);
        } else if (v)
            TRY(add_tensor(a, i, &name));
        a->node.input[i] = (char *)(uintptr_t)name;
    }
    return ST_OK;
}

static const uint8_t *packed(const struct alone *a, size_t *n)
{
    const struct ox *m = a->m;
    Onnx__ModelProto model = *m->model;
    uint8_t *bytes;

    model.graph = (Onnx__GraphProto *)(uintptr_t)&a->graph;
    model.n_metadata_props = model.n_training_info = 0;
    if (!ox_called(m, m->node))
        model.n_functions = 0;
    *n = onnx__model_proto__get_packed_size(&model);
    bytes = arena_alloc(m->arena, *n);
    onnx__model_proto__pack(&model, bytes);
    return bytes;
}

/* Find type and shape of the model's only output; the file's declaration helps where the library
 * does not infer them. */
static enum status find_output(const struct alone *a, const char *of, struct ort_output *y)
{
    const struct ox *m = a->m;
    size_t n;
    const uint8_t *bytes = packed(a, &n);
    const char *why = ort_output_of(bytes, n, y);

    if (why)
        return FAIL(m->d, ST_UNSUPPORTED, "%s", why);
    for (uint32_t i = 0; i < y->rank; i++)
        if (y->dim[i] < 1 || y->rank > IR_MAX_RANK || y->dim[i] > INT32_MAX)
            return FAIL(m->d, ST_UNSUPPORTED,
                        "output '%.80s', dimension %u: expected a size that does not depend on "
                        "values, declared or inferred, of 1 to %d in at most %d dimensions",
                        of, i, INT32_MAX, IR_MAX_RANK);
    return ST_OK;
}

/* The type in the IR of a result of `type`. */
static enum ir_type result_type(int32_t type)
{
    enum ir_stored stored;
    const enum ir_type as = ox_border_type(type, &stored);

    return as == IR_I8 || as == IR_U8 ? IR_I32 : as;
}

/* The operator that computes the model's output, of this type and shape. */
static enum status add_operator(struct alone *a, struct ox_value *v, const struct ort_output *y)
{
    struct ox *m = a->m;
    const bool bytes = y->type == OX_INT8 || y->type == OX_UINT8;
    const enum ir_type type = result_type(y->type);
    struct ox_shape s = {.rank = y->rank};
    const uint8_t *model;
    uint32_t id;
    size_t n;

    for (uint32_t i = 0; i < y->rank; i++)
        s.dim[i] = (int32_t)y->dim[i];
    if (type == IR_TYPE_COUNT || !ir_shape_ok(s.rank, s.dim, type))
        return FAIL(m->d, ST_UNSUPPORTED, "output '%.80s': %s of shape %s", v->name,
                    ox_type_name(y->type), ir_shape_text(m->arena, s.rank, s.dim));
    add_cast(a, a->graph.output[0]->name, "y", border_type(type));
    a->graph.output[0] = ox_new_border(m->arena, "y", border_type(type), y->rank, y->dim);
    model = packed(a, &n);
    a->graph.n_node--;
    a->id[0] =
        ox_ir_const(m, ox_inner(m, v->name, "model"), IR_I8, 1, &(int32_t){(int32_t)n}, model);
    m->g->tensor[a->id[0]]->quant = plain;
    id = ox_tensor(m, bytes ? ox_inner(m, v->name, "integers") : v->name, type, s, NULL);
    ox_make_onnx_node(m, 1 + a->n_in, a->id, id);
    m->g->row[m->row].limit = "ONNX Runtime has it (--host-fallback)";
    if (bytes) {
        id = ox_number_as(m, ox_inner(m, v->name, "float"), id, IR_F32);
        id = ox_quantized(m, v->name, id, ox_ir_type(y->type), &plain);
    }
    v->kind = OX_TENSOR;
    v->tensor = id;
    v->real = false;
    return ST_OK;
}

/* The file's declaration of a value, under another name; NULL: none. */
static Onnx__ValueInfoProto *declaration(const struct ox *m, const char *name, const char *as)
{
    const Onnx__GraphProto *g = m->graph;
    Onnx__ValueInfoProto *v = ARENA_NEW(m->arena, Onnx__ValueInfoProto);

    onnx__value_info_proto__init(v);
    for (size_t i = 0; i < g->n_value_info + g->n_output; i++) {
        const Onnx__ValueInfoProto *of =
            i < g->n_value_info ? g->value_info[i] : g->output[i - g->n_value_info];

        if (of->name && strcmp(of->name, name) == 0)
            v->type = of->type;
    }
    v->name = (char *)(uintptr_t)as;
    return v;
}

static enum status add_outputs(struct alone *a)
{
    struct ox *m = a->m;
    const size_t n = m->node->n_output;
    struct ort_output y;

    a->node.output = ARENA_ARRAY(m->arena, char *, n + 1);
    a->graph.output = ARENA_ARRAY(m->arena, Onnx__ValueInfoProto *, 1);
    a->graph.n_output = 1;
    for (uint32_t i = 0; i < n; i++)
        a->node.output[i] = (char *)(uintptr_t)(*m->node->output[i] ? numbered(a, "o", i) : "");
    for (uint32_t i = 0; i < n; i++) {
        struct ox_value *v = ox_out(m, i);

        if (!*v->name || v->n_use == 0)
            continue;
        a->graph.output[0] = declaration(m, v->name, a->node.output[i]);
        TRY(find_output(a, v->name, &y));
        TRY(add_operator(a, v, &y));
    }
    return ST_OK;
}

/* Refuse nodes whose results do not repeat, and those that read values without naming them as
 * inputs. */
static enum status check_node(const struct ox *m)
{
    static const char *const random[] = {"RandomNormal",      "RandomNormalLike", "RandomUniform",
                                         "RandomUniformLike", "Multinomial",      "Bernoulli"};

    for (uint32_t i = 0; i < sizeof random / sizeof *random; i++)
        if (m->node->op_type && strcmp(m->node->op_type, random[i]) == 0)
            return FAIL(m->d, ST_UNSUPPORTED, "a random result does not repeat");
    for (size_t i = 0; i < m->node->n_attribute; i++)
        if (m->node->attribute[i]->g || m->node->attribute[i]->n_graphs)
            return FAIL(m->d, ST_UNSUPPORTED, "a node with graphs inside");
    return ST_OK;
}

/* The operator's name for reports, without what text of a file may hold. */
static const char *label(struct ox *m)
{
    char *name = arena_printf(m->arena, "%.40s", m->node->op_type ? m->node->op_type : "");

    for (char *c = name; *c; c++)
        *c = isalnum((unsigned char)*c) ? *c : '_';
    return arena_printf(m->arena, "%s (ONNX Runtime)", name);
}

enum status ox_fallback(struct ox *m, const Onnx__NodeProto *node)
{
    struct alone a = {.m = m, .node = *node};

    m->node = node;
    m->op = label(m);
    m->row = IR_NONE;
    m->scope = NULL;
    onnx__graph_proto__init(&a.graph);
    a.graph.name = a.node.name = arena_strndup(m->arena, "node", 4);
    TRY(check_node(m));
    TRY(add_inputs(&a));
    a.graph.node[a.graph.n_node++] = &a.node;
    return add_outputs(&a);
}
