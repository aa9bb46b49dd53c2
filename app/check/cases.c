/* cases.c - random operators within a pattern's limits: draw one (draw.c, others.c), legalise it
 * and ask the pattern; draw again if it is refused. */
#include <string.h>

#include "base/random.h"
#include "compiler/graph_passes.h"
#include "compiler/target/region.h"
#include "draw.h"

#define TRIES 6000
/* Cases that reach for a value: how many, of how many tries; products and bytes of one. */
enum { REACH_CASES = 6, GOAL_CASES = 3, REACH_TRIES = 90, REACH_WORK = 2000000 };

static const struct {
    draw_maker *any, *real; /* makers for all types, and for float32 where they differ */
} makers[] = {
#define OPERATOR(code, name, columns) {columns},
#define CASES(fn)                     .any = draw_##fn,
#define CASES_F32(fn)                 .real = draw_##fn,
#include "operators/operators.def"
};

draw_maker *draw_maker_of(const struct describe_pattern *p)
{
    draw_maker *real = p->dtype == IR_F32 ? makers[p->opcode].real : NULL;

    return real ? real : makers[p->opcode].any;
}

/* --- cases --- */

void draw_words(struct text *t, const struct describe_pattern *p, const char *name,
                const struct ir_graph *g, const struct ir_op *op)
{
    struct target_values v = {{0}};

    describe_values(p, g, op, &v);
    text_printf(t, "%s:", name);
    for (uint32_t i = 0; i < TARGET_SCALE_M; i++)
        if (v.v[i] != 0 && (i != TARGET_BATCH || v.v[i] > 1))
            text_printf(t, " %s=%lld", target_value_name((enum target_value)i), (long long)v.v[i]);
}

static const char *words(const struct draw *w, struct arena *a, const struct ir_graph *g,
                         const struct ir_op *op)
{
    struct text t;

    text_init(&t, a);
    draw_words(&t, w->p, w->p->name, g, op);
    if (w->p->accumulate && w->c->n % 2)
        text_add(&t, " in two parts of in_c");
    return t.data;
}

void draw_row(struct ir_graph *g, const char *name)
{
    struct ir_row *old = g->row;

    g->row = ARENA_ARRAY(g->arena, struct ir_row, g->n_row + 1);
    if (g->n_row)
        memcpy(g->row, old, g->n_row * sizeof *old);
    g->row[g->n_row++] = (struct ir_row){
        .name = name, .op = "CASE", .tensor = "", .shape = "1x1", .fused_into = IR_NONE};
}

static void add_borders(struct ir_graph *g, const struct ir_op *op)
{
    for (uint32_t k = 0; k < 2; k++) {
        uint32_t **list = k ? &g->out : &g->in, *n = k ? &g->n_out : &g->n_in;
        uint32_t more = k ? op->n_out : op->n_in;
        uint32_t *all = ARENA_ARRAY(g->arena, uint32_t, *n + more);
        if (*n)
            memcpy(all, *list, *n * sizeof *all);
        for (uint32_t i = 0; i < more; i++) {
            uint32_t id = k ? op->out[i] : op->in[i];
            if (k || (id != IR_NONE && g->tensor[id]->role == IR_INPUT))
                all[(*n)++] = id;
        }
        *list = all;
    }
}

/* Return the operator if the graph has only it and the uint8 flips around it; otherwise NULL. */
static const struct ir_op *only_one(const struct draw *w, const struct ir_graph *g)
{
    const struct ir_op *one = NULL;

    for (uint32_t i = 0; i < g->n_op; i++) {
        const bool flip =
            g->op[i]->opcode == IR_OP_QUANTIZE && w->p->dtype == IR_U8 &&
            (ir_in(g, g->op[i], 0)->type == IR_U8 || ir_out(g, g->op[i], 0)->type == IR_U8);
        if (flip)
            continue;
        if (one || g->op[i]->opcode != w->p->opcode)
            return NULL;
        one = g->op[i];
    }
    return one;
}

/* Return NULL if the pattern accepts the operator alone, with *legal the legalised operator in
 * *graph; otherwise the reason. */
static const char *taken(struct draw *w, const struct hd_config *hw, uint64_t seed,
                         struct ir_graph **graph, const struct ir_op **legal)
{
    const struct lgl_options o = {.fc_scale = LGL_FC_CLASSIC};
    struct ir_graph *g = *graph = ir_graph_new(w->c->arena, "case");
    struct diag d = {0};

