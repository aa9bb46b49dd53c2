/* layout.c - scratchpad residency and placement; see layout.h. Every tensor that an accelerator
 * operator touches starts on chip. While the buffers alive at some operator do not fit, one of its
 * tensors is streamed instead: first one that has a copy in memory anyway, then one the operator
 * does not touch, then the largest. The rest of the scratchpad decides the tile height of streamed
 * operators. */
#include "layout_work.h"

enum { BUDGET_TRIALS = 4 }; /* budgets for which layouts are tried */

/* Record that a matrix product reads and writes tensors as one flat row, or with rows as pixels. */
static void note_product(struct layout_work *w, const struct geo *g, const struct ir_tensor *t)
{
    uint32_t h, cols, c;

    geo_image(t, &h, &cols, &c);
    if (g->kind == GEO_DENSE && h > 1)
        w->contiguous[layout_root(w, t)] = true;
    w->row_reads[layout_root(w, t)].pixels |=
        g->rows_are_pixels || geo_rows_of_matrix(g, t) || w->program->view[t->id].swapped;
}

/* Record the row layout that each reader of a tensor needs. */
static void note_reader(struct layout_work *w, const struct op_plan *p, const struct ir_tensor *t)
{
    struct row_reads *m = &w->row_reads[layout_root(w, t)],
                     by = layout_reads(w, &p->geo, w->program->knobs[p->position].streams);

    note_product(w, &p->geo, t);
    m->dilation = m->dilation > by.dilation ? m->dilation : by.dilation;
    m->tails |= by.tails;
}

static void touch(struct layout_work *w, const struct ir_tensor *t, uint32_t position)
{
    struct sched_place *s = layout_place(w, t);
    struct sched_span span = w->program->span[position];

    if (!s->on_chip) {
        s->on_chip = true;
        s->first = span.first;
    }
    s->last = span.last;
}

/* Give the operands of an elementwise operator one row pitch, and half of the banks between them, so that the two
 * reads of a cycle never conflict (resnet8's last ADD at sys16: 526 cycles without, 278 with). Two words are enough for
 * that, and keep one that is broadcast along pixels of 4 words, or a multiple, apart from each of them. */
static void pair_operands(struct layout_work *w)
{
    for (uint32_t i = 0; i < w->layout->n_plan; i++) {
        const struct geo *g = &w->layout->plan[i].geo;
        if (g->kind != GEO_ELEMENTWISE || layout_root(w, g->x) == layout_root(w, g->y2))
            continue;
        const uint32_t x = layout_root(w, g->x), y = layout_root(w, g->y2);
        struct row_reads *a = &w->row_reads[x], *b = &w->row_reads[y];
        *a = *b = (struct row_reads){a->dilation > b->dilation ? a->dilation : b->dilation,
                                     a->tails || b->tails, a->pixels || b->pixels};
        const bool spread = g->ow > 1 && geo_columns(g, 0) != geo_columns(g, 1);
        w->phase[y] = w->phase[x] ? 0 : (spread ? 2 : w->hw->banks / 2) * w->hw->n;
    }
}

/* Copy the results of layout_prepare from p->like. */
static void take_prepared(struct sched_program *p)
{
    const struct layout *of = p->like->layout;

    p->view = p->like->view;
    p->viewed = p->like->viewed;
    p->look_up = p->like->look_up;
    p->layout = arena_memdup(p->arena, of, sizeof *of);
    p->layout->program = p;
    p->layout->plan = arena_memdup(p->arena, of->plan, of->n_plan * sizeof *of->plan);
}

/* Return true if an operator of this program other than a copy reads or writes the tensor. */
static bool concerns_others(const struct layout_work *w, const struct ir_tensor *t, bool write)
{
    for (uint32_t i = 0; i < w->graph->n_op; i++) {
        const struct ir_op *op = w->graph->op[i];
        for (uint32_t k = 0; k < (write ? op->n_out : op->n_in) && sched_owns(w->program, op); k++)
            if ((write ? op->out[k] : op->in[k]) == t->id)
                return true;
    }
    return false;
}

/* Return true if that side of a copy needs no scratchpad buffer: the copy's source is in memory
 * and made elsewhere, or its result is only read elsewhere. */
static bool only_in_memory(const struct layout_work *w, const struct ir_tensor *t, bool result)
{
    return t->role == IR_VARIABLE ||
           (w->program->place[t->id].in_memory && !concerns_others(w, t, !result));
}

