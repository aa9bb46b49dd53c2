/* nhwc.c - cancel the TRANSPOSEs that importers of NCHW files put around images.
 * In execution order: an operator whose operands are all transposed alike computes on what they
 * were before, and its result is transposed instead; two TRANSPOSEs in a row become one, or none.
 * What reaches FULLY_CONNECTED through a flattening RESHAPE goes into the order of its weights.
 * in: int8 graph after extremum.c.
 * out: the same bytes, TRANSPOSEs mostly at the graph's border. */
#include <string.h>

#include "legalise.h"
#include "new_ops.h"

static const int32_t *perm_of(const struct ir_graph *g, const struct ir_op *transpose)
{
    return (const int32_t *)(const void *)ir_in(g, transpose, 1)->data;
}

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

static void replace_reads(struct ir_graph *g, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i < g->n_op; i++)
        for (uint32_t k = 0; k < g->op[i]->n_in; k++)
            if (g->op[i]->in[k] == from)
                g->op[i]->in[k] = to;
}

/* `second` after another TRANSPOSE reads that one's input; the identity vanishes. */
static void compose(struct ir_graph *g, struct ir_op *second)
{
    const struct ir_op *first = transpose_before(g, second->in[0]);
    const struct ir_tensor *y = ir_out(g, second, 0);
    const int32_t rank = (int32_t)y->rank;
    int32_t perm[IR_MAX_RANK];
    bool identity = true;

    if (!first)
        return;
    for (int32_t i = 0; i < rank; i++) {
        perm[i] = perm_of(g, first)[perm_of(g, second)[i]];
        identity = identity && perm[i] == i;
    }
    second->in[1] = lgl_new_constant(g, y->name, IR_I32, 1, &rank, perm)->id;
    second->in[0] = first->in[0];
    if (identity && !y->is_output)
        replace_reads(g, y->id, first->in[0]);
}

/* Inputs that are data; the others are parameters. */
static uint32_t n_data(const struct ir_op *op)
{
    const uint32_t n = ir_op_info(op->opcode)->n_data;

    return n != 0 ? n : op->n_in;
}

/* Constants can follow any permutation, single numbers need not. */
static bool follows(const struct ir_tensor *t)
{
    return t->role == IR_CONST || ir_elements(t) == 1;
}

/* The permutation of every operand of `op`, or NULL. */
static const int32_t *common_perm(const struct ir_graph *g, const struct ir_op *op)
{
    const uint32_t rank = ir_out(g, op, 0)->rank;
    const int32_t *perm = NULL;

    for (uint32_t i = 0; i < n_data(op); i++) {
        const struct ir_op *t = transpose_before(g, op->in[i]);

        if (follows(ir_in(g, op, i)))
            continue;
        if (!t || ir_in(g, op, i)->rank != rank ||
            (perm && memcmp(perm, perm_of(g, t), rank * sizeof *perm) != 0))
            return NULL;
        perm = perm_of(g, t);
    }
    return perm;
}

/* Constant `t`, broadcast to `rank` dimensions, such that its transposition by `perm` is `t`. */
static uint32_t turned_const(struct ir_graph *g, const struct ir_tensor *t, uint32_t rank,
                             const int32_t *perm)
{
    const size_t size = ir_type_bytes(t->type), n = (size_t)ir_elements(t);
    int32_t dim[IR_MAX_RANK] = {0};
    size_t stride[IR_MAX_RANK] = {0}, all = 1;
    struct ir_tensor *c;
    uint8_t *data;

    for (uint32_t k = 0; k < rank; k++)
        dim[perm[k]] = ir_dim_back(t, rank - 1 - k);
    for (uint32_t k = rank; k-- > 0;) {
        stride[k] = all;
        all *= (size_t)dim[k];
    }
    data = arena_alloc(g->arena, n * size);
    for (size_t i = 0; i < n; i++) {
        size_t rest = i, to = 0;

        for (uint32_t k = rank; k-- > 0;) {
            to += rest % (size_t)dim[perm[k]] * stride[perm[k]];
            rest /= (size_t)dim[perm[k]];
        }
        memcpy(data + to * size, t->data + i * size, size);
    }
    c = ir_tensor_new(g, t->name, t->type, rank, dim);
    c->role = IR_CONST;
    c->quant = t->quant;
    c->data = data;
    return c->id;
}

