/* reductions.c - rewrite reductions of int8 as operators of the accelerator. in: REDUCE_MAX,
 * REDUCE_MIN, SUM of int8 over any dimensions. out: SUM becomes MEAN with a multiplier that does
 * not divide: both requantise the sum of all x - z_in (NUMERICS.md). REDUCE_MAX and REDUCE_MIN
 * become MAXIMUM or MINIMUM of a dimension's two halves until one value is left, dimension by
 * dimension. If the number of values is odd, the middle one is in both halves, which does not
 * change the result. ARG_MAX, ARG_MIN and TOP_K of one result become the least place among those
 * whose value is that maximum or minimum. The column REDUCTION of operators.def names the operator.
 * MEAN over adjacent dimensions of a tensor with more than four becomes that of an image. MEAN over
 * separated dimensions becomes that of x transposed, over its innermost dimensions. */
#include <math.h>

#include "compiler/ir/formula.h"
#include "compiler/legalise/new_ops.h"
#include "rewrites.h"

static const struct {
    enum { NONE, HALVES, ALIKE, PLACE } how;
    enum ir_opcode code;
} reductions[] = {
#define OPERATOR(code, name, columns) {columns},
#define REDUCTION(kind, other)        .how = kind, .code = IR_OP_##other,
#include "operators/operators.def"
};

/* Return x as an image with dimension `axis` alone in image dimension *at. */
static const struct ir_tensor *as_image(struct ir_graph *g, uint32_t row, const struct ir_tensor *x,
                                        const int32_t *dim, uint32_t axis, uint32_t *at)
{
    int32_t before = 1, after = 1, near = 1;

    for (uint32_t i = 0; i < x->rank; i++)
        *(i < axis ? &before : &after) *= i == axis ? 1 : dim[i];
    for (uint32_t i = 0; i < axis; i++)
        near = dim[i] > 1 ? dim[i] : near;
    *at = after == 1 ? 3 : before == 1 ? 1 : 2;
    const int32_t shape[3][4] = {{1, dim[axis], 1, after},
                                 {1, before, dim[axis], after},
                                 {1, before / near, near, dim[axis]}};
    struct ir_tensor *image = lgl_new_image(g, x, x->quant, shape[*at - 1]);
    (void)lgl_new_reshape(g, row, x, image);
    return image;
}

/* Halve dimension `at` of an image until it has one element, by operator `code`. */
static const struct ir_tensor *halve(struct ir_graph *g, uint32_t row, enum ir_opcode code,
                                     const struct ir_tensor *x, uint32_t at)
{
    while (x->dim[at] > 1) {
        const int32_t half = (x->dim[at] + 1) / 2;
        int32_t dim[4] = {1, x->dim[1], x->dim[2], x->dim[3]}, begin[4] = {0};
        uint32_t part[2];

        dim[at] = half;
        for (uint32_t i = 0; i < 2; i++) {
            struct ir_tensor *y = lgl_new_image(g, x, x->quant, dim);

            begin[at] = i ? x->dim[at] - half : 0;
            lgl_new_slice(g, row, x, begin, NULL, y);
            part[i] = y->id;
        }
        struct ir_tensor *y = lgl_new_image(g, x, x->quant, dim);
        (void)lgl_new_op(g, code, row, 2, part, y);
        x = y;
    }
    return x;
}

static void reduce(struct ir_graph *g, struct ir_op *op)
{
    const struct ir_tensor *first = ir_in(g, op, 0), *x = first;
    int32_t dim[IR_MAX_RANK];

    for (uint32_t i = 0; i < first->rank; i++)
        dim[i] = first->dim[i];
    for (uint32_t i = first->rank; i-- > 0;) {
        uint32_t at;

        if ((op->attr[IR_AXIS] >> i & 1) == 0 || dim[i] == 1)
            continue;
        const struct ir_tensor *image = as_image(g, op->row, x, dim, i, &at);
        dim[i] = 1;
        struct ir_tensor *y = ir_tensor_new(g, first->name, IR_I8, first->rank, dim);
        y->quant = first->quant;
        (void)lgl_new_reshape(g, op->row, halve(g, op->row, reductions[op->opcode].code, image, at),
                              y);
        x = y;
    }
    (void)lgl_new_reshape(g, op->row, x, ir_out(g, op, 0));
    op->dead = true;
}

