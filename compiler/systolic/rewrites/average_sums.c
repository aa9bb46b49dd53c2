/* average_sums.c - rewrite an average over small windows as a depthwise convolution with weights of
 * 1. in: AVERAGE_POOL2D of int8 with whole windows of an odd number n of values. out:
 * DEPTHWISE_CONV2D with the multiplier ceil(2^31 / n), if that takes less than half the cycles. An
 * odd n has no ties, so one rounding of the high product is the reference's (geo_reciprocal; sums
 * of x - z_in are within 255 n as well). A PAD before it then folds. */
#include "compiler/legalise/new_ops.h"
#include "rewrites.h"

enum { MOST_VALUES = 2047 };

static bool is_whole(const struct ir_op *op)
{
    for (uint32_t i = IR_PAD_TOP; i <= IR_PAD_RIGHT; i++)
        if (op->attr[i] != 0)
            return false;
    return true;
}

static void set_reciprocal(struct ir_graph *g, struct ir_op *op, int32_t n)
{
    const int32_t reciprocal = (int32_t)(((INT64_C(1) << 31) + n - 1) / n);

    lgl_set_scales(g, op, 1, &(struct lgl_fixed_scale){reciprocal, 0});
}

void sys_average_sums(struct ir_graph *g, struct ir_op *op, const struct lgl_options *o)
{
    const int32_t n = op->attr[IR_KERNEL_H] * op->attr[IR_KERNEL_W];

    if (ir_in(g, op, 0)->type != IR_I8 || op->fixed.n_real != 0 || !is_whole(op) || n < 3 ||
        n % 2 == 0 || n > MOST_VALUES || op->attr[IR_KERNEL_W] > (int32_t)o->array_rows)
        return;
    lgl_become_sums(g, op);
    set_reciprocal(g, op, n);
}
