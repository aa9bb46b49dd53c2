/* ops.c - the tables from ops.def and attrs.def. */
#include "ir.h"

static const struct ir_op_info op_table[] = {
#define IR_OP(code, name, min_in, max_in, min_out, max_out, attrs, infer, ref)                     \
    {name, min_in, max_in, min_out, max_out, attrs},
#include "ops.def"
#undef IR_OP
};

static const char *const attr_table[] = {
#define IR_ATTR(code, name) name,
#include "attrs.def"
#undef IR_ATTR
};

static const struct {
    const char *name;
    uint32_t n_bytes;
} type_table[] = {
    [IR_I8] = {"i8", 1},   [IR_U8] = {"u8", 1},   [IR_I16] = {"i16", 2},   [IR_I32] = {"i32", 4},
    [IR_I64] = {"i64", 8}, [IR_F32] = {"f32", 4}, [IR_BOOL] = {"bool", 1},
};

_Static_assert(sizeof type_table / sizeof *type_table == IR_TYPE_COUNT, "one row per type");

const struct ir_op_info *ir_op_info(enum ir_opcode opcode)
{
    return &op_table[opcode];
}

const char *ir_attr_name(enum ir_attr attr)
{
    return attr_table[attr];
}

const char *ir_type_name(enum ir_type type)
{
    return type_table[type].name;
}

uint32_t ir_type_bytes(enum ir_type type)
{
    return type_table[type].n_bytes;
}
