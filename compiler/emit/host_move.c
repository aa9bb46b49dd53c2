/* host_move.c - host operators that move bytes; see emit_host.h. */
#include "emit_host.h"

#include <inttypes.h>
#include <string.h>

static int32_t param(const struct emit_unit *u, const struct ir_op *op, uint32_t input, uint32_t i)
{
    int32_t v;

    memcpy(&v, ir_in(u->graph, op, input)->data + (size_t)i * 4, 4);
    return v;
}

/* The byte pattern of one element outside the input. */
static uint64_t fill_bits(const struct emit_unit *u, const struct ir_op *op)
{
    const struct ir_tensor *x = ir_in(u->graph, op, 0), *v = ir_in(u->graph, op, 2);
    uint64_t bits = 0;

    if (v)
        memcpy(&bits, v->data, ir_type_bytes(x->type));
    else if (ir_type_bytes(x->type) == 1)
        bits = (uint8_t)ir_zero_point(x);
    return bits;
}

enum status emit_pad(struct emit_unit *u, struct text *t, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *x = ir_in(u->graph, op, 0);
    int32_t amount[2 * IR_MAX_RANK] = {0}, shape[IR_MAX_RANK];
    const uint32_t bytes = ir_type_bytes(x->type);

    (void)d;
    for (uint32_t i = 0; i < IR_MAX_RANK; i++) {
        const uint32_t k = i + x->rank - IR_MAX_RANK; /* wraps for the dimensions before x's */
        shape[i] = k < x->rank ? x->dim[k] : 1;
        for (uint32_t e = 0; k < x->rank && e < 2; e++)
            amount[2 * i + e] = param(u, op, 1, 2 * k + e);
    }
    for (uint32_t e = 0; e < 3; e++) {
        text_printf(t, "    .%s = {", e == 0 ? "shape" : e == 1 ? "before" : "after");
        for (uint32_t i = 0; i < IR_MAX_RANK; i++)
            text_printf(t, "%d%s", e == 0 ? shape[i] : amount[2 * i + e - 1],
                        i + 1 < IR_MAX_RANK ? ", " : "},\n");
    }
    text_printf(t, "    .value = 0x%" PRIx64 "u,\n", fill_bits(u, op));
    emit_field(t, "element_bytes", bytes);
    return ST_OK;
}

enum status emit_copy(struct emit_unit *u, struct text *t, const struct ir_op *op, struct diag *d)
{
    (void)d;
    emit_field(t, "n_bytes", (int64_t)ir_bytes(ir_in(u->graph, op, 0)));
    return ST_OK;
}

enum status emit_concat(struct emit_unit *u, struct text *t, const struct ir_op *op, struct diag *d)
{
    uint32_t *bytes = ARENA_ARRAY(u->arena, uint32_t, op->n_in), outer = 1;

    (void)d;
    for (uint32_t i = 0; i < (uint32_t)op->attr[IR_AXIS]; i++)
        outer *= (uint32_t)ir_out(u->graph, op, 0)->dim[i];
    for (uint32_t i = 0; i < op->n_in; i++)
        bytes[i] = (uint32_t)(ir_bytes(ir_in(u->graph, op, i)) / outer);
    emit_field(t, "n_inputs", op->n_in);
    emit_field(t, "outer", outer);
    text_printf(t, "    .bytes = (const uint32_t *)(const void *)(model_constants + 0x%x),\n",
                emit_host_constant(u, bytes, (size_t)op->n_in * 4));
    return ST_OK;
}

/* Write the strides, in bytes, of the input's dimensions. */
static void dense_strides(const struct ir_tensor *x, int64_t stride[IR_MAX_RANK])
{
    int64_t n = ir_type_bytes(x->type);

    for (uint32_t i = x->rank; i-- > 0;) {
        stride[i] = n;
        n *= x->dim[i];
    }
}

static void array6(struct text *t, const char *open, const int64_t v[IR_MAX_RANK],
                   const char *close)
{
    text_add(t, open);
    for (uint32_t i = 0; i < IR_MAX_RANK; i++)
        text_printf(t, "%lld%s", (long long)v[i], i + 1 < IR_MAX_RANK ? ", " : close);
}

/* Strides 0 where an operand is broadcast. */
enum status emit_select(struct emit_unit *u, struct text *t, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *y = ir_out(u->graph, op, 0);
    int64_t shape[IR_MAX_RANK], stride[IR_MAX_RANK];

    (void)d;
    for (uint32_t i = 0; i < IR_MAX_RANK; i++)
        shape[i] = ir_dim_back(y, IR_MAX_RANK - 1 - i);
    array6(t, "    .shape = {", shape, "},\n    .stride = {");
    for (uint32_t k = 0; k < 3; k++) {
        const struct ir_tensor *x = ir_in(u->graph, op, k);
        int64_t n = ir_type_bytes(x->type);
        for (uint32_t back = 0; back < IR_MAX_RANK; back++) {
            const int32_t size = ir_dim_back(x, back);
            stride[IR_MAX_RANK - 1 - back] = size > 1 ? n : 0;
            n *= size;
        }
        array6(t, "{", stride, k < 2 ? "}, " : "}},\n");
    }
    emit_field(t, "element_bytes", ir_type_bytes(y->type));
    return ST_OK;
}

