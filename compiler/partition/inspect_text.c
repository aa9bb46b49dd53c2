/* inspect_text.c - "heddle inspect" as text. */
#include <string.h>

#include "partition.h"

/* Cycles of a row's operators that are on target `k`: of an accelerator what the schedule takes for
 * the row, or for its group, as in reports. False if none is there. */
static bool on_target(const struct partition *p, uint32_t row, uint32_t k, double *cycles,
                      uint32_t *group)
{
    const struct ir_graph *g = p->graph;
    bool any = false;

    *cycles = 0;
    *group = IR_NONE;
    for (uint32_t i = 0; i < g->n_op; i++)
        if (!g->op[i]->dead && g->op[i]->row == row && g->op[i]->target == k) {
            *group = partition_group(p, i);
            *cycles = partition_cycles(p, i) + (*group == IR_NONE ? *cycles : 0);
            any = true;
        }
    return any;
}

/* The same if all of the row were on target `k`, each operator alone. */
static double elsewhere(const struct partition *p, uint32_t row, uint32_t k)
{
    const struct ir_graph *g = p->graph;
    double cycles = 0;

    for (uint32_t i = 0; i < g->n_op; i++)
        if (!g->op[i]->dead && g->op[i]->row == row)
            cycles += p->candidate[i * p->targets->n + k].alone;
    return cycles;
}

/* "systolic 274, c 120500; vanilla: kernel_h is 5, expected at most 3": those that take it first,
 * an accelerator that was not chosen with "alone"; "systolic 1203 (group 0)": of all its layers. */
static void candidates(const struct partition *p, uint32_t i, struct text *t)
{
    const struct partition_candidate *c = &p->candidate[i * p->targets->n];
    const uint32_t row = p->graph->op[i]->row;
    bool any = false;

    for (uint32_t k = 0; k < p->targets->n; k++) {
        const struct target *target = p->targets->target[k];
        double cycles;
        uint32_t group;
        const bool here = on_target(p, row, k, &cycles, &group);

        if (c[k].why && !here)
            continue;
        text_printf(t, "%s%s %.0f%s", any ? ", " : "", target->name,
                    here ? cycles : elsewhere(p, row, k),
                    !here && target->desc->accelerator ? " alone" : "");
        if (group != IR_NONE)
            text_printf(t, " (group %u)", group);
        any = true;
    }
    for (uint32_t k = 0; k < p->targets->n; k++)
        if (c[k].why)
            text_printf(t, "; %s: %s", p->targets->target[k]->name, c[k].why);
}

/* The operator that speaks for a row: the one whose target the row names. */
static uint32_t position_of(const struct partition *p, uint32_t row)
{
    const struct ir_graph *g = p->graph;

    for (uint32_t i = 0; i < g->n_op; i++)
        if (!g->op[i]->dead && g->op[i]->row == row &&
            strcmp(p->targets->target[g->op[i]->target]->name, g->row[row].target) == 0)
            return i;
    return IR_NONE;
}

void partition_print(const struct partition *p, struct text *t)
{
    const struct ir_graph *g = p->graph;

    text_printf(t, "%-26s %-20s %-14s %s\n", "layer", "operator", "target",
                "estimated cycles, or why not");
    for (uint32_t i = 0; i < g->n_row; i++) {
        const struct ir_row *r = &g->row[i];
        uint32_t at = position_of(p, i);
        text_printf(t, "%-26s %-20s %-14s ", r->name, r->op, r->target);
        if (r->fused_into != IR_NONE)
            text_printf(t, "fused into %s", g->row[r->fused_into].name);
        else if (at != IR_NONE)
            candidates(p, at, t);
        else if (strcmp(r->target, "none") == 0)
            text_add(t, "moves no data");
        if (at != IR_NONE && r->reason && strcmp(r->reason, "--keep-on-host") == 0)
            text_add(t, " (--keep-on-host)");
        text_add(t, "\n");
    }
}
