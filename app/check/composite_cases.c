/* composite_cases.c - random operators that form a composite: draw its steps one after another,
 * each with the operands of its edges; draw again if the composite refuses them. */
#include <string.h>

#include "base/random.h"
#include "compiler/graph_passes.h"
#include "compiler/target/region.h"
#include "draw.h"

#define TRIES 20000

/* Once each. */
static void add_id(struct ir_graph *g, uint32_t **list, uint32_t *n, uint32_t id)
{
    uint32_t *all = ARENA_ARRAY(g->arena, uint32_t, *n + 1);

    for (uint32_t i = 0; i < *n; i++)
        if ((*list)[i] == id)
            return;
    if (*n)
        memcpy(all, *list, *n * sizeof *all);
    all[(*n)++] = id;
    *list = all;
}

/* Draw one step; edges that it reads and no step made become inputs of the graph. */
static bool draw_step(struct draw *w, struct ir_graph *g, const struct describe_step *s,
                      struct ir_tensor **edge)
{
    const bool turn = s->n_in == 2 && ir_op_info(s->pattern.opcode)->has_int &&
                      s->pattern.opcode != IR_OP_SUB && check_random(w->c, 2);
    draw_maker *make = draw_maker_of(&s->pattern);

    w->p = &s->pattern;
    w->broadcast = s->broadcast;
    w->operand = 0;
    memset(w->v, 0, sizeof w->v);
    for (uint32_t k = 0; k < 2; k++)
        w->given[k] = k < s->n_in ? edge[s->in[turn ? 1 - k : k]] : NULL;
    if (!make(w, g) || w->misfit)
        return false;
    const struct ir_op *op = g->op[g->n_op - 1];
    for (uint32_t k = 0; k < s->n_in && k < op->n_in; k++)
        edge[s->in[turn && k < 2 ? 1 - k : k]] = g->tensor[op->in[k]];
    edge[s->out] = ir_out(g, op, 0);
    edge[s->out]->is_output = false;
    if (!w->channels)
        w->channels = ir_dim_back(ir_in(g, op, 0), 0);
    return true;
}

static bool draw_composite(struct draw *w, const struct describe_composite *c, struct ir_graph *g)
{
    struct ir_tensor *edge[COMPOSITE_EDGES] = {NULL};
    const uint32_t first = g->n_op;

    w->misfit = false;
    w->channels = 0;
    w->keeps_shape = check_random(w->c, 2);
    for (uint32_t s = 0; s < c->n_step; s++)
        if (!draw_step(w, g, &c->step[s], edge))
            return false;
    for (uint32_t i = first; i < g->n_op; i++)
        for (uint32_t k = 0; k < g->op[i]->n_in; k++) {
            const uint32_t id = g->op[i]->in[k];
            if (id != IR_NONE && g->tensor[id]->role == IR_INPUT)
                add_id(g, &g->in, &g->n_in, id);
        }
    struct ir_tensor *y = edge[c->step[c->n_step - 1].out];
    y->is_output = true;
    add_id(g, &g->out, &g->n_out, y->id);
    return true;
}

/* Return the last step, which makes the output, if legalise left only the steps and uint8 flips. */
static const struct ir_op *last_of(const struct describe_composite *c, const struct ir_graph *g)
{
    const struct ir_op *last = NULL;
    uint32_t n = 0;

    for (uint32_t i = 0; i < g->n_op; i++) {
        const struct ir_op *op = g->op[i];
        const bool flip = op->opcode == IR_OP_QUANTIZE &&
                          (ir_in(g, op, 0)->type == IR_U8 || ir_out(g, op, 0)->type == IR_U8);
        last = flip ? last : op;
        n += !flip;
    }
    return n == c->n_step ? last : NULL;
}

/* Draw a case from `seed` and legalise it; return NULL, or why it cannot be used. */
static const char *legalised(struct draw *w, const struct describe_composite *c, uint64_t seed,
                             struct ir_graph **graph)
{
    const struct lgl_options o = {.fc_scale = LGL_FC_CLASSIC};
    struct ir_graph *g = *graph = ir_graph_new(w->c->arena, "case");
    struct diag d = {0};

    w->c->rng = seed;
    if (!draw_composite(w, c, g))
        return "its steps do not fit one another";
    draw_row(g, "c");
    if (ir_link(g, &d) != ST_OK || ir_verify(g, "cases", &d) != ST_OK ||
        passes_run(g, &o, &d) != ST_OK)
        return arena_strdup(w->c->arena, d.text);
    return last_of(c, g) ? NULL : "legalised into other operators";
}

static const char *taken(struct draw *w, const struct describe_composite *c,
                         const struct hd_config *hw, uint64_t seed, const char **words)
{
    struct ir_graph *g;
    struct composite_match m;
    struct text t;
    const char *why = legalised(w, c, seed, &g);

    if (why)
        return why;
    const struct target_question q = {w->c->arena, g, last_of(c, g), w->target, hw, {0, 0}};
    why = composite_refusal(c, &q, &m);
    if (why)
        return *why ? why : "legalised into other operators";
    text_init(&t, w->c->arena);
    text_printf(&t, "%s:", c->name);
    for (uint32_t s = 0; s < c->n_step; s++) {
        const struct ir_op op = composite_op(g, &m, s);
        text_add(&t, s ? "; " : " ");
        draw_words(&t, &c->step[s].pattern, c->step[s].name, g, &op);
    }
    *words = t.data;
    return NULL;
}

