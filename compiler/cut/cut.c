/* cut.c - find the cheapest cut of an operator: sizes of parts by their number, fewest first. A cut is tried by asking the
 * pattern about every part that differs, so it holds for any limit; the cost is that of all calls, of copies of parts
 * whose bytes are not contiguous, and of transfers that the whole would not need. */
#include "cut.h"

#include <string.h>

#include "cut_choices.h"

enum {
    MOST_SPANS = 8,
    MOST_QUESTIONS = 20000,
    WORSE = 2, /* stop at this many times the parts of the first cut that is taken */
};

/* Cycles of hdk_part, taken as those of concat (host_cycles.def). */
static const double cycles_per_row = 50, cycles_per_byte = 10;

/* Parts along one dimension that differ only in their place. */
struct spans {
    uint32_t n, n_parts;
    struct {
        uint32_t from, n, count;
        struct cut_part part;
    } of[MOST_SPANS];
};

struct search {
    const struct target_question *q;
    const struct describe_pattern *p;
    struct cut_form form;
    struct cut_alone alone;
    struct target_question part; /* about the operator alone */
    uint32_t n_questions;
    double whole_transfers; /* cycles */
    struct spans spans[CUT_DIMS];
    struct describe_cut *layout; /* NULL, or where scratch memory is summed up */
};

/* --- one cut --- */

/* Return true if the parts differ in nothing that matters along dimension `d`. */
static bool alike(const struct cut_part *a, const struct cut_part *b)
{
    return memcmp(a->x.n, b->x.n, sizeof a->x.n) == 0 &&
           memcmp(a->y.n, b->y.n, sizeof a->y.n) == 0 &&
           memcmp(a->before, b->before, sizeof a->before) == 0 &&
           memcmp(a->after, b->after, sizeof a->after) == 0 && a->first == b->first &&
           a->last == b->last;
}

static bool find_spans(const struct search *s, const struct cut_sizes *z, uint32_t d,
                       struct spans *list)
{
    struct cut_range r = {{0}, {0}};
    struct cut_part p;

    memcpy(r.n, z->size, sizeof r.n);
    *list = (struct spans){.n_parts = cut_steps(s->form.all[d], z->size[d])};
    for (uint32_t i = 0; i < list->n_parts; i++) {
        uint32_t k = 0;

        r.from[d] = i * z->size[d];
        r.n[d] = cut_size(s->form.all[d], r.from[d], z->size[d]);
        if (!cut_part_of(&s->form, &r, &p))
            return false;
        while (k < list->n && !alike(&p, &list->of[k].part))
            k++;
        if (k == MOST_SPANS)
            return false;
        if (k == list->n) {
            list->n++;
            list->of[k].from = r.from[d];
            list->of[k].n = r.n[d];
            list->of[k].part = p;
        }
        list->of[k].count++;
    }
    return true;
}

static uint32_t aligned(uint64_t n)
{
    return (uint32_t)((n + 15) / 16 * 16);
}

static void at_least(uint32_t *n, uint64_t bytes)
{
    *n = aligned(bytes) > *n ? aligned(bytes) : *n;
}

static uint32_t element_bytes(const struct search *s, bool result)
{
    const struct ir_op *op = s->q->op;

    return ir_type_bytes(result ? ir_out(s->q->graph, op, 0)->type
                                : ir_in(s->q->graph, op, 0)->type);
}

/* Cycles to copy a box whose bytes are not contiguous; its bytes in *copied. */
static double copy_cycles(const uint32_t all[CUT_AXES], const struct cut_box *b, uint32_t bytes,
                          uint64_t *copied)
{
    uint64_t at;

    *copied = 0;
    if (cut_contiguous(all, b, &at))
        return 0;
    *copied = cut_elements(b) * bytes;
    return cycles_per_row * (double)(*copied / bytes / b->n[3]) + cycles_per_byte * (double)*copied;
}

static double moved(const struct search *s, uint64_t n_bytes)
{
    const struct target *t = s->q->target;

    return t->desc->own_memory ? t->desc->transfer(t, s->q->hw, &s->q->memory, n_bytes) : 0;
}

