/* tfl_number.c - operators on plain numbers that are made of others: NEG, ABS and SIGN of integers;
 * NEG, FLOOR_DIV and FLOOR_MOD of 8 and 16 bits, which the reference kernels compute on the stored
 * values, whatever their scales; ZEROS_LIKE; SQRT of quantised values, in float32. */
#include "compiler/ir/rules.h"
#include "tfl_import.h"

/* Make *x a tensor of the same numbers in `type`. */
static enum status as_type(struct tfl_importer *m, uint32_t row, enum ir_type type, uint32_t *x)
{
    const struct ir_tensor *t = m->g->tensor[*x];
    const uint32_t from = *x;

    if (t->type == type)
        return ST_OK;
    *x = ir_tensor_new(m->g, t->name, type, t->rank, t->dim)->id;
    return tfl_make_cast(m, row, 1, &from, *x, NULL);
}

/* Make a constant of one element. */
static uint32_t constant(struct tfl_importer *m, enum ir_type type, int32_t value)
{
    struct ir_tensor *t = ir_tensor_new(m->g, "", type, 0, NULL);
    const int64_t wide = value;

    t->role = IR_CONST;
    t->data = arena_memdup(m->arena, &wide, ir_type_bytes(type)); /* its low bytes */
    return t->id;
}

typedef enum status maker(struct tfl_importer *m, uint32_t row, uint32_t n_in, const uint32_t *in,
                          uint32_t out, struct ir_op **op);

/* Make *x the result of `make` on a and b, a tensor like x. */
static enum status pair(struct tfl_importer *m, uint32_t row, maker *make, uint32_t a, uint32_t b,
                        uint32_t like, uint32_t *x)
{
    const struct ir_tensor *t = m->g->tensor[like];
    uint32_t y;

    TRY(tfl_between(m, t, t->rank, t->dim, &y));
    TRY(make(m, row, 2, (const uint32_t[]){a, b}, y, NULL));
    *x = y;
    return ST_OK;
}

/* Write *x to y, which has the low bits of its numbers. */
static enum status finish(struct tfl_importer *m, uint32_t row, uint32_t x, uint32_t y)
{
    if (m->g->tensor[x]->type == m->g->tensor[y]->type)
        return tfl_reshape(m, row, x, y);
    return tfl_make_cast(m, row, 1, &x, y, NULL);
}

/* Operand and result; `type`: in which integers are computed. */
struct unary {
    uint32_t x, y;
    enum ir_type type;
};

static enum status ends(struct tfl_importer *m, const struct tfl_operator *src, struct unary *u)
{
    TRY(tfl_value(m, src, 0, &u->x));
    TRY(tfl_result(m, src, 0, &u->y));
    u->type = m->g->tensor[u->x]->type == IR_I64 ? IR_I64 : IR_I32;
    return ST_OK;
}

static enum status negative(struct tfl_importer *m, uint32_t row, const struct unary *u,
                            uint32_t *x)
{
    return pair(m, row, tfl_make_sub, constant(m, u->type, 0), u->x, u->x, x);
}

enum status tfl_neg(struct tfl_importer *m, const struct tfl_operator *src, uint32_t row)
{
    struct unary u;
    uint32_t x;

    TRY(ends(m, src, &u));
    if (m->g->tensor[u.x]->type == IR_F32)
        return tfl_make_neg(m, row, 1, &u.x, u.y, NULL);
    TRY(as_type(m, row, u.type, &u.x));
    TRY(negative(m, row, &u, &x));
    return finish(m, row, x, u.y);
}

enum status tfl_abs(struct tfl_importer *m, const struct tfl_operator *src, uint32_t row)
{
    struct unary u;
    uint32_t x;

    TRY(ends(m, src, &u));
    if (!ir_is_int(m->g->tensor[u.x]->type))
        return tfl_make_abs(m, row, 1, &u.x, u.y, NULL);
    TRY(negative(m, row, &u, &x));
    TRY(pair(m, row, tfl_make_maximum, u.x, x, u.x, &x));
    return finish(m, row, x, u.y);
}

enum status tfl_sign(struct tfl_importer *m, const struct tfl_operator *src, uint32_t row)
{
    struct unary u;
    uint32_t x;

