/* layer_graph.c - draw the network's layers and their targets. Layers that are fused into another
 * are not drawn: their row names the other. */
#include <string.h>

#include "compiler/partition/drawing.h"
#include "layer_graph.h"

/* Return by tensor the row of the operator that computes it; IR_NONE: an input or a constant. */
static uint32_t *makers(const struct ir_graph *g)
{
    uint32_t *row = ARENA_ARRAY(g->arena, uint32_t, g->n_tensor + 1);

    for (uint32_t i = 0; i < g->n_tensor; i++)
        row[i] = IR_NONE;
    for (uint32_t i = 0; i < g->n_op; i++)
        for (uint32_t k = 0; !g->op[i]->dead && k < g->op[i]->n_out; k++)
            if (g->op[i]->out[k] != IR_NONE)
                row[g->op[i]->out[k]] = g->op[i]->row;
    return row;
}

static bool is_host(const struct ir_row *r)
{
    return r->target && strcmp(r->target, "c") == 0;
}

static uint32_t add_node(struct drawing *d, const struct ir_graph *g, uint32_t row,
                         const struct graph_cycles *c)
{
    const struct ir_row *r = &g->row[row];
    const char *target = is_host(r) ? "host" : r->target ? r->target : "";

    return drawing_box(
        d, (struct drawing_box){
               .name = r->name,
               .line = c->cycles < 0 ? target
                                     : arena_printf(g->arena, "%s, %.0f cycles%s", target,
                                                    c->cycles, c->estimated ? " (estimate)" : ""),
               .title = r->reason ? r->reason : r->op,
               .class = is_host(r)  ? "host"
                        : r->target ? "accelerator"
                                    : "none",
               .id = row});
}

void graph_svg(const struct pipeline *p, const struct graph_cycles *cycles, struct text *svg)
{
    const struct ir_graph *g = p->graph;
    const uint32_t *maker = makers(g);
    uint32_t *place = ARENA_ARRAY(g->arena, uint32_t, g->n_row + 1);
    struct drawing d;

    drawing_init(&d, g->arena);
    for (uint32_t i = 0; i < g->n_row; i++)
        place[i] = IR_NONE;
    for (uint32_t i = 0; i < g->n_op; i++)
        if (!g->op[i]->dead && place[g->op[i]->row] == IR_NONE)
            place[g->op[i]->row] = add_node(&d, g, g->op[i]->row, &cycles[g->op[i]->row]);
    for (uint32_t i = 0; i < g->n_op; i++) {
        const struct ir_op *op = g->op[i];
        for (uint32_t k = 0; !op->dead && k < op->n_in; k++) {
            const uint32_t from = op->in[k] == IR_NONE ? IR_NONE : maker[op->in[k]];
            if (from == IR_NONE || from == op->row)
                continue;
            const struct ir_row *a = &g->row[from], *b = &g->row[op->row];
            const struct ir_tensor *x = g->tensor[op->in[k]];
            drawing_edge(&d, place[from], place[op->row],
                         a->target && b->target && strcmp(a->target, b->target) != 0,
                         ir_shape_text(g->arena, x->rank, x->dim));
        }
    }
    drawing_svg(&d, "", svg);
}
