/* onnx_proto.c - see onnx_proto.h. */
#include "onnx_proto.h"

Onnx__ValueInfoProto *ox_new_border(struct arena *a, const char *name, int32_t type, uint32_t rank,
                                    const int64_t *dim)
{
    Onnx__ValueInfoProto *v = ARENA_NEW(a, Onnx__ValueInfoProto);
    Onnx__TypeProto__Tensor *t = ARENA_NEW(a, Onnx__TypeProto__Tensor);
    Onnx__TensorShapeProto__Dimension *k =
        ARENA_ARRAY(a, Onnx__TensorShapeProto__Dimension, rank + 1);

    onnx__value_info_proto__init(v);
    onnx__type_proto__tensor__init(t);
    v->name = arena_strdup(a, name);
    v->type = ARENA_NEW(a, Onnx__TypeProto);
    onnx__type_proto__init(v->type);
    v->type->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
    v->type->tensor_type = t;
    t->has_elem_type = true;
    t->elem_type = type;
    t->shape = ARENA_NEW(a, Onnx__TensorShapeProto);
    onnx__tensor_shape_proto__init(t->shape);
    t->shape->n_dim = rank;
    t->shape->dim = ARENA_ARRAY(a, Onnx__TensorShapeProto__Dimension *, rank + 1);
    for (uint32_t i = 0; i < rank; i++) {
        onnx__tensor_shape_proto__dimension__init(&k[i]);
        k[i].value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
        k[i].dim_value = dim[i];
        t->shape->dim[i] = &k[i];
    }
    return v;
}

Onnx__TensorProto *ox_new_initializer(struct arena *a, const char *name, int32_t type,
                                      uint32_t rank, const int64_t *dim, const void *data)
{
    Onnx__TensorProto *t = ARENA_NEW(a, Onnx__TensorProto);
    size_t n = ox_type_bytes(type);

    onnx__tensor_proto__init(t);
    t->name = arena_strdup(a, name);
    t->has_data_type = true;
    t->data_type = type;
    t->n_dims = rank;
    t->dims = arena_memdup(a, dim, rank * sizeof *dim);
    for (uint32_t i = 0; i < rank; i++)
        n *= (size_t)dim[i];
    t->has_raw_data = true;
    t->raw_data.len = n;
    t->raw_data.data = data ? (uint8_t *)(uintptr_t)data : arena_alloc(a, n);
    return t;
}