/* Rows of `n` numbers, one row a dimension, in the order before the transposition. */
static uint32_t turned_rows(struct ir_graph *g, const struct ir_tensor *t, uint32_t n,
                            uint32_t rank, const int32_t *perm)
{
    const int32_t *from = (const int32_t *)(const void *)t->data;
    int32_t value[2 * IR_MAX_RANK] = {0};

    for (uint32_t k = 0; k < rank; k++)
        for (uint32_t i = 0; i < n; i++)
            value[(uint32_t)perm[k] * n + i] = from[k * n + i];
    return lgl_new_constant(g, t->name, IR_I32, t->rank, t->dim, value)->id;
}

static uint32_t turned_operand(struct ir_graph *g, const struct ir_op *op, uint32_t i,
                               const int32_t *perm)
{
    const uint32_t rank = ir_out(g, op, 0)->rank;
    const struct ir_tensor *t = ir_in(g, op, i);
    const struct ir_op *transpose = transpose_before(g, op->in[i]);

    if (op->in[i] == IR_NONE || (op->opcode == IR_OP_PAD && i == 2))
        return op->in[i]; /* the number that is filled in */
    if (i >= n_data(op))
        return turned_rows(g, t, op->opcode == IR_OP_PAD ? 2 : 1, rank, perm);
    if (t->role == IR_CONST && ir_elements(t) != 1)
        return turned_const(g, t, rank, perm);
    return transpose && !follows(t) ? transpose->in[0] : op->in[i];
}

/* op(TRANSPOSE(x), ..) becomes TRANSPOSE(op(x, ..)). */
static void push_behind(struct ir_graph *g, struct ir_op *op, const int32_t *perm)
{
    struct ir_tensor *y = ir_out(g, op, 0), *z;
    const int32_t rank = (int32_t)y->rank;
    const struct ir_op *before = NULL;
    int32_t dim[IR_MAX_RANK] = {0};
    struct ir_op *after;

    for (uint32_t i = 0; !before && i < n_data(op); i++)
        before = follows(ir_in(g, op, i)) ? NULL : transpose_before(g, op->in[i]);
    for (uint32_t i = 0; i < op->n_in; i++)
        op->in[i] = turned_operand(g, op, i, perm);
    if (op->opcode == IR_OP_CONCATENATION)
        op->attr[IR_AXIS] = perm[op->attr[IR_AXIS]];
    for (int32_t k = 0; k < rank; k++)
        dim[perm[k]] = y->dim[k];
    z = ir_tensor_new(g, y->name, y->type, y->rank, dim);
    z->quant = y->quant;
    z->producer = op->id;
    op->out[0] = z->id;
    after = ir_op_new(g, IR_OP_TRANSPOSE, before->row, 2, 1);
    after->in[0] = z->id;
    after->in[1] = lgl_new_constant(g, y->name, IR_I32, 1, &rank, perm)->id;
    after->out[0] = y->id;
    after->fixed.act_min = op->fixed.act_min;
    after->fixed.act_max = op->fixed.act_max;
    y->producer = after->id;
}

/* Columns of weights [OC,K], K = elements of `t` without its first dimension, in the order that `t`
 * had before the transposition by `perm`. */