    TRY(ends(m, src, &u));
    if (!ir_is_int(m->g->tensor[u.x]->type))
        return tfl_make_sign(m, row, 1, &u.x, u.y, NULL);
    TRY(pair(m, row, tfl_make_minimum, u.x, constant(m, u.type, 1), u.x, &x));
    TRY(pair(m, row, tfl_make_maximum, x, constant(m, u.type, -1), u.x, &x));
    return finish(m, row, x, u.y);
}

enum status tfl_rule_numbers(struct tfl_importer *m, const struct tfl_operator *src,
                             struct ir_op *op)
{
    const struct ir_tensor *y = ir_out(m->g, op, 0);
    const uint32_t out = y->id;

    (void)src;
    if (!ir_is_code(y->type))
        return ST_OK;
    for (uint32_t i = 0; i < op->n_in; i++)
        TRY(as_type(m, op->row, IR_I32, &op->in[i]));
    op->out[0] = ir_tensor_new(m->g, y->name, IR_I32, y->rank, y->dim)->id;
    m->g->tensor[op->out[0]]->producer = op->id;
    return finish(m, op->row, op->out[0], out);
}

/* The reference shifts by at most one bit less than the type has; of uint8 the highest bit stays. */
enum status tfl_rule_shift(struct tfl_importer *m, const struct tfl_operator *src, struct ir_op *op)
{
    const enum ir_type type = ir_out(m->g, op, 0)->type;

    TRY(tfl_rule_numbers(m, src, op));
    if (type != IR_U8)
        return ST_OK;
    return pair(m, op->row, tfl_make_minimum, op->in[1], constant(m, IR_I32, 7), op->in[1],
                &op->in[1]);
}

/* Make *x the float32 result of `make` on *x and, if `with` is not IR_NONE, on that. */
static enum status real(struct tfl_importer *m, uint32_t row, maker *make, uint32_t with,
                        uint32_t *x)
{
    const struct ir_tensor *t = m->g->tensor[*x];
    const uint32_t in[2] = {*x, with};

    *x = ir_tensor_new(m->g, t->name, IR_F32, t->rank, t->dim)->id;
    return make(m, row, with == IR_NONE ? 1 : 2, in, *x, NULL);
}

/* Quantised: sqrtf(s_x * (x - z_x)) / s_y without its fraction (NUMERICS.md). A product with s_y between, so
 * that QUANTIZE has that number again. */
enum status tfl_sqrt(struct tfl_importer *m, const struct tfl_operator *src, uint32_t row)
{
    const struct ir_tensor *y;
    struct ir_tensor *scale;
    uint32_t x, out;

    TRY(tfl_value(m, src, 0, &x));
    TRY(tfl_result(m, src, 0, &out));
    y = m->g->tensor[out];
    if (y->type == IR_F32)
        return tfl_make_sqrt(m, row, 1, &x, out, NULL);
    if (m->g->tensor[x]->type != IR_I16)
        TRY(ir_want_type(m->g->tensor[x], "input", IR_I8, m->d));
    TRY(ir_want_type(y, "output", m->g->tensor[x]->type, m->d));
    TRY(ir_want_quantised(m->g->tensor[x], "input", m->d));
    TRY(ir_want_quantised(y, "output", m->d));
    scale = ir_tensor_new(m->g, "scale", IR_F32, 0, NULL);
    scale->role = IR_CONST;
    scale->data = (const uint8_t *)y->quant.scale;
    TRY(real(m, row, tfl_make_dequantize, IR_NONE, &x));
    TRY(real(m, row, tfl_make_sqrt, IR_NONE, &x));
    TRY(real(m, row, tfl_make_div, scale->id, &x));
    TRY(real(m, row, tfl_make_floor, IR_NONE, &x));
    TRY(real(m, row, tfl_make_mul, scale->id, &x));
    return tfl_make_quantize(m, row, 1, &x, out, NULL);
}

enum status tfl_zeros_like(struct tfl_importer *m, const struct tfl_operator *src, uint32_t row)
{
    struct ir_tensor *t;
    uint32_t y;

    (void)row;
    TRY(tfl_result(m, src, 0, &y));
    t = m->g->tensor[y];
    if (ir_is_code(t->type))
        return ir_want_type(t, "output", IR_F32, m->d);
    t->role = IR_CONST;
    t->data = arena_alloc(m->arena, (size_t)ir_bytes(t));
    return ST_OK;
}
