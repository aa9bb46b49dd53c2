/* new_ops.c - see new_ops.h. */
#include "new_ops.h"

#include <string.h>

#include "legalise.h"

struct ir_tensor *lgl_new_image(struct ir_graph *g, const struct ir_tensor *like,
                                struct ir_quant quant, const int32_t dim[4])
{
    struct ir_tensor *t = ir_tensor_new(g, like->name, IR_I8, 4, dim);

    t->quant = quant;
    return t;
}

struct ir_quant lgl_new_quant(struct ir_graph *g, float scale, int32_t zero)
{
    return (struct ir_quant){1, 0, arena_memdup(g->arena, &scale, sizeof scale),
                             arena_memdup(g->arena, &zero, sizeof zero)};
}

struct ir_tensor *lgl_new_constant(struct ir_graph *g, const char *name, enum ir_type type,
                                   uint32_t rank, const int32_t *dim, const void *values)
{
    struct ir_tensor *t = ir_tensor_new(g, name, type, rank, dim);
    const size_t n = (size_t)ir_bytes(t);

    t->role = IR_CONST;
    t->data = values ? arena_memdup(g->arena, values, n) : arena_alloc(g->arena, n);
    return t;
}

struct ir_tensor *lgl_constant_like(struct ir_graph *g, const struct ir_tensor *t, uint32_t rank,
                                    const int32_t *dim, const uint8_t *data)
{
    struct ir_tensor *c = ir_tensor_new(g, t->name, t->type, rank, dim);

    c->role = IR_CONST;
    c->quant = t->quant;
    c->data = data;
    return c;
}

const uint8_t *lgl_turned(struct ir_graph *g, const uint8_t *w, size_t rows, size_t columns)
{
    uint8_t *t = arena_alloc(g->arena, rows * columns);

    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++)
            t[j * rows + i] = w[i * columns + j];
    return t;
}

uint32_t lgl_new_numbers(struct ir_graph *g, uint32_t n, const int32_t *values)
{
    return lgl_new_constant(g, "", IR_I32, 1, (const int32_t[]){(int32_t)n}, values)->id;
}

struct ir_op *lgl_new_op(struct ir_graph *g, enum ir_opcode code, uint32_t row, uint32_t n_in,
                         const uint32_t *in, struct ir_tensor *y)
{
    struct ir_op *op = ir_op_new(g, code, row, n_in, 1);

    memcpy(op->in, in, n_in * sizeof *in);
    op->out[0] = y->id;
    y->producer = op->id;
    op->fixed = (struct ir_fixed){.act_min = INT8_MIN, .act_max = INT8_MAX};
    return op;
}

void lgl_set_scales(struct ir_graph *g, struct ir_op *op, uint32_t n,
                    const struct lgl_fixed_scale *scale)
{
    int32_t *multiplier = ARENA_ARRAY(g->arena, int32_t, n);
    int8_t *shift = ARENA_ARRAY(g->arena, int8_t, n);

    for (uint32_t i = 0; i < n; i++) {
        multiplier[i] = scale[i].multiplier;
        shift[i] = scale[i].shift;
    }
    op->fixed.n = n;
    op->fixed.multiplier = multiplier;
    op->fixed.shift = shift;
}

struct ir_op *lgl_again(struct ir_graph *g, const struct ir_op *op, const struct ir_tensor *x,
                        struct ir_tensor *y)
{
    struct ir_op *again = lgl_new_op(g, op->opcode, op->row, op->n_in, op->in, y);

    again->in[0] = x->id;
    memcpy(again->attr, op->attr, sizeof again->attr);
    again->fixed = op->fixed;
    return again;
}

void lgl_become_table(struct ir_op *op, uint32_t of, const int8_t *table)
{
    memset(op->attr, 0, sizeof op->attr);
    op->opcode = IR_OP_LUT;
    op->n_in = 1;
    op->in[0] = of;
    op->fixed = (struct ir_fixed){.act_min = INT8_MIN, .act_max = INT8_MAX, .table = table};
}

void lgl_become_conv(struct ir_op *op)
{
    op->opcode = IR_OP_CONV2D;
    op->attr[IR_MULTIPLIER] = 0;
}

void lgl_become_product(struct ir_op *op)
{
    op->opcode = IR_OP_MUL;
    op->fixed.n = 1;
}

void lgl_become_sums(struct ir_graph *g, struct ir_op *op)
{
    const struct ir_tensor *x = ir_in(g, op, 0);
    const int32_t dim[4] = {1, op->attr[IR_KERNEL_H], op->attr[IR_KERNEL_W], x->dim[3]};
    const enum ir_type type = x->type == IR_I16 ? IR_I8 : x->type;
    struct ir_tensor *w = lgl_new_constant(g, "", type, 4, dim, NULL);

    memset((uint8_t *)(uintptr_t)w->data, 1, (size_t)ir_bytes(w));
    w->quant = lgl_new_quant(g, 1.0f / (float)(dim[1] * dim[2]), 0);
    op->opcode = IR_OP_DEPTHWISE_CONV2D;
    op->in = arena_memdup(g->arena, (const uint32_t[]){op->in[0], w->id}, 2 * sizeof *op->in);
    op->n_in = 2;
    op->attr[IR_DILATION_H] = op->attr[IR_DILATION_W] = op->attr[IR_MULTIPLIER] = 1;
    op->attr[IR_QLINEAR] = op->attr[IR_ROUND_UP] = 0;
}

