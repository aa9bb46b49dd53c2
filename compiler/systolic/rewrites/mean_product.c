/* mean_product.c - rewrite a mean over rows and columns of a large image as a product. in: MEAN of
 * int8 over adjacent dimensions, not the innermost, whose windows are larger than the scratchpad in
 * all channels: VECTOR needs a whole window there. out: BATCH_MATMUL of a row of ones and the matrices of P values by C
 * channels, which comes in pieces, with the mean's multiplier. Both requantise the sum of all x -
 * z_in (NUMERICS.md, "Pools and reductions"). */
#include <string.h>

#include "compiler/legalise/new_ops.h"
#include "hw/gen/config.h"
#include "rewrites.h"

/* Find the matrices' shape [A,P,C]; false if the averaged dimensions are innermost or not
 * adjacent. */
static bool find_shape(const struct ir_tensor *x, uint32_t axes, int32_t shape[3])
{
    uint32_t at = 0;

    shape[0] = shape[1] = shape[2] = 1;
    for (uint32_t i = 0; i < x->rank; i++) {
        const bool over = (axes >> i & 1) != 0;

        if (x->dim[i] == 1)
            continue;
        if (over && at == 2)
            return false;
        at = over ? 1 : at == 1 ? 2 : at;
        shape[at] *= x->dim[i];
    }
    return shape[1] > 1 && shape[2] > 1;
}

void sys_mean_product(struct ir_graph *g, struct ir_op *op, const struct lgl_options *o)
{
    const struct ir_tensor *x = ir_in(g, op, 0);
    int32_t d[3];

    if (x->type != IR_I8 || op->fixed.n_real != 0 || x->role == IR_CONST ||
        !find_shape(x, (uint32_t)op->attr[IR_AXIS], d) ||
        (uint64_t)d[1] * (uint64_t)d[2] <= o->hw->scratchpad_bytes)
        return;
    struct ir_tensor *from = lgl_new_image(g, x, x->quant, (const int32_t[]){1, d[0], d[1], d[2]});
    struct ir_tensor *to =
        lgl_new_image(g, x, ir_out(g, op, 0)->quant, (const int32_t[]){1, d[0], 1, d[2]});
    struct ir_tensor *ones =
        lgl_new_constant(g, "", IR_I8, 4, (const int32_t[]){1, 1, 1, d[1]}, NULL);

    memset((uint8_t *)(uintptr_t)ones->data, 1, (size_t)d[1]);
    ones->quant = lgl_new_quant(g, 1, 0);
    (void)lgl_new_reshape(g, op->row, x, from);
    struct ir_op *product =
        lgl_make_batch_matmul(g, op->row, 2, (const uint32_t[]){ones->id, from->id}, to);
    product->fixed = op->fixed;
    (void)lgl_new_reshape(g, op->row, to, ir_out(g, op, 0));
    op->dead = true;
}
