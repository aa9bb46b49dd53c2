/* layer_graph.c - draw the network's layers and their targets. Layers that are fused into another
 * are not drawn: their row names the other. */
#include <string.h>

#include "compiler/partition/drawing.h"
#include "layer_graph.h"

enum {
    GRAPH_MOST = 60, /* boxes without blocks */
    BLOCK_LEAST = 4, /* boxes of a block */
    BLOCK_MOST = 12,
};

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

/* Boxes from top to bottom, and the edges between them. */
struct graph {
    uint32_t n, n_edge, cap;
    uint32_t *row, *place; /* of box; box of row, or IR_NONE */
    struct graph_edge {
        uint32_t from, to; /* boxes */
        bool crosses;
        const char *label;
    } * edge;
};

static void add_edges(struct graph *of, const struct ir_graph *g, const uint32_t *maker,
                      const struct ir_op *op)
{
    for (uint32_t k = 0; k < op->n_in; k++) {
        const uint32_t from = op->in[k] == IR_NONE ? IR_NONE : maker[op->in[k]];
        if (from == IR_NONE || from == op->row)
            continue;
        const struct ir_row *a = &g->row[from], *b = &g->row[op->row];
        const struct ir_tensor *x = g->tensor[op->in[k]];
        ARENA_GROW(g->arena, of->edge, of->n_edge, &of->cap);
        of->edge[of->n_edge++] = (struct graph_edge){
            .from = of->place[from],
            .to = of->place[op->row],
            .crosses = a->target && b->target && strcmp(a->target, b->target) != 0,
            .label = ir_shape_text(g->arena, x->rank, x->dim)};
    }
}

static struct graph graph_of(const struct ir_graph *g)
{
    const uint32_t *maker = makers(g);
    struct graph of = {.row = ARENA_ARRAY(g->arena, uint32_t, g->n_row + 1),
                       .place = ARENA_ARRAY(g->arena, uint32_t, g->n_row + 1)};

    for (uint32_t i = 0; i < g->n_row; i++)
        of.place[i] = IR_NONE;
    for (uint32_t i = 0; i < g->n_op; i++)
        if (!g->op[i]->dead && of.place[g->op[i]->row] == IR_NONE) {
            of.place[g->op[i]->row] = of.n;
            of.row[of.n++] = g->op[i]->row;
        }
    for (uint32_t i = 0; i < g->n_op; i++)
        if (!g->op[i]->dead)
            add_edges(&of, g, maker, g->op[i]);
    return of;
}

/* Return by box how many edges pass its upper side. */
static uint32_t *passing(const struct graph *of, struct arena *a)
{
    uint32_t *n = ARENA_ARRAY(a, uint32_t, of->n + 1);

    for (uint32_t i = 0; i < of->n_edge; i++)
        for (uint32_t k = of->edge[i].from + 1; k <= of->edge[i].to; k++)
            n[k]++;
    return n;
}

/* Return the box after the block that begins with `first`: where the fewest edges pass. */
static uint32_t block_end(const struct graph *of, const uint32_t *edges, uint32_t first)
{
    uint32_t best = first + BLOCK_LEAST;

    if (of->n - first <= BLOCK_MOST)
        return of->n;
    for (uint32_t k = best; k <= first + BLOCK_MOST; k++)
        if (edges[k] <= edges[best])
            best = k;
    return best;
}

/* Draw boxes first .. end - 1. */
static void draw(const struct graph *of, const struct ir_graph *g,
                 const struct graph_cycles *cycles, uint32_t first, uint32_t end, struct text *svg)
{
    struct drawing d;

    drawing_init(&d, g->arena);
    for (uint32_t i = first; i < end; i++)
        (void)add_node(&d, g, of->row[i], &cycles[of->row[i]]);
    for (uint32_t i = 0; i < of->n_edge; i++) {
        const struct graph_edge *e = &of->edge[i];
        if (e->from >= first && e->from < end && e->to >= first && e->to < end)
            drawing_edge(&d, e->from - first, e->to - first, e->crosses, e->label);
    }
    drawing_svg(&d, "", svg);
}

void graph_html(const struct pipeline *p, const struct graph_cycles *cycles, struct text *t)
{
    const struct ir_graph *g = p->graph;
    const struct graph of = graph_of(g);
    const uint32_t *edges = passing(&of, g->arena);

    if (of.n <= GRAPH_MOST) {
        draw(&of, g, cycles, 0, of.n, t);
        return;
    }
    for (uint32_t first = 0, end; first < of.n; first = end) {
        end = block_end(&of, edges, first);
        text_add(t, "<details><summary></summary>\n");
        draw(&of, g, cycles, first, end, t);
        text_add(t, "</details>\n");
    }
}
