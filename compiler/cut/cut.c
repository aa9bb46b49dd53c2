/* cut.c - find the cheapest cut of an operator: sizes of parts by their number, fewest first. A cut is tried by asking the
 * pattern about every part that differs, so it holds for any limit; the cost is that of all calls, of copies of parts
 * whose bytes are not contiguous, and of transfers that the whole would not need. */
#include "cut.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_PARTS = 4096,
    MOST_SPANS = 8,
    MOST_QUESTIONS = 20000,
    WORSE = 2, /* stop at this many times the parts of the first cut that is taken */
};

/* Cycles of hdk_part, taken as those of concat (host_cycles.def). */
static const double cycles_per_row = 50, cycles_per_byte = 10;

/* Parts along one dimension that differ in nothing but their place. */
struct spans {
    uint32_t n, n_parts;
    struct {
        uint32_t from, n, count;
        struct cut_part part;
    } of[MOST_SPANS];
};

struct sizes {
    uint32_t size[CUT_DIMS], n_parts;
};

struct search {
    const struct target_question *q;
    const struct describe_pattern *p;
    struct cut_form form;
    struct cut_alone alone;
    struct target_question part; /* about the operator alone */
    uint32_t n_questions;
    struct spans spans[CUT_DIMS];
    struct describe_cut *layout; /* NULL, or where scratch memory is summed up */
};

static uint32_t steps(uint32_t n, uint32_t size)
{
    return (n + size - 1) / size;
}

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

static bool find_spans(const struct search *s, const struct sizes *z, uint32_t d,
                       struct spans *list)
{
    struct cut_range r = {{0}, {0}};
    struct cut_part p;

