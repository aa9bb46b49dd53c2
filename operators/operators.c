/* operators.c - the tables generated from operators.def and attributes.def. */
#include "operators.h"

#include <string.h>

static const struct ir_op_info op_table[] = {
#define OPERATOR(code, text, columns) {.name = (text), columns},
#define FACTS(...)                    __VA_ARGS__,
#define F32(kernel)                   .has_float = true,
#define F32_UNARY(fn)                 .has_float = true,
#define F32_BINARY(fn)                .has_float = true,
#define INTEGERS(fn)                  .has_int = true,
#define RELATION(fn)                  .compares = true,
#define MACS(formula)                 .has_macs = true,
#define MOVES(rule)                   .moves = true,
#define CHANNELS(how, rule)           .channels = CHANNELS_##how,
#define TABLE(scales, entry, real)    .becomes_lut = true,
#define ARRAY(kind, geometry)         .unit = "array",
#define VECTOR(kind, geometry, vop)   .unit = "vector",
#include "operators/operators.def"
};

static const char *const attr_table[] = {
#define IR_ATTR(code, name) name,
#include "operators/attributes.def"
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

const char *const ir_op_names[] = {
#define OPERATOR(code, text, columns) text,
#include "operators/operators.def"
};

bool ir_op_named(const char *name, enum ir_opcode *opcode)
{
    for (uint32_t i = 0; i < IR_OPCODES; i++)
        if (strcmp(ir_op_names[i], name) == 0) {
            *opcode = (enum ir_opcode)i;
            return true;
        }
    return false;
}

/* Return true if `word` is in the space-separated `list`. */
static bool has_word(const char *list, const char *word)
{
    const size_t n = strlen(word);

    for (const char *p = list; p != NULL && (p = strstr(p, word)) != NULL; p += n)
        if ((p == list || p[-1] == ' ') && (p[n] == ' ' || p[n] == '\0'))
            return true;
    return false;
}

bool ir_op_has(enum ir_opcode opcode, enum ir_attr attr)
{
    return has_word(op_table[opcode].attributes, attr_table[attr]);
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
