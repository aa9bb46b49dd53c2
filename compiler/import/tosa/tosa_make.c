/* tosa_make.c - IR tensors and operators of the TOSA importer. */
#include <string.h>

#include "compiler/import/common/import_fold.h"
#include "tosa_import.h"

static const float one = 1;

enum ir_type tosa_ir_type(uint32_t type)
{
    switch (type) {
    case TOSA_BOOL: return IR_BOOL;
    case TOSA_INT8: return IR_I8;
    case TOSA_INT16: return IR_I16;
    case TOSA_INT32: return IR_I32;
    case TOSA_INT48:
    case TOSA_INT64:
    case TOSA_SHAPE: return IR_I64;
    case TOSA_FP32: return IR_F32;
    default: return IR_TYPE_COUNT;
    }
}

uint32_t tosa_in(const struct tosa *m, uint32_t i)
{
    return m->id[m->op->in[i]];
}

const int64_t *tosa_values(struct tosa *m, const struct tosa_operator *op, uint32_t i, uint32_t *n)
{
    static const int64_t none;
    const struct ir_tensor *t;
    int64_t *v;

    *n = 1;
    if (i >= op->n_in || op->in[i] == TOSA_NONE || m->id[op->in[i]] == IR_NONE ||
        m->g->tensor[m->id[op->in[i]]]->role != IR_CONST) {
        (void)TOSA_FAIL(m, ST_UNSUPPORTED, "input %u: expected a constant", i);
        return &none;
    }
    t = m->g->tensor[m->id[op->in[i]]];
    if (t->type == IR_F32) {
        (void)TOSA_FAIL(m, ST_MODEL, "input %u '%.80s': expected integers, found f32", i, t->name);
        return &none;
    }
    *n = (uint32_t)ir_elements(t);
    v = ARENA_ARRAY(m->arena, int64_t, *n);
    for (uint32_t k = 0; k < *n; k++)
        if (t->type == IR_I64)
            memcpy(&v[k], t->data + 8 * (size_t)k, 8);
        else
            v[k] = (int64_t)ir_element(t, t->data, k);
    return v;
}

int64_t tosa_value(struct tosa *m, const struct tosa_operator *op, uint32_t i)
{
    uint32_t n;
    const int64_t *v = tosa_values(m, op, i, &n);

    if (n != 1)
        return TOSA_FAIL(m, ST_MODEL, "input %u: expected 1 value, found %u", i, n);
    return v[0];
}

void tosa_set_zero(struct tosa *m, uint32_t x, int32_t zero)
{
    m->g->tensor[x]->quant =
        (struct ir_quant){1, 0, &one, arena_memdup(m->arena, &zero, sizeof zero)};
}

uint32_t tosa_new(struct tosa *m, enum ir_type type, uint32_t rank, const int32_t *dim)
{
    static const int32_t whole[IR_MAX_RANK] = {1, 1, 1, 1, 1, 1};
    struct ir_tensor *t;

    if (!ir_shape_ok(rank, dim, type)) {
        (void)TOSA_FAIL(m, ST_UNSUPPORTED,
                        "a tensor between: expected up to 6 dimensions, at most 2147483647 bytes");
        rank = 0;
        dim = whole;
    }
    t = ir_tensor_new(m->g, "", type, rank, dim);
    if (ir_is_code(type))
        tosa_set_zero(m, t->id, 0);
    return t->id;
}

uint32_t tosa_out(struct tosa *m, uint32_t like)
{
    const struct tosa_tensor *y = &m->file->tensor[m->op->out[0]];
    const uint32_t id = tosa_new(m, tosa_ir_type(y->type), y->shape.n, y->shape.v);

    if (like != IR_NONE && ir_is_code(m->g->tensor[id]->type))
        tosa_set_zero(m, id, ir_zero_point(m->g->tensor[like]));
    return id;
}

uint32_t tosa_const(struct tosa *m, enum ir_type type, uint32_t rank, const int32_t *dim,
                    const void *data)
{
    const uint32_t id = tosa_new(m, type, rank, dim);

    m->g->tensor[id]->role = IR_CONST;
    m->g->tensor[id]->data = data;
    return id;
}

uint32_t tosa_number(struct tosa *m, enum ir_type type, double value)
{
    union {
        float real;
        int64_t whole;
    } number = {.whole = 0};

    if (type == IR_F32)
        number.real = (float)value;
    else
        number.whole = (int64_t)value;
    return tosa_const(m, type, 0, NULL, arena_memdup(m->arena, &number, sizeof number));
}

uint32_t tosa_vector(struct tosa *m, uint32_t n, const int32_t *value)
{
    const int32_t dim = (int32_t)n;

    return tosa_const(m, IR_I32, 1, &dim, arena_memdup(m->arena, value, n * sizeof *value));
}

uint32_t tosa_emit(struct tosa *m, enum ir_opcode opcode, uint32_t n_in, const uint32_t *in,
                   uint32_t y, const int32_t *attr)
{
    struct ir_op *op;

    if (m->st != ST_OK)
        return 0;
    op = ir_op_new(m->g, opcode, m->op ? m->row[m->at] : m->g->n_row - 1, n_in, 1);
    memcpy(op->in, in, n_in * sizeof *in);
    op->out[0] = y;
    if (attr)
        memcpy(op->attr, attr, sizeof op->attr);
    m->g->tensor[y]->producer = op->id;
    if (m->op) /* a copy for a graph output stays an operator */
        m->st = import_fold(m->g, op, m->d);
    return y;
}

