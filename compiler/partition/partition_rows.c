/* partition_rows.c - the target that stands for a row of the model: the one where most of its cycles
 * are. A row may have become several operators on several targets (an LSTM's products and gates,
 * QUANTIZE and DEQUANTIZE around an operator without an int8 kernel). */
#include <string.h>

#include "compiler/target/describe.h"
#include "partition.h"

/* Cycles by row and target, spent[row * targets->n + target]: the partition's costs. Those of
 * accelerators are scaled to the schedule's cycles of the row, once there is a schedule. */
static double *cycles_spent(const struct partition *p, const struct ir_graph *g)
{
    const uint32_t n = p->targets->n;
    double *spent = ARENA_ARRAY(g->arena, double, (size_t)g->n_row *n + 1);
    double *accelerators = ARENA_ARRAY(g->arena, double, g->n_row + 1);

    for (uint32_t i = 0; i < g->n_op; i++) {
        const struct ir_op *op = g->op[i];
        if (op->dead)
            continue;
        double cost = p->candidate[i * n + op->target].cost;
        if (p->targets->target[op->target]->desc->accelerator) {
            cost = cost > 1 ? cost : 1;
            accelerators[op->row] += cost;
        }
        spent[op->row * n + op->target] += cost;
    }
    for (uint32_t k = 0; k < g->n_row * n && p->row_estimate; k++)
        if (p->targets->target[k % n]->desc->accelerator && spent[k] > 0)
            spent[k] *= (double)p->row_estimate[k / n] / accelerators[k / n];
    return spent;
}

/* Rank of `op` as the reason of its row among those of one target: most MACs; without any, one
 * that computes rather than moves, on the host rather than on an accelerator, in float32 rather
 * than not. 0: nothing executes for it (fold.c). */
static uint64_t stands_for(const struct partition *p, const struct ir_graph *g,
                           const struct ir_op *op)
{
    bool host = op->target + 1 == p->targets->n;
    bool real = op->reason && strncmp(op->reason, "float32", 7) == 0;

    if (host && ir_is_reshape(op))
        return 0;
    return ir_macs(g, op) * 8 + (ir_op_info(op->opcode)->keeps_values ? 0u : 4u) +
           (host ? 2u : 0u) + real + 1u;
}

void partition_name_rows(const struct partition *p, struct ir_graph *g)
{
    const uint32_t n = p->targets->n;
    const double *spent = cycles_spent(p, g);
    const struct ir_op **of = ARENA_ARRAY(g->arena, const struct ir_op *, g->n_row + 1);

    for (uint32_t i = 0; i < g->n_op; i++) {
        const struct ir_op *op = g->op[i], *best = op->dead ? NULL : of[op->row];
        const double *cycles = op->dead ? NULL : &spent[op->row * n];
        if (op->dead || stands_for(p, g, op) == 0 ||
            (best && cycles[op->target] < cycles[best->target]))
            continue;
        if (!best || cycles[op->target] > cycles[best->target] ||
            stands_for(p, g, op) > stands_for(p, g, best))
            of[op->row] = op;
    }
    for (uint32_t i = 0; i < g->n_row; i++) {
        struct ir_row *r = &g->row[i];
        r->target = of[i] ? describe_label(g->arena, p->targets->target[of[i]->target]) : "none";
        r->reason = of[i] ? of[i]->reason : r->reason;
    }
}
