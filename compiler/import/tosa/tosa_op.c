/* tosa_op.c - the table of TOSA's operators, and those that are one operator of the IR. */
#include <string.h>

#include "tosa.h"
#include "tosa_import.h"

enum {
    BOOL = 1 << IR_BOOL,
    BYTES = 1 << IR_I8,
    CODES = BYTES | 1 << IR_I16,
    WORDS = 1 << IR_I32,
    WIDE = 1 << IR_I64,
    REAL = 1 << IR_F32,
    INTEGERS = CODES | WORDS,
    ANY = BOOL | INTEGERS | WIDE | REAL,
};

static tosa_maker make_one, make_two, make_narrow_two, make_reduce, make_arg_max, make_select,
    make_concat, make_pad, make_reshape, make_reverse, make_slice, make_tile, make_transpose,
    make_gather, make_identity, make_reciprocal;

/* The operator of the IR that `make` takes, if any; inputs; the types of the first one. */
static const struct known {
    enum tosa_opcode code;
    enum ir_opcode opcode;
    uint32_t least, most, types;
    tosa_maker *make;
    const char *name;
} table[] = {
#define ROW(name, opcode, least, most, types, make)                                                \
    {                                                                                              \
        TOSA_##name, IR_OP_##opcode, least, most, types, make, #name                               \
    }
    ROW(ARGMAX, ARG_MAX, 1, 1, CODES | REAL, make_arg_max),
    ROW(AVG_POOL2D, AVERAGE_POOL2D, 3, 3, BYTES | REAL, tosa_average_pool),
    ROW(CONV2D, CONV2D, 5, 5, BYTES | REAL, tosa_conv),
    ROW(DEPTHWISE_CONV2D, DEPTHWISE_CONV2D, 5, 5, BYTES | REAL, tosa_conv),
    ROW(MATMUL, BATCH_MATMUL, 4, 4, BYTES | REAL, tosa_matmul),
    ROW(MAX_POOL2D, MAX_POOL2D, 1, 1, CODES | REAL, tosa_max_pool),
    ROW(TRANSPOSE_CONV2D, TRANSPOSE_CONV, 5, 5, BYTES | REAL, tosa_transpose_conv),
    ROW(CLAMP, CLIP, 1, 1, CODES | REAL, tosa_clamp),
    ROW(ERF, ERF, 1, 1, REAL, make_one),
    ROW(SIGMOID, LOGISTIC, 1, 1, REAL, make_one),
    ROW(TANH, TANH, 1, 1, REAL, make_one),
    ROW(ADD, ADD, 2, 2, WORDS | REAL, make_two),
    ROW(ARITHMETIC_RIGHT_SHIFT, RIGHT_SHIFT, 2, 2, INTEGERS, tosa_arithmetic),
    ROW(BITWISE_AND, BITWISE_AND, 2, 2, INTEGERS, make_narrow_two),
    ROW(BITWISE_OR, BITWISE_OR, 2, 2, INTEGERS, make_narrow_two),
    ROW(BITWISE_XOR, BITWISE_XOR, 2, 2, INTEGERS, make_narrow_two),
    ROW(INTDIV, DIV, 2, 2, WORDS, make_two),
    ROW(LOGICAL_AND, LOGICAL_AND, 2, 2, BOOL, make_two),
    ROW(LOGICAL_LEFT_SHIFT, MUL, 2, 2, INTEGERS, tosa_left),
    ROW(LOGICAL_RIGHT_SHIFT, RIGHT_SHIFT, 2, 2, INTEGERS, tosa_right),
    ROW(LOGICAL_OR, LOGICAL_OR, 2, 2, BOOL, make_two),
    ROW(LOGICAL_XOR, NOT_EQUAL, 2, 2, BOOL, make_two),
    ROW(MAXIMUM, MAXIMUM, 2, 2, WORDS | REAL, make_two),
    ROW(MINIMUM, MINIMUM, 2, 2, WORDS | REAL, make_two),
    ROW(MUL, MUL, 3, 3, INTEGERS | REAL, tosa_mul),
    ROW(POW, POW, 2, 2, REAL, make_two),
    ROW(SUB, SUB, 2, 2, WORDS | REAL, make_two),
    ROW(TABLE, LUT, 2, 2, CODES, tosa_table),
    ROW(ABS, ABS, 1, 1, WORDS | REAL, tosa_abs),
    ROW(BITWISE_NOT, BITWISE_XOR, 1, 1, INTEGERS, tosa_not),
    ROW(CEIL, CEIL, 1, 1, REAL, make_one),
    ROW(CLZ, SUM, 1, 1, WORDS, tosa_clz),
    ROW(COS, COS, 1, 1, REAL, make_one),
    ROW(EXP, EXP, 1, 1, REAL, make_one),
    ROW(FLOOR, FLOOR, 1, 1, REAL, make_one),
    ROW(LOG, LOG, 1, 1, REAL, make_one),
    ROW(LOGICAL_NOT, LOGICAL_NOT, 1, 1, BOOL, make_one),
    ROW(NEGATE, NEG, 3, 3, INTEGERS | REAL, tosa_negate),
    ROW(RECIPROCAL, DIV, 1, 1, REAL, make_reciprocal),
    ROW(RSQRT, RSQRT, 1, 1, REAL, make_one),
    ROW(SIN, SIN, 1, 1, REAL, make_one),
    ROW(SELECT, SELECT, 3, 3, BOOL, make_select),
    ROW(EQUAL, EQUAL, 2, 2, WORDS | REAL, make_two),
    ROW(GREATER, GREATER, 2, 2, WORDS | REAL, make_two),
    ROW(GREATER_EQUAL, GREATER_EQUAL, 2, 2, WORDS | REAL, make_two),
    ROW(REDUCE_ALL, REDUCE_MIN, 1, 1, BOOL, make_reduce),
    ROW(REDUCE_ANY, REDUCE_MAX, 1, 1, BOOL, make_reduce),
    ROW(REDUCE_MAX, REDUCE_MAX, 1, 1, INTEGERS | REAL, make_reduce),
    ROW(REDUCE_MIN, REDUCE_MIN, 1, 1, INTEGERS | REAL, make_reduce),
    ROW(REDUCE_PRODUCT, REDUCE_PROD, 1, 1, REAL, make_reduce),
    ROW(REDUCE_SUM, SUM, 1, 1, WORDS | REAL, make_reduce),
    ROW(CONCAT, CONCATENATION, 1, 1024, ANY, make_concat),
    ROW(PAD, PAD, 3, 3, ANY, make_pad),
    ROW(RESHAPE, RESHAPE, 2, 2, ANY, make_reshape),
    ROW(REVERSE, SLICE, 1, 1, ANY, make_reverse),
    ROW(SLICE, SLICE, 3, 3, ANY, make_slice),
    ROW(TILE, GATHER, 2, 2, ANY, make_tile),
    ROW(TRANSPOSE, TRANSPOSE, 1, 1, ANY, make_transpose),
    ROW(GATHER, GATHER, 2, 2, INTEGERS | REAL, make_gather),
    ROW(RESIZE, GATHER, 4, 4, BYTES | REAL, tosa_resize),
    ROW(CAST, CAST, 1, 1, BOOL | INTEGERS | REAL, tosa_convert),
    ROW(RESCALE, QUANTIZE, 5, 5, INTEGERS | WIDE, tosa_rescale),
    ROW(IDENTITY, RESHAPE, 1, 1, ANY, make_identity),
#undef ROW
};

