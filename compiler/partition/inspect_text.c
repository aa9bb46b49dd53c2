/* inspect_text.c - "heddle inspect" as text. */
#include <string.h>

#include "compiler/cut/cut.h"
#include "partition.h"

struct partition_at partition_at(const struct partition *p, uint32_t row, uint32_t k)
{
    const struct ir_graph *g = p->graph;
    struct partition_at at = {.group = IR_NONE};
    double alone = 0;

    for (uint32_t i = 0; i < g->n_op; i++) {
        if (g->op[i]->dead || g->op[i]->row != row)
            continue;
        alone += p->candidate[i * p->targets->n + k].alone;
        if (g->op[i]->target != k)
            continue;
        at.group = partition_group(p, i);
        at.cycles = partition_cycles(p, i) + (at.group == IR_NONE ? at.cycles : 0);
        at.chosen = true;
    }
    if (!at.chosen)
        at.cycles = alone;
    return at;
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
        const struct partition_at at = partition_at(p, row, k);

        if (c[k].why && !at.chosen)
            continue;
        if (c[k].group && c[k].group->op[c[k].group->n - 1] != p->graph->op[i]) {
            const struct ir_op *last = c[k].group->op[c[k].group->n - 1];
            text_printf(t, "%s%s with %s", any ? ", " : "", target->name,
                        p->graph->row[last->row].name);
            any = true;
            continue;
        }
        if (ir_op_info(p->graph->op[i]->opcode)->hosted)
            text_printf(t, "%s%s, cycles unknown", any ? ", " : "", target->name);
        else
            text_printf(t, "%s%s %.0f%s", any ? ", " : "", target->name, at.cycles,
                        !at.chosen && target->desc->accelerator ? " alone" : "");
        if (at.group != IR_NONE)
            text_printf(t, " (group %u)", at.group);
        if (c[k].group)
            text_printf(t, " (%s)", c[k].group->name);
        if (c[k].cut)
            text_printf(t, " (%s)", cut_text(p->graph->arena, c[k].cut));
        any = true;
    }
    for (uint32_t k = 0; k < p->targets->n; k++)
        if (c[k].why)
            text_printf(t, "; %s: %s", p->targets->target[k]->name, c[k].why);
}

uint32_t partition_position(const struct partition *p, uint32_t row)
{
    const struct ir_graph *g = p->graph;
    uint32_t best = IR_NONE;
    uint64_t most = 0;

    for (uint32_t i = 0; i < g->n_op; i++) {
        const struct ir_op *op = g->op[i];
        if (op->dead || op->row != row ||
            strcmp(describe_label(g->arena, p->targets->target[op->target]), g->row[row].target) !=
                0)
            continue;
        const uint64_t n = ir_macs(g, op) * 4 + (ir_op_info(op->opcode)->keeps_values ? 1 : 2);
        best = n > most ? i : best;
        most = n > most ? n : most;
    }
    return best;
}

void partition_print(const struct partition *p, struct text *t)
{
    const struct ir_graph *g = p->graph;

    text_printf(t, "%-26s %-20s %-14s %s\n", "layer", "operator", "target",
                "estimated cycles, or why not");
    for (uint32_t i = 0; i < g->n_row; i++) {
        const struct ir_row *r = &g->row[i];
        uint32_t at = partition_position(p, i);
        text_printf(t, "%-26s %-20s %-14s ", r->name, r->op, r->target);
        if (r->fused_into != IR_NONE)
            text_printf(t, "fused into %s", g->row[r->fused_into].name);
        else if (at != IR_NONE)
            candidates(p, at, t);
        else if (strcmp(r->target, "none") == 0)
            text_add(t, "moves no data");
        if (at != IR_NONE && r->reason && strcmp(r->reason, PARTITION_KEPT) == 0)
            text_printf(t, " (%s)", r->reason);
        if (r->slow)
            text_printf(t, "; slow: %s", r->slow);
        text_add(t, "\n");
    }
}
