/* fold.c - remove operators that move no data or compute nothing.
 * Operators that leave every byte where it is become RESHAPE. A RESHAPE whose readers do not look
 * at the shape is removed; one that stays shares its input's memory (ir_storage), row target
 * "none". Operators without readers are dropped. */
#include "legalise.h"

static bool same_quant(const struct ir_tensor *a, const struct ir_tensor *b)
{
    return a->type == b->type && a->quant.n == 1 && b->quant.n == 1 &&
           a->quant.scale[0] == b->quant.scale[0] &&
           a->quant.zero_point[0] == b->quant.zero_point[0];
}

static bool same_shape(const struct ir_tensor *a, const struct ir_tensor *b)
{
    bool same = a->rank == b->rank;

    for (uint32_t i = 0; same && i < a->rank; i++)
        same = a->dim[i] == b->dim[i];
    return same;
}

/* Dimensions above 1 keep their order. */
static bool keeps_order(const struct ir_graph *g, const struct ir_op *op)
{
    const struct ir_tensor *x = ir_in(g, op, 0);
    const int32_t *from = (const int32_t *)(const void *)ir_in(g, op, 1)->data;
    int32_t last = -1;

    for (uint32_t i = 0; i < x->rank; i++) {
        if (x->dim[from[i]] == 1)
            continue;
        if (from[i] < last)
            return false;
        last = from[i];
    }
    return true;
}

/* A slice with a step below 0: the other way round. */
static bool turns(const struct ir_graph *g, const struct ir_op *op)
{
    const struct ir_tensor *steps = ir_in(g, op, 2);

    for (uint32_t i = 0; steps != NULL && i < ir_elements(steps); i++)
        if (((const int32_t *)(const void *)steps->data)[i] < 0)
            return true;
    return false;
}

/* Every byte of the output is the input's byte at the same place. */
static bool moves_nothing(const struct ir_graph *g, const struct ir_op *op)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *y = ir_out(g, op, 0);

    switch (op->opcode) {
    case IR_OP_PAD: return same_shape(x, y);
    case IR_OP_SLICE: return same_shape(x, y) && !turns(g, op);
    case IR_OP_TRANSPOSE: return keeps_order(g, op);
    case IR_OP_CONCATENATION: return op->n_in == 1;
    default: return false;
    }
}

static void make_reshape(struct ir_op *op)
{
    op->opcode = IR_OP_RESHAPE;
    op->n_in = 1;
    op->attr[IR_AXIS] = 0;
    op->fixed = (struct ir_fixed){.act_min = op->fixed.act_min, .act_max = op->fixed.act_max};
}

/* `op` reads tensor `from` through input i; may it read `to`, the same bytes in another shape? */
static bool ignores_shape(const struct ir_op *op, uint32_t i, const struct ir_tensor *from,
                          const struct ir_tensor *to)
{
    if (same_shape(from, to))
        return true;
    switch (op->opcode) {
    case IR_OP_RESHAPE: return true;
    case IR_OP_FULLY_CONNECTED: return i == 0;
    case IR_OP_LOG_SOFTMAX:
    case IR_OP_SOFTMAX: return ir_dim_back(from, 0) == ir_dim_back(to, 0);
    default: return false;
    }
}

/* Readers that can, read the RESHAPE's input. */
static void bypass(struct ir_graph *g, const struct ir_op *reshape)
{
    const struct ir_tensor *x = ir_in(g, reshape, 0), *y = ir_out(g, reshape, 0);

    if (x->type != y->type || (x->quant.n != 0 && !same_quant(x, y)))
        return;
    for (uint32_t i = 0; i < g->n_op; i++) {
        struct ir_op *op = g->op[i];

        for (uint32_t k = 0; !op->dead && k < op->n_in; k++)
            if (op->in[k] == y->id && ignores_shape(op, k, y, x))
                op->in[k] = x->id;
    }
}

/* From the back, so that what fed only a dropped operator is dropped too. */
static void drop_unread(struct ir_graph *g)
{
    for (uint32_t i = g->n_op; i-- > 0;) {
        struct ir_op *op = g->op[i];
        bool needed = ir_op_info(op->opcode)->has_state;

        for (uint32_t k = 0; k < op->n_out; k++)
            needed = needed || ir_out(g, op, k)->is_output || ir_uses(g, op->out[k]) > 0;
        op->dead = op->dead || !needed;
    }
}

/* Rows without an operator that moves data go nowhere. */
static void mark_rows(struct ir_graph *g)
{
    bool *alive = ARENA_ARRAY(g->arena, bool, g->n_row);

    for (uint32_t i = 0; i < g->n_op; i++)
        if (!g->op[i]->dead && g->op[i]->opcode != IR_OP_RESHAPE && g->op[i]->row < g->n_row)
            alive[g->op[i]->row] = true;
    for (uint32_t i = 0; i < g->n_row; i++)
        if (!alive[i] && g->row[i].fused_into == IR_NONE)
            g->row[i].target = "none";
}

enum status lgl_fold(struct ir_graph *g, const struct lgl_options *o, struct diag *d)
{
    (void)o;
    for (uint32_t i = 0; i < g->n_op; i++) {
        if (moves_nothing(g, g->op[i]))
            make_reshape(g->op[i]);
        if (g->op[i]->opcode == IR_OP_RESHAPE)
            bypass(g, g->op[i]);
    }
    drop_unread(g);
    mark_rows(g);
    return ir_link(g, d);
}
