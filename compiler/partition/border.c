/* border.c - uint8 and float32 at the network's border. legalise leaves a QUANTIZE at uint8 that flips
 * the top bit of each byte (u8_to_i8.c). LOAD and STORE can do that on the way, at no cycle's cost,
 * and quantise or dequantise float32, at that of its bytes.
 * in:  a graph with op->target.   out: int8 inputs and outputs, `flipped` or `quantised`, without
 * that operator. */
#include "compiler/host/host_kernel.h"
#include "partition.h"

/* Round half away from zero, as TFLite. */
static bool quantises(const struct ir_graph *g, const struct ir_op *op)
{
    return op->opcode == IR_OP_QUANTIZE && ir_in(g, op, 0)->type == IR_F32 &&
           ir_in(g, op, 0)->role == IR_INPUT && ir_out(g, op, 0)->type == IR_I8 &&
           ir_out(g, op, 0)->quant.n == 1 && op->fixed.n_real == 0;
}

static bool dequantises(const struct ir_graph *g, const struct ir_op *op)
{
    const struct ir_tensor *x = ir_in(g, op, 0);

    return ir_dequantises_i8(g, op) && x->role == IR_VALUE && x->quant.n == 1 &&
           ir_uses(g, x->id) == 1 && !x->is_output && ir_out(g, op, 0)->type == IR_F32 &&
           ir_out(g, op, 0)->is_output;
}

bool partition_at_border(const struct ir_graph *g, const struct ir_op *op)
{
    return !op->dead &&
           (quantises(g, op) || dequantises(g, op) || host_kernel_form(g, op) == FORM_FLIP);
}

/* Return true if only accelerators read and write the tensor, except `flip`. */
static bool on_accelerators(const struct target_list *targets, const struct ir_graph *g,
                            uint32_t tensor, const struct ir_op *flip)
{
    for (uint32_t i = 0; i < g->n_op; i++) {
        const struct ir_op *op = g->op[i];
        bool touches = false;

        for (uint32_t k = 0; k < op->n_in; k++)
            touches = touches || op->in[k] == tensor;
        for (uint32_t k = 0; k < op->n_out; k++)
            touches = touches || op->out[k] == tensor;
        if (touches && !op->dead && op != flip && !targets->target[op->target]->desc->accelerator)
            return false;
    }
    return true;
}

/* Operators read, or write, `to` instead of `from`. */
static void replace(struct ir_graph *g, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i < g->n_op; i++) {
        for (uint32_t k = 0; k < g->op[i]->n_in; k++)
            if (g->op[i]->in[k] == from)
                g->op[i]->in[k] = to;
        for (uint32_t k = 0; k < g->op[i]->n_out; k++)
            if (g->op[i]->out[k] == from)
                g->op[i]->out[k] = to;
    }
}

/* The int8 tensor `inner` becomes the border's. */
static void take_border(struct ir_graph *g, struct ir_op *op, struct ir_tensor *border,
                        const struct ir_tensor *inner)
{
    op->dead = true;
    border->quantised = border->type == IR_F32;
    border->flipped = !border->quantised;
    border->type = inner->type;
    border->quant = inner->quant;
    replace(g, inner->id, border->id);
}

bool partition_border(const struct target_list *targets, struct ir_graph *g)
{
    bool any = false;

    for (uint32_t i = 0; i < g->n_op; i++) {
        struct ir_op *op = g->op[i];
        if (!partition_at_border(g, op))
            continue;
        struct ir_tensor *x = ir_in(g, op, 0), *y = ir_out(g, op, 0);
        const bool in = x->role == IR_INPUT && ir_uses(g, x->id) == 1 && !x->is_output &&
                        !(x->type == IR_F32 && y->is_output),
                   out = y->is_output && x->role == IR_VALUE && ir_uses(g, y->id) == 0;
        if (in && on_accelerators(targets, g, y->id, op))
            take_border(g, op, x, y);
        else if (out && on_accelerators(targets, g, x->id, op))
            take_border(g, op, y, x);
        else
            continue;
        any = true;
    }
    return any;
}
