/* four_dims.c - merge the outer dimensions of products, softmaxes and transpositions of more than
 * four (attention in windows).
 * in: BATCH_MATMUL, SOFTMAX, TRANSPOSE, FULLY_CONNECTED of int8.  out: those of four dimensions between
 * RESHAPEs, if all outer dimensions are alike in both operands, or stay where they are. */
#include "compiler/legalise/legalise.h"
#include "compiler/legalise/new_ops.h"

static bool alike(const struct ir_tensor *a, const struct ir_tensor *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (a->dim[i] != b->dim[i])
            return false;
    return a->rank == b->rank;
}

/* Return true if the first n dimensions can be merged into one. */
static bool count_as_one(const struct ir_graph *g, const struct ir_op *op, uint32_t n)
{
    bool one = true;

    if (ir_op_info(op->opcode)->weights)
        return ir_in(g, op, 0)->rank == ir_out(g, op, 0)->rank;
    if (op->opcode == IR_OP_BATCH_MATMUL)
        return alike(ir_in(g, op, 0), ir_in(g, op, 1), n);
    if (op->opcode == IR_OP_TRANSPOSE)
        for (uint32_t i = 0; i < n; i++)
            one = one && lgl_perm(g, op)[i] == (int32_t)i;
    return one && (op->opcode == IR_OP_TRANSPOSE || op->opcode == IR_OP_SOFTMAX);
}

/* A tensor of four dimensions for `t`. */
static struct ir_tensor *image_of(struct ir_graph *g, const struct ir_tensor *t)
{
    int32_t dim[4] = {1, ir_dim_back(t, 2), ir_dim_back(t, 1), ir_dim_back(t, 0)};

    for (uint32_t i = 0; i + 3 < t->rank; i++)
        dim[0] *= t->dim[i];
    return lgl_new_image(g, t, t->quant, dim);
}

static uint32_t image_in(struct ir_graph *g, const struct ir_op *op, uint32_t i)
{
    const struct ir_tensor *t = ir_in(g, op, i);
    struct ir_tensor *image = image_of(g, t);
    const struct ir_op *reshape = t->producer == IR_NONE ? NULL : g->op[t->producer];

    if (reshape && reshape->opcode == IR_OP_RESHAPE && reshape->attr[IR_RECODE] == 0) {
        const struct ir_tensor *before = ir_in(g, reshape, 0);

        if (before->rank == 4 && alike(before, image, 4))
            return before->id;
    }
    (void)lgl_new_reshape(g, op->row, t, image);
    return image->id;
}

static void make_four(struct ir_graph *g, struct ir_op *op)
{
    const struct ir_tensor *y = ir_out(g, op, 0);
    struct ir_tensor *image = image_of(g, y);
    const int32_t outer = (int32_t)y->rank - 3, rank = 4;

    if (op->opcode == IR_OP_TRANSPOSE) {
        int32_t perm[4] = {0};

        for (int32_t i = 1; i < rank; i++)
            perm[i] = lgl_perm(g, op)[outer + i - 1] - outer + 1;
        op->in[1] = lgl_new_constant(g, y->name, IR_I32, 1, &rank, perm)->id;
    } else if (op->opcode == IR_OP_BATCH_MATMUL) {
        op->in[1] = image_in(g, op, 1);
    }
    op->in[0] = image_in(g, op, 0);
    lgl_widen_result(g, op, image);
}

enum status lgl_four_dims(struct ir_graph *g, const struct lgl_options *o, struct diag *d)
{
    const uint32_t n_op = g->n_op;

    (void)o;
    for (uint32_t i = 0; i < n_op; i++) {
        struct ir_op *op = g->op[i];
        const struct ir_tensor *y = ir_out(g, op, 0);

        if (!op->dead && y->rank > 4 && y->type == IR_I8 && count_as_one(g, op, y->rank - 3))
            make_four(g, op);
    }
    return ir_link(g, d);
}
