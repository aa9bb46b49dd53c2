/* onnx_compare.c - comparisons, logical operators, Where and operators made of them: on bool,
 * int32, int64 and float32; quantised values are compared as the floats that DequantizeLinear
 * makes of them. */
#include "compiler/import/onnx/onnx_import.h"

#include <string.h>

/* Operands of one shape after broadcasting, each of `n`. */
static enum status common_shape(struct ox *m, uint32_t n, const uint32_t *in, struct ox_shape *y)
{
    *y = ox_shape_of(m, in[0]);
    for (uint32_t i = 1; i < n; i++) {
        const struct ox_shape a = *y, b = ox_shape_of(m, in[i]);

        TRY(ox_common_shape(m, &a, &b, y));
    }
    if (!ir_shape_ok(y->rank, y->dim, IR_F32))
        return FAIL(m->d, ST_MODEL, "result %s is too large",
                    ir_shape_text(m->arena, y->rank, y->dim));
    return ST_OK;
}

static enum status emit(struct ox *m, enum ir_opcode opcode, const char *name, enum ir_type type,
                        uint32_t n, const uint32_t *in, uint32_t *id)
{
    struct ox_shape y;

    TRY(common_shape(m, n, in, &y));
    *id = ox_tensor(m, name, type, y, NULL);
    ox_op(m, opcode, n, in, *id);
    return ST_OK;
}

static enum status want_bool(struct ox *m, const char *what, uint32_t id)
{
    if (m->g->tensor[id]->type == IR_BOOL)
        return ST_OK;
    return FAIL(m->d, ST_MODEL, "%s: expected bool, found %s", what,
                ir_type_name(m->g->tensor[id]->type));
}

enum status ox_compare(struct ox *m)
{
    const bool logical =
        strcmp(m->op, "And") == 0 || strcmp(m->op, "Or") == 0 || strcmp(m->op, "Xor") == 0;
    uint32_t in[2], id;

    TRY(ox_number_input(m, 0, "first input", &in[0]));
    TRY(ox_number_input(m, 1, "second input", &in[1]));
    for (uint32_t i = 0; i < 2 && logical; i++)
        TRY(want_bool(m, "input", in[i]));
    if (m->g->tensor[in[0]]->type != m->g->tensor[in[1]]->type)
        return FAIL(m->d, ST_MODEL, "operands are %s and %s: expected one type",
                    ir_type_name(m->g->tensor[in[0]]->type),
                    ir_type_name(m->g->tensor[in[1]]->type));
    TRY(emit(m, m->opcode, ox_out(m, 0)->name, IR_BOOL, 2, in, &id));
    ox_set_tensor(m, 0, id, false);
    return ST_OK;
}

/* Mod of int32 and int64, whose remainder has the divisor's sign, and operators of bits. */
enum status ox_integer_pair(struct ox *m)
{
    return ox_integers(m, m->opcode);
}

enum status ox_integers(struct ox *m, enum ir_opcode opcode)
{
    uint32_t in[2], id;
    enum ir_type type;

    TRY(ox_number_input(m, 0, "first input", &in[0]));
    TRY(ox_number_input(m, 1, "second input", &in[1]));
    type = m->g->tensor[in[0]]->type;
    if (!ir_is_int(type) || m->g->tensor[in[1]]->type != type || !ir_op_info(opcode)->has_int)
        return FAIL(m->d, ST_UNSUPPORTED, "operands are %s and %s: expected two int32 or int64",
                    ir_type_name(type), ir_type_name(m->g->tensor[in[1]]->type));
    TRY(emit(m, opcode, ox_out(m, 0)->name, type, 2, in, &id));
    ox_set_tensor(m, 0, id, false);
    return ST_OK;
}

enum status ox_not(struct ox *m)
{
    uint32_t x, id;

    TRY(ox_number_input(m, 0, "input", &x));
    TRY(want_bool(m, "input", x));
    TRY(emit(m, m->opcode, ox_out(m, 0)->name, IR_BOOL, 1, &x, &id));
    ox_set_tensor(m, 0, id, false);
    return ST_OK;
}

/* A NaN is not what it is. */
enum status ox_is_nan(struct ox *m)
{
    uint32_t in[2], id;

    TRY(ox_float_input(m, 0, "input", &in[0]));
    in[1] = in[0];
    TRY(emit(m, IR_OP_NOT_EQUAL, ox_out(m, 0)->name, IR_BOOL, 2, in, &id));
    ox_set_tensor(m, 0, id, false);
    return ST_OK;
}

enum status ox_where(struct ox *m)
{
    uint32_t in[3], id;

    TRY(ox_number_input(m, 0, "condition", &in[0]));
    TRY(want_bool(m, "condition", in[0]));
    TRY(ox_number_input(m, 1, "first branch", &in[1]));
    TRY(ox_number_input(m, 2, "second branch", &in[2]));
    if (m->g->tensor[in[1]]->type != m->g->tensor[in[2]]->type)
        return FAIL(m->d, ST_MODEL, "branches are %s and %s: expected one type",
                    ir_type_name(m->g->tensor[in[1]]->type),
                    ir_type_name(m->g->tensor[in[2]]->type));
    TRY(emit(m, m->opcode, ox_out(m, 0)->name, m->g->tensor[in[1]]->type, 3, in, &id));
    ox_set_tensor(m, 0, id, false);
    return ST_OK;
}

/* x where the comparison `code` of `a` and `b` holds, else 0. */
static enum status where(struct ox *m, const char *name, enum ir_opcode code, const char *inner,
                         uint32_t a, uint32_t b, uint32_t x, uint32_t *id)
{
    const uint32_t both[2] = {a, b};
    uint32_t in[3] = {0, x, ox_number_tensor(m, name, 0)};

    TRY(emit(m, code, ox_inner(m, name, inner), IR_BOOL, 2, both, &in[0]));
    return emit(m, IR_OP_SELECT, name, IR_F32, 3, in, id);
}

enum status ox_where_not_zero(struct ox *m, const char *name, uint32_t by, uint32_t x, uint32_t *id)
{
    return where(m, name, IR_OP_NOT_EQUAL, "not_zero", by, ox_number_tensor(m, name, 0), x, id);
}

/* x > alpha ? x : 0 */
enum status ox_thresholded_relu(struct ox *m)
{
    const char *name = ox_out(m, 0)->name;
    uint32_t x, alpha, id;

    TRY(ox_float_input(m, 0, "input", &x));
    alpha = ox_number_tensor(m, name, ox_attr_float(m, "alpha", 1));
    TRY(where(m, name, IR_OP_GREATER, "above", x, alpha, x, &id));
    ox_set_tensor(m, 0, id, false);
    return ST_OK;
}
