/* graph.c - the network's layers and what runs them, drawn by Graphviz. Layers that nobody executes
 * anything for because another has them fused in are not drawn: their row names the other. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "page.h"
#include "sim/tools.h"

#define MOST_LAYERS 300u /* beyond, the layout takes seconds and nobody reads it */

/* Text of a model or target in a Graphviz string. */
static void safe(struct text *t, const char *s)
{
    for (; *s; s++)
        text_add_n(t, strchr("<>&\"\\", *s) || *s < ' ' || *s > '~' ? "_" : s, 1);
}

/* Row of the operator that makes each tensor; IR_NONE: an input or a constant. */
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

static void add_node(const struct ir_graph *g, uint32_t row, double cycles, struct text *t)
{
    const struct ir_row *r = &g->row[row];

    text_printf(t, "  n%u [id=\"layer%u\", class=\"%s\", label=\"", row, row,
                is_host(r)  ? "host"
                : r->target ? "accelerator"
                            : "none");
    safe(t, r->name);
    text_add(t, "\\n");
    safe(t, is_host(r) ? "host" : r->target ? r->target : "");
    if (cycles >= 0)
        text_printf(t, ", %.0f cycles", cycles);
    text_add(t, "\", tooltip=\"");
    safe(t, r->reason ? r->reason : r->op);
    text_add(t, "\"];\n");
}

static void add_edges(const struct ir_graph *g, const struct ir_op *op, const uint32_t *maker,
                      struct text *t)
{
    for (uint32_t k = 0; k < op->n_in; k++) {
        const uint32_t from = op->in[k] == IR_NONE ? IR_NONE : maker[op->in[k]];
        if (from == IR_NONE || from == op->row)
            continue;
        const struct ir_row *a = &g->row[from], *b = &g->row[op->row];
        const bool crosses = a->target && b->target && strcmp(a->target, b->target) != 0;
        text_printf(t, "  n%u -> n%u [tooltip=\"%s\"%s];\n", from, op->row,
                    ir_shape_text(g->arena, g->tensor[op->in[k]]->rank, g->tensor[op->in[k]]->dim),
                    crosses ? ", style=dashed, class=\"crossing\"" : "");
    }
}

void graph_dot(const struct pipeline *p, const double *cycles, struct text *t)
{
    const struct ir_graph *g = p->graph;
    const uint32_t *maker = makers(g);
    bool *drawn = ARENA_ARRAY(g->arena, bool, g->n_row + 1);

    text_add(t, "strict digraph network {\n  bgcolor=\"transparent\"; nodesep=0.3; ranksep=0.28;\n"
                "  node [shape=box, style=\"rounded,filled\", fontname=\"DejaVu Sans\", "
                "fontsize=10, height=0.3, margin=\"0.12,0.05\"];\n  edge [arrowsize=0.6];\n");
    for (uint32_t i = 0; i < g->n_op; i++) {
        const struct ir_op *op = g->op[i];
        if (op->dead)
            continue;
        if (!drawn[op->row])
            add_node(g, op->row, cycles[op->row], t);
        drawn[op->row] = true;
        add_edges(g, op, maker, t);
    }
    text_add(t, "}\n");
}

static enum status run_dot(struct arena *a, const char *dot, const char *drawing, struct diag *d)
{
    const char *log = arena_printf(a, "%s.log", dot);
    const char *const argv[] = {"dot", "-Tsvg", "-Gnslimit=4", "-Gnslimit1=4",
                                "-o",  drawing, dot,           NULL};
    const enum status st = tool_run(a, "drawing the graph", NULL, log, argv, d);

    (void)unlink(log);
    return st;
}

static uint32_t count_layers(const struct ir_graph *g)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < g->n_op; i++)
        n += !g->op[i]->dead;
    return n;
}

enum status graph_svg(const struct pipeline *p, const double *cycles, const char *folder,
                      struct text *svg, struct diag *d)
{
    struct arena *a = p->graph->arena;
    const char *dot = arena_printf(a, "%s/.graph.dot", folder),
               *drawing = arena_printf(a, "%s/.graph.svg", folder);
    struct diag none = {0};
    struct text t;
    uint8_t *text;
    size_t n;

    if (count_layers(p->graph) > MOST_LAYERS) {
        text_printf(svg, "<p>Not drawn: more than %u operators.</p>", MOST_LAYERS);
        return ST_OK;
    }
    text_init(&t, a);
    graph_dot(p, cycles, &t);
    TRY(file_write(dot, t.data, t.length, d));
    const enum status st = run_dot(a, dot, drawing, &none);
    const char *from = NULL;
    if (st == ST_OK && file_read(a, drawing, (size_t)64 << 20, &text, &n, &none) == ST_OK)
        from = strstr((const char *)text, "<svg");
    (void)unlink(dot);
    (void)unlink(drawing);
    text_add(svg, from ? from
                       : "<p>Not drawn: Graphviz (dot) is missing. The table above has every "
                         "layer's target and reason.</p>");
    return ST_OK;
}
