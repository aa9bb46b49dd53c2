/* padding.c - replace SAME padding by explicit pads.
 * in: operators with windows as files have them.  out: padding 0 (explicit) everywhere. The output
 * holds ceil(size / stride) windows; if they need an odd number of cells outside, the odd one is
 * at the end. */
#include "legalise.h"

/* Cells before the first one and after the last. */
static void pads_of(int64_t size, int64_t kernel, int64_t dilation, int64_t stride, int32_t *before,
                    int32_t *after)
{
    const int64_t windows = (size + stride - 1) / stride;
    const int64_t total = (windows - 1) * stride + (kernel - 1) * dilation + 1 - size;

    *before = (int32_t)(total > 0 ? total / 2 : 0);
    *after = (int32_t)(total > 0 ? total - total / 2 : 0);
}

/* TRANSPOSE_CONV is the convolution that would take its output for its input. */
static void resolve(const struct ir_graph *g, struct ir_op *op)
{
    const bool transposed = op->opcode == IR_OP_TRANSPOSE_CONV;
    const bool dilated = ir_op_has(op->opcode, IR_DILATION_H);
    const struct ir_tensor *image = transposed ? ir_out(g, op, 0) : ir_in(g, op, 0);
    int32_t *a = op->attr, bottom, right;

    pads_of(image->dim[1], a[IR_KERNEL_H], dilated ? a[IR_DILATION_H] : 1, a[IR_STRIDE_H],
            &a[IR_PAD_TOP], &bottom);
    pads_of(image->dim[2], a[IR_KERNEL_W], dilated ? a[IR_DILATION_W] : 1, a[IR_STRIDE_W],
            &a[IR_PAD_LEFT], &right);
    if (!transposed) {
        a[IR_PAD_BOTTOM] = bottom;
        a[IR_PAD_RIGHT] = right;
    }
    a[IR_PADDING] = IR_PADDING_EXPLICIT;
}

enum status lgl_padding(struct ir_graph *g, const struct lgl_options *o, struct diag *d)
{
    (void)o;
    (void)d;
    for (uint32_t i = 0; i < g->n_op; i++)
        if (!g->op[i]->dead && g->op[i]->attr[IR_PADDING] == IR_PADDING_SAME)
            resolve(g, g->op[i]);
    return ST_OK;
}