static void walk6(struct text *t, const struct ir_tensor *y, const int64_t stride[IR_MAX_RANK])
{
    text_add(t, "    .shape = {");
    for (uint32_t i = 0; i < 6; i++)
        text_printf(t, "%d%s", i + y->rank >= 6 ? y->dim[i + y->rank - 6] : 1,
                    i < 5 ? ", " : "},\n    .stride = {");
    for (uint32_t i = 0; i < 6; i++)
        text_printf(t, "%lld%s", i + y->rank >= 6 ? (long long)stride[i + y->rank - 6] : 0,
                    i < 5 ? ", " : "},\n");
}

enum status emit_transpose(struct emit_unit *u, struct text *t, const struct ir_op *op,
                           struct diag *d)
{
    const struct ir_tensor *x = ir_in(u->graph, op, 0);
    int64_t dense[IR_MAX_RANK], stride[IR_MAX_RANK] = {0};

    (void)d;
    dense_strides(x, dense);
    for (uint32_t i = 0; i < x->rank; i++) {
        stride[i] = dense[param(u, op, 1, i)];
    }
    walk6(t, ir_out(u->graph, op, 0), stride);
    emit_field(t, "element_bytes", ir_type_bytes(x->type));
    return ST_OK;
}

enum status emit_slice(struct emit_unit *u, struct text *t, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *x = ir_in(u->graph, op, 0);
    int64_t stride[IR_MAX_RANK] = {0}, offset = 0;

    (void)d;
    dense_strides(x, stride);
    for (uint32_t i = 0; i < x->rank; i++) {
        offset += param(u, op, 1, i) * stride[i];
        stride[i] *= op->n_in > 2 ? param(u, op, 2, i) : 1;
    }
    walk6(t, ir_out(u->graph, op, 0), stride);
    emit_field(t, "offset", offset);
    emit_field(t, "element_bytes", ir_type_bytes(x->type));
    return ST_OK;
}

enum status emit_gather(struct emit_unit *u, struct text *t, const struct ir_op *op, struct diag *d)
{
    const struct ir_tensor *x = ir_in(u->graph, op, 0), *index = ir_in(u->graph, op, 1);
    const uint32_t axis = (uint32_t)op->attr[IR_AXIS], n = (uint32_t)op->attr[IR_BATCH_DIMS];
    int64_t batch = 1, outer = 1, inner = ir_type_bytes(x->type);

    (void)d;
    for (uint32_t i = 0; i < x->rank; i++)
        *(i < n ? &batch : i < axis ? &outer : &inner) *= i == axis ? 1 : x->dim[i];
    emit_field(t, "batch", batch);
    emit_field(t, "outer", outer);
    emit_field(t, "size", x->dim[axis]);
    emit_field(t, "n", (int64_t)ir_elements(index) / batch);
    emit_field(t, "inner_bytes", inner);
    emit_field(t, "wide", index->type == IR_I64);
    return ST_OK;
}

enum status emit_update_slice(struct emit_unit *u, struct text *t, const struct ir_op *op,
                              struct diag *d)
{
    const struct ir_tensor *x = ir_in(u->graph, op, 0), *part = ir_in(u->graph, op, 1),
                           *start = ir_in(u->graph, op, 2);
    int64_t size[IR_MAX_RANK] = {0}, rows[IR_MAX_RANK] = {0};

    (void)d;
    for (uint32_t i = 0; i < x->rank; i++) {
        size[i] = x->dim[i];
        rows[i] = part->dim[i];
    }
    emit_field(t, "rank", x->rank);
    array6(t, "    .size = {", size, "},\n");
    array6(t, "    .part = {", rows, "},\n");
    emit_field(t, "axis", op->attr[IR_AXIS]);
    emit_field(t, "n", (int64_t)ir_elements(start));
    emit_field(t, "element_bytes", ir_type_bytes(x->type));
    emit_field(t, "wide", start->type == IR_I64);
    return ST_OK;
}

enum status emit_gather_nd(struct emit_unit *u, struct text *t, const struct ir_op *op,
                           struct diag *d)
{
    const struct ir_tensor *x = ir_in(u->graph, op, 0), *index = ir_in(u->graph, op, 1);
    const uint32_t depth = (uint32_t)ir_dim_back(index, 0);
    int64_t size[IR_MAX_RANK] = {0}, inner = ir_type_bytes(x->type);

    (void)d;
    for (uint32_t i = 0; i < x->rank; i++)
        if (i < depth)
            size[i] = x->dim[i];
        else
            inner *= x->dim[i];
    emit_field(t, "n", (int64_t)ir_elements(index) / depth);
    emit_field(t, "depth", depth);
    array6(t, "    .size = {", size, "},\n");
    emit_field(t, "inner_bytes", inner);
    emit_field(t, "wide", index->type == IR_I64);
    return ST_OK;
}
