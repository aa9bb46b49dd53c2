/* prove.c - evaluate package and graph over the same inputs, and compare their outputs. */
#include "prove.h"

#include <stdio.h>
#include <string.h>

#include "driver/hd_model.h"
#include "graph/graph.h"
#include "kernels.h"

enum { CHANCE_BITS = 126 }; /* of two points */

static void open_package(struct prove_package *k, const struct prove_question *q, struct prove *p)
{
    uint8_t *raw;
    const uint64_t n = hd_model_device_bytes(q->model);

    *k = (struct prove_package){.p = p, .model = q->model, .target = q->target, .base = 1u << 20};
    raw = arena_alloc(p->arena, n + 64);
    k->window = raw + (64 - (uintptr_t)raw % 64) % 64;
    k->memory = (struct prove_memory){ARENA_ARRAY(p->arena, uint32_t, n), n};
    k->n_device = q->n_device;
    k->device = ARENA_ARRAY(p->arena, struct prove_device, q->n_device + 1);
    for (uint32_t i = 0; i < q->n_device; i++)
        prove_device_init(&k->device[i], k, q->hw[i]);
    *q->hook = (struct prove_hook){prove_kernel_call, k};
}

/* --- where a difference begins --- */

struct elements {
    uint64_t *slot;
    uint64_t mask;
};

/* The elements of all values that the package has made: the first n_term except the graph's. */
static struct elements elements_of(const struct prove *p, const struct prove_graph *graph,
                                   uint32_t n_term)
{
    struct elements e = {NULL, 1023};

    while (e.mask < (uint64_t)n_term * 2)
        e.mask = e.mask * 2 + 1;
    e.slot = ARENA_ARRAY(p->arena, uint64_t, e.mask + 1);
    for (uint32_t i = 0; i < n_term; i++) {
        const uint64_t element = (uint64_t)p->term[i].element;
        uint64_t at = element & e.mask;

        if (i >= graph->first && i < graph->last)
            continue;
        while (e.slot[at] && e.slot[at] != element)
            at = (at + 1) & e.mask;
        e.slot[at] = element;
    }
    return e;
}

static bool has(const struct elements *e, uint64_t element)
{
    uint64_t at = element & e->mask;

    while (e->slot[at] && e->slot[at] != element)
        at = (at + 1) & e->mask;
    return element == 0 || e->slot[at] == element;
}

static bool has_all(const struct prove *p, const struct elements *e, const struct ir_tensor *t,
                    const uint32_t *x)
{
    for (uint64_t b = 0; b < ir_bytes(t); b++) {
        const uint64_t element = (uint64_t)p->term[x[b]].element;

        if (!has(e, element))
            return false;
    }
    return true;
}

/* found[t]: tensor t is among the package's values. True if all of op's results are, or each is read by operators
 * and found by their results: a package may do them in one step. */
static bool is_covered(const struct ir_graph *g, const struct ir_op *op, bool *found)
{
    bool all = true;

    for (uint32_t o = 0; o < op->n_out && all; o++) {
        bool read = false, lost = false;

        for (uint32_t i = 0; i < g->n_op && !found[op->out[o]]; i++)
            for (uint32_t x = 0; x < g->op[i]->n_in && !g->op[i]->dead; x++) {
                const bool reads = g->op[i]->in[x] == op->out[o];

                read = read || reads;
                lost = lost || (reads && !found[g->op[i]->out[0]]);
            }
        found[op->out[o]] = found[op->out[o]] || (read && !lost);
        all = found[op->out[o]];
    }
    return all;
}

/* The first operator whose result is not among the package's values, nor what is made of it. */
static uint32_t first_layer(const struct prove *p, const struct ir_graph *g,
                            const uint32_t *const *terms, const struct elements *e)
{
    bool *found = ARENA_ARRAY(p->arena, bool, g->n_tensor + 1);
    uint32_t layer = g->n_op ? g->op[g->n_op - 1]->row : 0;

    for (uint32_t i = g->n_op; i-- > 0;) {
        const struct ir_op *op = g->op[i];

        for (uint32_t o = 0; o < op->n_out && !op->dead; o++)
            found[op->out[o]] = has_all(p, e, ir_out(g, op, o), terms[op->out[o]]);
        if (!op->dead && !is_covered(g, op, found))
            layer = op->row;
    }
    return layer;
}

/* --- both sides --- */

static bool same_outputs(const struct prove *p, const struct ir_graph *g,
                         const uint32_t *const *terms, uint32_t *const *out,
                         struct prove_verdict *v)
{
    for (uint32_t i = 0; i < g->n_out; i++)
        for (uint32_t b = 0; b < ir_bytes(g->tensor[g->out[i]]); b++)
            if (p->term[terms[g->out[i]][b]].element != p->term[out[i][b]].element) {
                v->output = i;
                v->byte = b;
                return false;
            }
    return true;
}

/* --- state: by induction over the inferences --- */

static bool is_variable(const struct ir_graph *g, uint32_t i)
{
    return g->tensor[i]->role == IR_VARIABLE;
}

/* Every variable has its own bytes of the package's state. */
static bool state_fits(const struct prove_question *q, struct arena *a)
{
    const struct ir_graph *g = q->graph;
    uint8_t *taken = arena_alloc(a, q->model->state_bytes + UINT64_C(1));

    for (uint32_t i = 0; i < g->n_tensor; i++)
        for (uint64_t b = 0; is_variable(g, i) && b < ir_bytes(g->tensor[i]); b++) {
            const uint64_t at = q->state_at[i] + b;

            if (at >= q->model->state_bytes || taken[at])
                return false;
            taken[at] = 1;
        }
    return true;
}