enum { N_KNOWN = sizeof table / sizeof *table };

const char *tosa_operator_name(uint32_t i)
{
    return i < N_KNOWN ? table[i].name : NULL;
}

static const struct known *known_of(uint32_t code)
{
    for (uint32_t i = 0; i < N_KNOWN; i++)
        if (table[i].code == code)
            return &table[i];
    return NULL;
}

static enum status check_inputs(struct tosa *m, const struct known *k)
{
    if (m->op->n_in < k->least || m->op->n_in > k->most)
        return FAIL(m->d, ST_MODEL, "expected %u to %u inputs, found %u", k->least, k->most,
                    m->op->n_in);
    for (uint32_t i = 0; i < m->op->n_in; i++) {
        const uint32_t in = m->op->in[i];

        if (in == TOSA_NONE)
            return FAIL(m->d, ST_MODEL, "input %u: expected the name of a tensor", i);
        if (m->id[in] == IR_NONE && m->file->tensor[in].type != TOSA_SHAPE)
            return FAIL(m->d, ST_MODEL, "input %u '%.80s' is used before it is computed", i,
                        m->file->tensor[in].name);
    }
    if (m->file->tensor[m->op->in[0]].type == TOSA_SHAPE ||
        (1u << m->g->tensor[tosa_in(m, 0)]->type & k->types) == 0)
        return FAIL(m->d, ST_UNSUPPORTED, "input 0 '%.80s': %s is not supported here",
                    m->file->tensor[m->op->in[0]].name, m->file->tensor[m->op->in[0]].type_name);
    if (m->op->a.nan_mode == TOSA_IGNORE_NAN && m->g->tensor[tosa_in(m, 0)]->type == IR_F32)
        return FAIL(m->d, ST_UNSUPPORTED, "nan_mode: expected PROPAGATE, found IGNORE");
    return ST_OK;
}

