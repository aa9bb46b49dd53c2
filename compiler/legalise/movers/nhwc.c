/* nhwc.c - cancel the TRANSPOSEs that importers of NCHW files put around images, and those that
 * turn rows into channels for a layer normalisation (Keras' fused one).
 * In execution order: an operator whose operands all have the same TRANSPOSE computes on their
 * inputs, and its result is transposed instead; two TRANSPOSEs in a row become one, or none. A
 * mean keeps its dimensions for that, and tensors computed from it keep leading ones. A
 * TRANSPOSE before FULLY_CONNECTED and a flattening RESHAPE goes into the order of the weights.
 * in: int8 graph after compiler/legalise/extremum.c.
 * out: the same bytes, TRANSPOSEs mostly at the border of the graph. */
#include <string.h>

#include "compiler/ir/map.h"
#include "compiler/ir/rules.h"
#include "compiler/legalise/legalise.h"
#include "compiler/legalise/new_ops.h"

static struct ir_op *maker(const struct ir_graph *g, uint32_t id, enum ir_opcode opcode)
{
    const struct ir_tensor *t = g->tensor[id];

    if (t->producer == IR_NONE || g->op[t->producer]->opcode != opcode)
        return NULL;
    return g->op[t->producer];
}

static struct ir_op *transpose_before(const struct ir_graph *g, uint32_t id)
{
    return maker(g, id, IR_OP_TRANSPOSE);
}

static const struct ir_op *reshape_before(const struct ir_graph *g, uint32_t id)
{
    return maker(g, id, IR_OP_RESHAPE);
}

/* Its attribute `axis` is one dimension; else it has none, or a set. */
static bool has_axis(const struct ir_op *op)
{
    return ir_op_has(op->opcode, IR_AXIS) && !ir_op_has(op->opcode, IR_KEEP_DIMS);
}

/* Input `i` has a row of numbers for each dimension. */
static bool has_rows(const struct ir_op *op, uint32_t i)
{
    return i >= ir_n_data(op) && i - ir_n_data(op) < ir_op_info(op->opcode)->n_rows &&
           op->in[i] != IR_NONE;
}

static void replace_reads(struct ir_graph *g, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i < g->n_op; i++)
        for (uint32_t k = 0; k < g->op[i]->n_in; k++)
            if (g->op[i]->in[k] == from)
                g->op[i]->in[k] = to;
}

/* An image of one channel has its columns, or rows, as channels: means are over channels then. */
static void into_channels(struct ir_graph *g, struct ir_op *transpose)
{
    const struct ir_tensor *x = ir_in(g, transpose, 0);
    const int32_t rank = (int32_t)x->rank;
    int32_t dim[IR_MAX_RANK] = {0}, perm[IR_MAX_RANK] = {0}, last = rank - 1;

    while (last > 0 && x->dim[last] == 1)
        last--;
    if (last == rank - 1 || x->type != IR_I8)
        return;
    for (int32_t i = 0; i < rank; i++)
        dim[i] = i < last ? x->dim[i] : i < rank - 1 ? 1 : x->dim[last];
    for (int32_t k = 0; k < rank; k++) {
        const int32_t from = lgl_perm(g, transpose)[k];

        perm[k] = from < last ? from : from == last ? rank - 1 : from - 1;
    }
    struct ir_tensor *image = ir_tensor_new(g, x->name, x->type, x->rank, dim);
    image->quant = x->quant;
    (void)lgl_new_reshape(g, transpose->row, x, image);
    transpose->in[0] = image->id;
    transpose->in[1] = lgl_new_constant(g, x->name, IR_I32, 1, &rank, perm)->id;
}

/* `second` after another TRANSPOSE reads that one's input; the identity vanishes. */
static void compose(struct ir_graph *g, struct ir_op *second)
{
    const struct ir_op *first = transpose_before(g, second->in[0]);
    const struct ir_tensor *y = ir_out(g, second, 0);
    const int32_t rank = (int32_t)y->rank;
    int32_t perm[IR_MAX_RANK];
    bool identity = true;

    if (!first) {
        into_channels(g, second);
        return;
    }
    for (int32_t i = 0; i < rank; i++) {
        perm[i] = lgl_perm(g, first)[lgl_perm(g, second)[i]];
        identity = identity && perm[i] == i;
    }
    second->in[1] = lgl_new_constant(g, y->name, IR_I32, 1, &rank, perm)->id;
    second->in[0] = first->in[0];
    if (identity && !y->is_output)
        replace_reads(g, y->id, first->in[0]);
}