static void note_plans(struct layout_work *w)
{
    for (uint32_t i = 0; i < w->layout->n_plan; i++) {
        struct op_plan *p = &w->layout->plan[i];
        p->in[0].streamed = p->passed || geo_starts(&p->geo, 0) ||
                            (p->geo.copies && only_in_memory(w, p->geo.x, false));
        p->out.streamed = p->strip_wise || geo_starts(&p->geo, GEO_RESULT) ||
                          (p->geo.copies && only_in_memory(w, p->geo.out, true));
        for (uint32_t k = 0; k < p->n_in; k++) {
            note_reader(w, p, geo_operand(&p->geo, k));
            if (!p->in[k].streamed)
                touch(w, geo_operand(&p->geo, k), p->position);
        }
        note_product(w, &p->geo, p->geo.out);
        if (!p->out.streamed)
            touch(w, p->geo.out, p->position);
    }
}

static bool alive(const struct sched_place *s, uint32_t position)
{
    return s->on_chip && s->first <= position && position <= s->last;
}

/* Keep an input as long as the result that shares its buffer. */
static void keep_inputs(struct layout_work *w)
{
    for (uint32_t t = 0; t < w->graph->n_tensor; t++)
        if (layout_inside(w, t))
            layout_place(w, w->in_place_of[t])->last = w->program->place[t].last;
}

/* Add a tensor's bytes at the operators during which it is on chip; by -1: subtract them. */
static void count_resident(struct layout_work *w, uint32_t t, int32_t by)
{
    const struct sched_place *s = &w->program->place[t];

    for (uint32_t i = s->first; s->on_chip && !layout_inside(w, t) && i <= s->last; i++)
        w->resident[i] += (uint32_t)by * w->n_bytes[t];
}

/* Compute sizes, now that all readers of tensors are known. */
static void note_sizes(struct layout_work *w)
{
    w->n_bytes = ARENA_ARRAY(w->arena, uint32_t, w->graph->n_tensor + 1);
    w->resident = ARENA_ARRAY(w->arena, uint32_t, w->graph->n_op + 1);
    for (uint32_t t = 0; t < w->graph->n_tensor; t++)
        if (w->program->place[t].on_chip)
            w->n_bytes[t] = layout_bytes(w, t);
    for (uint32_t t = 0; t < w->graph->n_tensor; t++)
        count_resident(w, t, 1);
}

static bool touches(const struct layout_work *w, const struct op_plan *p, uint32_t root)
{
    return layout_root(w, p->geo.x) == root || layout_root(w, p->geo.out) == root ||
           (p->geo.y2 && layout_root(w, p->geo.y2) == root);
}

/* Return the tensor to stream so that operator `p` fits; NULL if none is left. */
static const struct ir_tensor *victim(struct layout_work *w, const struct op_plan *p)
{
    const struct ir_tensor *best = NULL;
    uint64_t best_score = 0;

    for (uint32_t i = 0; i < w->graph->n_tensor; i++) {
        const struct ir_tensor *t = w->graph->tensor[i]; /* of roots alone */
        if (!alive(&w->program->place[i], p->position))
            continue;
        if (w->cascade_tensor[t->id] && !w->cascade_to[t->id])
            continue;
        uint64_t score = 1 + w->n_bytes[i];
        if (w->cascade_to[t->id]) /* a line buffer needs only a few rows */
            score += (uint64_t)1 << 42;
        if (layout_place(w, t)->in_memory)
            score += (uint64_t)1 << 40;
        if (!touches(w, p, i))
            score += (uint64_t)1 << 41;
        if (score > best_score) {
            best_score = score;
            best = t;
        }
    }
    return best;
}

/* Move tensors of the operator between scratchpad and memory tile by tile. */
static void stream_operands(struct layout_work *w, uint32_t root)
{
    struct layout *l = w->layout;

    w->program->place[root].in_memory = true;
    for (uint32_t i = 0; i < l->n_plan; i++) {
        struct op_plan *p = &l->plan[i];
        for (uint32_t k = 0; k < p->n_in; k++)
            if (layout_root(w, geo_operand(&p->geo, k)) == root)
                p->in[k].streamed = true;
        if (layout_root(w, p->geo.out) == root)
            p->out.streamed = true;
    }
}

/* Stream a root and all tensors that share its bytes. */
static void stream_tensor(struct layout_work *w, const struct ir_tensor *t)
{
    count_resident(w, t->id, -1);
    layout_place(w, t)->on_chip = false;
    for (uint32_t i = 0; i < w->graph->n_tensor; i++)
        if (w->in_place_of[i] == t)
            count_resident(w, i, 1);
    if (w->cascade_to[t->id])
        w->layout->line_buffer[t->id].wrap = 1; /* and the largest count that fits */
    else
        stream_operands(w, t->id);
}

