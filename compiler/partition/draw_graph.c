/* draw_graph.c - the partitioned graph as Graphviz text and as a drawing. One box an operator in
 * execution order, a colour a target, an arrow a tensor; an arrow between targets is dashed and
 * states what crosses. */
#include <string.h>

#include "drawing.h"
#include "partition.h"

static const char *const colours[TARGET_MAX] = {"#9ecae1", "#a1d99b", "#fdae6b", "#bcbddc",
                                                "#fdd0a2", "#c7e9c0", "#dadaeb", "#d9d9d9"};

static const char *colour(const struct partition *p, const struct ir_op *op)
{
    return op->target + 1 == p->targets->n ? "#eeeeee" : colours[op->target % TARGET_MAX];
}

/* Text of a model for XML and for Graphviz strings: what is special to either becomes '_'. */
static void safe(struct text *t, const char *s)
{
    for (; *s; s++)
        text_add_n(t, strchr("<>&\"\\", *s) || *s < ' ' || *s > '~' ? "_" : s, 1);
}

/* The position of the operator that makes tensor `id`; IR_NONE for inputs and constants. */
static uint32_t maker(const struct ir_graph *g, uint32_t id)
{
    for (uint32_t i = 0; id != IR_NONE && i < g->n_op; i++)
        for (uint32_t k = 0; !g->op[i]->dead && k < g->op[i]->n_out; k++)
            if (g->op[i]->out[k] == id)
                return i;
    return IR_NONE;
}

static const char *why(const struct ir_op *op)
{
    return op->reason ? op->reason : "";
}

/* "systolic, 274 cycles", "systolic, group 0: 1203 cycles" */
static void add_cycles(const struct partition *p, uint32_t i, struct text *t)
{
    const uint32_t group = partition_group(p, i);

    text_printf(t, "%s, ", p->targets->target[p->graph->op[i]->target]->name);
    if (group != IR_NONE)
        text_printf(t, "group %u: ", group);
    text_printf(t, "%.0f cycles", partition_cycles(p, i));
}

static void dot_edges(const struct partition *p, uint32_t i, struct text *t)
{
    const struct ir_graph *g = p->graph;

    for (uint32_t k = 0; k < g->op[i]->n_in; k++) {
        uint32_t id = g->op[i]->in[k], from = maker(g, id);
        if (from == IR_NONE)
            continue;
        bool crosses = g->op[from]->target != g->op[i]->target;
        text_printf(t, "  o%u -> o%u [label=\"%s%s\"%s];\n", from, i,
                    ir_shape_text(g->arena, g->tensor[id]->rank, g->tensor[id]->dim),
                    crosses ? arena_printf(g->arena, "\\n%.0f cycles", partition_transfer(p, id))
                            : "",
                    crosses ? ", style=dashed" : "");
    }
}

void partition_dot(const struct partition *p, struct text *t)
{
    const struct ir_graph *g = p->graph;

    text_add(t,
             "digraph partition {\n  node [shape=box, style=filled, fontname=\"sans-serif\"];\n");
    for (uint32_t i = 0; i < g->n_op; i++) {
        const struct ir_op *op = g->op[i];
        if (op->dead)
            continue;
        text_printf(t, "  o%u [label=\"", i);
        safe(t, g->row[op->row].name);
        text_add(t, "\\n");
        add_cycles(p, i, t);
        text_printf(t, "\", fillcolor=\"%s\", tooltip=\"", colour(p, op));
        safe(t, why(op));
        text_add(t, "\"];\n");
        dot_edges(p, i, t);
    }
    text_add(t, "}\n");
}

void partition_svg(const struct partition *p, struct text *t)
{
    const struct ir_graph *g = p->graph;
    uint32_t *place = ARENA_ARRAY(g->arena, uint32_t, g->n_op + 1);
    struct drawing d;

    drawing_init(&d, g->arena);
    for (uint32_t i = 0; i < g->n_op; i++) {
        const struct ir_op *op = g->op[i];
        struct text line;
        if (op->dead)
            continue;
        text_init(&line, g->arena);
        add_cycles(p, i, &line);
        place[i] = drawing_box(&d, (struct drawing_box){.name = g->row[op->row].name,
                                                        .line = line.data,
                                                        .title = why(op),
                                                        .fill = colour(p, op)});
        for (uint32_t k = 0; k < op->n_in; k++) {
            const uint32_t id = op->in[k], from = maker(g, id);
            if (from == IR_NONE)
                continue;
            const bool crosses = g->op[from]->target != op->target;
            const char *shape = ir_shape_text(g->arena, g->tensor[id]->rank, g->tensor[id]->dim);
            drawing_edge(&d, place[from], place[i], crosses,
                         crosses ? arena_printf(g->arena, "%s, %.0f cycles to cross", shape,
                                                partition_transfer(p, id))
                                 : shape);
        }
    }
    drawing_svg(&d,
                "<style>text{font:13px sans-serif}.s{font-size:11px;fill:#555}rect{stroke:#555}"
                "path{stroke:#555;fill:none}</style>\n",
                t);
}