/* Look through a TRANSPOSE of x that leaves the order of all dimensions but *axis. */
static const struct ir_tensor *untransposed(const struct ir_graph *g, const struct ir_tensor *x,
                                            uint32_t *axis)
{
    struct ir_match m = {.g = g};
    const int32_t *perm;
    int32_t last = -1;

    if (!ir_match(&m, x->id, "transpose(x, #p)"))
        return x;
    perm = lgl_perm(g, m.op[0]);
    for (uint32_t i = 0; i < x->rank; i++) {
        if (i != *axis && perm[i] < last)
            return x;
        last = i == *axis ? last : perm[i];
    }
    *axis = (uint32_t)perm[*axis];
    return g->tensor[ir_matched(&m, 'x')];
}

/* Return a + factor * b, or a - b for factor -1, in int8's range, where `factor` is below 2^9. */
static const struct ir_tensor *combined(struct ir_graph *g, uint32_t row, const struct ir_tensor *a,
                                        const struct ir_tensor *b, int32_t factor,
                                        const struct ir_tensor *like)
{
    const double most = factor > 1 ? factor : 1;
    const struct lgl_fixed_scale scale[3] = {lgl_fixed_scale(0.5 / most), lgl_fixed_scale(0.5),
                                             lgl_fixed_scale(ldexp(most, -19))};
    const uint32_t in[2] = {a->id, b->id};
    struct ir_tensor *y = lgl_new_image(g, like, lgl_new_quant(g, 1, 0), like->dim);
    struct ir_op *op = factor < 0 ? lgl_make_sub(g, row, 2, in, y) : lgl_make_add(g, row, 2, in, y);

    lgl_set_scales(g, op, 3, scale);
    return y;
}

/* Return constant places -128, -127, .. along dimension `at` of an image. */
static const struct ir_tensor *places(struct ir_graph *g, const struct ir_tensor *x, uint32_t at)
{
    int32_t dim[4] = {1, 1, 1, 1};
    struct ir_tensor *t;

    dim[at] = x->dim[at];
    t = lgl_new_constant(g, "", IR_I8, 4, dim, NULL);
    t->quant = lgl_new_quant(g, 1, 0);
    for (int32_t i = 0; i < dim[at]; i++)
        ((int8_t *)(uintptr_t)t->data)[i] = (int8_t)(i + INT8_MIN);
    return t;
}

/* Return true if the operators of a place of n take less time than the host, by rough cycles. */
static bool is_worth_it(const struct ir_tensor *x, int32_t n)
{
    enum { HOST_VALUE = 16, OPERATOR = 256, MOST_PLACES = 256 };
    uint64_t operators = 2;

    for (int32_t i = 1; i < n; i *= 2)
        operators += 2;
    return n <= MOST_PLACES && ir_elements(x) * HOST_VALUE > operators * OPERATOR;
}

/* Rewrite `op` as the least place whose value is the largest or smallest: each value's distance from
 * that, 256 times over, added to its place, leaves just the places of distance 0 below 127. */
static void find_place(struct ir_graph *g, struct ir_op *op)
{
    const enum ir_opcode minimum = IR_OP_MINIMUM;
    const bool least = reductions[op->opcode].code == minimum || op->attr[IR_REVERSE] != 0;
    struct ir_tensor *y = ir_out(g, op, 0), *place;
    uint32_t axis = (uint32_t)op->attr[IR_AXIS], at;
    const struct ir_tensor *x = untransposed(g, ir_in(g, op, 0), &axis);

    if (ir_elements(y) * (uint64_t)x->dim[axis] != ir_elements(x) || !is_worth_it(x, x->dim[axis]))
        return;
    const struct ir_tensor *image = as_image(g, op->row, x, x->dim, axis, &at);
    const struct ir_tensor *best =
        halve(g, op->row, least ? minimum : reductions[op->opcode].code, image, at);
    op->dead = true;
    if (y->type == IR_I8) {
        (void)lgl_new_reshape(g, op->row, best, y);
        return;
    }
    const struct ir_tensor *far =
        combined(g, op->row, least ? image : best, least ? best : image, -1, image);
    far = combined(g, op->row, places(g, image, at), far, 256, image);
    place = ir_tensor_new(g, y->name, IR_I8, y->rank, y->dim);
    place->quant = lgl_new_quant(g, 1, 0);
    (void)lgl_new_reshape(g, op->row, halve(g, op->row, minimum, far, at), place);
    lgl_make_cast(g, op->row, 1, &place->id, y)->attr[IR_FROM_U8] = 1;
}

