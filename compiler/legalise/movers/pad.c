/* pad.c - fold PAD of int8 and int16 into the operators that read it.
 * Convolutions see x - z outside the image as 0, which is what PAD's fill means; max pools
 * ignore cells outside, which is the same if the fill is the smallest value. Average pools count
 * cells and are left alone. */
#include "compiler/legalise/legalise.h"

static bool pads_image_only(const struct ir_graph *g, const struct ir_op *pad)
{
    const uint8_t *p = ir_in(g, pad, 1)->data;

    if (ir_in(g, pad, 0)->rank != 4)
        return false;
    if (pad->n_in > 2 && ir_code_at(ir_in(g, pad, 2), 0) != ir_zero_point(ir_in(g, pad, 0)))
        return false;
    for (uint32_t i = 0; i < 4; i++) /* int32 [4,2]: N is row 0, C row 3; both pairs all zero */
        if (p[i] != 0 || p[4 + i] != 0 || p[24 + i] != 0 || p[28 + i] != 0)
            return false;
    return true;
}

static bool takes_pad(const struct ir_graph *g, const struct ir_op *op, uint32_t id)
{
    if (op->dead || op->in[0] != id)
        return false;
    if (ir_op_info(op->opcode)->weights && ir_op_has(op->opcode, IR_PAD_BOTTOM))
        return true;
    return op->opcode == IR_OP_MAX_POOL2D && g->tensor[id]->quant.zero_point[0] == -128;
}

static int32_t padding(const struct ir_graph *g, const struct ir_op *pad, uint32_t i)
{
    return ((const int32_t *)(const void *)ir_in(g, pad, 1)->data)[i];
}

static void fold_into(const struct ir_graph *g, const struct ir_op *pad, struct ir_op *op)
{
    op->attr[IR_PAD_TOP] += padding(g, pad, 2);
    op->attr[IR_PAD_BOTTOM] += padding(g, pad, 3);
    op->attr[IR_PAD_LEFT] += padding(g, pad, 4);
    op->attr[IR_PAD_RIGHT] += padding(g, pad, 5);
    op->in[0] = pad->in[0];
    g->row[pad->row].fused_into = op->row;
}

static bool is_filled_with_code(const struct ir_tensor *x)
{
    return x->type == IR_I8 || x->type == IR_I16;
}

static void fold_pad(struct ir_graph *g, struct ir_op *pad)
{
    const uint32_t id = pad->out[0];

    for (uint32_t i = 0; i < g->n_op; i++)
        if (takes_pad(g, g->op[i], id))
            fold_into(g, pad, g->op[i]);
    pad->dead = ir_uses(g, id) == 0 && !g->tensor[id]->is_output;
    if (!pad->dead)
        g->row[pad->row].fused_into = IR_NONE;
}

enum status lgl_pad(struct ir_graph *g, const struct lgl_options *o, struct diag *d)
{
    (void)o;
    for (uint32_t i = 0; i < g->n_op; i++)
        if (g->op[i]->opcode == IR_OP_PAD && is_filled_with_code(ir_in(g, g->op[i], 0)) &&
            pads_image_only(g, g->op[i]))
            fold_pad(g, g->op[i]);
    return ir_link(g, d);
}