/* Cycles to copy what is not contiguous of a part. */
static double copies(const struct search *s, const struct cut_part *p)
{
    const bool again = s->form.mixes && s->spans[CUT_IN_CHANNELS].n_parts == 1;
    const double parts = again ? s->spans[CUT_CHANNELS].n_parts : 1;
    uint64_t x, y;
    double cycles = copy_cycles(s->form.x, &p->x, element_bytes(s, false), &x);

    cycles *= s->form.n_operands / parts; /* parts of the output channels share a copy */
    return cycles + (p->last ? copy_cycles(s->form.y, &p->y, element_bytes(s, true), &y) : 0);
}

static uint64_t sum_bytes(const struct search *s, const struct cut_part *p)
{
    return cut_elements(&p->y) * (s->p->dtype == IR_I16 ? 8 : 4);
}

/* Cycles to transfer operands, sums and result of a part. */
static double transfers(const struct search *s, const struct cut_part *p)
{
    const uint64_t y = cut_elements(&p->y) * element_bytes(s, true);

    return s->form.n_operands * moved(s, cut_elements(&p->x) * element_bytes(s, false)) +
           moved(s, p->last ? y : sum_bytes(s, p)) + (p->first ? 0 : moved(s, sum_bytes(s, p)));
}

/* The scratch memory that a part needs. */
static void add_layout(const struct search *s, const struct cut_part *p)
{
    struct describe_cut *const cut = s->layout;
    uint64_t n;

    (void)copy_cycles(s->form.x, &p->x, element_bytes(s, false), &n);
    for (uint32_t i = 0; i < s->form.n_operands; i++)
        at_least(&cut->x_at[i], n);
    (void)copy_cycles(s->form.y, &p->y, element_bytes(s, true), &n);
    at_least(&cut->y_at[0], n);
    at_least(&cut->y_at[1], s->p->overlap ? n : 0);
    at_least(&cut->sums_at, p->first && p->last ? 0 : sum_bytes(s, p));
    at_least(&cut->own_at, describe_pattern_scratch(s->p, &s->part));
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* Cycles of a part, and of the core in them. */
struct cost {
    double all, core;
};

static struct cost cost_of(const struct search *s, const struct cut_part *p)
{
    const double core = describe_pattern_cost(s->p, &s->part) + copies(s, p);
    const double moves = transfers(s, p);

    return (struct cost){s->p->overlap ? larger(core, moves) : core + moves, core};
}

/* Make the operator alone the part of a range; why the pattern refuses it, or NULL. */
static const char *refuse_part(struct search *s, const struct cut_range *r, struct cut_part *p)
{
    s->n_questions++;
    if (!cut_part_of(&s->form, r, p))
        return "a part reads nothing but padding";
    cut_shape(&s->alone, &s->form, p, false);
    const char *why = describe_refusal(s->p, &s->part);
    return why ? why : native_refusal(s->p, &s->part);
}

/* The same, with the cost of a part that it takes. */
static const char *ask_part(struct search *s, const struct cut_range *r, struct cost *cost)
{
    struct cut_part p;
    const char *why = refuse_part(s, r, &p);

    if (!why)
        *cost = cost_of(s, &p);
    if (!why && s->layout)
        add_layout(s, &p);
    return why;
}

/* The same for all parts that differ. The whole's transfers are not in *cycles: the partition counts them. */
static const char *ask_parts(struct search *s, const struct cut_sizes *z, double *cycles)
{
    uint32_t index[CUT_DIMS] = {0}, d = 0;
    struct cost sum = {0, 0};
    struct cut_range first = {{0}, {0}};
    struct cut_part p;

    memcpy(first.n, z->size, sizeof first.n);
    const char *at_once = refuse_part(s, &first, &p); /* refused sizes end here */
    if (at_once)
        return at_once;
    for (uint32_t i = 0; i < CUT_DIMS; i++)
        if (!find_spans(s, z, i, &s->spans[i]))
            return "a part reads nothing but padding";
    do {
        struct cut_range r;
        struct cost one = {0, 0};
        double count = 1;

        for (d = 0; d < CUT_DIMS; d++) {
            r.from[d] = s->spans[d].of[index[d]].from;
            r.n[d] = s->spans[d].of[index[d]].n;
            count *= s->spans[d].of[index[d]].count;
        }
        const char *why = ask_part(s, &r, &one);
        if (why)
            return why;
        sum.all += count * one.all;
        sum.core += count * one.core;
        for (d = 0; d < CUT_DIMS && ++index[d] == s->spans[d].n; d++)
            index[d] = 0;
    } while (d < CUT_DIMS);
    *cycles = larger(sum.core, sum.all - s->whole_transfers);
    return NULL;
}

/* --- the search --- */

/* Return true if a smaller part has another value there. */
static bool has_size(const struct cut_form *f, enum target_value v)
{
    switch (v) {
    case TARGET_BATCH: return f->all[CUT_BATCH] > 1;
    case TARGET_IN_H:
    case TARGET_OUT_H: return f->all[CUT_ROWS] > 1;
    case TARGET_IN_W:
    case TARGET_OUT_W: return f->all[CUT_COLUMNS] > 1;
    case TARGET_OUT_C:
    case TARGET_SCALES: return f->all[CUT_CHANNELS] > 1;
    case TARGET_IN_C: return f->mixes ? f->all[CUT_IN_CHANNELS] > 1 : f->all[CUT_CHANNELS] > 1;
    case TARGET_DEPTH: return f->mixes && f->all[CUT_IN_CHANNELS] > 1;
    case TARGET_IN2_C: return f->all[CUT_CHANNELS] > 1;
    case TARGET_ELEMENTS:
    case TARGET_IN_ELEMENTS:
    case TARGET_IN2_ELEMENTS:
    case TARGET_IN_BYTES:
    case TARGET_IN2_BYTES:
    case TARGET_W_BYTES:
    case TARGET_OUT_BYTES:
    case TARGET_MACS: return true;
    default: return false;
    }
}

/* Return true if a rule refuses the operator that no cut changes. */
static bool refused_anyhow(struct search *s)
{
    struct describe_pattern other = *s->p;
    struct describe_limit *limit =
        ARENA_ARRAY(s->part.arena, struct describe_limit, other.n_limit + 1);
    struct target_question q = *s->q;

    other.n_limit = 0;
    for (uint32_t i = 0; i < s->p->n_limit; i++)
        if (!has_size(&s->form, s->p->limit[i].value))
            limit[other.n_limit++] = s->p->limit[i];
    other.limit = limit;
    q.arena = s->part.arena;
    return describe_refusal(&other, &q) != NULL;
}

/* Find the cheapest sizes; false if none is taken. */
static bool find_sizes(struct search *s, struct cut_sizes *best, double *cycles)
{
    static const uint32_t highs[] = {1, 16, 128, 1024, CUT_MOST_PARTS};
    struct arena *own = arena_beside(s->q->arena);
    uint32_t most = CUT_MOST_PARTS;
    bool found = false;

    for (uint32_t k = 1; k < sizeof highs / sizeof *highs && highs[k - 1] < most; k++) {
        arena_reset(own);
        const struct cut_choices c = cut_choices(own, s->form.all, highs[k - 1], highs[k]);
        for (uint32_t i = 0; i < c.n_found && c.found[i].n_parts <= most; i++) {
            double one;
            if (s->n_questions > MOST_QUESTIONS)
                most = 0;
            else if (!ask_parts(s, &c.found[i], &one) && (!found || one < *cycles)) {
                most = found ? most : WORSE * c.found[i].n_parts;
                found = true;
                *best = c.found[i];
                *cycles = one;
            }
        }
    }
    arena_free(own);
    return found;
}

/* Sizes of scratch memory to offsets. */
static void place(struct describe_cut *cut)
{
    uint32_t *const size[] = {&cut->x_at[0], &cut->x_at[1], &cut->y_at[0],
                              &cut->y_at[1], &cut->sums_at, &cut->own_at};
    uint32_t at = 0;

    for (uint32_t i = 0; i < sizeof size / sizeof *size; i++) {
        const uint32_t n = *size[i];
        *size[i] = at;
        at += n;
    }
    cut->n_bytes = at;
}

static void fill(struct search *s, const struct cut_sizes *z, struct describe_cut *cut)
{
    double cycles;

    s->layout = cut;
    (void)ask_parts(s, z, &cycles);
    place(cut);
    memcpy(cut->all, s->form.all, sizeof cut->all);
    memcpy(cut->size, z->size, sizeof cut->size);
    cut->n_parts = z->n_parts;
}

static double whole_transfers(const struct search *s)
{
    double cycles = moved(s, ir_bytes(ir_out(s->q->graph, s->q->op, 0)));

    for (uint32_t i = 0; i < s->form.n_operands; i++)
        cycles += moved(s, ir_bytes(ir_in(s->q->graph, s->q->op, i)));
    return cycles;
}

/* Ask about parts of the operator of `q` by pattern `p`. False: it cannot be cut. */
static bool begin(struct search *s, struct arena *own, const struct target_question *q,
                  const struct describe_pattern *p)
{
    *s = (struct search){.q = q, .p = p};
    if (!cut_form(q->graph, q->op, p->accumulate, &s->form))
        return false;
    s->alone = cut_alone(own, q->graph, q->op);
    s->part = *q;
    s->part.arena = own;
    s->part.graph = s->alone.graph;
    s->part.op = s->alone.op;
    s->whole_transfers = whole_transfers(s);
    return true;
}

/* The cheapest cut for pattern `p`, if it costs less than *best. */
static void try_pattern(const struct target_question *q, const struct describe_pattern *p,
                        struct arena *own, const struct describe_cut **best)
{
    const char *why = describe_refusal(p, q);
    struct search s;
    struct cut_sizes z;
    double cycles = 0;

    why = why ? why : native_refusal(p, q);
    if (!why || !p->call || !begin(&s, own, q, p))
        return;
    if (refused_anyhow(&s) || !find_sizes(&s, &z, &cycles))
        return;
    if (*best && (*best)->cycles <= cycles)
        return;
    struct describe_cut *cut = ARENA_NEW(q->graph->arena, struct describe_cut);
    fill(&s, &z, cut);
    cut->pattern = p;
    cut->why = why;
    cut->cycles = cycles;
    *best = cut;
}

const struct describe_cut *cut_find(const struct target_question *q)
{
    const struct describe *t = q->target->desc->detail;
    const struct describe_cut *best = NULL;

    if (!t || t->region_call || t->estimator || q->graph->op[q->op->id] != q->op)
        return NULL;
    for (uint32_t i = 0; i < t->n_pattern; i++) {
        if (t->pattern[i].opcode != q->op->opcode)
            continue;
        struct arena *own = arena_beside(q->arena);
        try_pattern(q, &t->pattern[i], own, &best);
        arena_free(own);
    }
    return best;
}

const struct describe_cut *cut_sums(const struct target_question *q)
{
    const char *why;
    const struct describe_pattern *p = describe_of(q->target) ? describe_match(q, &why) : NULL;
    struct cut_sizes z = {.n_parts = 2};
    struct search s;
    double cycles;

    if (!p || !p->accumulate || !begin(&s, q->arena, q, p) || s.form.all[CUT_IN_CHANNELS] < 2)
        return NULL;
    memcpy(z.size, s.form.all, sizeof z.size);
    z.size[CUT_IN_CHANNELS] = cut_steps(z.size[CUT_IN_CHANNELS], 2);
    if (ask_parts(&s, &z, &cycles))
        return NULL;
    struct describe_cut *cut = ARENA_NEW(q->graph->arena, struct describe_cut);
    fill(&s, &z, cut);
    cut->pattern = p;
    cut->why = "its sums are tried";
    return cut;
}

const char *cut_refusal(const struct target_question *q)
{
    const struct describe_cut *cut = q->op->cut;
    struct cut_sizes z = {.n_parts = cut->n_parts};
    struct search s;
    double cycles;

    if (!begin(&s, q->arena, q, cut->pattern))
        return "it can no longer be cut";
    memcpy(z.size, cut->size, sizeof z.size);
    return ask_parts(&s, &z, &cycles);
}

const char *cut_text(struct arena *a, const struct describe_cut *cut)
{
    static const char *const names[] = {"image", "row", "column", "channel", "input channel"};
    const bool dense =
        describe_has_weights(cut->pattern->opcode) && !ir_op_has(cut->pattern->opcode, IR_STRIDE_H);
    struct text t;
    bool any = false;

    text_init(&t, a);
    text_printf(&t, "%u parts of ", cut->n_parts);
    for (uint32_t d = 0; d < CUT_DIMS; d++)
        if (cut->size[d] < cut->all[d]) {
            text_printf(&t, "%s%u %s%s", any ? ", " : "", cut->size[d],
                        dense && d == CUT_BATCH ? "row" : names[d], cut->size[d] == 1 ? "" : "s");
            any = true;
        }
    text_printf(&t, ": %s", cut->why);
    return t.data;
}