uint32_t tosa_like(struct tosa *m, uint32_t x)
{
    return tosa_new(m, m->g->tensor[x]->type, m->g->tensor[x]->rank, m->g->tensor[x]->dim);
}

uint32_t tosa_unary(struct tosa *m, enum ir_opcode opcode, uint32_t x)
{
    return tosa_emit(m, opcode, 1, &x, tosa_like(m, x), NULL);
}

/* The shape that both operands broadcast to, as far as they do (ir_infer checks). */
static uint32_t broadcast(struct tosa *m, enum ir_type type, uint32_t n, const uint32_t *in)
{
    int32_t dim[IR_MAX_RANK] = {0};
    uint32_t rank = 0;

    for (uint32_t i = 0; i < n; i++)
        rank = m->g->tensor[in[i]]->rank > rank ? m->g->tensor[in[i]]->rank : rank;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t back = 0; back < rank; back++) {
            const int32_t size = ir_dim_back(m->g->tensor[in[i]], back);

            if (size > dim[rank - 1 - back])
                dim[rank - 1 - back] = size;
        }
    return tosa_new(m, type, rank, dim);
}

uint32_t tosa_binary(struct tosa *m, enum ir_opcode opcode, uint32_t a, uint32_t b)
{
    const uint32_t in[2] = {a, b};

    return tosa_emit(
        m, opcode, 2, in,
        broadcast(m, ir_op_info(opcode)->compares ? IR_BOOL : m->g->tensor[a]->type, 2, in), NULL);
}

uint32_t tosa_select(struct tosa *m, uint32_t condition, uint32_t a, uint32_t b)
{
    const uint32_t in[3] = {condition, a, tosa_with_zero(m, b, ir_zero_point(m->g->tensor[a]))};
    const uint32_t y = broadcast(m, m->g->tensor[a]->type, 3, in);

    m->g->tensor[y]->quant = m->g->tensor[a]->quant;
    return tosa_make_select(m, 3, in, y, NULL);
}

uint32_t tosa_cast(struct tosa *m, uint32_t x, enum ir_type type)
{
    const struct ir_tensor *t = m->g->tensor[x];

    if (t->type == type)
        return x;
    return tosa_make_cast(m, 1, &x, tosa_new(m, type, t->rank, t->dim), NULL);
}

uint32_t tosa_saturate(struct tosa *m, uint32_t x, enum ir_type type)
{
    const enum ir_type from = m->g->tensor[x]->type;
    const double most = type == IR_I8    ? INT8_MAX
                        : type == IR_I16 ? INT16_MAX
                        : type == IR_I32 ? INT32_MAX
                                         : 0;

    if (most != 0) {
        x = tosa_do_maximum(m, x, tosa_number(m, from, -most - 1));
        x = tosa_do_minimum(m, x, tosa_number(m, from, most));
    }
    return tosa_cast(m, x, type);
}

uint32_t tosa_reshape(struct tosa *m, uint32_t x, uint32_t rank, const int32_t *dim)
{
    const struct ir_tensor *t = m->g->tensor[x];
    const uint32_t y = tosa_new(m, t->type, rank, dim);

    m->g->tensor[y]->quant = t->quant;
    return tosa_make_reshape(m, 1, &x, y, NULL);
}

uint32_t tosa_reshape_to(struct tosa *m, uint32_t x, uint32_t rank, const int32_t *dim)
{
    const struct ir_tensor *t = m->g->tensor[x];

    return t->rank == rank && memcmp(t->dim, dim, rank * sizeof *dim) == 0
               ? x
               : tosa_reshape(m, x, rank, dim);
}

uint32_t tosa_pick(struct tosa *m, uint32_t x, uint32_t axis, uint32_t n, const int32_t *index)
{
    const struct ir_tensor *t = m->g->tensor[x];
    const uint32_t in[2] = {x, tosa_vector(m, n, index)};
    int32_t dim[IR_MAX_RANK];
    uint32_t y;

    memcpy(dim, t->dim, sizeof dim);
    dim[axis] = (int32_t)n;
    y = tosa_new(m, t->type, t->rank, dim);
    m->g->tensor[y]->quant = t->quant;
    return tosa_make_gather(m, 2, in, y, (const int32_t[IR_ATTR_COUNT]){[IR_AXIS] = (int32_t)axis});
}

uint32_t tosa_with_zero(struct tosa *m, uint32_t x, int32_t zero)
{
    struct ir_tensor *t = m->g->tensor[x];
    uint32_t y;

    if (!ir_is_code(t->type) || ir_zero_point(t) == zero)
        return x;
    if (t->role != IR_VALUE && ir_uses(m->g, x) == 0) { /* a border without readers so far */
        tosa_set_zero(m, x, zero);
        return x;
    }
    y = tosa_new(m, t->type, t->rank, t->dim);
    tosa_set_zero(m, y, zero);
    return tosa_make_reshape(m, 1, &x, y, (const int32_t[IR_ATTR_COUNT]){[IR_RECODE] = 1});
}
