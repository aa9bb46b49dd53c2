/* tfl_build.c - one file operator built from several ir_ops, and operators evaluated at import
 * because all their inputs are constant (mostly shape computations). */
#include <string.h>

#include "compiler/import/common/import_fold.h"
#include "tfl_import.h"

enum status tfl_value(struct tfl_importer *m, const struct tfl_operator *src, uint32_t i,
                      uint32_t *id)
{
    const struct ir_tensor *t;

    TRY(tfl_tensor(m, src->in.v[i], id));
    t = m->g->tensor[*id];
    if (t->role == IR_VALUE && t->producer == IR_NONE)
        return FAIL(m->d, ST_MODEL, "input %u, tensor %d '%.80s', is used before it is computed", i,
                    src->in.v[i], t->name);
    return ST_OK;
}

enum status tfl_want_outputs(struct tfl_importer *m, const struct tfl_operator *src, uint32_t n)
{
    if (src->out.n == n)
        return ST_OK;
    return FAIL(m->d, ST_MODEL, "expected %u output%s, found %u", n, n == 1 ? "" : "s", src->out.n);
}

enum status tfl_result(struct tfl_importer *m, const struct tfl_operator *src, uint32_t k,
                       uint32_t *id)
{
    const struct ir_tensor *t;

    TRY(tfl_tensor(m, src->out.v[k], id));
    t = m->g->tensor[*id];
    if (t->role != IR_VALUE || t->producer != IR_NONE)
        return FAIL(m->d, ST_MODEL, "output, tensor %d '%.80s', is %s", src->out.v[k], t->name,
                    t->role == IR_CONST   ? "a constant"
                    : t->role == IR_INPUT ? "a graph input"
                                          : "computed twice");
    return ST_OK;
}

enum status tfl_want_size(struct tfl_importer *m, const struct ir_tensor *like, uint32_t rank,
                          const int32_t *dim)
{
    if (!ir_shape_ok(rank, dim, like->type))
        return FAIL(m->d, ST_MODEL, "'%.80s' would become a tensor of more than 2147483647 bytes",
                    like->name);
    return ST_OK;
}

enum status tfl_between(struct tfl_importer *m, const struct ir_tensor *like, uint32_t rank,
                        const int32_t *dim, uint32_t *id)
{
    struct ir_tensor *t;

    TRY(tfl_want_size(m, like, rank, dim));
    t = ir_tensor_new(m->g, like->name, like->type, rank, dim);
    t->quant = like->quant;
    *id = t->id;
    return ST_OK;
}

enum status tfl_emit(struct tfl_importer *m, enum ir_opcode opcode, uint32_t row, uint32_t n_in,
                     const uint32_t *in, uint32_t out, struct ir_op **made)
{
    struct ir_op *op = ir_op_new(m->g, opcode, row, n_in, 1);

    memcpy(op->in, in, n_in * sizeof *in);
    op->out[0] = out;
    m->g->tensor[out]->producer = op->id;
    m->g->row[row].macs += ir_macs(m->g, op);
    if (made != NULL) {
        *made = op; /* the caller sets attributes, then calls import_fold */
        return ST_OK;
    }
    return import_fold(m->g, op, m->d);
}

uint32_t tfl_vector(struct tfl_importer *m, uint32_t n, const int32_t *value)
{
    const int32_t dim = (int32_t)n;

    return tfl_new_const(m, "", 1, &dim, value);
}

enum status tfl_scalar(struct tfl_importer *m, const struct tfl_operator *src, uint32_t i,
                       const char *what, int32_t *value)
{
    const int32_t *v;
    uint32_t n;

    TRY(tfl_param(m, src->in.v[i], what, &n, &v));
    if (n != 1)
        return FAIL(m->d, ST_MODEL, "%s: expected one value, found %u", what, n);
    *value = v[0];
    return ST_OK;
}

enum status tfl_axis(struct tfl_importer *m, int32_t axis, uint32_t rank, uint32_t *k)
{
    const int64_t i = axis < 0 ? (int64_t)axis + rank : axis;

    if (i < 0 || i >= (int64_t)rank)
        return FAIL(m->d, ST_MODEL, "axis %d: expected %d to %d", axis, -(int32_t)rank,
                    (int32_t)rank - 1);
    *k = (uint32_t)i;
    return ST_OK;
}

static enum status same_bytes(struct tfl_importer *m, uint32_t row, uint32_t x, uint32_t y,
                              bool recode)
{
    struct ir_op *op;

    TRY(tfl_make_reshape(m, row, 1, &x, y, &op));
    op->attr[IR_RECODE] = recode;
    return import_fold(m->g, op, m->d);
}

enum status tfl_reshape(struct tfl_importer *m, uint32_t row, uint32_t x, uint32_t y)
{
    return same_bytes(m, row, x, y, false);
}

enum status tfl_recode(struct tfl_importer *m, uint32_t row, uint32_t x, uint32_t y)
{
    return same_bytes(m, row, x, y, true);
}

enum status tfl_pick(struct tfl_importer *m, uint32_t row, uint32_t *x, uint32_t axis, uint32_t n,
                     const int32_t *index)
{
    const struct ir_tensor *t = m->g->tensor[*x];
    const uint32_t in[2] = {*x, tfl_vector(m, n, index)};
    int32_t dim[IR_MAX_RANK];
    struct ir_op *op;

    memcpy(dim, t->dim, sizeof dim);
    dim[axis] = (int32_t)n;
    TRY(tfl_between(m, t, t->rank, dim, x));
    TRY(tfl_make_gather(m, row, 2, in, *x, &op));
    op->attr[IR_AXIS] = (int32_t)axis;
    return import_fold(m->g, op, m->d);
}

enum status tfl_activation(struct tfl_importer *m, const struct tfl_operator *src, struct ir_op *op)
{
    static const enum ir_activation known[] = {IR_ACT_NONE, IR_ACT_RELU, IR_ACT_RELU_N1_TO_1,
                                               IR_ACT_RELU6};
    const int32_t a = src->options.activation;

    if (a < 0 || a > 3)
        return FAIL(m->d, ST_UNSUPPORTED,
                    "fused activation: expected NONE, RELU, RELU_N1_TO_1 or RELU6, found %d", a);
    op->attr[IR_ACTIVATION] = (int32_t)known[a];
    return ST_OK;
}
