/* pool_lines.c - rewrite a maximum over windows as maxima over columns of the windows, then over
 * rows of these. in: MAX_POOL2D of int8 with windows of several rows and columns. out: two
 * MAX_POOL2D of kh x 1 and 1 x kw windows, if they take fewer cycles: VECTOR reads two cells of a
 * window a cycle, and kh + kw cells are fewer than kh * kw. Not if image and result exceed the
 * scratchpad: the columns' maxima would go through memory. Every window has a cell in the image, so
 * padding is that of each direction. */
#include "compiler/legalise/new_ops.h"
#include "hw/gen/config.h"
#include "rewrites.h"

/* Make the window of a pool one cell wide in the direction of these attributes. */
static void one_cell(struct ir_op *pool, enum ir_attr kernel, enum ir_attr stride,
                     enum ir_attr before, enum ir_attr after)
{
    pool->attr[kernel] = pool->attr[stride] = 1;
    pool->attr[before] = pool->attr[after] = 0;
}

void sys_pool_lines(struct ir_graph *g, struct ir_op *op, const struct lgl_options *o)
{
    const struct ir_tensor *x = ir_in(g, op, 0);
    struct ir_tensor *y = ir_out(g, op, 0);

    if (x->type != IR_I8 || op->attr[IR_KERNEL_H] < 2 || op->attr[IR_KERNEL_W] < 2 ||
        ir_bytes(x) + ir_bytes(y) > o->hw->scratchpad_bytes)
        return;
    struct ir_tensor *columns = lgl_new_image(
        g, x, x->quant, (const int32_t[]){x->dim[0], y->dim[1], x->dim[2], x->dim[3]});
    struct ir_op *first = lgl_again(g, op, x, columns), *second = lgl_again(g, op, columns, y);

    one_cell(first, IR_KERNEL_W, IR_STRIDE_W, IR_PAD_LEFT, IR_PAD_RIGHT);
    one_cell(second, IR_KERNEL_H, IR_STRIDE_H, IR_PAD_TOP, IR_PAD_BOTTOM);
    first->fixed.act_min = INT8_MIN;
    first->fixed.act_max = INT8_MAX;
    op->dead = true;
}
