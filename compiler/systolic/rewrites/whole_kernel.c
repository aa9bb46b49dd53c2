/* whole_kernel.c - rewrite a convolution whose window is the whole image as a product. in: CONV2D
 * of int8 without padding, [KH,KW,C,OC], on images [B,KH,KW,C]. out: FULLY_CONNECTED, [KH KW C,OC],
 * with the same weights, sums and requantisation. A product with few outputs uses more columns of
 * the array. */
#include <string.h>

#include "compiler/legalise/new_ops.h"
#include "rewrites.h"

static bool is_whole(const struct ir_graph *g, const struct ir_op *op)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *w = ir_in(g, op, 1), *y = ir_out(g, op, 0);

    for (uint32_t i = IR_PAD_TOP; i <= IR_PAD_RIGHT; i++)
        if (op->attr[i] != 0)
            return false;
    return x->type == IR_I8 && w->role == IR_CONST && op->attr[IR_WEIGHTS_KO] == 1 &&
           y->dim[1] == 1 && y->dim[2] == 1 && w->dim[0] == x->dim[1] && w->dim[1] == x->dim[2] &&
           x->dim[1] * x->dim[2] > 1;
}

static void make_product(struct ir_graph *g, struct ir_op *op)
{
    const struct ir_tensor *w = ir_in(g, op, 1);
    const int32_t dim[2] = {w->dim[0] * w->dim[1] * w->dim[2], w->dim[3]};
    struct ir_tensor *rows = lgl_constant_like(g, w, 2, dim, w->data);

    rows->quant.axis = w->quant.n > 1 ? 1 : 0;
    op->opcode = IR_OP_FULLY_CONNECTED;
    op->in[1] = rows->id;
    memset(op->attr, 0, sizeof op->attr);
    op->attr[IR_WEIGHTS_KO] = 1;
}

void sys_whole_kernel(struct ir_graph *g, struct ir_op *op, const struct lgl_options *o)
{
    (void)o;
    if (is_whole(g, op))
        make_product(g, op);
}