/* The input of a RESHAPE that only drops leading ones, if it is transposed; else NULL. */
static const struct ir_tensor *with_ones(const struct ir_graph *g, uint32_t id)
{
    const struct ir_op *reshape = id == IR_NONE ? NULL : reshape_before(g, id);
    const struct ir_tensor *t = id == IR_NONE ? NULL : g->tensor[id], *x;

    if (!reshape || reshape->attr[IR_RECODE] != 0 || !transpose_before(g, reshape->in[0]))
        return NULL;
    x = ir_in(g, reshape, 0);
    for (uint32_t i = 0; i < x->rank; i++)
        if (ir_dim_back(x, i) != (i < t->rank ? ir_dim_back(t, i) : 1))
            return NULL;
    return x->rank > t->rank ? x : NULL;
}

/* Rows of numbers, one row per dimension, for `added` leading dimensions more: rows of `fill`. */
static uint32_t wide_rows(struct ir_graph *g, const struct ir_tensor *t, uint32_t added,
                          int32_t fill)
{
    const uint32_t n = (uint32_t)(ir_elements(t) / (uint64_t)t->dim[0]);
    int32_t value[2 * IR_MAX_RANK], dim[2] = {t->dim[0] + (int32_t)added, (int32_t)n};

    for (uint32_t i = 0; i < (uint32_t)dim[0] * n; i++)
        value[i] = i < added * n ? fill : ir_const_i32(t, i - added * n);
    return lgl_new_constant(g, t->name, IR_I32, t->rank, dim, value)->id;
}

/* Restore the leading dimensions of 1 to the operands and the result of `op`. */
static void keep_ones(struct ir_graph *g, struct ir_op *op)
{
    const struct ir_tensor *y = ir_out(g, op, 0);
    struct ir_tensor *wide;
    int32_t dim[IR_MAX_RANK];
    uint32_t rank = 0;

    for (uint32_t i = 0; i < ir_n_data(op); i++) {
        const struct ir_tensor *x = with_ones(g, op->in[i]);

        if (has_axis(op) && (!x || (rank != 0 && x->rank != rank)))
            return; /* its operands have one rank */
        rank = x && x->rank > rank ? x->rank : rank;
    }
    for (uint32_t i = 0; i < ir_n_data(op); i++) {
        const struct ir_tensor *x = with_ones(g, op->in[i]);

        op->in[i] = x ? x->id : op->in[i];
    }
    if (rank <= y->rank)
        return;
    if (has_axis(op))
        op->attr[IR_AXIS] += (int32_t)(rank - y->rank);
    for (uint32_t i = 0; i < op->n_in; i++)
        if (has_rows(op, i)) /* amounts, begins; steps are 1 */
            op->in[i] = wide_rows(g, ir_in(g, op, i), rank - y->rank, i == 2);
    for (uint32_t i = 0; i < rank; i++)
        dim[i] = ir_dim_back(y, rank - 1 - i);
    wide = ir_tensor_new(g, y->name, y->type, rank, dim);
    wide->quant = y->quant;
    lgl_widen_result(g, op, wide);
}

/* Return true if the operand can be permuted: constants can, single numbers need not. */
static bool follows(const struct ir_tensor *t)
{
    return t->role == IR_CONST || ir_elements(t) == 1;
}

/* The permutation of every operand of `op`, or NULL. */
static const int32_t *common_perm(const struct ir_graph *g, const struct ir_op *op)
{
    const uint32_t rank = ir_out(g, op, 0)->rank;
    const int32_t *perm = NULL;

    for (uint32_t i = 0; i < ir_n_data(op); i++) {
        const struct ir_op *t = transpose_before(g, op->in[i]);

        if (follows(ir_in(g, op, i)))
            continue;
        if (!t || ir_in(g, op, i)->rank != rank ||
            (perm && memcmp(perm, lgl_perm(g, t), rank * sizeof *perm) != 0))
            return NULL;
        perm = lgl_perm(g, t);
    }
    return perm;
}

/* Elements of constant `t`, broadcast to `rank` dimensions, in the order from which TRANSPOSE by `perm`
 * makes t's; `dim`: its dimensions. */
