/* transposed_operand.c - a first operand of BATCH_MATMUL that is read transposed (adj_a).
 * in: BATCH_MATMUL with adj_a.  out: TRANSPOSE, then BATCH_MATMUL without, where an accelerator is
 * selected: it takes rows of the first operand, of the second one rows or columns. */
#include "legalise.h"
#include "new_ops.h"

static void transpose_first(struct ir_graph *g, struct ir_op *product)
{
    const struct ir_tensor *x = ir_in(g, product, 0);
    const int32_t rank = (int32_t)x->rank;
    int32_t dim[IR_MAX_RANK], from[IR_MAX_RANK];

    for (int32_t i = 0; i < rank; i++) {
        from[i] = i < rank - 2 ? i : 2 * rank - 3 - i; /* the last two swapped */
        dim[i] = x->dim[from[i]];
    }
    struct ir_tensor *y = ir_tensor_new(g, x->name, x->type, x->rank, dim);
    y->quant = x->quant;
    const uint32_t in[2] = {x->id, lgl_new_constant(g, x->name, IR_I32, 1, &rank, from)->id};
    (void)lgl_new_op(g, IR_OP_TRANSPOSE, product->row, 2, in, y);
    product->in[0] = y->id;
    product->attr[IR_ADJ_A] = 0;
}

enum status lgl_transposed_operand(struct ir_graph *g, const struct lgl_options *o, struct diag *d)
{
    const uint32_t n_op = g->n_op;

    for (uint32_t i = 0; i < n_op && o->accelerator; i++) {
        struct ir_op *op = g->op[i];

        if (!op->dead && op->opcode == IR_OP_BATCH_MATMUL && op->attr[IR_ADJ_A] &&
            ir_in(g, op, 0)->type == IR_I8 && op->fixed.n_real == 0)
            transpose_first(g, op);
    }
    return ir_link(g, d);
}
