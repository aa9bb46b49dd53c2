/* channel_mean.c - rewrite a mean over channels as a product with a column of ones. in: MEAN of
 * int8 over only its innermost dimensions. out: FULLY_CONNECTED with weights of 1 and the mean's
 * multiplier, which includes the division by the number of values. Both requantise the sum of all x
 * - z_in (NUMERICS.md, "Pools and reductions"), so the result is the same. The result keeps its
 * dimensions, so that rows do not become channels; a RESHAPE drops them. The same RESHAPE follows a
 * mean that is kept. A mean of an image over only its first dimension is also rewritten, because
 * its rows and columns would become rows of one pixel. */
#include <string.h>

#include "compiler/legalise/new_ops.h"
#include "rewrites.h"

/* Return the number of values in each mean over `axes` (bit i: dimension i); 0 if a kept dimension
 * is between them. */
static int32_t values_of(const struct ir_tensor *x, uint32_t axes)
{
    int32_t n = 1;
    bool kept = false;

    for (uint32_t i = x->rank; i-- > 0;) {
        const bool over = (axes >> i & 1) != 0;

        if (x->dim[i] == 1)
            continue;
        if (over && kept)
            return 0;
        kept = !over;
        n *= over ? x->dim[i] : 1;
    }
    return n;
}

static void make_product(struct ir_graph *g, struct ir_op *op, int32_t n)
{
    struct ir_tensor *ones = lgl_new_constant(g, "", IR_I8, 2, (const int32_t[]){n, 1}, NULL);
    struct ir_tensor *bias = lgl_new_constant(g, "", IR_I32, 1, (const int32_t[]){1}, NULL);

    memset((uint8_t *)(uintptr_t)ones->data, 1, (size_t)n);
    ones->quant = lgl_new_quant(g, 1, 0);
    op->opcode = IR_OP_FULLY_CONNECTED;
    op->in = arena_memdup(g->arena, (const uint32_t[]){op->in[0], ones->id, bias->id},
                          3 * sizeof *op->in);
    op->n_in = 3;
    memset(op->attr, 0, sizeof op->attr);
    op->attr[IR_WEIGHTS_KO] = 1;
}

static bool over_channels(const struct ir_graph *g, const struct ir_op *op)
{
    const struct ir_tensor *x = ir_in(g, op, 0);

    return x->type == IR_I8 && op->fixed.n_real == 0 && x->rank > 0 &&
           (op->attr[IR_AXIS] >> (x->rank - 1) & 1) != 0;
}

static bool over_images(const struct ir_graph *g, const struct ir_op *op)
{
    const struct ir_tensor *x = ir_in(g, op, 0);

    return x->type == IR_I8 && x->rank == 4 && op->attr[IR_AXIS] == 1;
}

void sys_channel_mean(struct ir_graph *g, struct ir_op *op, const struct lgl_options *o)
{
    (void)o;
    if (!over_channels(g, op) && !over_images(g, op))
        return;
    const struct ir_tensor *x = ir_in(g, op, 0);
    const int32_t n = values_of(x, (uint32_t)op->attr[IR_AXIS]);
    if (op->attr[IR_KEEP_DIMS] == 0)
        lgl_keep_dims(g, op);
    if (over_channels(g, op) && n > 1 && ir_dim_back(x, 0) > 1)
        make_product(g, op, n);
}
