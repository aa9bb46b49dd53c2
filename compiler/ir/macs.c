/* macs.c - multiply-accumulates of an operator, from its shapes: the one formula for each.
 * A MAC is a product added to a sum of products: window cells in the padding count, as every
 * runtime's figure has them; a product by itself (MUL) and sums without products do not. */
#include "ir.h"

/* Elements of the weights for one output channel. */
static uint64_t per_channel(const struct ir_graph *g, const struct ir_op *op)
{
    const struct ir_tensor *w = ir_in(g, op, 1);
    const bool innermost = op->opcode == IR_OP_DEPTHWISE_CONV2D || op->attr[IR_WEIGHTS_KO] != 0;
    const int32_t channels = innermost || w->rank == 0 ? ir_dim_back(w, 0) : w->dim[0];

    return ir_elements(w) / (uint64_t)channels;
}

/* Columns of the first operand, rows of the second. */
static uint64_t inner(const struct ir_graph *g, const struct ir_op *op)
{
    return (uint64_t)ir_dim_back(ir_in(g, op, 0), op->attr[IR_ADJ_A] ? 1 : 0);
}

uint64_t ir_macs(const struct ir_graph *g, const struct ir_op *op)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *w = ir_in(g, op, 1);
    uint64_t n;

    if (x == NULL || w == NULL || op->n_out == 0)
        return 0;
    n = ir_elements(ir_out(g, op, 0));
    switch (op->opcode) {
    case IR_OP_CONV2D:
    case IR_OP_DEPTHWISE_CONV2D:
    case IR_OP_FULLY_CONNECTED:
    case IR_OP_CONV_INTEGER: return n * per_channel(g, op);
    case IR_OP_TRANSPOSE_CONV: /* every input element meets all of its channel's weights */
        return ir_elements(x) * ir_elements(w) / (uint64_t)ir_dim_back(w, 0);
    case IR_OP_BATCH_MATMUL:
    case IR_OP_MATMUL_INTEGER: return n * inner(g, op);
    case IR_OP_LSTM: /* four gates, each of the input and of the last output */
        return n * 4 * ((uint64_t)ir_dim_back(w, 0) + (uint64_t)ir_dim_back(ir_in(g, op, 2), 0));
    case IR_OP_SVDF: /* features of the new step, all steps of the state */
        return (uint64_t)x->dim[0] * (ir_elements(w) + ir_elements(ir_in(g, op, 2)));
    default: return 0;
    }
}