bool lgl_become_mean(struct ir_graph *g, struct ir_op *op)
{
    const struct ir_tensor *x = ir_in(g, op, 0);
    struct ir_tensor *y = ir_out(g, op, 0);
    const float from = x->quant.scale[0], weight = 1.0f / (float)(x->dim[1] * x->dim[2]);
    const double product =
        x->type == IR_U8 ? (double)(from * weight) : (double)from * (double)weight;

    if (op->attr[IR_KERNEL_H] != x->dim[1] || op->attr[IR_KERNEL_W] != x->dim[2] ||
        op->attr[IR_ACTIVATION] != IR_ACT_NONE)
        return false;
    struct ir_op *mean = lgl_make_mean(g, op->row, 1, op->in, y);
    mean->attr[IR_AXIS] = 1 << 1 | 1 << 2;
    mean->attr[IR_KEEP_DIMS] = 1;
    const struct lgl_fixed_scale scale = lgl_fixed_scale(product / (double)y->quant.scale[0]);
    lgl_set_scales(g, mean, 1, &scale);
    op->dead = true;
    return true;
}

struct ir_op *lgl_new_column_sum(struct ir_graph *g, uint32_t row, const uint32_t in[3],
                                 struct ir_tensor *y)
{
    struct ir_op *op = lgl_make_depthwise_conv2d(g, row, 3, in, y);

    for (uint32_t i = IR_STRIDE_H; i <= IR_DILATION_W; i++)
        op->attr[i] = 1;
    op->attr[IR_KERNEL_H] = g->tensor[in[1]]->dim[1];
    op->attr[IR_KERNEL_W] = op->attr[IR_MULTIPLIER] = op->attr[IR_WEIGHTS_KO] = 1;
    return op;
}

const int32_t *lgl_perm(const struct ir_graph *g, const struct ir_op *transpose)
{
    return (const int32_t *)(const void *)ir_in(g, transpose, 1)->data;
}

const struct ir_tensor *lgl_transposed(struct ir_graph *g, uint32_t row, const struct ir_tensor *x,
                                       const char *name, const int32_t *perm)
{
    const int32_t rank = (int32_t)x->rank;
    int32_t dim[IR_MAX_RANK];
    bool identity = true;

    for (int32_t i = 0; i < rank; i++) {
        dim[i] = x->dim[perm[i]];
        identity = identity && perm[i] == i;
    }
    if (identity)
        return x;
    struct ir_tensor *y = ir_tensor_new(g, name, x->type, x->rank, dim);
    y->quant = x->quant;
    const uint32_t in[2] = {x->id, lgl_new_constant(g, x->name, IR_I32, 1, &rank, perm)->id};
    (void)lgl_make_transpose(g, row, 2, in, y);
    return y;
}

struct ir_op *lgl_new_reshape(struct ir_graph *g, uint32_t row, const struct ir_tensor *x,
                              struct ir_tensor *y)
{
    return lgl_make_reshape(g, row, 1, &x->id, y);
}

uint32_t lgl_in_shape(struct ir_graph *g, uint32_t row, const struct ir_tensor *x,
                      const struct ir_tensor *like)
{
    struct ir_tensor *shaped;

    if (ir_same_shape(x, like))
        return x->id;
    shaped = ir_tensor_new(g, x->name, x->type, like->rank, like->dim);
    shaped->quant = x->quant;
    (void)lgl_new_reshape(g, row, x, shaped);
    return shaped->id;
}

void lgl_widen_result(struct ir_graph *g, struct ir_op *op, struct ir_tensor *wide)
{
    struct ir_tensor *y = ir_out(g, op, 0);

    op->out[0] = wide->id;
    wide->producer = op->id;
    (void)lgl_new_reshape(g, op->row, wide, y);
}

void lgl_keep_dims(struct ir_graph *g, struct ir_op *mean)
{
    const struct ir_tensor *x = ir_in(g, mean, 0);
    const struct ir_tensor *y = ir_out(g, mean, 0);
    struct ir_tensor *wide;
    int32_t dim[IR_MAX_RANK];

    for (uint32_t i = 0; i < x->rank; i++)
        dim[i] = (mean->attr[IR_AXIS] >> i & 1) != 0 ? 1 : x->dim[i];
    wide = ir_tensor_new(g, y->name, y->type, x->rank, dim);
    wide->quant = y->quant;
    mean->attr[IR_KEEP_DIMS] = 1;
    lgl_widen_result(g, mean, wide);
}

void lgl_new_gather(struct ir_graph *g, uint32_t row, const struct ir_tensor *x, uint32_t axis,
                    const int32_t *from, struct ir_tensor *y)
{
    const uint32_t in[2] = {x->id, lgl_new_numbers(g, (uint32_t)y->dim[axis], from)};

    lgl_make_gather(g, row, 2, in, y)->attr[IR_AXIS] = (int32_t)axis;
}

void lgl_new_slice(struct ir_graph *g, uint32_t row, const struct ir_tensor *x,
                   const int32_t *begin, const int32_t *step, struct ir_tensor *y)
{
    const uint32_t in[3] = {x->id, lgl_new_numbers(g, x->rank, begin),
                            step ? lgl_new_numbers(g, x->rank, step) : IR_NONE};

    (void)lgl_make_slice(g, row, step ? 3 : 2, in, y);
}

void lgl_new_join(struct ir_graph *g, uint32_t row, uint32_t n, const uint32_t *part, uint32_t axis,
                  struct ir_tensor *y)
{
    lgl_make_concatenation(g, row, n, part, y)->attr[IR_AXIS] = (int32_t)axis;
}