/* A cascade holds all its tensors at once. If they exceed what the network has alive at any
 * operator, make those whose readers' windows do not overlap line buffers, which copy no halo
 * (resnet8 at sys16: from 64 KiB to the bound of 48 in the same cycles). */
static void line_buffer_without_halo(struct layout_work *w)
{
    for (uint32_t i = 0; i < w->graph->n_tensor; i++) {
        const struct op_plan *p = w->cascade_to[i];
        if (p && p->geo.kh == 1 && w->cascade_readers[i] == 1 &&
            w->resident[p->position] > w->layout->live_bound)
            stream_tensor(w, w->graph->tensor[i]);
    }
}

static bool any_stream(const struct op_plan *p)
{
    return p->in[0].streamed || p->in[1].streamed || p->out.streamed;
}

/* Return the output rows per tile of an operator whose operands are all on chip: all rows in one
 * command, unless rows come from or go to memory, where tiles let the units overlap. */
static uint32_t overlap_rows(struct layout_work *w, const struct op_plan *p)
{
    const struct geo *g = &p->largest;
    bool moves = layout_place(w, g->x)->in_memory || layout_place(w, g->out)->in_memory;
    uint32_t rows = geo_block_rows(g, w->hw), wish = w->program->knobs[p->position].tile_rows;

    if (wish && geo_parts(g, w->hw)) /* accumulators are kept: one block */
        wish = wish < rows ? wish : rows;
    if (wish)
        return wish < g->oh ? wish : g->oh;
    if (!(moves || geo_parts(g, w->hw)) || g->oh == 1 || rows >= g->oh)
        return g->oh;
    return rows;
}

static void set_tile(struct layout_work *w, struct op_plan *p, uint32_t rows)
{
    uint32_t prologue = layout_prologue(w, p);

    p->tile_rows = rows;
    p->prologue = prologue < rows ? prologue : 0;
    p->n_tiles = layout_n_tiles(w, p, rows);
    layout_tile_bytes(w, p, rows);
}

/* Return true if the tensor's rows on chip begin at words and its pixels are contiguous. */
static bool by_words(const struct layout_work *w, const struct ir_tensor *t)
{
    const struct sched_view *v = &w->program->view[t->id], *root = &w->program->view[v->root];
    uint32_t pitch = layout_tensor_pitch(w, v->root), h, cols, c;

    geo_image(t, &h, &cols, &c);
    return !v->pixel && (cols == 1 || (root->n == c && v->step_x == 1)) &&
           sched_view_offset(w->program, t->id, pitch) % w->hw->n == 0 &&
           (h == 1 || pitch * v->step_y % w->hw->n == 0);
}

/* Return true for a copy between memory and such rows, which needs a single transfer. */
static bool is_direct(const struct layout_work *w, const struct op_plan *p)
{
    const bool in = p->in[0].streamed, out = p->out.streamed;

    if (!p->geo.copies || in == out)
        return false;
    if (in && w->program->place[p->geo.out->id].in_memory)
        return false;
    return by_words(w, in ? p->geo.out : p->geo.x);
}

/* Find the tile height for the space that residents leave. ST_NO_SPACE without a message: not even
 * one row fits. */
static bool fit_tile(struct layout_work *w, struct op_plan *p, uint32_t space)
{
    if (p->cascaded)
        return layout_fit_cascade(w, p, space);
    if (p->strip_wise)
        return layout_fit_strips(w, p, space);
    uint32_t rows = overlap_rows(w, p);
    p->direct = is_direct(w, p);
    if (p->direct) {
        p->tile_rows = p->geo.oh;
        p->n_tiles = p->n_buffer = 1;
        p->in[0].rows = p->out.rows = 0;
        return true;
    }
    if (!any_stream(p) && p->geo.kind != GEO_LSTM) {
        set_tile(w, p, rows);
        return true;
    }
    if (layout_tile_bytes(w, p, rows) > space)
        rows = layout_most_rows(w, p, rows, space);
    if (rows == 0)
        return false;
    set_tile(w, p, rows);
    return true;
}

/* Find the tile of an operator that has the scratchpad to itself: cut it into strips, with single
 * buffers if necessary. */
static bool fit_strips(struct layout_work *w, struct op_plan *p)
{
    for (uint32_t buffers = 2; buffers > 0 && !p->cascaded && !p->strip_wise; buffers--) {
        struct strip_cut cut = strip_least_cut(&p->geo, w->hw);
        p->one_buffer = buffers == 1;
        do {
            layout_cut(p, &cut);
            if (fit_tile(w, p, w->hw->scratchpad_bytes))
                return true;
        } while (strip_finer(&p->geo, w->hw, &cut));
    }
    return false;
}