enum status tosa_op(struct tosa *m, uint32_t *y)
{
    const struct known *k = known_of(m->op->code);

    if (k == NULL)
        return FAIL(m->d, ST_UNSUPPORTED,
                    "this operator is not supported ('heddle ops' lists those that are)");
    TRY(check_inputs(m, k));
    *y = k->make(m);
    return m->st;
}

static enum ir_opcode opcode(const struct tosa *m)
{
    return known_of(m->op->code)->opcode;
}

static uint32_t rank_of(const struct tosa *m)
{
    return m->g->tensor[tosa_in(m, 0)]->rank;
}

/* The attribute axis; 0 after a failure. */
static uint32_t axis_of(struct tosa *m)
{
    const int32_t axis = m->op->a.axis;

    if (axis >= 0 && axis < (int32_t)rank_of(m))
        return (uint32_t)axis;
    return TOSA_FAIL(m, ST_MODEL, "axis: expected 0 to %d, found %d", (int32_t)rank_of(m) - 1,
                     axis);
}

static uint32_t make_one(struct tosa *m)
{
    return tosa_unary(m, opcode(m), tosa_in(m, 0));
}

static uint32_t make_two(struct tosa *m)
{
    return tosa_binary(m, opcode(m), tosa_in(m, 0), tosa_in(m, 1));
}

static uint32_t make_narrow_two(struct tosa *m)
{
    const enum ir_type type = m->g->tensor[tosa_in(m, 0)]->type;

    return tosa_cast(m,
                     tosa_binary(m, opcode(m), tosa_cast(m, tosa_in(m, 0), IR_I32),
                                 tosa_cast(m, tosa_in(m, 1), IR_I32)),
                     type);
}

static uint32_t make_reduce(struct tosa *m)
{
    const struct ir_tensor *x = m->g->tensor[tosa_in(m, 0)];
    const uint32_t axis = axis_of(m), in = x->id;
    int32_t dim[IR_MAX_RANK];
    uint32_t y;

    memcpy(dim, x->dim, sizeof dim);
    dim[axis] = 1;
    y = tosa_new(m, x->type, x->rank, dim);
    m->g->tensor[y]->quant = x->quant;
    return tosa_emit(m, opcode(m), 1, &in, y,
                     (const int32_t[IR_ATTR_COUNT]){[IR_AXIS] = 1 << axis, [IR_KEEP_DIMS] = 1});
}

static uint32_t make_arg_max(struct tosa *m)
{
    uint32_t x = tosa_in(m, 0);

    if (m->g->tensor[x]->type == IR_I16)
        x = tosa_cast(m, x, IR_F32);
    return tosa_make_arg_max(m, 1, &x, tosa_out(m, IR_NONE),
                             (const int32_t[IR_ATTR_COUNT]){[IR_AXIS] = (int32_t)axis_of(m)});
}

static uint32_t make_select(struct tosa *m)
{
    return tosa_select(m, tosa_in(m, 0), tosa_in(m, 1), tosa_in(m, 2));
}

static uint32_t make_concat(struct tosa *m)
{
    uint32_t *in = ARENA_ARRAY(m->arena, uint32_t, m->op->n_in);
    const uint32_t y = tosa_out(m, tosa_in(m, 0));

    for (uint32_t i = 0; i < m->op->n_in; i++)
        in[i] = tosa_with_zero(m, tosa_in(m, i), ir_zero_point(m->g->tensor[tosa_in(m, 0)]));
    return tosa_make_concatenation(m, m->op->n_in, in, y,
                                   (const int32_t[IR_ATTR_COUNT]){[IR_AXIS] = (int32_t)axis_of(m)});
}

/* Return input i, `n` numbers of at least 0, as an int32 constant; *value: the numbers. */
static uint32_t numbers(struct tosa *m, uint32_t i, uint32_t n, const int32_t **value)
{
    int32_t *const to = ARENA_ARRAY(m->arena, int32_t, n + 1);
    uint32_t found;
    const int64_t *v = tosa_values(m, m->op, i, &found);

    if (m->st == ST_OK && found != n)
        return TOSA_FAIL(m, ST_MODEL, "input %u: expected %u values, found %u", i, n, found);
    for (uint32_t k = 0; m->st == ST_OK && k < n; k++) {
        if (v[k] < 0 || v[k] > INT32_MAX)
            return TOSA_FAIL(m, ST_MODEL, "input %u: expected 0 to %d, found %lld", i, INT32_MAX,
                             (long long)v[k]);
        to[k] = (int32_t)v[k];
    }
    *value = to;
    return tosa_vector(m, n, to);
}

