/* window.c - regions for positions in memory that are known at run time only. Before the submission
 * the driver binds such a region to that position in the state or the constants (hd_bind_part);
 * commands name the region. in: the graph. out: the region's number. */
#include "sched_program.h"

/* Return true if the operator reads one row of a constant at a computed index. */
static bool picks_row(const struct ir_graph *g, const struct ir_op *op)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *index = ir_in(g, op, 1);
    bool rows = x->role == IR_CONST && index->role != IR_CONST && ir_elements(index) == 1;

    for (int32_t k = 0; k < op->attr[IR_AXIS]; k++)
        rows = rows && x->dim[k] == 1;
    return rows;
}

static bool has_window(const struct ir_graph *g, const struct ir_op *op)
{
    return !op->dead &&
           (op->opcode == IR_OP_UPDATE_VARIABLE || (ir_gathers(op) && picks_row(g, op)));
}

uint32_t sched_window_start(const struct ir_op *op)
{
    return ir_gathers(op) ? 1 : 2;
}

/* Return true if equal start indices of the two operators give equal positions. */
static bool same_window(const struct ir_graph *g, const struct ir_op *a, const struct ir_op *b)
{
    const uint32_t at = sched_window_start(a);

    return a->opcode == b->opcode && a->attr[IR_AXIS] == b->attr[IR_AXIS] &&
           ir_storage(g, a->in[at]) == ir_storage(g, b->in[at]) &&
           ir_same_shape(ir_in(g, a, 0), ir_in(g, b, 0)) &&
           (at == 1 || ir_same_shape(ir_in(g, a, 1), ir_in(g, b, 1)));
}

const struct ir_op *sched_window_op(const struct ir_graph *g, const struct ir_op *op)
{
    if (!has_window(g, op))
        return NULL;
    for (uint32_t i = 0; i < g->n_op; i++)
        if (has_window(g, g->op[i]) && same_window(g, g->op[i], op))
            return g->op[i];
    return NULL;
}

uint32_t sched_window(const struct ir_graph *g, const struct ir_op *op)
{
    const struct ir_op *first = sched_window_op(g, op);
    uint32_t region = sched_state_region(g) + 1;

    if (!first)
        return 0;
    for (uint32_t i = 0; g->op[i] != first; i++)
        region += sched_window_op(g, g->op[i]) == g->op[i];
    return least(region, HD_REGIONS);
}