/* Draw the same again, into the common graph. */
static void keep(struct draw *w, const struct describe_composite *p, uint64_t seed,
                 const struct check_case *item)
{
    struct check_cases *c = w->c;

    c->item[c->n] = *item;
    c->rng = seed;
    (void)draw_composite(w, p, c->graph);
    draw_row(c->graph, arena_printf(c->arena, "%02u_case", c->n++));
}

bool check_add_composites(struct check_cases *c, const struct target *target,
                          const struct describe_composite *p, const struct hd_config *hw,
                          uint32_t *n_added, const char **why)
{
    struct draw w = {.c = c, .target = target, .reach = TARGET_VALUE_COUNT};

    *n_added = 0;
    *why = NULL;
    for (uint32_t s = 0; s < p->n_step; s++)
        if (!draw_maker_of(&p->step[s].pattern))
            return false;
    for (uint32_t t = 0; t < TRIES && *n_added < CHECK_CASES; t++) {
        const uint64_t seed = random_next(&c->rng), after = c->rng;
        const char *words = "", *refused = taken(&w, p, hw, seed, &words);
        if (!refused && c->n < sizeof c->item / sizeof *c->item) {
            keep(&w, p, seed,
                 &(struct check_case){.dtype = p->step[0].pattern.dtype,
                                      .tolerance = p->tolerance,
                                      .words = words,
                                      .pattern = UINT32_MAX});
            ++*n_added;
        }
        *why = refused ? refused : *why;
        c->rng = after;
    }
    return true;
}

/* --- chains for regions --- */

#define CHAIN 5 /* operators, at most */

/* Draw a chain: each operator reads the previous result; further operands come from outside or from
 * the chain. */
static void draw_chain(struct check_cases *c, const struct describe *d,
                       struct describe_composite *chain)
{
    static const char *const names[CHAIN] = {"a", "b", "c", "d", "e"};
    const uint32_t n = 2 + check_random(c, CHAIN - 1);
    struct describe_step *step = ARENA_ARRAY(c->arena, struct describe_step, n);
    const enum ir_type dtype = d->pattern[check_random(c, d->n_pattern)].dtype;

    *chain = (struct describe_composite){.name = "chain", .n_step = n, .step = step};
    for (uint32_t s = 0, edge = n + 1; s < n; s++) {
        uint32_t *in = ARENA_ARRAY(c->arena, uint32_t, 2), k;
        do
            k = check_random(c, d->n_pattern);
        while (d->pattern[k].dtype != dtype || !draw_maker_of(&d->pattern[k]));
        const bool two = ir_op_info(d->pattern[k].opcode)->in.least == 2 &&
                         !describe_has_weights(d->pattern[k].opcode);
        in[0] = s;
        in[1] = check_random(c, 2) ? check_random(c, s + 1) : edge++;
        step[s] = (struct describe_step){names[s], d->pattern[k], false, two ? 2 : 1, s + 1, in};
        chain->tolerance += d->pattern[k].tolerance;
    }
}

static const char *chain_words(struct arena *a, const struct ir_graph *g)
{
    struct text t;

    text_init(&t, a);
    text_add(&t, "chain:");
    for (uint32_t i = 0; i < g->n_op; i++)
        text_printf(&t, "%s %s %s", i ? ";" : "", ir_op_info(g->op[i]->opcode)->name,
                    ir_shape_text(a, ir_out(g, g->op[i], 0)->rank, ir_out(g, g->op[i], 0)->dim));
    return t.data;
}

void check_add_chains(struct check_cases *c, const struct target *target,
                      const struct hd_config *hw, uint32_t *n_added, const char **why)
{
    struct draw w = {.c = c, .target = target, .reach = TARGET_VALUE_COUNT};

    *n_added = 0;
    *why = NULL;
    for (uint32_t t = 0; t < TRIES && *n_added < CHECK_CASES; t++) {
        struct describe_composite chain;
        struct ir_graph *g;
        double cycles;
        draw_chain(c, describe_of(target), &chain);
        const uint64_t seed = random_next(&c->rng), after = c->rng;
        const char *refused = legalised(&w, &chain, seed, &g);
        const struct target_question q = {c->arena, g, NULL, target, hw, {0, 0}};
        for (uint32_t i = 0; i < g->n_op && !refused; i++) {
            struct target_question one = q;
            one.op = g->op[i];
            (void)describe_match(&one, &refused);
        }
        refused = refused ? refused : region_refusal(&q, 0, g->n_op - 1, &cycles);
        if (!refused && c->n < sizeof c->item / sizeof *c->item) {
            keep(&w, &chain, seed,
                 &(struct check_case){.dtype = chain.step[0].pattern.dtype,
                                      .tolerance = chain.tolerance,
                                      .words = chain_words(c->arena, g),
                                      .pattern = UINT32_MAX});
            ++*n_added;
        }
        *why = refused ? refused : *why;
        c->rng = after;
    }
}
