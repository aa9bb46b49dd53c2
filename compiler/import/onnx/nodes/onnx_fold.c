/* onnx_fold.c - nodes whose result is known now: constants and shapes. */
#include "compiler/import/onnx/onnx_make.h"

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

static bool is_number(enum ir_type type)
{
    return type == IR_I32 || type == IR_I64 || type == IR_F32 || type == IR_BOOL;
}

/* 8-bit integers are quantised values of scale 1: as float32 they are dequantised, other types are reached through
 * float32, which has all of them. */
static enum status cast_tensor(struct ox *m, const struct ox_value *v, int64_t type)
{
    static const float one = 1;
    static const int32_t zero = 0;
    const struct ir_quant plain = {1, 0, &one, &zero};
    enum ir_stored stored;
    const enum ir_type to =
        type > 0 && type < 32 ? ox_border_type((int32_t)type, &stored) : IR_TYPE_COUNT;
    const enum ir_type from = m->g->tensor[v->tensor]->type;
    const char *name = ox_out(m, 0)->name;
    uint32_t id = v->tensor;

    if (to == IR_TYPE_COUNT || !(is_number(to) || to == IR_I8 || to == IR_U8))
        return FAIL(m->d, ST_UNSUPPORTED,
                    "to: expected float32, uint8, int8, int32, int64 or bool, found %s",
                    ox_type_name((int32_t)(type > 1000 || type < 0 ? 1000 : type)));
    if (v->real ? to == IR_F32 : to == from)
        return ox_identity(m);
    if (!is_number(from)) {
        if (!v->real)
            TRY(ox_read_as(m, name, &id, &plain));
        if (to == IR_F32 && ir_type_bytes(from) == 1 && !m->options->literal) {
            ox_set_tensor(m, 0, id, true);
            return ST_OK;
        }
        id = ox_as_float(m, id);
    }
    if (!is_number(to)) {
        if (m->g->tensor[id]->type != IR_I32)
            id = ox_number_as(m, ox_inner(m, name, "integers"), id, IR_I32);
        id = ox_number_as(m, ox_inner(m, name, "float"), id, IR_F32);
        id = ox_quantized(m, name, id, to, &plain);
    } else if (m->g->tensor[id]->type != to) {
        id = ox_number_as(m, name, id, to);
    }
    ox_set_tensor(m, 0, id, false);
    return ST_OK;
}

enum status ox_cast(struct ox *m)
{
    const int64_t type = ox_attr_int(m, "to", 0);
    struct ox_value *x = ox_in(m, 0);

    if (!x)
        return FAIL(m->d, ST_MODEL, "input 0 is absent");
    if (x->kind == OX_PENDING && type == OX_FLOAT)
        return ox_identity(m);
    TRY(ox_settle(m, x));
    return cast_tensor(m, x, type);
}
