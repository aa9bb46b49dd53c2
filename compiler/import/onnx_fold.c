/* onnx_fold.c - nodes whose result is known now: constants and shapes. */
#include "onnx_import.h"

#include <string.h>

enum status ox_constant(struct ox *m)
{
    const Onnx__AttributeProto *a = ox_attr(m, "value");
    struct ox_const c;
    int32_t n;

    if (a && a->t) {
        TRY(ox_initializer(m, a->t, &c));
    } else if ((a = ox_attr(m, "value_int")) != NULL && a->has_i) {
        *(int64_t *)ox_new_const(m, &c, OX_INT64, 0, NULL) = a->i;
    } else if ((a = ox_attr(m, "value_float")) != NULL && a->has_f) {
        *(float *)ox_new_const(m, &c, OX_FLOAT, 0, NULL) = a->f;
    } else if ((a = ox_attr(m, "value_ints")) != NULL && a->n_ints <= 65536) {
        n = (int32_t)a->n_ints;
        memcpy(ox_new_const(m, &c, OX_INT64, 1, &n), a->ints, a->n_ints * 8);
    } else if ((a = ox_attr(m, "value_floats")) != NULL && a->n_floats <= 65536) {
        n = (int32_t)a->n_floats;
        memcpy(ox_new_const(m, &c, OX_FLOAT, 1, &n), a->floats, a->n_floats * 4);
    } else {
        return FAIL(m->d, ST_UNSUPPORTED,
                    "expected attribute value, value_int, value_ints, value_float or value_floats");
    }
    ox_set_const(m, 0, &c);
    return ST_OK;
}

/* A place in a list of `rank` that may count from the end. */
static int32_t shape_bound(int64_t i, int32_t rank)
{
    i = i < 0 ? i + rank : i;
    return (int32_t)(i < 0 ? 0 : i > rank ? rank : i);
}

enum status ox_shape_node(struct ox *m)
{
    const struct ox_value *x = ox_in(m, 0);
    struct ox_const c;
    int32_t rank, from, n;
    int64_t *to;

    if (!x)
        return FAIL(m->d, ST_MODEL, "input 0 is absent");
    rank = (int32_t)ox_rank(m, x);
    from = shape_bound(ox_attr_int(m, "start", 0), rank);
    n = shape_bound(ox_attr_int(m, "end", rank), rank) - from;
    n = n < 0 ? 0 : n;
    to = ox_new_const(m, &c, OX_INT64, 1, &n);
    for (int32_t i = 0; i < n; i++)
        to[i] = ox_dim(m, x)[from + i];
    ox_set_const(m, 0, &c);
    return ST_OK;
}

/* Computed tensors: int32 to float32, and what changes nothing. */
static enum status cast_tensor(struct ox *m, const struct ox_value *v, int64_t type)
{
    const struct ir_tensor *t = m->g->tensor[v->tensor];
    uint32_t id;

    if (!v->real && ox_ir_type((int32_t)type) == t->type)
        return ox_identity(m);
    if (v->real || t->type != IR_I32 || type != OX_FLOAT)
        return FAIL(m->d, ST_UNSUPPORTED,
                    "of a computed tensor: expected int32 to float32, found %s",
                    ir_type_name(t->type));
    id = ox_tensor(m, ox_out(m, 0)->name, IR_F32, ox_shape_of(m, v->tensor), NULL);
    ox_op(m, IR_OP_CAST, 1, &v->tensor, id);
    ox_set_tensor(m, 0, id, false);
    return ST_OK;
}

enum status ox_cast(struct ox *m)
{
    const int64_t type = ox_attr_int(m, "to", 0);
    struct ox_value *x = ox_in(m, 0);

    if (!x)
        return FAIL(m->d, ST_MODEL, "input 0 is absent");
    TRY(ox_settle(m, x));
    return cast_tensor(m, x, type);
}