    w->c->rng = seed;
    memset(w->v, 0, sizeof w->v);
    if (!draw_maker_of(w->p)(w, g))
        return "the window is larger than the image";
    add_borders(g, g->op[0]);
    draw_row(g, "c");
    if (ir_verify(g, "cases", &d) != ST_OK || passes_run(g, &o, &d) != ST_OK)
        return arena_strdup(w->c->arena, d.text);
    *legal = only_one(w, g);
    if (!*legal)
        return "legalised into another operator";
    const struct target_question q = {w->c->arena, g, *legal, w->target, hw, {0, 0}};
    const char *why = describe_refusal(w->p, &q);
    double cycles;
    if (!why && describe_of(w->target)->region_call)
        why = region_refusal(&q, (*legal)->id, (*legal)->id, &cycles);
    return why ? why : native_refusal(w->p, &q);
}

static int64_t work_of(const struct target_values *v)
{
    const int64_t taps = v->v[TARGET_KERNEL_H] * v->v[TARGET_KERNEL_W],
                  windows = v->v[TARGET_ELEMENTS] * (taps > 1 ? taps : 1);

    return (v->v[TARGET_MACS] > windows ? v->v[TARGET_MACS] : windows) + v->v[TARGET_IN_BYTES] +
           v->v[TARGET_W_BYTES] + v->v[TARGET_OUT_BYTES];
}

/* Keep the case that `seed` draws: the same operator again, in the common graph. */
static void keep(struct draw *w, const struct hd_config *hw, uint64_t seed,
                 const struct ir_graph *graph, const struct ir_op *legal,
                 const struct target_values *v)
{
    struct check_cases *const c = w->c;
    const struct target_question q = {c->arena, graph, legal, w->target, hw, {0, 0}};
    struct check_case *const k = &c->item[c->n];

    *k = (struct check_case){.dtype = w->p->dtype,
                             .tolerance = w->p->tolerance,
                             .words = words(w, c->arena, graph, legal),
                             .pattern = (uint32_t)(w->p - describe_of(w->target)->pattern),
                             .estimate = describe_cost(&q).cycles};
    target_amounts(v, k->amount);
    c->rng = seed;
    (void)draw_maker_of(w->p)(w, c->graph);
    if (w->kind == DRAW_SUMS)
        k->end = w->negative && !describe_has_weights(w->p->opcode) ? -1 : 1;
    add_borders(c->graph, c->graph->op[c->graph->n_op - 1]);
    draw_row(c->graph, arena_printf(c->arena, "%02u_case", c->n++));
}

/* Draw a case and keep it if the pattern takes it. NULL, or why it was not kept. */
static const char *try_case(struct draw *w, const struct hd_config *hw, struct check_reach *r)
{
    struct check_cases *const c = w->c;
    const uint64_t seed = random_next(&c->rng), after = c->rng;
    struct ir_graph *graph = NULL;
    const struct ir_op *legal = NULL;
    const char *why = taken(w, hw, seed, &graph, &legal);

    if (!why) {
        struct target_values v = {{0}};
        describe_values(w->p, graph, legal, &v);
        if (w->reach != TARGET_VALUE_COUNT && work_of(&v) > REACH_WORK) {
            why = "too large to be tried";
        } else if (c->n < sizeof c->item / sizeof *c->item) {
            check_note_reach(r, &v);
            keep(w, hw, seed, graph, legal, &v);
        }
    }
    c->rng = after;
    return why;
}

bool check_add_cases(struct check_cases *c, const struct target *target,
                     const struct describe_pattern *p, const struct hd_config *hw,
                     uint32_t *n_added, const char **why, struct check_reach *r)
{
    struct draw w = {.c = c, .target = target, .p = p, .reach = TARGET_VALUE_COUNT};

    *n_added = 0;
    *why = NULL;
    if (!draw_maker_of(p))
        return false;
    for (uint32_t t = 0; t < TRIES && *n_added < CHECK_CASES; t++) {
        const char *refused = try_case(&w, hw, r);
        *n_added += !refused;
        *why = refused ? refused : *why;
    }
    return true;
}