static const uint8_t *order_before(struct ir_graph *g, const struct ir_tensor *t, uint32_t rank,
                                   const int32_t *perm, int32_t *dim)
{
    uint8_t *data = arena_alloc(g->arena, (size_t)ir_bytes(t));
    struct ir_map m = {.rank = rank};
    int32_t stride = 1;

    for (uint32_t k = rank; k-- > 0;) {
        const int32_t n = ir_dim_back(t, rank - 1 - k), to = perm[k];

        m.dim[to] = dim[to] = n;
        m.off[to] = ARENA_ARRAY(g->arena, int32_t, (size_t)n);
        for (int32_t i = 0; i < n; i++)
            m.off[to][i] = i * stride;
        stride *= n;
    }
    ir_map_copy(&m, t->data, NULL, ir_type_bytes(t->type), data);
    return data;
}

/* Constant `t`, broadcast to `rank` dimensions, such that its transposition by `perm` is `t`. */
static uint32_t transposed_const(struct ir_graph *g, const struct ir_tensor *t, uint32_t rank,
                                 const int32_t *perm)
{
    int32_t dim[IR_MAX_RANK] = {0};
    const uint8_t *data = order_before(g, t, rank, perm, dim);

    return lgl_constant_like(g, t, rank, dim, data)->id;
}

/* Rows of `n` numbers, one row per dimension, in the order before the transposition. */
static uint32_t transposed_rows(struct ir_graph *g, const struct ir_tensor *t, uint32_t n,
                                uint32_t rank, const int32_t *perm)
{
    int32_t value[2 * IR_MAX_RANK] = {0};

    for (uint32_t k = 0; k < rank * n; k++)
        value[(uint32_t)perm[k / n] * n + k % n] = ir_const_i32(t, k);
    return lgl_new_constant(g, t->name, IR_I32, t->rank, t->dim, value)->id;
}

/* Columns of weights [OC,K], K = elements of `t` without its first dimension, in the order that `t`
 * had before the transposition by `perm`. */
static uint32_t transposed_weights(struct ir_graph *g, const struct ir_tensor *w,
                                   const struct ir_tensor *t, const int32_t *perm)
{
    struct ir_tensor as_t = *w;
    int32_t dim[IR_MAX_RANK];

    as_t.rank = t->rank;
    memcpy(as_t.dim, t->dim, sizeof as_t.dim);
    as_t.dim[0] = w->dim[0];
    return lgl_constant_like(g, w, 2, w->dim, order_before(g, &as_t, t->rank, perm, dim))->id;
}

static uint32_t transposed_operand(struct ir_graph *g, const struct ir_op *op, uint32_t i,
                                   const int32_t *perm)
{
    const uint32_t rank = ir_out(g, op, 0)->rank;
    const struct ir_tensor *t = ir_in(g, op, i);
    const struct ir_op *transpose = transpose_before(g, op->in[i]);

    if (has_rows(op, i))
        return transposed_rows(g, t, (uint32_t)ir_elements(t) / rank, rank, perm);
    if (op->in[i] == IR_NONE || i >= ir_n_data(op))
        return op->in[i]; /* a PAD's number */
    if (t->role == IR_CONST && ir_elements(t) != 1)
        return transposed_const(g, t, rank, perm);
    return transpose && !follows(t) ? transpose->in[0] : op->in[i];
}

static int32_t transposed_axes(int32_t axes, const int32_t *perm, int32_t rank)
{
    int32_t transposed = 0;

    for (int32_t k = 0; k < rank; k++)
        transposed |= (axes >> k & 1) << perm[k];
    return transposed;
}

/* op(TRANSPOSE(x), ..) becomes TRANSPOSE(op(x, ..)). */
static void push_behind(struct ir_graph *g, struct ir_op *op, const int32_t *perm)
{
    struct ir_tensor *y = ir_out(g, op, 0), *z;
    const int32_t rank = (int32_t)y->rank;
    const struct ir_op *before = NULL;
    int32_t dim[IR_MAX_RANK] = {0};
    struct ir_op *after;
    const bool mean = ir_op_has(op->opcode, IR_KEEP_DIMS);
    /* tables of constant channels name the mean (transpose_mean.c) */
    const bool renamed = mean && perm[rank - 1] != rank - 1;

    for (uint32_t i = 0; !before && i < ir_n_data(op); i++)
        before = follows(ir_in(g, op, i)) ? NULL : transpose_before(g, op->in[i]);
    for (uint32_t i = 0; i < op->n_in; i++)
        op->in[i] = transposed_operand(g, op, i, perm);
    if (has_axis(op))
        op->attr[IR_AXIS] = perm[op->attr[IR_AXIS]];
    if (mean)
        op->attr[IR_AXIS] = transposed_axes(op->attr[IR_AXIS], perm, rank);
    for (int32_t k = 0; k < rank; k++)
        dim[perm[k]] = y->dim[k];
    z = ir_tensor_new(g, renamed ? arena_printf(g->arena, "%s/mean", y->name) : y->name, y->type,
                      y->rank, dim);
    z->quant = y->quant;
    z->moved = y->moved || perm[rank - 1] != rank - 1;
    z->producer = op->id;
    op->out[0] = z->id;
    after = ir_make_transpose(g, before->row, 2, 1);
    after->in[0] = z->id;
    after->in[1] = lgl_new_constant(g, y->name, IR_I32, 1, &rank, perm)->id;
    after->out[0] = y->id;
    after->fixed.act_min = op->fixed.act_min;
    after->fixed.act_max = op->fixed.act_max;
    y->producer = after->id;
}

