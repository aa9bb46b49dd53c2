/* left_padding.c - limit the left padding of a depthwise convolution to less than the array's rows.
 * in: DEPTHWISE_CONV2D of one int8 image with at least `array_rows` columns of left padding (long
 * kernels of audio networks, large dilations). out: a PAD that writes these columns with the zero
 * point, the value that the convolution uses outside the image. */
#include <string.h>

#include "compiler/legalise/new_ops.h"
#include "rewrites.h"

static void write_padding(struct ir_graph *g, struct ir_op *op)
{
    const struct ir_tensor *x = ir_in(g, op, 0);
    const int32_t left = op->attr[IR_PAD_LEFT];
    const int32_t dim[4] = {x->dim[0], x->dim[1], x->dim[2] + left, x->dim[3]};
    const int32_t pads[8] = {0, 0, 0, 0, left, 0, 0, 0};
    struct ir_tensor *wide = lgl_new_image(g, x, x->quant, dim);
    struct ir_tensor *table = lgl_new_constant(g, "", IR_I32, 2, (const int32_t[]){4, 2}, pads);

    (void)lgl_new_op(g, IR_OP_PAD, op->row, 2, (const uint32_t[]){x->id, table->id}, wide);
    op->in[0] = wide->id;
    op->attr[IR_PAD_LEFT] = 0;
}

void sys_left_padding(struct ir_graph *g, struct ir_op *op, const struct lgl_options *o)
{
    if (ir_in(g, op, 0)->type == IR_I8 && ir_in(g, op, 0)->dim[0] == 1 && op->fixed.n_real == 0 &&
        op->attr[IR_PAD_LEFT] >= (int32_t)o->array_rows)
        write_padding(g, op);
}
