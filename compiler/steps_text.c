/* steps_text.c - print the results of the STEP rows of passes.def as text. */
#include <string.h>

#include "compiler/systolic/lower/disasm.h"
#include "compiler/systolic/schedule/sched.h"
#include "steps.h"

void step_print_graph(const struct pipeline *p, struct text *t)
{
    ir_print(p->graph, t);
}

void step_print_partition(const struct pipeline *p, struct text *t)
{
    const struct ir_graph *g = p->graph;

    text_printf(t, "%-26s %-20s %-12s %-6s refused by\n", "layer", "operator", "target", "region");
    for (uint32_t i = 0; i < g->n_op; i++) {
        const struct ir_op *op = g->op[i];
        if (op->dead)
            continue;
        text_printf(t, "%-26s %-20s %-12s ", g->row[op->row].name, ir_op_info(op->opcode)->name,
                    p->targets.target[op->target]->name);
        if (op->region == IR_NONE)
            text_printf(t, "%-6s %s\n", "-", op->reason ? op->reason : "-");
        else
            text_printf(t, "%-6u %s\n", op->region, op->reason ? op->reason : "-");
    }
}

void step_print_devices(const struct pipeline *p, struct text *t)
{
    const struct sched_program *program = p->program;

    for (uint32_t k = 0; k < program->n_device; k++)
        text_printf(t, "device %u: %s\n", k, program->device[k].hw->name);
}

void step_print_knobs(const struct pipeline *p, struct text *t)
{
    struct text knobs;

    for (uint32_t i = 0; i < p->graph->n_op; i++) {
        const struct ir_op *op = p->graph->op[i];
        if (op->dead || op->region == IR_NONE)
            continue;
        text_init(&knobs, p->arena);
        text_add(&knobs, "");
        sched_print_knobs(&p->program->knobs[i], &knobs);
        text_printf(t, *knobs.data ? "%-26s %s\n" : "%s%s\n", p->graph->row[op->row].name,
                    knobs.data);
    }
}

void step_print_program(const struct pipeline *p, struct text *t)
{
    sched_print(p->program, t);
}

void step_print_model(const struct pipeline *p, struct text *t)
{
    for (uint32_t i = 0; i < p->emitted->n; i++)
        if (strcmp(p->emitted->file[i].name, "model.c") == 0)
            text_add(t, p->emitted->file[i].text.data);
}
