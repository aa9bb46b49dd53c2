/* partition.c - see partition.h. */
#include "partition.h"

#include <string.h>

static void choose(struct ir_graph *g, struct ir_op *op, const struct target_list *targets,
                   const struct hd_config *hw)
{
    op->reason = NULL;
    for (uint32_t i = 0; i < targets->n; i++) {
        const char *why = targets->target[i]->refusal(g->arena, g, op, hw);
        if (!why) {
            op->target = i;
            if (targets->target[i]->accelerator)
                op->reason = NULL;
            else if (!op->reason)
                op->reason = "no accelerator was named";
            return;
        }
        op->reason = op->reason ? arena_printf(g->arena, "%s; %s: %s", op->reason,
                                               targets->target[i]->name, why)
                                : arena_printf(g->arena, "%s: %s", targets->target[i]->name, why);
    }
}

/* A row that became several operators (a flip of uint8 before it) speaks for the one on an
 * accelerator. */
static void name_rows(struct ir_graph *g, const struct target_list *targets)
{
    for (uint32_t i = 0; i < g->n_op; i++) {
        const struct ir_op *op = g->op[i];
        struct ir_row *row = &g->row[op->row];
        if (op->dead || (row->target && op->region == IR_NONE))
            continue;
        row->target = targets->target[op->target]->name;
        row->reason = op->reason;
    }
    for (uint32_t i = 0; i < g->n_row; i++)
        if (!g->row[i].target)
            g->row[i].target = "none";
}

enum status partition_run(struct ir_graph *g, const struct target_list *targets,
                          const struct hd_config *hw, struct diag *d)
{
    uint32_t region = 0;
    bool open = false;
    (void)d;
    for (uint32_t i = 0; i < g->n_op; i++) {
        struct ir_op *op = g->op[i];
        if (op->dead)
            continue;
        choose(g, op, targets, hw);
        bool accelerator = targets->target[op->target]->accelerator;
        if (open && !accelerator)
            region++;
        open = accelerator;
        op->region = accelerator ? region : IR_NONE;
    }
    name_rows(g, targets);
    return ST_OK;
}

void partition_print(const struct ir_graph *g, const struct target_list *targets, struct text *t)
{
    (void)targets;
    text_printf(t, "%-26s %-20s %-14s %s\n", "layer", "operator", "target", "why");
    for (uint32_t i = 0; i < g->n_row; i++) {
        const struct ir_row *r = &g->row[i];
        text_printf(t, "%-26s %-20s %-14s ", r->name, r->op, r->target);
        if (r->fused_into != IR_NONE)
            text_printf(t, "fused into %s", g->row[r->fused_into].name);
        else if (r->reason)
            text_add(t, r->reason);
        else if (strcmp(r->target, "none") == 0)
            text_add(t, "moves no data");
        text_add(t, "\n");
    }
}