static uint32_t make_pad(struct tosa *m)
{
    const struct ir_tensor *x = m->g->tensor[tosa_in(m, 0)], *fill = m->g->tensor[tosa_in(m, 2)];
    const int32_t dim[2] = {(int32_t)x->rank, 2};
    const int32_t *pads;
    uint32_t in[3] = {x->id, numbers(m, 1, 2 * x->rank, &pads), fill->id};

    if (m->st != ST_OK)
        return 0;
    if (fill->role != IR_CONST || fill->type != x->type)
        return TOSA_FAIL(m, ST_UNSUPPORTED, "pad_const: expected a constant of type %s",
                         ir_type_name(x->type));
    in[1] = tosa_const(m, IR_I32, 2, dim, pads);
    in[2] = tosa_const(m, fill->type, fill->rank, fill->dim, fill->data);
    m->g->tensor[in[2]]->quant = x->quant;
    return tosa_make_pad(m, 3, in, tosa_out(m, x->id), NULL);
}

static uint32_t make_reshape(struct tosa *m)
{
    const uint32_t x = tosa_in(m, 0);

    return tosa_make_reshape(m, 1, &x, tosa_out(m, x), NULL);
}

static uint32_t make_reverse(struct tosa *m)
{
    const struct ir_tensor *x = m->g->tensor[tosa_in(m, 0)];
    int32_t begin[IR_MAX_RANK] = {0}, step[IR_MAX_RANK] = {1, 1, 1, 1, 1, 1};
    const uint32_t axis = axis_of(m);

    begin[axis] = x->dim[axis] - 1;
    step[axis] = -1;
    const uint32_t in[3] = {x->id, tosa_vector(m, x->rank, begin), tosa_vector(m, x->rank, step)};
    return tosa_make_slice(m, 3, in, tosa_out(m, x->id), NULL);
}

static uint32_t make_slice(struct tosa *m)
{
    const struct ir_tensor *x = m->g->tensor[tosa_in(m, 0)];
    const int32_t *begin, *size;
    const uint32_t in[2] = {x->id, numbers(m, 1, x->rank, &begin)};

    (void)numbers(m, 2, x->rank, &size);
    for (uint32_t i = 0; m->st == ST_OK && i < x->rank; i++)
        if (i >= m->file->tensor[m->op->out[0]].shape.n ||
            size[i] != m->file->tensor[m->op->out[0]].shape.v[i])
            return TOSA_FAIL(m, ST_MODEL, "size: expected the output's shape");
    return tosa_make_slice(m, 2, in, tosa_out(m, x->id), NULL);
}

static uint32_t make_tile(struct tosa *m)
{
    uint32_t x = tosa_in(m, 0), rank = rank_of(m);
    const int32_t *times;

    (void)numbers(m, 1, rank, &times);
    for (uint32_t i = 0; m->st == ST_OK && i < rank; i++) {
        const int32_t old = m->g->tensor[x]->dim[i];
        const int64_t n = (int64_t)old * times[i];
        int32_t *index;

        if (times[i] == 1)
            continue;
        if (n < 1 || n > INT32_MAX / 4)
            return TOSA_FAIL(m, ST_UNSUPPORTED, "multiples: %d times %d: expected 1 to %d",
                             times[i], old, INT32_MAX / 4);
        index = ARENA_ARRAY(m->arena, int32_t, (size_t)n);
        for (int32_t k = 0; k < n; k++)
            index[k] = k % old;
        x = tosa_pick(m, x, i, (uint32_t)n, index);
    }
    return x;
}

static uint32_t make_transpose(struct tosa *m)
{
    const uint32_t x = tosa_in(m, 0), n = m->op->a.perms.n;
    const uint32_t in[2] = {x, tosa_vector(m, n, m->op->a.perms.v)};

    if (n != rank_of(m))
        return TOSA_FAIL(m, ST_MODEL, "perms: expected %u values, found %u", rank_of(m), n);
    return tosa_make_transpose(m, 2, in, tosa_out(m, x), NULL);
}

/* values [N,K,C], indices [N,W] -> [N,W,C] */
static uint32_t make_gather(struct tosa *m)
{
    const uint32_t in[2] = {tosa_in(m, 0), tosa_in(m, 1)};

    return tosa_make_gather(m, 2, in, tosa_out(m, in[0]),
                            (const int32_t[IR_ATTR_COUNT]){[IR_AXIS] = 1, [IR_BATCH_DIMS] = 1});
}

static uint32_t make_identity(struct tosa *m)
{
    return tosa_in(m, 0);
}

static uint32_t make_reciprocal(struct tosa *m)
{
    return tosa_do_div(m, tosa_number(m, IR_F32, 1), tosa_in(m, 0));
}
