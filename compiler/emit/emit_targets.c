/* emit_targets.c - the external targets of a network: which operator is on which, and their ports. */
#include "compiler/target/describe.h"
#include "emit.h"

/* The host computes the operators of targets that only estimate. */
const struct target *emit_outside(const struct emit_unit *u, const struct ir_op *op)
{
    const struct target *t = op->target < u->targets->n ? u->targets->target[op->target] : NULL;

    return t && t->desc->outside && !t->desc->detail->estimator ? t : NULL;
}

bool emit_outside_used(const struct emit_unit *u, const struct target_desc *desc)
{
    for (uint32_t i = 0; i < u->graph->n_op; i++) {
        const struct target *t = emit_outside(u, u->graph->op[i]);
        if (!u->graph->op[i]->dead && t && t->desc == desc)
            return true;
    }
    return false;
}

uint32_t emit_outside_ports(const struct emit_unit *u, const struct target *port[TARGET_MAX])
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < u->targets->n; i++) {
        const struct target *t = u->targets->target[i];
        bool has_op = false;
        for (uint32_t k = 0; k < u->graph->n_op; k++)
            has_op = has_op || (!u->graph->op[k]->dead && u->graph->op[k]->target == i);
        if (has_op && t->desc->outside && t->desc->detail->core_top)
            port[n++] = t;
    }
    return n;
}
