/* transposed_operand.c - let BATCH_MATMUL read transposed operands. in: BATCH_MATMUL with
 * adj_a, adj_b; a TRANSPOSE that exchanges rows and columns of an operand or of the product: (A
 * B')' = B A'. out: a BATCH_MATMUL that reads rows of the first operand, and rows or columns of
 * the second. adj_b is used where possible; the rest of those TRANSPOSEs remains, and one is
 * added for adj_a. */
#include "compiler/legalise/new_ops.h"
#include "rewrites.h"

static bool is_product(const struct ir_graph *g, const struct ir_op *op)
{
    return !op->dead && op->opcode == IR_OP_BATCH_MATMUL && ir_in(g, op, 0)->type == IR_I8 &&
           op->fixed.n_real == 0;
}

/* Return dimension i with the last two exchanged. */
static int32_t swapped(int32_t i, int32_t rank)
{
    return i < rank - 2 ? i : 2 * rank - 3 - i;
}

/* Exchange the last two places of perm. */
static void swap_perm(const int32_t *perm, int32_t rank, int32_t *to)
{
    for (int32_t i = 0; i < rank; i++)
        to[i] = perm[swapped(i, rank)];
}

/* If a TRANSPOSE before operand i exchanges rows and columns, let the product read its source
 * instead. */
static void read_columns(struct ir_graph *g, struct ir_op *product, uint32_t i)
{
    const struct ir_tensor *t = ir_in(g, product, i);
    struct ir_op *before = t->producer == IR_NONE ? NULL : g->op[t->producer];
    const int32_t rank = (int32_t)t->rank;
    int32_t perm[IR_MAX_RANK];

    if (!before || before->dead || before->opcode != IR_OP_TRANSPOSE ||
        lgl_perm(g, before)[rank - 2] != rank - 1)
        return;
    swap_perm(lgl_perm(g, before), rank, perm);
    product->in[i] = lgl_transposed(g, before->row, ir_in(g, before, 0), t->name, perm)->id;
    product->attr[i == 0 ? IR_ADJ_A : IR_ADJ_B] ^= 1;
    before->dead = ir_uses(g, t->id) == 0;
}

/* Return the only reader of `t` if it is a TRANSPOSE that exchanges rows and columns, otherwise
 * NULL. */
static struct ir_op *turning_reader(const struct ir_graph *g, const struct ir_tensor *t)
{
    const int32_t rank = (int32_t)t->rank;

    if (t->is_output || ir_uses(g, t->id) != 1)
        return NULL;
    for (uint32_t i = 0; i < g->n_op; i++) {
        struct ir_op *op = g->op[i];

        if (!op->dead && op->opcode == IR_OP_TRANSPOSE && op->in[0] == t->id)
            return lgl_perm(g, op)[rank - 1] == rank - 2 ? op : NULL;
    }
    return NULL;
}

/* Exchange the operands, so that the product makes the result of the TRANSPOSE after it, or leaves
 * it a simpler one. */
static void turn_product(struct ir_graph *g, struct ir_op *product, struct ir_op *after)
{
    struct ir_tensor *y = ir_out(g, product, 0), *z = ir_out(g, after, 0), *transposed;
    const int32_t rank = (int32_t)y->rank;
    int32_t dim[IR_MAX_RANK], perm[IR_MAX_RANK];
    const uint32_t first = product->in[0];
    bool whole = true;

    for (int32_t i = 0; i < rank; i++) {
        dim[i] = y->dim[swapped(i, rank)];
        perm[i] = swapped(lgl_perm(g, after)[i], rank);
        whole = whole && perm[i] == i;
    }
    product->in[0] = product->in[1];
    product->in[1] = first;
    product->attr[IR_ADJ_B] = !product->attr[IR_ADJ_A];
    product->attr[IR_ADJ_A] = 0;
    after->dead = whole;
    transposed = whole ? z : ir_tensor_new(g, y->name, y->type, y->rank, dim);
    transposed->quant = y->quant;
    transposed->producer = product->id;
    product->out[0] = transposed->id;
    if (whole)
        return;
    after->in[0] = transposed->id;
    after->in[1] = lgl_new_constant(g, z->name, IR_I32, 1, &rank, perm)->id;
}

/* Return true if the product may become that of the transposes, (A B')' = B A': both operands are
 * computed. The accelerator reads the second one from weight memory, the first one as an image. */
static bool may_turn(const struct ir_graph *g, const struct ir_op *product)
{
    return product->attr[IR_ADJ_B] != 0 && ir_in(g, product, 0)->role != IR_CONST &&
           ir_in(g, product, 1)->role != IR_CONST;
}

static void transpose_first(struct ir_graph *g, struct ir_op *product)
{
    const struct ir_tensor *x = ir_in(g, product, 0);
    int32_t perm[IR_MAX_RANK];

    for (int32_t i = 0; i < (int32_t)x->rank; i++)
        perm[i] = swapped(i, (int32_t)x->rank);
    product->in[0] = lgl_transposed(g, product->row, x, x->name, perm)->id;
    product->attr[IR_ADJ_A] = 0;
}

void sys_transposed_operand(struct ir_graph *g, struct ir_op *op, const struct lgl_options *o)
{
    struct ir_op *after;

    (void)o;
    if (!is_product(g, op))
        return;
    read_columns(g, op, 1);
    after = turning_reader(g, ir_out(g, op, 0));
    if (after && may_turn(g, op)) {
        read_columns(g, op, 0);
        turn_product(g, op, after);
    }
    if (op->attr[IR_ADJ_A])
        transpose_first(g, op);
}
