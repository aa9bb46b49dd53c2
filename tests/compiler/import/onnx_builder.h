/* onnx_builder.h - build small ONNX models for tests as messages, packed by protobuf-c. */
#ifndef HEDDLE_TEST_ONNX_BUILDER_H
#define HEDDLE_TEST_ONNX_BUILDER_H

#include <string.h>

#include "base/arena.h"
#include "onnx.pb-c.h"

enum { B_MAX = 32 };

struct builder {
    struct arena *a;
    Onnx__ModelProto model;
    Onnx__GraphProto graph;
    Onnx__OperatorSetIdProto opset[2];
    Onnx__OperatorSetIdProto *opsets[2];
    Onnx__NodeProto *node[B_MAX];
    Onnx__TensorProto *init[B_MAX];
    Onnx__ValueInfoProto *in[B_MAX], *out[B_MAX];
};

static struct builder *b_new(struct arena *a, int64_t opset)
{
    struct builder *b = ARENA_NEW(a, struct builder);

    b->a = a;
    onnx__model_proto__init(&b->model);
    onnx__graph_proto__init(&b->graph);
    for (int i = 0; i < 2; i++) {
        onnx__operator_set_id_proto__init(&b->opset[i]);
        b->opset[i].has_version = 1;
        b->opsets[i] = &b->opset[i];
    }
    b->opset[0].version = opset;
    b->opset[1].version = 1;
    b->opset[1].domain = (char *)(uintptr_t) "com.microsoft";
    b->model.opset_import = b->opsets;
    b->model.n_opset_import = 2;
    b->model.graph = &b->graph;
    b->graph.node = b->node;
    b->graph.initializer = b->init;
    b->graph.input = b->in;
    b->graph.output = b->out;
    return b;
}

static char *b_text(struct builder *b, const char *s)
{
    return arena_strdup(b->a, s);
}

/* A value of the graph's border; dimension -1 is symbolic ("N"). */
static Onnx__ValueInfoProto *b_value(struct builder *b, const char *name, int32_t type,
                                     uint32_t rank, const int64_t *dim)
{
    Onnx__ValueInfoProto *v = ARENA_NEW(b->a, Onnx__ValueInfoProto);

    onnx__value_info_proto__init(v);
    v->name = b_text(b, name);
    v->type = ARENA_NEW(b->a, Onnx__TypeProto);
    onnx__type_proto__init(v->type);
    v->type->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
    v->type->tensor_type = ARENA_NEW(b->a, Onnx__TypeProto__Tensor);
    onnx__type_proto__tensor__init(v->type->tensor_type);
    v->type->tensor_type->has_elem_type = 1;
    v->type->tensor_type->elem_type = type;
    v->type->tensor_type->shape = ARENA_NEW(b->a, Onnx__TensorShapeProto);
    onnx__tensor_shape_proto__init(v->type->tensor_type->shape);
    v->type->tensor_type->shape->n_dim = rank;
    v->type->tensor_type->shape->dim =
        ARENA_ARRAY(b->a, Onnx__TensorShapeProto__Dimension *, rank + 1);
    for (uint32_t i = 0; i < rank; i++) {
        Onnx__TensorShapeProto__Dimension *d = ARENA_NEW(b->a, Onnx__TensorShapeProto__Dimension);

        onnx__tensor_shape_proto__dimension__init(d);
        d->value_case = dim[i] == -1 ? ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM
                                     : ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
        if (dim[i] == -1)
            d->dim_param = b_text(b, "N");
        else
            d->dim_value = dim[i];
        v->type->tensor_type->shape->dim[i] = d;
    }
    return v;
}

static void b_input(struct builder *b, const char *name, int32_t type, uint32_t rank,
                    const int64_t *dim)
{
    b->in[b->graph.n_input++] = b_value(b, name, type, rank, dim);
}

static void b_output(struct builder *b, const char *name, int32_t type, uint32_t rank,
                     const int64_t *dim)
{
    b->out[b->graph.n_output++] = b_value(b, name, type, rank, dim);
}

/* A constant with raw data. */
static Onnx__TensorProto *b_const(struct builder *b, const char *name, int32_t type, uint32_t rank,
                                  const int64_t *dim, const void *data, size_t n_bytes)
{
    Onnx__TensorProto *t = ARENA_NEW(b->a, Onnx__TensorProto);

    onnx__tensor_proto__init(t);
    t->name = b_text(b, name);
    t->has_data_type = 1;
    t->data_type = type;
    t->n_dims = rank;
    t->dims = arena_memdup(b->a, dim, rank * sizeof *dim);
    t->has_raw_data = 1;
    t->raw_data.data = arena_memdup(b->a, data, n_bytes);
    t->raw_data.len = n_bytes;
    b->init[b->graph.n_initializer++] = t;
    return t;
}

static inline void b_float(struct builder *b, const char *name, float v)
{
    b_const(b, name, 1, 0, NULL, &v, 4);
}

static inline void b_i8(struct builder *b, const char *name, int8_t v)
{
    b_const(b, name, 3, 0, NULL, &v, 1);
}

/* A node with one output; `in`: names separated by spaces, "-" for an absent one. */
static Onnx__NodeProto *b_node(struct builder *b, const char *op, const char *in, const char *out)
{
    Onnx__NodeProto *n = ARENA_NEW(b->a, Onnx__NodeProto);
    char *names = b_text(b, in);

    onnx__node_proto__init(n);
    n->op_type = b_text(b, op);
    n->name = arena_printf(b->a, "n%zu", b->graph.n_node);
    n->input = ARENA_ARRAY(b->a, char *, B_MAX);
    for (char *s = strtok(names, " "); s; s = strtok(NULL, " "))
        n->input[n->n_input++] = b_text(b, strcmp(s, "-") == 0 ? "" : s);
    n->output = ARENA_ARRAY(b->a, char *, 4);
    n->output[n->n_output++] = b_text(b, out);
    n->attribute = ARENA_ARRAY(b->a, Onnx__AttributeProto *, 8);
    b->node[b->graph.n_node++] = n;
    return n;
}

static Onnx__AttributeProto *b_attr(struct builder *b, Onnx__NodeProto *n, const char *name)
{
    Onnx__AttributeProto *t = ARENA_NEW(b->a, Onnx__AttributeProto);

    onnx__attribute_proto__init(t);
    t->name = b_text(b, name);
    n->attribute[n->n_attribute++] = t;
    return t;
}

__attribute__((unused)) static void b_int(struct builder *b, Onnx__NodeProto *n, const char *name,
                                          int64_t v)
{
    Onnx__AttributeProto *t = b_attr(b, n, name);

    t->has_i = 1;
    t->i = v;
}

__attribute__((unused)) static void b_ints(struct builder *b, Onnx__NodeProto *n, const char *name,
                                           uint32_t count, const int64_t *v)
{
    Onnx__AttributeProto *t = b_attr(b, n, name);

    t->n_ints = count;
    t->ints = arena_memdup(b->a, v, count * sizeof *v);
}

static uint8_t *b_pack(struct builder *b, size_t *n_bytes)
{
    uint8_t *data;

    *n_bytes = onnx__model_proto__get_packed_size(&b->model);
    data = arena_alloc(b->a, *n_bytes + 1);
    onnx__model_proto__pack(&b->model, data);
    return data;
}

#endif
