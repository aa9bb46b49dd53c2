/* rules.c - helpers of the rules of operators.def; see rules.h. */
#include "rules.h"

#include <string.h>

enum status ir_want_type(const struct ir_tensor *t, const char *what, enum ir_type type,
                         struct diag *d)
{
    if (t->type == type)
        return ST_OK;
    return FAIL(d, ST_UNSUPPORTED, "%s '%.80s': expected type %s, found %s", what, t->name,
                ir_type_name(type), ir_type_name(t->type));
}

enum status ir_want_act(const struct ir_tensor *t, const char *what, struct diag *d)
{
    return t->type == IR_F32 ? ST_OK : ir_want_quantised(t, what, d);
}

enum status ir_want_coded(const struct ir_tensor *t, const char *what, struct diag *d)
{
    if (!ir_is_code(t->type))
        return FAIL(d, ST_UNSUPPORTED, "%s '%.80s': expected type i8, u8 or i16, found %s", what,
                    t->name, ir_type_name(t->type));
    if (t->quant.n == 0)
        return FAIL(d, ST_MODEL, "%s '%.80s': expected a scale and zero point, found none", what,
                    t->name);
    if (t->quant.n != 1)
        return FAIL(d, ST_UNSUPPORTED, "%s '%.80s': expected one scale, found %u", what, t->name,
                    t->quant.n);
    return ST_OK;
}

enum status ir_want_quantised(const struct ir_tensor *t, const char *what, struct diag *d)
{
    TRY(ir_want_coded(t, what, d));
    if (t->type == IR_I16 && t->quant.zero_point[0] != 0)
        return FAIL(d, ST_UNSUPPORTED, "%s '%.80s': expected zero point 0 of i16, found %d", what,
                    t->name, t->quant.zero_point[0]);
    return ST_OK;
}

enum status ir_want_moved(const struct ir_tensor *x, const struct ir_tensor *y, struct diag *d)
{
    TRY(ir_want_type(y, "output", x->type, d));
    if (x->quant.n == 0 && y->quant.n == 0)
        return ST_OK;
    if (x->quant.n != 1 || y->quant.n != 1)
        return FAIL(d, x->quant.n && y->quant.n ? ST_UNSUPPORTED : ST_MODEL,
                    "'%.80s' has %u scales, '%.80s' has %u: expected one each", x->name, x->quant.n,
                    y->name, y->quant.n);
    return ir_want_same_quant(x, y, d);
}

enum status ir_want_rank(const struct ir_tensor *t, const char *what, uint32_t rank, struct diag *d)
{
    if (t->rank == rank)
        return ST_OK;
    return FAIL(d, ST_UNSUPPORTED, "%s '%.80s': expected %u dimensions, found %u", what, t->name,
                rank, t->rank);
}

enum status ir_want_halves(const struct ir_graph *g, const struct ir_op *op,
                           const struct ir_tensor *a, const struct ir_tensor *b, struct diag *d)
{
    if (!op->attr[IR_HALVES] || (a->type == IR_I8 && b->type == IR_I8 && a->rank == 4 &&
                                 b->rank == 4 && (a->dim[2] | b->dim[2]) % 2 == 0))
        return ST_OK;
    return FAIL(d, ST_MODEL, "halves: expected two int8 tensors [N,H,2 W,C], found %s and %s",
                ir_shape_text(g->arena, a->rank, a->dim), ir_shape_text(g->arena, b->rank, b->dim));
}

enum status ir_want_shape(const struct ir_graph *g, const struct ir_tensor *t, const char *what,
                          uint32_t rank, const int32_t *dim, struct diag *d)
{
    if (t->rank == rank && memcmp(t->dim, dim, rank * sizeof *dim) == 0)
        return ST_OK;
    return FAIL(d, ST_MODEL, "%s '%.80s': expected shape %s, found %s", what, t->name,
                ir_shape_text(g->arena, rank, dim), ir_shape_text(g->arena, t->rank, t->dim));
}

enum status ir_want_same_quant(const struct ir_tensor *a, const struct ir_tensor *b, struct diag *d)
{
    if ((a->type == IR_F32 && b->type == IR_F32) || (a->quant.n == 0 && b->quant.n == 0))
        return ST_OK;
    if (a->quant.scale[0] == b->quant.scale[0] && a->quant.zero_point[0] == b->quant.zero_point[0])
        return ST_OK;
    return FAIL(d, ST_UNSUPPORTED,
                "'%.80s' has scale %.9g and zero point %d, '%.80s' has %.9g and %d: expected equal",
                a->name, (double)a->quant.scale[0], a->quant.zero_point[0], b->name,
                (double)b->quant.scale[0], b->quant.zero_point[0]);
}

static enum status want_const(const struct ir_tensor *t, const char *what, enum ir_type type,
                              uint64_t n, struct diag *d)
{
    TRY(ir_want_type(t, what, type, d));
    if (t->role != IR_CONST)
        return FAIL(d, ST_UNSUPPORTED, "%s '%.80s': expected a constant, found a computed tensor",
                    what, t->name);
    if (ir_elements(t) != n)
        return FAIL(d, ST_MODEL, "%s '%.80s': expected %llu values, found %llu", what, t->name,
                    (unsigned long long)n, (unsigned long long)ir_elements(t));
    return ST_OK;
}

enum status ir_want_const_i32(const struct ir_tensor *t, const char *what, uint64_t n,
                              struct diag *d)
{
    return want_const(t, what, IR_I32, n, d);
}

enum status ir_want_const_i64(const struct ir_tensor *t, const char *what, uint64_t n,
                              struct diag *d)
{
    return want_const(t, what, IR_I64, n, d);
}

int32_t ir_const_i32(const struct ir_tensor *t, uint32_t i)
{
    int32_t v;

    memcpy(&v, t->data + (size_t)i * 4, 4);
    return v;
}