/* Its initial bytes are the graph's. Then, for the step: the same state for both, of any bytes. */
static bool begin_state(struct prove_package *k, const struct prove_question *q, uint32_t **state)
{
    const struct ir_graph *g = q->graph;
    const uint32_t *first = prove_package_reset(k);
    bool same = true;

    for (uint32_t i = 0; i < g->n_tensor; i++) {
        if (!is_variable(g, i))
            continue;
        const struct ir_tensor *t = g->tensor[i];
        state[i] = ARENA_ARRAY(k->p->arena, uint32_t, (size_t)ir_bytes(t));
        for (uint64_t b = 0; b < ir_bytes(t); b++) {
            const int8_t byte = t->data ? (int8_t)t->data[b] : 0;

            same = same && first && first[q->state_at[i] + b] == prove_constant(byte);
            state[i][b] = prove_input(k->p, (UINT64_C(1) << 32) + i, b);
            prove_package_state(k)[q->state_at[i] + b] = state[i][b];
        }
    }
    return same;
}

/* The state after the inference is the graph's. */
static bool same_state(struct prove_package *k, const struct prove_question *q,
                       const uint32_t *const *terms)
{
    const struct ir_graph *g = q->graph;
    const struct prove_term *term = k->p->term;

    for (uint32_t i = 0; i < g->n_tensor; i++)
        for (uint64_t b = 0; is_variable(g, i) && b < ir_bytes(g->tensor[i]); b++)
            if (term[prove_package_state(k)[q->state_at[i] + b]].element !=
                term[terms[i][b]].element)
                return false;
    return true;
}

static const char *reason(const struct prove *p, const struct prove_package *k,
                          struct prove_verdict *v)
{
    if (k->fault)
        return k->fault;
    if (p->n_unknown) {
        v->layer = p->unknown[0].layer;
        return p->unknown[0].why;
    }
    return "package and graph differ, or no rule shows that they do not";
}

static bool shapes_fit(const struct prove_question *q)
{
    const struct hd_model *m = q->model;
    const struct ir_graph *g = q->graph;

    if (m->n_inputs != g->n_in || m->n_outputs != g->n_out)
        return false;
    for (uint32_t i = 0; i < g->n_in; i++)
        if (m->inputs[i].n_bytes != ir_bytes(g->tensor[g->in[i]]))
            return false;
    for (uint32_t i = 0; i < g->n_out; i++)
        if (m->outputs[i].n_bytes != ir_bytes(g->tensor[g->out[i]]))
            return false;
    return true;
}

/* More than the terms that both sides make, for most packages. */
static uint64_t values_of(const struct ir_graph *g)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < g->n_tensor; i++)
        n += g->tensor[i]->role == IR_CONST ? 0 : ir_bytes(g->tensor[i]);
    return n * 5 / 2;
}

static bool ask_once(struct arena *a, const struct prove_question *q, bool deep,
                     struct prove_verdict *v)
{
    const struct ir_graph *g = q->graph;
    struct prove *p = prove_new(a, prove_mix(q->seed, deep), values_of(g));
    struct prove_package *k = ARENA_NEW(a, struct prove_package);
    struct prove_graph *graph = ARENA_NEW(a, struct prove_graph);
    uint32_t **in = ARENA_ARRAY(a, uint32_t *, g->n_in + 1),
             **out = ARENA_ARRAY(a, uint32_t *, g->n_out + 1),
             **state = ARENA_ARRAY(a, uint32_t *, g->n_tensor + 1);

    for (uint32_t i = 0; i < g->n_in; i++) {
        const uint64_t n = ir_bytes(g->tensor[g->in[i]]);

        in[i] = ARENA_ARRAY(a, uint32_t, n);
        for (uint64_t b = 0; b < n; b++)
            in[i][b] = prove_input(p, i, b);
    }
    for (uint32_t i = 0; i < g->n_out; i++)
        out[i] = ARENA_ARRAY(a, uint32_t, ir_bytes(g->tensor[g->out[i]]));
    p->deep = deep;
    open_package(k, q, p);
    prove_package_begin(k);
    if (!begin_state(k, q, state))
        prove_package_fault(k, "the first state differs");
    *graph = (struct prove_graph){.g = g,
                                  .options = q->options,
                                  .in = (const uint32_t *const *)in,
                                  .state = (const uint32_t *const *)state};
    k->graph = graph;
    prove_package_run(k, (const uint32_t *const *)in, out);
    const uint32_t n_term = p->n_term;
    prove_graph_run(p, k->graph);
    const uint32_t *const *terms = k->graph->terms;
    v->n_command = k->n_command;
    v->n_call = k->n_call;
    v->n_compared = k->n_compared;
    memcpy(v->compared, k->compared, sizeof v->compared);
    v->n_term = p->n_term;
    if (!k->fault && same_outputs(p, g, terms, out, v) && same_state(k, q, terms))
        return true;
    const struct elements e = elements_of(p, k->graph, n_term);
    v->layer = k->fault ? k->fault_layer : first_layer(p, g, terms, &e);
    (void)snprintf(v->why, sizeof v->why, "%s", reason(p, k, v));
    return false;
}

void prove_ask(struct arena *a, const struct prove_question *q, struct prove_verdict *v)
{
    *v = (struct prove_verdict){.proved = true};
    if (!shapes_fit(q) || !state_fits(q, a)) {
        v->proved = false;
        (void)snprintf(v->why, sizeof v->why, "inputs, outputs or state have other sizes");
        return;
    }
    v->proved = false;
    for (uint32_t deep = 0; deep < 2 && !v->proved; deep++) {
        struct arena *own = arena_beside(a);

        v->proved = ask_once(own, q, deep, v);
        arena_free(own);
    }
    v->bits = CHANCE_BITS;
    for (uint32_t n = v->n_term; n; n /= 2)
        v->bits -= 2;
}