/* Return the cycles in which narrow strips of a product wait for weights, which take a cycle for each row of the array. */
static uint64_t narrow_strips(const struct layout_work *w, const struct op_plan *p)
{
    const struct geo *g = &p->largest;
    const uint32_t n = w->hw->n;

    return g->ow < n ? (uint64_t)p->n_strip * div_up(g->oc, n) * div_up(g->c, n) * (n - g->ow) : 0;
}

/* Return a tensor that narrows strips for a softmax, is not theirs, and takes fewer cycles to memory and back than they
 * lose; or NULL. */
static const struct ir_tensor *narrows(struct layout_work *w, const struct op_plan *p)
{
    const struct ir_tensor *t = p->strip_wise ? victim(w, p) : NULL;

    return t && !touches(w, p, t->id) &&
                   2 * (uint64_t)w->n_bytes[t->id] < narrow_strips(w, p) * w->hw->axi_bytes
               ? t
               : NULL;
}

static uint32_t plans_before(const struct layout *l, uint32_t position)
{
    uint32_t n = 0;

    while (n < l->n_plan && l->plan[n].position < position)
        n++;
    return n;
}

/* Choose residents and tiles so that the sum at each operator is within its budget. */
static enum status choose(struct layout_work *w, struct diag *d)
{
    struct layout *l = w->layout;

    for (uint32_t i = 0; i < l->n_plan; i++) {
        struct op_plan *p = &l->plan[i];
        if (p->passed || (i > 0 && p[-1].cascaded) ||
            !layout_matters(w->program, w->program->span[p->position]))
            continue; /* fitted together with an earlier one, or not part of the trial */
        for (;;) {
            uint32_t used = w->resident[p->position], budget = w->budget[p->position];
            const bool fits = used <= budget && fit_tile(w, p, budget - used);
            const struct ir_tensor *t = fits ? narrows(w, p) : victim(w, p);
            if (fits && !t)
                break;
            if (!t && (fit_tile(w, p, w->hw->scratchpad_bytes) || fit_strips(w, p)))
                break; /* it is alone with its tiles: no other buffer can fragment the space */
            if (!t)
                return layout_no_space(w, p, d);
            stream_tensor(w, t); /* changes the space at all operators where it was alive */
            i = plans_before(l, w->program->place[t->id].first) - 1;
            break;
        }
    }
    return ST_OK;
}

enum status layout_run(struct sched_program *program, struct diag *d)
{
    struct arena *a = program->arena;
    struct layout_work w = {
        .arena = a, .program = program, .graph = program->graph, .hw = program->hw};

    if (program->like)
        take_prepared(program);
    else
        TRY(layout_prepare(program, d));
    w.layout = program->layout;
    program->span = ARENA_ARRAY(a, struct sched_span, w.graph->n_op + 1);
    w.contiguous = ARENA_ARRAY(a, bool, w.graph->n_tensor + 1);
    w.row_reads = ARENA_ARRAY(a, struct row_reads, w.graph->n_tensor + 1);
    w.phase = ARENA_ARRAY(a, uint32_t, w.graph->n_tensor + 1);
    w.cascade_to = ARENA_ARRAY(a, const struct op_plan *, w.graph->n_tensor + 1);
    w.in_place_of = ARENA_ARRAY(a, const struct ir_tensor *, w.graph->n_tensor + 1);
    w.cascade_readers = ARENA_ARRAY(a, uint32_t, w.graph->n_tensor + 1);
    w.cascade_tensor = ARENA_ARRAY(a, bool, w.graph->n_tensor + 1);
    w.layout->line_buffer = ARENA_ARRAY(a, struct plan_line_buffer, w.graph->n_tensor + 1);
    sched_call_spans(w.graph, program->span);
    w.base = ARENA_ARRAY(a, uint32_t, w.graph->n_tensor + 1);
    layout_find_cascades(&w);
    note_plans(&w);
    keep_inputs(&w);
    pair_operands(&w);
    note_sizes(&w);
    line_buffer_without_halo(&w);
    w.budget = ARENA_ARRAY(a, uint32_t, w.graph->n_op + 1);
    for (uint32_t i = 0; i < w.graph->n_op; i++)
        w.budget[i] = program->hw->scratchpad_bytes;
    for (uint32_t i = 0; i < LAYOUT_BUDGET_STEPS * BUDGET_TRIALS; i++) {
        TRY(choose(&w, d));
        if (layout_assign(&w)) {
            layout_fill_places(&w);
            return ST_OK;
        }
    }
    return layout_fragmented(&w, d);
}