/* TRANSPOSE -> RESHAPE -> FULLY_CONNECTED: a row is one image, so the weights can be reordered.
 * Float32 weights are left, since their sums depend on the order. The tensor read then differs
 * from the file's, and gets a name of its own. */
static void into_weights(struct ir_graph *g, struct ir_op *dense)
{
    const struct ir_op *flat = reshape_before(g, dense->in[0]);
    const struct ir_op *transpose = flat ? transpose_before(g, flat->in[0]) : NULL;
    const struct ir_tensor *w = ir_in(g, dense, 1), *t, *x;
    struct ir_tensor *transposed;
    struct ir_op *op;

    if (!transpose || dense->attr[IR_WEIGHTS_KO] != 0 || lgl_perm(g, transpose)[0] != 0 ||
        w->type == IR_F32)
        return;
    t = ir_in(g, flat, 0);
    x = ir_out(g, flat, 0);
    if (ir_elements(t) / (uint64_t)t->dim[0] != (uint64_t)w->dim[1])
        return;
    dense->in[1] = transposed_weights(g, w, t, lgl_perm(g, transpose));
    transposed =
        ir_tensor_new(g, arena_printf(g->arena, "%s/nhwc", x->name), x->type, x->rank, x->dim);
    transposed->quant = x->quant;
    op = ir_make_reshape(g, flat->row, 1, 1);
    op->in[0] = transpose->in[0];
    op->out[0] = transposed->id;
    op->fixed = flat->fixed;
    op->attr[IR_RECODE] = flat->attr[IR_RECODE];
    transposed->producer = op->id;
    dense->in[0] = transposed->id;
}

/* Return true for an int8 mean over the outer dimensions; float32 sums depend on their order. */
static bool is_outer_mean(const struct ir_graph *g, const struct ir_op *op)
{
    const uint32_t axes = (uint32_t)op->attr[IR_AXIS];

    return op->opcode == IR_OP_MEAN && ir_in(g, op, 0)->type == IR_I8 && (axes & (axes + 1)) == 0;
}

/* Return true for the graph's last QUANTIZE or DEQUANTIZE, which STORE does: a TRANSPOSE stays before
 * it, in int8. */
static bool is_border(const struct ir_graph *g, const struct ir_op *op)
{
    const struct ir_tensor *y = ir_out(g, op, 0);

    return y->is_output && ir_in(g, op, 0)->type == IR_I8 && y->type != IR_I8;
}

static void drop_unread(struct ir_graph *g)
{
    for (uint32_t i = g->n_op; i-- > 0;) {
        struct ir_op *op = g->op[i];

        if (ir_rearranges(op))
            op->dead = !ir_out(g, op, 0)->is_output && ir_uses(g, op->out[0]) == 0;
    }
}

enum status lgl_nhwc(struct ir_graph *g, const struct lgl_options *o, struct diag *d)
{
    const uint32_t n_op = g->n_op;

    (void)o;
    for (uint32_t i = 0; i < n_op; i++) {
        struct ir_op *op = g->op[i];
        const int32_t *perm = NULL;

        if (ir_op_info(op->opcode)->any_layout && !is_border(g, op)) {
            keep_ones(g, op);
            perm = common_perm(g, op);
        } else if (is_outer_mean(g, op) && transpose_before(g, op->in[0])) {
            if (!op->attr[IR_KEEP_DIMS])
                lgl_keep_dims(g, op);
            perm = common_perm(g, op);
        }
        if (op->opcode == IR_OP_TRANSPOSE)
            compose(g, op);
        else if (op->opcode == IR_OP_FULLY_CONNECTED)
            into_weights(g, op);
        else if (perm)
            push_behind(g, op, perm);
    }
    drop_unread(g);
    TRY(ir_link(g, d));
    drop_unread(g); /* again: the first pass visits a TRANSPOSE made later before its reader */
    return ir_link(g, d);
}
