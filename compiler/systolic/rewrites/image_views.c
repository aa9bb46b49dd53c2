/* image_views.c - rewrite CONCATENATION, SLICE and GATHER of tensors that are not images (a batch,
 * more than four dimensions) as those of images, whose parts are views. in: CONCATENATION, SLICE,
 * GATHER of int8. out: the same along one dimension of an image, between RESHAPEs. A SLICE of
 * several dimensions becomes one per dimension, followed by a GATHER per dimension with a negative
 * step, also for an image. Tables and operators of two operands become those of an image if they have
 * more than four dimensions, or if one operand is broadcast along one of the two outermost. A
 * dimension of rows, columns or channels keeps that role: all outer dimensions are the image's rows.
 * An outer dimension inside others becomes columns, or rows for a GATHER, for each of the others. */
#include <string.h>

#include "compiler/ir/map.h"
#include "compiler/ir/rules.h"
#include "compiler/legalise/new_ops.h"
#include "rewrites.h"

/* A tensor as an image that is cut along dimension `along`; `unit` elements of that dimension are
 * one of the tensor's. */
struct cut {
    int32_t dim[4], unit;
    uint32_t along;
};

static int32_t product(const struct ir_tensor *t, uint32_t from, uint32_t to)
{
    int32_t n = 1;

    for (uint32_t i = from; i < to; i++)
        n *= t->dim[i];
    return n;
}

static struct cut cut_of(const struct ir_tensor *t, uint32_t axis, int32_t step)
{
    const uint32_t row = t->rank < 4 ? t->rank - 1 : t->rank - 2; /* first dimension of an image */
    const int32_t outer = product(t, 0, axis);
    struct cut c = {
        {1, product(t, 0, row), row + 1 < t->rank ? t->dim[row] : 1, t->dim[t->rank - 1]},
        1,
        4 + axis - t->rank};

    if (axis >= row)
        return c;
    if ((outer == 1 && step == 1) || step == 0) {
        c.unit = product(t, axis + 1, row);
        c.along = 1;
        return c;
    }
    return (struct cut){{1, outer, t->dim[axis], product(t, axis + 1, t->rank)}, 1, 2};
}

static bool is_image(const struct ir_tensor *t)
{
    if (t->rank < 4)
        return ir_dim_back(t, 2) == 1 || ir_dim_back(t, 1) == 1;
    return t->rank == 4 && t->dim[0] == 1;
}

/* Return t in the image's shape. */
static const struct ir_tensor *shaped(struct ir_graph *g, uint32_t row, const struct ir_tensor *t,
                                      const int32_t dim[4])
{
    struct ir_tensor *image;

    if (t->rank == 4 && memcmp(t->dim, dim, 4 * sizeof *dim) == 0)
        return t;
    image = lgl_new_image(g, t, t->quant, dim);
    (void)lgl_new_reshape(g, row, t, image);
    return image;
}

static void join(struct ir_graph *g, struct ir_op *op)
{
    struct ir_tensor *y = ir_out(g, op, 0);
    const uint32_t axis = (uint32_t)op->attr[IR_AXIS];
    const struct cut whole = cut_of(y, axis, 1);
    uint32_t *part = ARENA_ARRAY(g->arena, uint32_t, op->n_in);
    struct ir_tensor *image = lgl_new_image(g, y, y->quant, whole.dim);

    for (uint32_t i = 0; i < op->n_in; i++) {
        const struct cut c = cut_of(ir_in(g, op, i), axis, 1);
        part[i] = shaped(g, op->row, ir_in(g, op, i), c.dim)->id;
    }
    lgl_new_join(g, op->row, op->n_in, part, whole.along, image);
    (void)lgl_new_reshape(g, op->row, image, y);
    op->dead = true;
}

static int32_t step_of(const struct ir_graph *g, const struct ir_op *op, uint32_t i)
{
    return op->n_in > 2 ? ir_const_i32(ir_in(g, op, 2), i) : 1;
}