    memcpy(r.n, z->size, sizeof r.n);
    *list = (struct spans){.n_parts = steps(s->form.all[d], z->size[d])};
    for (uint32_t i = 0; i < list->n_parts; i++) {
        uint32_t k = 0;

        r.from[d] = i * z->size[d];
        r.n[d] = s->form.all[d] - r.from[d] < z->size[d] ? s->form.all[d] - r.from[d] : z->size[d];
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

/* Cycles around a part's call: copies and transfers. */
static double around(const struct search *s, const struct cut_part *p)
{
    const bool again = s->spans[CUT_IN_CHANNELS].n_parts == 1;
    const double copies = again ? s->spans[CUT_CHANNELS].n_parts : 1;
    const uint64_t sums = cut_elements(&p->y) * (s->p->dtype == IR_I16 ? 8 : 4);
    const uint64_t x_bytes = cut_elements(&p->x) * element_bytes(s, false);
    const uint64_t y_bytes = cut_elements(&p->y) * element_bytes(s, true);
    uint64_t x, y;
    double cycles = copy_cycles(s->form.x, &p->x, element_bytes(s, false), &x) *
                    s->form.n_operands / (s->form.mixes ? copies : 1);

    cycles += p->last ? copy_cycles(s->form.y, &p->y, element_bytes(s, true), &y) : 0;
    cycles += s->form.n_operands * moved(s, x_bytes) + moved(s, p->last ? y_bytes : sums) +
              (p->first ? 0 : moved(s, sums));
    if (s->layout) {
        (void)copy_cycles(s->form.y, &p->y, element_bytes(s, true), &y);
        for (uint32_t i = 0; i < s->form.n_operands; i++)
            at_least(&s->layout->x_at[i], x);
        at_least(&s->layout->y_at, y);
        at_least(&s->layout->sums_at, p->first && p->last ? 0 : sums);
        at_least(&s->layout->own_at, describe_pattern_scratch(s->p, &s->part));
    }
    return cycles;
}

/* Why the pattern refuses the part of a range, NULL: it takes it, at *cycles. */
static const char *ask_part(struct search *s, const struct cut_range *r, double *cycles)
{
    struct cut_part p;

    s->n_questions++;
    if (!cut_part_of(&s->form, r, &p))
        return "a part reads nothing but padding";
    cut_shape(&s->alone, &s->form, &p, false);
    const char *why = describe_refusal(s->p, &s->part);
    why = why ? why : native_refusal(s->p, &s->part);
    if (!why)
        *cycles = describe_pattern_cost(s->p, &s->part) + around(s, &p);
    return why;
}

/* The same of all parts that differ. */
static const char *ask_parts(struct search *s, const struct sizes *z, double *cycles)
{
    uint32_t index[CUT_DIMS] = {0}, d = 0;

    *cycles = 0;
    for (uint32_t i = 0; i < CUT_DIMS; i++)
        if (!find_spans(s, z, i, &s->spans[i]))
            return "a part reads nothing but padding";
    do {
        struct cut_range r;
        double count = 1, one = 0;

        for (d = 0; d < CUT_DIMS; d++) {
            r.from[d] = s->spans[d].of[index[d]].from;
            r.n[d] = s->spans[d].of[index[d]].n;
            count *= s->spans[d].of[index[d]].count;
        }
        const char *why = ask_part(s, &r, &one);
        if (why)
            return why;
        *cycles += count * one;
        for (d = 0; d < CUT_DIMS && ++index[d] == s->spans[d].n; d++)
            index[d] = 0;
    } while (d < CUT_DIMS);
    return NULL;
}

/* --- which cuts there are --- */

/* Sizes that give different numbers of parts of at most `most`, largest first. */
static uint32_t sizes_of(struct arena *a, uint32_t all, uint32_t most, uint32_t **list)
{
    uint32_t n = 0;

    *list = ARENA_ARRAY(a, uint32_t, most + 1);
    for (uint32_t k = 1; k <= most && k <= all; k++)
        if (n == 0 || steps(all, k) != (*list)[n - 1])
            (*list)[n++] = steps(all, k);
    return n;
}

struct choices {
    uint32_t low, high; /* numbers of parts: more than low, up to high */
    uint32_t n[CUT_DIMS], *size[CUT_DIMS];
    const uint32_t *all;
    uint32_t n_found, cap;
    struct sizes *found;
};

/* All choices for the dimensions from `d` on; without memory for them only their number. */
static void choose(struct choices *c, uint32_t d, struct sizes *z)
{
    if (d == CUT_DIMS) {
        if (z->n_parts <= c->low)
            return;
        if (c->found)
            c->found[c->n_found] = *z;
        c->n_found++;
        return;
    }
    const uint32_t parts = z->n_parts;
    for (uint32_t i = 0; i < c->n[d]; i++) {
        z->size[d] = c->size[d][i];
        z->n_parts = parts * steps(c->all[d], z->size[d]);
        if (z->n_parts > c->high)
            break;
        choose(c, d + 1, z);
    }
    z->n_parts = parts;
}

/* Fewest parts first; larger parts of earlier dimensions first. */
static int compare(const void *a, const void *b)
{
    const struct sizes *x = a, *y = b;

    if (x->n_parts != y->n_parts)
        return x->n_parts < y->n_parts ? -1 : 1;
    for (uint32_t d = 0; d < CUT_DIMS; d++)
        if (x->size[d] != y->size[d])
            return x->size[d] > y->size[d] ? -1 : 1;
    return 0;
}

static struct choices choices(struct arena *a, const uint32_t *all, uint32_t low, uint32_t high)
{
    struct choices c = {.low = low, .high = high, .all = all};
    struct sizes z = {{0}, 1};

    for (uint32_t d = 0; d < CUT_DIMS; d++)
        c.n[d] = sizes_of(a, all[d], high, &c.size[d]);
    choose(&c, 0, &z);
    c.found = ARENA_ARRAY(a, struct sizes, c.n_found + 1);
    c.n_found = 0;
    choose(&c, 0, &z);
    qsort(c.found, c.n_found, sizeof *c.found, compare);
    return c;
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

/* The cheapest sizes; false: none is taken. */
static bool find_sizes(struct search *s, struct sizes *best, double *cycles)
{
    static const uint32_t highs[] = {1, 16, 128, 1024, MOST_PARTS};
    struct arena *own = arena_beside(s->q->arena);
    uint32_t most = MOST_PARTS;
    bool found = false;

    for (uint32_t k = 1; k < sizeof highs / sizeof *highs && highs[k - 1] < most; k++) {
        arena_reset(own);
        const struct choices c = choices(own, s->form.all, highs[k - 1], highs[k]);
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
    uint32_t *const size[] = {&cut->x_at[0], &cut->x_at[1], &cut->y_at, &cut->sums_at,
                              &cut->own_at};
    uint32_t at = 0;

    for (uint32_t i = 0; i < sizeof size / sizeof *size; i++) {
        const uint32_t n = *size[i];
        *size[i] = at;
        at += n;
    }
    cut->n_bytes = at;
}

static void fill(struct search *s, const struct sizes *z, struct describe_cut *cut)
{
    double cycles;

    s->layout = cut;
    (void)ask_parts(s, z, &cycles);
    place(cut);
    memcpy(cut->all, s->form.all, sizeof cut->all);
    memcpy(cut->size, z->size, sizeof cut->size);
    cut->n_parts = z->n_parts;
}

/* Cycles of the whole's transfers, which the partition counts. */
static double whole_transfers(const struct search *s)
{
    double cycles = moved(s, ir_bytes(ir_out(s->q->graph, s->q->op, 0)));

    for (uint32_t i = 0; i < s->form.n_operands; i++)
        cycles += moved(s, ir_bytes(ir_in(s->q->graph, s->q->op, i)));
    return cycles;
}

/* The cheapest cut for pattern `p`, if it costs less than *best. */
static void try_pattern(const struct target_question *q, const struct describe_pattern *p,
                        struct arena *own, const struct describe_cut **best)
{
    struct search s = {.q = q, .p = p};
    const char *why = describe_refusal(p, q);
    struct sizes z;
    double cycles = 0;

    why = why ? why : native_refusal(p, q);
    if (!why || !p->call || !cut_form(q->graph, q->op, p->accumulate, &s.form))
        return;
    s.alone = cut_alone(own, q->graph, q->op);
    s.part = *q;
    s.part.arena = own;
    s.part.graph = s.alone.graph;
    s.part.op = s.alone.op;
    if (refused_anyhow(&s) || !find_sizes(&s, &z, &cycles))
        return;
    const double before = whole_transfers(&s);
    cycles = cycles > before ? cycles - before : 0;
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
    struct search s = {.q = q, .p = p};
    struct sizes z = {.n_parts = 2};
    double cycles;

    if (!p || !p->accumulate || !cut_form(q->graph, q->op, true, &s.form) ||
        s.form.all[CUT_IN_CHANNELS] < 2)
        return NULL;
    s.alone = cut_alone(q->arena, q->graph, q->op);
    s.part = *q;
    s.part.graph = s.alone.graph;
    s.part.op = s.alone.op;
    memcpy(z.size, s.form.all, sizeof z.size);
    z.size[CUT_IN_CHANNELS] = steps(z.size[CUT_IN_CHANNELS], 2);
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
    struct search s = {.q = q, .p = cut->pattern};
    struct sizes z = {.n_parts = cut->n_parts};
    double cycles;

    if (!cut_form(q->graph, q->op, cut->pattern->accumulate, &s.form))
        return "it can no longer be cut";
    s.alone = cut_alone(q->arena, q->graph, q->op);
    s.part = *q;
    s.part.graph = s.alone.graph;
    s.part.op = s.alone.op;
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
