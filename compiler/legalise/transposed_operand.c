/* transposed_operand.c - a first operand of BATCH_MATMUL that is read transposed (adj_a).
 * in: BATCH_MATMUL with adj_a.  out: TRANSPOSE, then BATCH_MATMUL without, where an accelerator is
 * selected: it takes rows of the first operand, of the second one rows or columns. */
#include "legalise.h"

static uint32_t swap_last_two(struct ir_graph *g, const struct ir_tensor *x)
{
    int32_t from[IR_MAX_RANK];
    struct ir_tensor *t = ir_tensor_new(g, x->name, IR_I32, 1, (const int32_t[]){(int32_t)x->rank});

    for (uint32_t i = 0; i < x->rank; i++)
        from[i] = (int32_t)i;
    from[x->rank - 1] = (int32_t)x->rank - 2;
    from[x->rank - 2] = (int32_t)x->rank - 1;
    t->role = IR_CONST;
    t->data = arena_memdup(g->arena, from, x->rank * sizeof *from);
    return t->id;
}

static void transpose_first(struct ir_graph *g, struct ir_op *product)
{
    const struct ir_tensor *x = ir_in(g, product, 0);
    struct ir_op *op = ir_op_new(g, IR_OP_TRANSPOSE, product->row, 2, 1);
    int32_t dim[IR_MAX_RANK];

    for (uint32_t i = 0; i < x->rank; i++)
        dim[i] = x->dim[i];
    dim[x->rank - 1] = x->dim[x->rank - 2];
    dim[x->rank - 2] = x->dim[x->rank - 1];
    struct ir_tensor *y = ir_tensor_new(g, x->name, x->type, x->rank, dim);
    y->quant = x->quant;
    y->producer = op->id;
    op->in[0] = x->id;
    op->in[1] = swap_last_two(g, x);
    op->out[0] = y->id;
    op->fixed = (struct ir_fixed){.act_min = INT8_MIN, .act_max = INT8_MAX};
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