/* Make y from elements take[..] of x's dimension `axis`: a SLICE if they have one positive step,
 * otherwise a GATHER. */
static void take_along(struct ir_graph *g, uint32_t row, const struct ir_tensor *x, uint32_t axis,
                       const int32_t *take, struct ir_tensor *y)
{
    const int32_t n = y->dim[axis], step = ir_map_step(take, n);
    const struct cut c = cut_of(x, axis, step > 0 ? step : 0);
    int32_t begin[4] = {0}, steps[4] = {1, 1, 1, 1}, dim[4];

    memcpy(dim, c.dim, sizeof dim);
    dim[c.along] = c.dim[c.along] / x->dim[axis] * n;
    struct ir_tensor *part = lgl_new_image(g, x, x->quant, dim);
    if (step > 0) {
        begin[c.along] = take[0] * c.unit;
        steps[c.along] = step;
        lgl_new_slice(g, row, shaped(g, row, x, c.dim), begin, step == 1 ? NULL : steps, part);
    } else {
        const int32_t all = dim[c.along], some = n * c.unit;
        int32_t *from = ARENA_ARRAY(g->arena, int32_t, (size_t)all);

        for (int32_t i = 0; i < all; i++)
            from[i] = (i / some * x->dim[axis] + take[i % some / c.unit]) * c.unit + i % c.unit;
        lgl_new_gather(g, row, shaped(g, row, x, c.dim), c.along, from, part);
    }
    (void)lgl_new_reshape(g, row, part, y);
}

static bool takes_all(const struct ir_graph *g, const struct ir_op *op, uint32_t axis)
{
    const int32_t n = ir_in(g, op, 0)->dim[axis];

    return n == ir_out(g, op, 0)->dim[axis] && (n == 1 || step_of(g, op, axis) == 1);
}

/* Slice dimensions with a positive step first, innermost first, so that the remaining rows and
 * columns stay an image. */
static void slice(struct ir_graph *g, struct ir_op *op)
{
    const struct ir_tensor *x = ir_in(g, op, 0);
    struct ir_tensor *y = ir_out(g, op, 0), *part;
    const uint32_t rank = x->rank;
    uint32_t left = 0;

    for (uint32_t axis = 0; axis < rank; axis++)
        left += !takes_all(g, op, axis);
    op->dead = left > 0;
    for (uint32_t i = 2 * rank; i-- > 0;) {
        const uint32_t axis = i % rank;
        const int32_t step = step_of(g, op, axis), n = y->dim[axis];
        int32_t *take = ARENA_ARRAY(g->arena, int32_t, (size_t)n);

        if (takes_all(g, op, axis) || (step > 0) != (i >= rank))
            continue;
        for (int32_t k = 0; k < n; k++)
            take[k] = ir_const_i32(ir_in(g, op, 1), axis) + k * step;
        part = y;
        if (--left > 0) {
            part = ir_tensor_new(g, y->name, IR_I8, rank, x->dim);
            part->dim[axis] = n;
            part->quant = x->quant;
        }
        take_along(g, op->row, x, axis, take, part);
        x = part;
    }
}

static bool goes_back(const struct ir_graph *g, const struct ir_op *op)
{
    for (uint32_t i = 0; i < ir_in(g, op, 0)->rank; i++)
        if (!takes_all(g, op, i) && step_of(g, op, i) < 0)
            return true;
    return false;
}

/* The indices' dimensions, none or several, take the place of one. */
static void gather(struct ir_graph *g, struct ir_op *op)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *index = ir_in(g, op, 1);
    const uint32_t axis = (uint32_t)op->attr[IR_AXIS];
    struct ir_tensor *y = ir_out(g, op, 0), *part = y;

    if (index->role != IR_CONST || index->type != IR_I32 || op->attr[IR_BATCH_DIMS] != 0)
        return;
    if (index->rank != 1) {
        part = ir_tensor_new(g, y->name, IR_I8, x->rank, x->dim);
        part->dim[axis] = (int32_t)ir_elements(index);
        part->quant = y->quant;
    }
    take_along(g, op->row, x, axis, (const int32_t *)(const void *)index->data, part);
    if (part != y)
        (void)lgl_new_reshape(g, op->row, part, y);
    op->dead = true;
}

