/* draw.c - the partitioned graph as Graphviz text and as a drawing. One box an operator in
 * execution order, a colour a target, an arrow a tensor; an arrow between targets is dashed and
 * states what crosses. */
#include <string.h>

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

#define ROW   56 /* pixels from box to box */
#define BOX_H 36
#define BOX_X 150
#define BOX_W 330

/* Neighbours are joined by a straight arrow; others by an arc on the left, wider the farther. */
static void svg_edge(const struct partition *p, uint32_t from, uint32_t to, const uint32_t *place,
                     uint32_t id, struct text *t)
{
    const struct ir_graph *g = p->graph;
    uint32_t y0 = place[from] * ROW + 20 + BOX_H, y1 = place[to] * ROW + 20;
    bool crosses = g->op[from]->target != g->op[to]->target;
    const char *dash = crosses ? " stroke-dasharray=\"5,3\"" : "";

    if (place[to] == place[from] + 1) {
        text_printf(t, "<path d=\"M%d %u L%d %u\"%s/>\n", BOX_X + BOX_W / 2, y0, BOX_X + BOX_W / 2,
                    y1, dash);
        text_printf(
            t, "<text x=\"%d\" y=\"%u\" class=\"s\">%s%s</text>\n", BOX_X + BOX_W / 2 + 8, y1 - 6,
            ir_shape_text(g->arena, g->tensor[id]->rank, g->tensor[id]->dim),
            crosses ? arena_printf(g->arena, ", %.0f cycles to cross", partition_transfer(p, id))
                    : "");
        return;
    }
    uint32_t out = 20 + 12 * (place[to] - place[from]), bend = out < 140 ? out : 140;
    text_printf(t, "<path d=\"M%d %u C%d %u %d %u %d %u\"%s/>\n", BOX_X, y0 - BOX_H / 2,
                BOX_X - (int)bend, y0 - BOX_H / 2, BOX_X - (int)bend, y1 + BOX_H / 2, BOX_X,
                y1 + BOX_H / 2, dash);
}

static void svg_box(const struct partition *p, uint32_t i, uint32_t row, struct text *t)
{
    const struct ir_op *op = p->graph->op[i];
    uint32_t y = row * ROW + 20;

    text_add(t, "<g><title>");
    safe(t, why(op));
    text_printf(t,
                "</title><rect x=\"%d\" y=\"%u\" width=\"%d\" height=\"%d\" rx=\"4\" "
                "fill=\"%s\"/>\n<text x=\"%d\" y=\"%u\">",
                BOX_X, y, BOX_W, BOX_H, colour(p, op), BOX_X + 8, y + 15);
    safe(t, p->graph->row[op->row].name);
    text_printf(t, "</text><text x=\"%d\" y=\"%u\" class=\"s\">", BOX_X + 8, y + 30);
    add_cycles(p, i, t);
    text_add(t, "</text></g>\n");
}

void partition_svg(const struct partition *p, struct text *t)
{
    const struct ir_graph *g = p->graph;
    uint32_t *place = ARENA_ARRAY(g->arena, uint32_t, g->n_op + 1), n = 0;

    for (uint32_t i = 0; i < g->n_op; i++)
        if (!g->op[i]->dead)
            place[i] = n++;
    text_printf(t,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\">\n"
                "<style>text{font:13px sans-serif}.s{font-size:11px;fill:#555}rect{stroke:#555}"
                "path{stroke:#555;fill:none;marker-end:url(#a)}</style>\n"
                "<defs><marker id=\"a\" refX=\"8\" refY=\"4\" markerWidth=\"8\" "
                "markerHeight=\"8\" orient=\"auto\"><path d=\"M0 0 L8 4 L0 8\" "
                "style=\"marker-end:none\"/></marker></defs>\n",
                BOX_X + BOX_W + 20, n * ROW + 30);
    for (uint32_t i = 0; i < g->n_op; i++) {
        if (g->op[i]->dead)
            continue;
        svg_box(p, i, place[i], t);
        for (uint32_t k = 0; k < g->op[i]->n_in; k++) {
            uint32_t from = maker(g, g->op[i]->in[k]);
            if (from != IR_NONE)
                svg_edge(p, from, i, place, g->op[i]->in[k], t);
        }
    }
    text_add(t, "</svg>\n");
}
