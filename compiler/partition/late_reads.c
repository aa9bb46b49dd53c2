/* late_reads.c - move an accelerator's reads of variables right before the operators that use them.
 * Files read all variables first. LOAD takes its commands in order, so operands of the first layers
 * waited for states of the last ones, and these took the bus and scratchpad from then on.
 * in:  a graph with op->target.   out: READ_VARIABLE, and what only moves what it reads, before
 * their first reader, but never behind what writes the variable. */
#include <string.h>

#include "partition.h"

struct late_reads {
    const struct target_list *targets;
    struct ir_graph *g;
    const bool *mixed; /* by tensor: not of one accelerator alone */
    bool *waits;       /* by position: to be placed at its first reader */
    struct ir_op **op; /* the new order */
    uint32_t n;
};

/* By tensor: true if operators of several targets, or the network's caller, touch it. */
static bool *mixed(const struct ir_graph *g)
{
    bool *is = ARENA_ARRAY(g->arena, bool, g->n_tensor + 1);

    for (uint32_t i = 0; i < g->n_tensor; i++)
        is[i] = g->tensor[i]->is_output;
    for (uint32_t i = 0; i < g->n_op; i++)
        for (uint32_t k = 0; k < g->op[i]->n_in && !g->op[i]->dead; k++) {
            const uint32_t id = g->op[i]->in[k];
            if (id != IR_NONE && g->tensor[id]->producer != IR_NONE)
                is[id] |= g->op[g->tensor[id]->producer]->target != g->op[i]->target;
        }
    return is;
}

/* Return true if the operator can be moved later. The operands of a mover are then later too, or
 * constants. */
static bool can_wait(const struct late_reads *l, const struct ir_op *op)
{
    bool any = ir_is_read(op);

    if (op->dead || op->n_out != 1 || !l->targets->target[op->target]->desc->accelerator ||
        l->mixed[op->out[0]] || !(any || ir_op_info(op->opcode)->moves))
        return false;
    for (uint32_t k = 0; k < op->n_in; k++) {
        const struct ir_tensor *t = ir_in(l->g, op, k);
        if (!t || t->role == IR_CONST || t->role == IR_VARIABLE)
            continue;
        if (t->producer == IR_NONE || !l->waits[t->producer])
            return false;
        any = true;
    }
    return any;
}

static void place(struct late_reads *l, uint32_t position)
{
    struct ir_op *op = l->g->op[position];

    l->waits[position] = false;
    for (uint32_t k = 0; k < op->n_in; k++) {
        const struct ir_tensor *t = ir_in(l->g, op, k);
        if (t && t->producer != IR_NONE && l->waits[t->producer])
            place(l, t->producer);
    }
    l->op[l->n++] = op;
}

/* Place the reads of a variable that the operator at `position` may write before it. */
static void place_reads(struct late_reads *l, uint32_t position)
{
    const struct ir_op *op = l->g->op[position];

    for (uint32_t i = 0; i < position && ir_op_info(op->opcode)->has_state; i++)
        for (uint32_t k = 0; k < op->n_in; k++)
            if (l->waits[i] && ir_is_read(l->g->op[i]) && l->g->op[i]->in[0] == op->in[k])
                place(l, i);
}

bool partition_late_reads(const struct target_list *targets, struct ir_graph *g)
{
    struct late_reads l = {targets,
                           g,
                           mixed(g),
                           ARENA_ARRAY(g->arena, bool, g->n_op + 1),
                           ARENA_ARRAY(g->arena, struct ir_op *, g->n_op + 1),
                           0};
    bool any = false;

    for (uint32_t i = 0; i < g->n_op; i++)
        any |= l.waits[i] = can_wait(&l, g->op[i]);
    for (uint32_t i = 0; i < g->n_op && any; i++)
        if (!l.waits[i]) {
            place_reads(&l, i);
            place(&l, i);
        }
    for (uint32_t i = 0; i < g->n_op && any; i++)
        if (l.waits[i])
            place(&l, i);
    if (any)
        memcpy(g->op, l.op, l.n * sizeof(struct ir_op *));
    return any;
}