/* Add operators whose sizes combine: depth, bytes and products to the end of their limit, and below it. */
static void add_goals(struct draw *w, const struct hd_config *hw, struct check_reach *r)
{
    w->wanted = DRAW_NATURAL;
    w->both = w->corner = false;
    for (uint32_t goal = 0; goal < REACH_GOALS; goal++)
        for (uint32_t t = 0, n = 0;
             t < REACH_TRIES && n < (goal == REACH_MACS ? 2 * GOAL_CASES : GOAL_CASES); t++) {
            w->to_end = (goal == REACH_MACS || n + 1 < GOAL_CASES) && t < REACH_TRIES / 2;
            if (!reach_fix(w, draw_maker_of(w->p), goal))
                break;
            n += !try_case(w, hw, r);
        }
}

void check_add_reach(struct check_cases *c, const struct target *target,
                     const struct describe_pattern *p, const struct hd_config *hw,
                     struct check_reach *r)
{
    /* The value, a second one for half of the cases; or both to their ends, and of which kind. */
    static const struct {
        enum target_value value, second;
        bool corner;
        enum draw_kind kind;
    } of[] = {
        {TARGET_IN_H, TARGET_IN_W, false, DRAW_NATURAL},
        {TARGET_IN_W, TARGET_IN_C, false, DRAW_NATURAL},
        {TARGET_IN_C, TARGET_OUT_C, false, DRAW_NATURAL},
        {TARGET_OUT_H, TARGET_OUT_W, false, DRAW_NATURAL},
        {TARGET_OUT_W, TARGET_OUT_H, false, DRAW_NATURAL},
        {TARGET_OUT_C, TARGET_IN_W, false, DRAW_NATURAL},
        {TARGET_KERNEL_H, TARGET_KERNEL_W, false, DRAW_NATURAL},
        {TARGET_KERNEL_W, TARGET_KERNEL_H, false, DRAW_NATURAL},
        {TARGET_STRIDE_H, TARGET_STRIDE_W, false, DRAW_NATURAL},
        {TARGET_STRIDE_W, TARGET_STRIDE_H, false, DRAW_NATURAL},
        {TARGET_DILATION_H, TARGET_IN_H, false, DRAW_NATURAL},
        {TARGET_DILATION_W, TARGET_IN_W, false, DRAW_NATURAL},
        {TARGET_BATCH, TARGET_IN_H, false, DRAW_NATURAL},
        {TARGET_MULTIPLIER, TARGET_IN_C, false, DRAW_NATURAL},
        {TARGET_IN_BYTES, TARGET_IN_BYTES, false, DRAW_NATURAL},
        {TARGET_OUT_BYTES, TARGET_OUT_BYTES, false, DRAW_NATURAL},
        {TARGET_W_BYTES, TARGET_W_BYTES, false, DRAW_NATURAL},
        {TARGET_PAD_TOP, TARGET_KERNEL_H, false, DRAW_NATURAL},
        {TARGET_PAD_LEFT, TARGET_KERNEL_W, false, DRAW_NATURAL},
        {TARGET_KERNEL_H, TARGET_KERNEL_W, true, DRAW_NATURAL},
        {TARGET_KERNEL_H, TARGET_KERNEL_W, true, DRAW_SUMS},
        {TARGET_IN_C, TARGET_IN_C, true, DRAW_SUMS},
        {TARGET_OUT_C, TARGET_OUT_C, false, DRAW_TIES},
    };
    struct draw w = {.c = c, .target = target, .p = p};

    for (uint32_t i = 0; i < sizeof of / sizeof *of && draw_maker_of(p); i++) {
        w.reach = of[i].value;
        w.second = of[i].second;
        w.corner = of[i].corner;
        w.wanted = of[i].kind;
        const bool window = (w.reach >= TARGET_KERNEL_H && w.reach <= TARGET_STRIDE_W && !w.corner);
        const bool pad = w.reach == TARGET_PAD_TOP || w.reach == TARGET_PAD_LEFT;
        for (uint32_t t = 0, n = 0;
             t < REACH_TRIES && n < (window ? DRAW_SMALL : (uint32_t)REACH_CASES); t++) {
            w.nth = window ? t : w.wanted == DRAW_TIES ? n : 0;
            w.to_end = w.corner || (n % 2 == 0 && t < REACH_TRIES / 2);
            w.both = w.corner || pad || n % 2 == 1;
            w.negative = n % 2;
            n += !try_case(&w, hw, r);
            if (w.v[w.reach] == 0) /* the operator does not have it */
                break;
        }
    }
    if (draw_maker_of(p))
        add_goals(&w, hw, r);
}
