/* view.c - tensors that are another one's bytes. A table that leaves every code as it is changes
 * scale and zero point only (the MUL and SUB that bring an image's 0 .. 255 to -1 .. 1, for
 * example): what reads its result can read its input, by the result's zero point, and no command is
 * needed. */
#include "sched_program.h"

static bool same_codes(const int8_t table[256])
{
    for (int32_t code = -128; code < 128; code++)
        if (table[code + 128] != code)
            return false;
    return true;
}

/* Does any but the operators next to it in its region read the result? */
static bool read_elsewhere(const struct sched_program *p, const struct ir_op *op)
{
    const struct ir_graph *g = p->graph;

    for (uint32_t i = 0; i < g->n_op; i++)
        for (uint32_t k = 0; k < g->op[i]->n_in && !g->op[i]->dead; k++)
            if (g->op[i]->in[k] == op->out[0] &&
                (!sched_owns(p, g->op[i]) || g->op[i]->region != op->region))
                return true;
    return g->tensor[op->out[0]]->is_output;
}

bool sched_is_view(const struct sched_program *p, const struct ir_op *op)
{
    if (op->opcode != IR_OP_LUT || p->only || !sched_owns(p, op))
        return false;
    return p->graph->tensor[op->in[0]]->role == IR_INPUT && same_codes(op->fixed.table) &&
           !read_elsewhere(p, op);
}
