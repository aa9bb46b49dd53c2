/* graph.c - evaluate a graph over terms, operator by operator in its order. */
#include "graph.h"

#include <string.h>

static const uint32_t *constant(struct prove *p, const struct ir_tensor *t)
{
    const size_t n = (size_t)ir_bytes(t);
    uint32_t *x = ARENA_ARRAY(p->arena, uint32_t, n);

    for (size_t i = 0; i < n; i++)
        x[i] = prove_constant((int8_t)t->data[i]);
    return x;
}

/* Read or assign a variable. Others that have state write what nothing is equal to. */
static bool variable(const struct prove_op *o, const uint32_t **terms)
{
    const struct ir_op *op = o->op;

    if (op->opcode == IR_OP_READ_VARIABLE) {
        memcpy(o->y, o->x[0], (size_t)ir_bytes(o->out) * sizeof *o->y);
        return true;
    }
    if (op->opcode == IR_OP_ASSIGN_VARIABLE && ir_bytes(o->in[0]) == ir_bytes(o->in[1])) {
        terms[op->in[1]] = o->x[0];
        for (uint64_t b = 0; b < ir_bytes(o->out); b++)
            o->y[b] = prove_fresh(o->p); /* no operator reads it */
        return true;
    }
    if (op->opcode == IR_OP_LSTM &&
        prove_graph_lstm(o, (const uint32_t **[]){&terms[op->in[4]], &terms[op->in[5]]}))
        return true;
    for (uint32_t i = 0; i < op->n_in && ir_op_info(op->opcode)->has_state; i++)
        if (o->in[i] && o->in[i]->role == IR_VARIABLE) {
            uint32_t *t = ARENA_ARRAY(o->p->arena, uint32_t, (size_t)ir_bytes(o->in[i]));

            for (uint64_t b = 0; b < ir_bytes(o->in[i]); b++)
                t[b] = prove_fresh(o->p);
            terms[op->in[i]] = t;
        }
    return false;
}

/* The operator's name is the reason: no rule was one for it. */
static void missing(const struct prove_op *o, size_t n)
{
    const char *why = arena_printf(o->p->arena, "%s of %s", ir_op_names[o->op->opcode],
                                   ir_type_name(o->in[0]->type));

    for (size_t i = 0; i < n; i++)
        o->y[i] = prove_unknown(o->p, why);
}

/* The operator that makes its only operand. */
static const struct prove_op *maker(const struct prove_graph *graph, const struct prove_op *o)
{
    const uint32_t at = o->in[0] ? o->in[0]->producer : IR_NONE;

    return o->op->n_in == 1 && at != IR_NONE ? &graph->op[at] : NULL;
}

static bool ruled(const struct prove_graph *graph, const struct prove_op *o)
{
    const struct prove_op *from = maker(graph, o);

    return (from && prove_graph_chosen(o, from)) || prove_graph_move(o) || prove_graph_i16(o) ||
           prove_graph_float(o) || prove_graph_logic(o) || prove_graph_unary(o) ||
           prove_graph_binary(o) || prove_graph_product(o) || prove_graph_integer(o) ||
           prove_graph_window(o) || prove_graph_reduce(o) || prove_graph_softmax(o);
}

static void run_op(const struct prove_graph *graph, struct prove_op *o)
{
    const uint32_t **terms = graph->terms;
    const struct ir_graph *g = o->g;
    const struct ir_op *op = o->op;

    o->p->layer = op->row;
    o->in = ARENA_ARRAY(o->p->arena, const struct ir_tensor *, op->n_in + 1);
    o->x = ARENA_ARRAY(o->p->arena, const uint32_t *, op->n_in + 1);
    for (uint32_t i = 0; i < op->n_in; i++) {
        o->in[i] = ir_in(g, op, i);
        if (o->in[i] && o->in[i]->role == IR_CONST && !terms[op->in[i]])
            terms[op->in[i]] = constant(o->p, o->in[i]);
        o->x[i] = o->in[i] ? terms[op->in[i]] : NULL;
    }
    o->k = ref_constants_of(o->p->arena, g, op, graph->options);
    for (uint32_t i = 0; i < op->n_out; i++) {
        const size_t n = (size_t)ir_bytes(ir_out(g, op, i));

        o->out = ir_out(g, op, i);
        o->y = ARENA_ARRAY(o->p->arena, uint32_t, n);
        const bool found = op->n_out == 1 && !ir_op_info(op->opcode)->has_state && ruled(graph, o);
        if (!found && !variable(o, terms))
            missing(o, n);
        terms[op->out[i]] = o->y;
    }
    o->after = ARENA_ARRAY(o->p->arena, const uint32_t *, op->n_in + 1);
    for (uint32_t i = 0; i < op->n_in; i++)
        o->after[i] = o->in[i] ? terms[op->in[i]] : NULL;
}

void prove_graph_run(struct prove *p, struct prove_graph *graph)
{
    const struct ir_graph *g = graph->g;
    const uint32_t **terms = ARENA_ARRAY(p->arena, const uint32_t *, g->n_tensor + 1),
                   layer = p->layer;

    if (graph->op)
        return;
    graph->op = ARENA_ARRAY(p->arena, struct prove_op, g->n_op + 1);
    graph->terms = terms;
    graph->first = p->n_term;
    for (uint32_t i = 0; i < g->n_in; i++)
        terms[g->in[i]] = graph->in[i];
    for (uint32_t i = 0; i < g->n_tensor; i++)
        if (g->tensor[i]->role == IR_VARIABLE)
            terms[i] = graph->state[i];
    for (uint32_t i = 0; i < g->n_op; i++) {
        graph->op[i] = (struct prove_op){.p = p, .g = g, .op = g->op[i]};
        if (!g->op[i]->dead)
            run_op(graph, &graph->op[i]);
    }
    for (uint32_t i = 0; i < g->n_out; i++)
        if (!terms[g->out[i]] && g->tensor[g->out[i]]->role == IR_CONST)
            terms[g->out[i]] = constant(p, g->tensor[g->out[i]]);
    graph->last = p->n_term;
    p->layer = layer;
}