/* Return true if a kept dimension is between two averaged ones. */
static bool apart(const struct ir_tensor *x, uint32_t axes)
{
    bool over = false, ended = false;

    for (uint32_t i = 0; i < x->rank; i++) {
        if (x->dim[i] == 1)
            continue;
        if ((axes >> i & 1) != 0 && ended)
            return true;
        over = over || (axes >> i & 1) != 0;
        ended = over && (axes >> i & 1) == 0;
    }
    return false;
}

/* Return x transposed so that the dimensions of `axes` are innermost; *axes: their new
 * positions. */
static const struct ir_tensor *innermost(struct ir_graph *g, uint32_t row,
                                         const struct ir_tensor *x, uint32_t *axes)
{
    int32_t perm[IR_MAX_RANK];
    uint32_t n = 0, kept;

    for (uint32_t i = 0; i < x->rank; i++)
        if ((*axes >> i & 1) == 0)
            perm[n++] = (int32_t)i;
    kept = n;
    for (uint32_t i = 0; i < x->rank; i++)
        if ((*axes >> i & 1) != 0)
            perm[n++] = (int32_t)i;
    *axes = (1u << x->rank) - (1u << kept);
    return lgl_transposed(g, row, x, x->name, perm);
}

/* Rewrite `op` over adjacent dimensions of x as one over a single dimension of an image. */
static void mean_of_image(struct ir_graph *g, struct ir_op *op, const struct ir_tensor *x,
                          uint32_t axes)
{
    int32_t dim[IR_MAX_RANK], to[4];
    uint32_t first = 0, last, at;

    while (first < x->rank && (axes >> first & 1) == 0)
        first++;
    for (last = first; last < x->rank && (axes >> last & 1) != 0; last++)
        ;
    if (first == x->rank || axes >> last != 0)
        return;
    for (uint32_t i = 0; i < x->rank; i++)
        dim[i] = x->dim[i];
    for (uint32_t i = first + 1; i < last; i++) {
        dim[first] *= dim[i];
        dim[i] = 1;
    }
    const struct ir_tensor *image = as_image(g, op->row, x, dim, first, &at);
    for (uint32_t i = 0; i < 4; i++)
        to[i] = i == at ? 1 : image->dim[i];
    struct ir_tensor *y = lgl_new_image(g, x, ir_out(g, op, 0)->quant, to);
    struct ir_op *mean = lgl_make_mean(g, op->row, 1, &image->id, y);
    mean->fixed = op->fixed;
    mean->attr[IR_AXIS] = 1 << at;
    mean->attr[IR_KEEP_DIMS] = 1;
    (void)lgl_new_reshape(g, op->row, y, ir_out(g, op, 0));
    op->dead = true;
}

void sys_reductions(struct ir_graph *g, struct ir_op *op, const struct lgl_options *o)
{
    (void)o;
    if (op->n_in == 0 || ir_in(g, op, 0)->type != IR_I8 || op->fixed.n_real != 0)
        return;
    if (reductions[op->opcode].how == HALVES)
        reduce(g, op);
    else if (reductions[op->opcode].how == PLACE)
        find_place(g, op);
    else if (reductions[op->opcode].how == ALIKE)
        op->opcode = reductions[op->opcode].code;
    if (op->dead || op->opcode != IR_OP_MEAN)
        return;
    const struct ir_tensor *x = ir_in(g, op, 0);
    uint32_t axes = (uint32_t)op->attr[IR_AXIS];
    const bool turns = apart(x, axes);
    if (turns)
        x = innermost(g, op->row, x, &axes);
    if (turns || x->rank > 4)
        mean_of_image(g, op, x, axes);
}