/* Return dimension i of the operand, which is aligned with the innermost dimensions of `y`. */
static int32_t dim_of(const struct ir_tensor *x, const struct ir_tensor *y, uint32_t i)
{
    return ir_dim_back(x, y->rank - 1 - i);
}

/* Return true if dimensions `from` to `to` of y can be merged: each operand has all of them whose
 * size is not 1, or none. */
static bool merges(const struct ir_graph *g, const struct ir_op *op, uint32_t from, uint32_t to)
{
    const struct ir_tensor *y = ir_out(g, op, 0);

    for (uint32_t k = 0; k < op->n_in; k++) {
        bool has = false, lacks = false;

        for (uint32_t i = from; i <= to; i++) {
            has = has || dim_of(ir_in(g, op, k), y, i) > 1;
            lacks = lacks || (y->dim[i] > 1 && dim_of(ir_in(g, op, k), y, i) == 1);
        }
        if (has && lacks)
            return false;
    }
    return true;
}

/* Merge dimensions of a table or of an operator with two operands: neighbours from the outside until three
 * or four are left. */
static void merge_values(struct ir_graph *g, struct ir_op *op)
{
    struct ir_tensor *y = ir_out(g, op, 0);
    uint32_t group[IR_MAX_RANK] = {0}, n = y->rank, from = 0, in[2];
    int32_t dim[3][4] = {{1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}};

    for (uint32_t i = 1; i < y->rank; i++) {
        const bool one = n > 3 && merges(g, op, from, i);

        n -= one;
        from = one ? from : i;
        group[i] = group[i - 1] + !one;
    }
    if (n > 4 || (n == 4 && y->rank == 4))
        return;
    for (uint32_t i = 0; i < y->rank; i++)
        group[i] += 4 - n; /* of three dimensions the first is rows */
    for (uint32_t i = 0; i < y->rank; i++) {
        dim[2][group[i]] *= y->dim[i];
        for (uint32_t k = 0; k < op->n_in; k++)
            dim[k][group[i]] *= dim_of(ir_in(g, op, k), y, i);
    }
    for (uint32_t k = 0; k < op->n_in; k++)
        in[k] = shaped(g, op->row, ir_in(g, op, k), dim[k])->id;
    struct ir_tensor *image = lgl_new_image(g, y, y->quant, dim[2]);
    struct ir_op *merged = lgl_new_op(g, op->opcode, op->row, op->n_in, in, image);
    memcpy(merged->attr, op->attr, sizeof merged->attr);
    merged->fixed = op->fixed;
    (void)lgl_new_reshape(g, op->row, image, y);
    op->dead = true;
}

static bool is_of_values(const struct ir_op *op)
{
    const struct ir_op_info *info = ir_op_info(op->opcode);

    return op->fixed.table ? op->n_in == 1
                           : info->one_image && info->in.least == 2 && info->in.most == 2;
}

void sys_image_views(struct ir_graph *g, struct ir_op *op, const struct lgl_options *o)
{
    const bool slices = op->opcode == IR_OP_SLICE, gathers = ir_gathers(op);
    const bool images = op->n_in > 0 && is_image(ir_in(g, op, 0)) && is_image(ir_out(g, op, 0));

    (void)o;
    if (op->n_in == 0 || ir_in(g, op, 0)->type != IR_I8 ||
        (images && !(slices && goes_back(g, op)) && !(gathers && ir_in(g, op, 1)->rank != 1)))
        return;
    if (ir_is_join(op))
        join(g, op);
    else if (slices)
        slice(g, op);
    else if (gathers)
        gather(g, op);
    else if (is_of_values(op) &&
             (ir_out(g, op, 0)->rank > 4 || (ir_out(g, op, 0)->rank > 2 && !merges(g, op, 0, 1))))
        merge_values(g, op);
}