static uint32_t turned_weights(struct ir_graph *g, const struct ir_tensor *w,
                               const struct ir_tensor *t, const int32_t *perm)
{
    const size_t k_n = (size_t)w->dim[1], size = ir_type_bytes(w->type);
    uint8_t *data = arena_alloc(g->arena, (size_t)ir_bytes(w));
    size_t stride[IR_MAX_RANK] = {0}, n = 1;
    struct ir_tensor *c;

    for (uint32_t d = t->rank; d-- > 1;) /* dimension d of the source is dimension i of t */
        for (uint32_t i = 1; i < t->rank; i++)
            if (perm[i] == (int32_t)d) {
                stride[i] = n;
                n *= (size_t)t->dim[i];
            }
    for (size_t k = 0; k < k_n; k++) {
        size_t rest = k, to = 0;

        for (uint32_t i = t->rank; i-- > 1;) {
            to += rest % (size_t)t->dim[i] * stride[i];
            rest /= (size_t)t->dim[i];
        }
        for (size_t o = 0; o < (size_t)w->dim[0]; o++)
            memcpy(data + (o * k_n + to) * size, w->data + (o * k_n + k) * size, size);
    }
    c = ir_tensor_new(g, w->name, w->type, 2, w->dim);
    c->role = IR_CONST;
    c->quant = w->quant;
    c->data = data;
    return c->id;
}

/* TRANSPOSE -> RESHAPE -> FULLY_CONNECTED: a row of it is one image, so its weights can turn. Not
 * those of float32, whose sums depend on the order. What they read then is not what the file has
 * there, and has a name of its own. */
static void into_weights(struct ir_graph *g, struct ir_op *dense)
{
    const struct ir_op *flat = maker(g, dense->in[0], IR_OP_RESHAPE);
    const struct ir_op *transpose = flat ? transpose_before(g, flat->in[0]) : NULL;
    const struct ir_tensor *w = ir_in(g, dense, 1), *t, *x;
    struct ir_tensor *turned;
    struct ir_op *op;

    if (!transpose || dense->attr[IR_WEIGHTS_KO] != 0 || perm_of(g, transpose)[0] != 0 ||
        w->type == IR_F32)
        return;
    t = ir_in(g, flat, 0);
    x = ir_out(g, flat, 0);
    if (ir_elements(t) / (uint64_t)t->dim[0] != (uint64_t)w->dim[1])
        return;
    dense->in[1] = turned_weights(g, w, t, perm_of(g, transpose));
    turned = ir_tensor_new(g, arena_printf(g->arena, "%s/nhwc", x->name), x->type, x->rank, x->dim);
    turned->quant = x->quant;
    op = ir_op_new(g, IR_OP_RESHAPE, flat->row, 1, 1);
    op->in[0] = transpose->in[0];
    op->out[0] = turned->id;
    op->fixed = flat->fixed;
    op->attr[IR_RECODE] = flat->attr[IR_RECODE];
    turned->producer = op->id;
    dense->in[0] = turned->id;
}

static void drop_unread(struct ir_graph *g)
{
    for (uint32_t i = g->n_op; i-- > 0;) {
        struct ir_op *op = g->op[i];

        if (op->opcode == IR_OP_TRANSPOSE || op->opcode == IR_OP_RESHAPE)
            op->dead = !ir_out(g, op, 0)->is_output && ir_uses(g, op->out[0]) == 0;
    }
}

enum status lgl_nhwc(struct ir_graph *g, const struct lgl_options *o, struct diag *d)
{
    const uint32_t n_op = g->n_op;

    (void)o;
    for (uint32_t i = 0; i < n_op; i++) {
        struct ir_op *op = g->op[i];
        const int32_t *perm = ir_op_info(op->opcode)->any_layout ? common_perm(g, op) : NULL;

        if (op->opcode == IR_OP_TRANSPOSE)
            compose(g, op);
        else if (op->opcode == IR_OP_FULLY_CONNECTED)
            into_weights(g, op);
        else if (perm)
            push_behind(g, op, perm);
    }
    drop_unread(g);
    TRY(ir_link(g, d));
    drop_unread(g); /* chains: a TRANSPOSE that was made later may have stood before its reader */
    return ir_link(g, d);
}
