/* composite_cases.c - random operators that are a composite: its steps one after another, each with the
 * operands that the edges give it; what the composite refuses is drawn again. */
#include <string.h>

#include "base/random.h"
#include "compiler/legalise/legalise.h"
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

/* One step; edges that it reads first become inputs of the graph. */
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

/* The last step: what makes the output, if legalise left nothing but the steps and flips of uint8. */
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

static const char *taken(struct draw *w, const struct describe_composite *c,
                         const struct hd_config *hw, uint64_t seed, const char **words)
{
    const struct lgl_options o = {LGL_FC_CLASSIC};
    struct ir_graph *g = ir_graph_new(w->c->arena, "case");
    struct composite_match m;
    struct diag d = {0};
    struct text t;

    w->c->rng = seed;
    if (!draw_composite(w, c, g))
        return "its steps do not fit one another";
    draw_row(g, "c");
    if (ir_link(g, &d) != ST_OK || ir_verify(g, "cases", &d) != ST_OK ||
        lgl_all(g, &o, &d) != ST_OK)
        return arena_strdup(w->c->arena, d.text);
    const struct target_question q = {w->c->arena, g, last_of(c, g), w->target, hw, {0, 0}};
    if (!q.op)
        return "legalised into other operators";
    const char *why = composite_refusal(c, &q, &m);
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

bool check_add_composites(struct check_cases *c, const struct target *target,
                          const struct describe_composite *p, const struct hd_config *hw,
                          uint32_t *n_added, const char **why)
{
    struct draw w = {.c = c, .target = target};

    *n_added = 0;
    *why = NULL;
    for (uint32_t s = 0; s < p->n_step; s++)
        if (!draw_maker_of(&p->step[s].pattern))
            return false;
    for (uint32_t t = 0; t < TRIES && *n_added < CHECK_CASES; t++) {
        const uint64_t seed = random_next(&c->rng), after = c->rng;
        const char *words = "", *refused = taken(&w, p, hw, seed, &words);
        if (!refused && c->n < sizeof c->item / sizeof *c->item) {
            c->item[c->n] = (struct check_case){p->step[0].pattern.dtype, p->tolerance, words};
            c->rng = seed; /* the same again, in the graph of all */
            (void)draw_composite(&w, p, c->graph);
            draw_row(c->graph, arena_printf(c->arena, "%02u_case", c->n++));
            ++*n_added;
        }
        *why = refused ? refused : *why;
        c->rng = after;
    }
    return true;
}
