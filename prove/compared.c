/* compared.c - calls of kernels without a rule. The kernel and the reference's operators of its layer run on the same
 * random inputs, with the constants as they are. Only if all results are equal, the call's result is the operator's.
 * Where an operand is in the package is found by its terms, where a result is by its bytes. */
#include "compared.h"

#include <setjmp.h>
#include <string.h>

#include "kernels/hdk.h"
#include "trial.h"

enum { ARGS = 4, STEP = 16 };

#define CALL2(kernel)                                                                              \
    static void call_##kernel(const void *p, void *const *arg)                                     \
    {                                                                                              \
        hdk_##kernel(p, arg[0], arg[1]);                                                           \
    }
#define CALL3(kernel)                                                                              \
    static void call_##kernel(const void *p, void *const *arg)                                     \
    {                                                                                              \
        hdk_##kernel(p, arg[0], arg[1], arg[2]);                                                   \
    }
#define CALL4(kernel)                                                                              \
    static void call_##kernel(const void *p, void *const *arg)                                     \
    {                                                                                              \
        hdk_##kernel(p, arg[0], arg[1], arg[2], arg[3]);                                           \
    }
#include "prove/runtime/calls.def"
#undef CALL2
#undef CALL3
#undef CALL4
#define CALL2(kernel) {#kernel, call_##kernel},
#define CALL3(kernel) CALL2(kernel)
#define CALL4(kernel) CALL2(kernel)

static const struct {
    const char *name;
    void (*call)(const void *p, void *const *arg);
} calls[] = {
#include "prove/runtime/calls.def"
};

/* The run function up to the end of a layer, in place of a kernel. */
struct layer_run {
    struct prove_package *k;
    uint32_t layer;
    uint8_t *before; /* the window when the layer begins */
    jmp_buf end;
    bool inside;
};

/* Add the operators that read only the last result and constants. */
static void extend(struct prove_trial *t, uint32_t first)
{
    const struct prove_graph *graph = t->k->graph;
    const struct ir_graph *g = graph->g;

    for (uint32_t i = first + 1; i < g->n_op && t->n_op < PROVE_TRIAL_OPS; i++) {
        const struct prove_op *o = &graph->op[i];
        const uint32_t last = t->op[t->n_op - 1]->op->out[0];
        bool reads = false, other = g->op[i]->dead || ir_op_info(g->op[i]->opcode)->has_state;

        for (uint32_t x = 0; x < g->op[i]->n_in; x++) {
            reads = reads || g->op[i]->in[x] == last;
            other = other ||
                    (g->op[i]->in[x] != last && o->in && o->in[x] && o->in[x]->role != IR_CONST);
        }
        if (reads && !other)
            t->op[t->n_op++] = o;
    }
}

static void (*call_of(const char *name))(const void *, void *const *)
{
    for (uint32_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strcmp(calls[i].name, name) == 0)
            return calls[i].call;
    return NULL;
}

/* Add an operator at its place in the order. */
static void add_op(struct prove_trial *t, const struct prove_op *o)
{
    uint32_t at = t->n_op++;

    for (; at > 0 && t->op[at - 1] > o; at--)
        t->op[at] = t->op[at - 1];
    t->op[at] = o;
}

/* True if the call computes operator `last` and those of the same target whose results only the call has. */
static bool try_composite(struct prove_trial *t, const struct prove_op *last, const char *target)
{
    const struct prove_package *k = t->k;

    t->op[0] = last;
    t->n_op = 1;
    while (!prove_trial_find(t)) {
        const uint32_t made =
            t->missing < last->g->n_tensor ? last->g->tensor[t->missing]->producer : IR_NONE;

        if (made == IR_NONE || t->n_op == PROVE_TRIAL_OPS || !k->target[last->g->op[made]->row] ||
            strcmp(k->target[last->g->op[made]->row], target) != 0)
            return false;
        add_op(t, &k->graph->op[made]);
    }
    return t->n_op > 1 && prove_trial_run(t);
}

/* True if some operator of the layer is what the call computes; with a target, several that end there. */
static bool try_layer(struct prove_trial *t, const char *target)
{
    struct prove_package *k = t->k;
    struct arena *m = t->arena;
    const uint32_t layer = k->p->layer;

    t->k->trial = true;
    prove_graph_run(k->p, k->graph);
    const struct ir_graph *g = k->graph->g;
    bool found = false;

    t->seed = k->p->seed;
    t->bytes = ARENA_ARRAY(m, uint8_t *, g->n_tensor + 1);
    t->before = arena_alloc(m, k->memory.n);
    t->wrote = arena_alloc(m, k->memory.n);
    t->link = ARENA_ARRAY(m, uint32_t, k->memory.n);
    t->print = ARENA_ARRAY(m, uint64_t, k->memory.n);
    t->window = arena_memdup(m, k->window, k->memory.n);
    for (uint32_t i = 0; i < g->n_op && !found; i++) {
        if (g->op[i]->dead || g->op[i]->row != layer)
            continue;
        t->op[0] = &k->graph->op[i];
        t->n_op = 1;
        extend(t, i);
        found = (prove_trial_find(t) && prove_trial_run(t)) ||
                (target && try_composite(t, &k->graph->op[i], target));
    }
    k->trial = false;
    return found;
}

bool prove_compared(struct prove_package *k, const char *name, const void *p, void *const *arg)
{
    struct prove_trial t = {.k = k, .p = p, .arg = arg, .n_arg = ARGS, .call = call_of(name)};

    t.arena = arena_beside(k->p->arena);
    const bool found = t.call && try_layer(&t, NULL);
    arena_free(t.arena);
    if (found)
        prove_package_compared(k, name);
    return found;
}

/* --- layers whose code is emitted --- */

/* At the begin of the layer the window is as it was; at its end the run ends. Kernels and devices do nothing meanwhile. */
static void enter(void *ctx, uint32_t layer, uint32_t submission)
{
    struct layer_run *r = ctx;

    (void)submission;
    if (layer == r->layer && !r->inside)
        memcpy(r->k->window, r->before, r->k->memory.n);
    else if (layer != r->layer && r->inside)
        longjmp(r->end, 1);
    r->inside = layer == r->layer;
}

static void run_layer(const void *p, void *const *arg)
{
    struct layer_run r = *(const struct layer_run *)p;
    struct hd_call call = *r.k->call;

    (void)arg;
    call.enter = enter;
    call.ctx = &r;
    memcpy(r.before, r.k->window, r.k->memory.n);
    if (setjmp(r.end) == 0)
        (void)r.k->model->run(&call);
}

bool prove_emitted(struct prove_package *k)
{
    struct arena *m = arena_beside(k->p->arena);
    const uint64_t from = hd_model_region_offset(k->model, HD_REGION_ARENA);
    const uint32_t n = (uint32_t)((k->memory.n - from) / STEP);
    void **arg = ARENA_ARRAY(m, void *, n + 1);
    const struct layer_run r = {
        .k = k, .layer = k->p->layer, .before = arena_alloc(m, k->memory.n)};
    struct prove_trial t = {.k = k, .arena = m, .p = &r, .arg = arg, .n_arg = n, .call = run_layer};
    const char *target = k->target ? k->target[k->p->layer] : NULL;

    for (uint32_t i = 0; i < n; i++)
        arg[i] = k->window + from + (uint64_t)i * STEP;
    const bool found = target && try_layer(&t, target);
    arena_free(m);
    if (found)
        prove_package_compared(k, target);
    return found;
}
