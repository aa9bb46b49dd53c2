/* layout_cascade.c - interleave operators: cascades by rows, a pool and its convolution by channels
 * (cascade.c), a product and its softmax by strips; see layout_work.h. */
#include "cascade_walk.h"
#include "compiler/plan/memory_use.h"
#include "layout_work.h"

enum {
    WRAP_TILES = 8,    /* maximum tiles between two wraps of a line buffer */
    CASCADE_ROWS = 16, /* maximum rows of a cascade's last tiles, unless a knob specifies more or
                          weights are fetched again for each tile */
};

static bool by_rows(const struct layout_work *w, const struct op_plan *p)
{
    const struct geo *g = &p->geo;

    return p->n_strip == 1 && g->kind != GEO_LSTM && g->kind != GEO_DENSE &&
           g->kind != GEO_TRANSPOSED && g->kind != GEO_PRODUCT && geo_keeps_rows(g) &&
           !g->transposed && !g->copies && !geo_parts(g, w->hw) && g->oh > 1;
}

static bool may_cascade(const struct layout_work *w, const struct op_plan *p,
                        const struct op_plan *next)
{
    return w->program->knobs[p->position].cascade && p->op->region == next->op->region &&
           by_rows(w, p) && by_rows(w, next);
}

static bool reads(const struct op_plan *p, const struct ir_tensor *t)
{
    return p->geo.x == t || p->geo.y2 == t;
}

/* Return the first of plan[0 .. n - 1] that reads the result of plan[i]; NULL if none does. */
static struct op_plan *first_reader(struct op_plan *plan, uint32_t n, uint32_t i)
{
    for (uint32_t k = i + 1; k < n; k++)
        if (reads(&plan[k], plan[i].geo.out))
            return &plan[k];
    return NULL;
}

/* Add `next` to the cascade that begins at `first`. The tensors that it reads from the cascade stay
 * on chip, and become line buffers when all their readers have joined. */
static void note_stage(struct layout_work *w, struct op_plan *first, const struct op_plan *next)
{
    const uint32_t n = (uint32_t)(next - first) + 1;

    for (uint32_t i = 0; i + 1 < n; i++) {
        const struct ir_tensor *t = first[i].geo.out;
        if (!reads(next, t))
            continue;
        w->cascade_tensor[layout_root(w, t)] = true;
        w->cascade_readers[t->id]++;
        if (!layout_place(w, t)->in_memory &&
            w->layout->n_reader[t->id] == w->cascade_readers[t->id])
            w->cascade_to[t->id] = first_reader(first, n, i);
    }
}

void layout_cascade_needs(struct arena *a, const struct geo *g, const struct hd_config *hw,
                          const struct sched_knobs *knobs, uint32_t *words, uint32_t *entries)
{
    *words = *entries = 0;
    if (!geo_on_array(g))
        return;
    struct geo_piece *piece;
    (void)geo_pieces(a, g, hw->rows, geo_word_limit(hw), &piece);
    *entries = div_up(geo_streams(g, hw, knobs->streams) * g->oc, hw->columns);
    *words = *entries * piece[0].n_ky * piece[0].n_b;
}

/* Return true if `next` reads bytes of a stage through a view. A stage asks for rows of a
 * tensor. */
static bool reads_view(const struct layout_work *w, const struct op_plan *stage, uint32_t n,
                       const struct op_plan *next)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < next->n_in; k++) {
            const struct ir_tensor *t = geo_operand(&next->geo, k), *made = stage[i].geo.out;
            if (t != made && layout_root(w, t) == layout_root(w, made))
                return true;
        }
    return false;
}

uint32_t layout_tables(const struct op_plan *p, const struct hd_config *hw)
{
    const uint32_t pixels = p->geo.kind == GEO_CONV ? 2 : 1; /* maximum number of adjacent pixels */

    if (!p->look_up)
        return 0;
    return p->look_up->n_in == 1 ? 1 : div_up(pixels * p->geo.oc, geo_tile_lanes(&p->geo, hw));
}

/* Return the number of operators from plan[first] on that are interleaved by rows. Their tables
 * must fit together, and so must their weights, unless they are one operator's, which are then
 * fetched for each of its tiles. */
static uint32_t cascade_from(struct layout_work *w, uint32_t first)
{
    struct layout *l = w->layout;
    uint32_t words = 0, entries = 0, tables = 0, exponentials = 0, arrays = 0, i = first;

    for (; i < l->n_plan; i++) {
        struct op_plan *p = &l->plan[i];
        uint32_t need, params;
        layout_cascade_needs(w->arena, &p->geo, w->hw, &w->program->knobs[p->position], &need,
                             &params);
        words += need;
        entries += params;
        arrays += geo_on_array(&p->geo);
        tables += layout_tables(p, w->hw);
        exponentials += p->geo.kind == GEO_SOFTMAX || p->geo.vop == HD_VOP_CURVE;
        const bool fit = words <= w->hw->weight_bytes / w->hw->n && entries <= w->hw->param_entries;
        if (i > first &&
            (!may_cascade(w, p - 1, p) || !(fit || arrays == 1) || exponentials > 1 ||
             tables > hd_config_tables(w->hw) || reads_view(w, &l->plan[first], i - first, p)))
            break;
        p->refetched = !fit;
        if (i == first)
            continue;
        p[-1].cascaded = true;
        note_stage(w, &l->plan[first], p);
    }
    return i - first;
}

static void note_span(struct layout_work *w, const struct op_plan *p, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++)
        w->program->span[p[k].position] = (struct sched_span){p->position, p[n - 1].position};
}

static bool takes_slices(const struct geo *g, const struct geo *before)
{
    if (g->x != before->out && g->y2 != before->out)
        return false;
    if (g->kind == GEO_ELEMENTWISE)
        return g->x != g->y2 && ir_elements(g->x) == ir_elements(g->out) &&
               ir_elements(g->y2) == ir_elements(g->out);
    return g->kind == GEO_LUT || (g->kind == GEO_POOL && !g->transposed);
}

/* Return true if the operator's tables by channel are of other channel tiles than ARRAY's. */
static bool other_tables(const struct op_plan *p, const struct hd_config *hw)
{
    return hw->columns != hw->n && p->look_up && p->look_up->n_in == 2;
}

/* Return the number of operators from plan[0] on, at most n, that the knobs interleave by channels;
 * 1 if none. */
static uint32_t slices_length(const struct sched_program *p, const struct op_plan *plan, uint32_t n)
{
    const struct geo *g = &plan[0].geo;

    if (g->kind != GEO_CONV && g->kind != GEO_DEPTHWISE)
        return 1;
    if (geo_parts(g, p->hw) || g->oc <= p->hw->columns)
        return 1;
    for (uint32_t i = 1; i < n; i++) {
        const struct geo *next = &plan[i].geo;
        if (!p->knobs[plan[i - 1].position].cascade || plan[i].op->region != plan[0].op->region ||
            !takes_slices(next, &plan[i - 1].geo) || other_tables(&plan[i], p->hw))
            return 1;
        if (next->kind == GEO_POOL)
            return next->oh == 1 && next->ow == 1 ? i + 1 : 1;
    }
    return 1;
}

bool layout_slices_whole(const struct op_plan *plan, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (plan[i].n_tiles > 1 || plan[i].n_strip > 1 || plan[i].prologue ||
            plan[i].in[0].streamed || plan[i].in[1].streamed || plan[i].out.streamed)
            return false;
    return true;
}

/* Return true if all tensors are roots with contiguous pixels. */
static bool own_images(const struct layout_work *w, const struct op_plan *p, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k <= p[i].n_in; k++) {
            const struct ir_tensor *t = k ? geo_operand(&p[i].geo, k - 1) : p[i].geo.out;
            const struct sched_view *v = &w->program->view[t->id];
            if (v->root != t->id || v->n != (uint32_t)ir_dim_back(t, 0))
                return false;
        }
    return true;
}

/* Return the number of operators from p on that are interleaved by channels; 1 if none. Their
 * tensors are alive at once, with the pool's result in place of its input. That must not exceed the
 * network's own need. */
static uint32_t slices_from(struct layout_work *w, struct op_plan *p)
{
    uint32_t n = slices_length(w->program, p, w->layout->n_plan - (uint32_t)(p - w->layout->plan));
    const struct ir_tensor *x = p[n - 1].geo.x, *y = p[n - 1].geo.out;

    if (n == 1 || layout_place(w, x)->in_memory || w->layout->n_reader[x->id] > 1 ||
        !own_images(w, p, n))
        return 1;
    note_span(w, p, n);
    uint64_t bound = w->layout->live_bound + (layout_place(w, y)->in_memory ? 0 : ir_bytes(y));
    if (memory_live_at(w->arena, w->graph, w->program->span, p->position) > bound) {
        for (uint32_t k = 0; k < n; k++)
            note_span(w, &p[k], 1);
        return 1;
    }
    for (uint32_t k = 0; k + 1 < n; k++)
        p[k].channel_wise = true;
    w->in_place_of[y->id] = x;
    return n;
}

/* Return the number of plans that read the root's bytes, under any name. */
static uint32_t readers_of(const struct layout_work *w, uint32_t root)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < w->layout->n_plan; i++)
        for (uint32_t k = 0; k < w->layout->plan[i].n_in; k++)
            n += layout_root(w, geo_operand(&w->layout->plan[i].geo, k)) == root;
    return n;
}

/* Return true if the whole four-dimensional result of a product is a softmax's input, row for row,
 * and has no other reader. At most two strips of the matrix then exist: a block of queries of one
 * head. */
static bool takes_strips(struct layout_work *w, const struct op_plan *p, const struct op_plan *next)
{
    const struct ir_tensor *t = p->geo.out, *x = next->geo.x;
    const struct sched_view *root = &w->program->view[t->id], *v = &w->program->view[x->id];

    if (!w->program->knobs[p->position].cascade || p->geo.kind != GEO_PRODUCT ||
        next->geo.kind != GEO_SOFTMAX || p->op->region != next->op->region)
        return false;
    if (root->root != t->id || v->root != t->id || v->swapped || v->pixel || v->pitch ||
        t->rank < 4 || x->rank < 4 || layout_place(w, t)->in_memory)
        return false;
    for (uint32_t k = 0; k < 4; k++)
        if (ir_dim_back(t, k) != ir_dim_back(x, k))
            return false;
    return (uint64_t)root->h * root->w * root->n == ir_elements(t) && p->n_strip > 1 &&
           p->cut.channels >= p->geo.oc && readers_of(w, t->id) == 1;
}

/* Return 2 if strips of the result of `p` are passed to the next operator, otherwise 1. */
static uint32_t strips_from(struct layout_work *w, struct op_plan *p)
{
    if (p + 1 == w->layout->plan + w->layout->n_plan || !takes_strips(w, p, p + 1))
        return 1;
    p->strip_wise = p[1].passed = true;
    return 2;
}

bool layout_fit_strips(struct layout_work *w, struct op_plan *p, uint32_t space)
{
    struct strip_cut cut = strip_least_cut(&p->geo, w->hw);

    do {
        const struct strip_cut same = {1, cut.cols, p[1].geo.oc, p[1].geo.c, false};
        layout_cut(p, &cut);
        layout_cut(p + 1, &same);
        p[0].tile_rows = p[1].tile_rows = p[0].n_tiles = p[1].n_tiles = 1;
        for (uint32_t single = 0; single < 2; single++) { /* STORE then waits for the softmax */
            p[1].out.rare = single;
            if (layout_tile_bytes(w, p, 1) + layout_tile_bytes(w, p + 1, 1) <= space)
                return p->n_strip == p[1].n_strip;
        }
    } while (strip_narrower(&p->geo, w->hw, &cut));
    return false;
}

void layout_find_cascades(struct layout_work *w)
{
    struct layout *l = w->layout;
    uint32_t n;

    for (uint32_t first = 0; first < l->n_plan; first += n) {
        n = slices_from(w, &l->plan[first]);
        if (n == 1)
            n = strips_from(w, &l->plan[first]);
        if (n == 1)
            n = cascade_from(w, first);
        note_span(w, &l->plan[first], n);
    }
}

/* Return the maximum overlap, in rows of plan[i]'s result, between successive windows of its
 * readers. */
static uint32_t common_rows(const struct op_plan *plan, uint32_t n, uint32_t i)
{
    uint32_t most = 0;

    for (uint32_t k = i + 1; k < n; k++) {
        const uint32_t halo = (plan[k].geo.kh - 1) * plan[k].geo.dy;
        if (reads(&plan[k], plan[i].geo.out) && halo > most)
            most = halo;
    }
    return most;
}

/* Set tiles and line buffers of a cascade's stages from the rows of the last stage's tile: each
 * stage computes as many rows as its first reader consumes. A line buffer wraps after `tiles` tiles
 * if a halo is copied, otherwise initially after two. */
static void set_tiles(struct layout_work *w, struct op_plan *p, uint32_t n, uint32_t rows,
                      uint32_t tiles)
{
    for (uint32_t i = n; i-- > 0;) {
        const struct geo *g = &p[i].geo;
        const struct op_plan *next = first_reader(p, n, i);
        uint32_t wish = w->program->knobs[p[i].position].tile_rows;
        next = next ? next : &p[i + 1];
        rows = i + 1 < n ? next->tile_rows * next->geo.sy : rows;
        rows = wish && i + 1 < n ? wish : rows;
        rows = rows < g->oh ? rows : g->oh;
        p[i].tile_rows = rows;
        p[i].n_tiles = div_up(g->oh, rows) + 1;
        p[i].ahead = w->program->knobs[p[i].position].cascade == KNOB_CASCADE_AHEAD;
        struct plan_line_buffer *r = &w->layout->line_buffer[g->out->id];
        if (!r->wrap)
            continue;
        r->halo = common_rows(p, n, i);
        r->wrap = rows * (r->halo ? tiles : 2);
        r->wrap = r->wrap < g->oh ? r->wrap : g->oh;
    }
}

/* Return the bytes of all tile and line buffers of a cascade. */
static uint64_t cascade_bytes(struct layout_work *w, struct op_plan *p, uint32_t n)
{
    uint64_t total = 0;

    for (uint32_t i = 0; i < n; i++) {
        const struct geo *g = &p[i].geo;
        struct plan_line_buffer *r = &w->layout->line_buffer[g->out->id];
        total += layout_tile_bytes(w, &p[i], p[i].tile_rows);
        if (!r->wrap)
            continue;
        r->pitch = layout_pitch(w, geo_row_pixels(g, true) * g->oc, r->wrap + r->halo,
                                w->row_reads[g->out->id]);
        total += (uint64_t)(r->wrap + r->halo) * r->pitch;
    }
    return total;
}

/* Record the wrap length that a tile's reads need to find their rows. */
static void note_lag(struct cascade_walk *c, const struct cascade_tile *t)
{
    uint32_t *need = c->context;
    struct cascade_read r;

    for (uint32_t i = 0; i < c->plan[t->stage].n_in; i++)
        if (cascade_read(c, t, i, &r) &&
            line_buffer_read(r.buffer, r.lo, r.hi, r.made) == UINT32_MAX &&
            r.made - r.lo > need[r.tensor])
            need[r.tensor] = r.made - r.lo;
}

/* Lengthen the wraps of line buffers whose rows are read late: those made ahead, and those read
 * again after other readers. The length depends on the tiles, which end at a wrap. Return false if
 * no length suffices. */
static bool keep_lag(struct layout_work *w, struct op_plan *p, uint32_t n)
{
    enum { TRIALS = 6 };
    uint32_t *need = ARENA_ARRAY(w->arena, uint32_t, w->graph->n_tensor + 1);
    struct cascade_walk walk = {.plan = p,
                                .n = n,
                                .line_buffer = w->layout->line_buffer,
                                .context = need,
                                .visit = note_lag};

    for (uint32_t trial = 0; trial < TRIALS; trial++) {
        bool enough = true;
        cascade_walk(w->arena, &walk);
        for (uint32_t i = 0; i < n; i++) {
            struct plan_line_buffer *r = &w->layout->line_buffer[p[i].geo.out->id];
            uint32_t *most = &need[p[i].geo.out->id], rows = p[i].tile_rows;
            if (!r->wrap || *most == 0)
                continue;
            enough = false;
            *most = *most > r->wrap + rows ? *most : r->wrap + rows;
            r->wrap = div_up(*most, rows) * rows;
            r->wrap = r->wrap < p[i].geo.oh ? r->wrap : p[i].geo.oh;
            *most = 0;
        }
        if (enough)
            return true;
    }
    return false;
}

/* Return true if a stage of the cascade may read rows late. Otherwise a tile's last row belongs to
 * the tile that was computed for it. */
static bool may_lag(const struct layout_work *w, const struct op_plan *p, uint32_t n)
{
    bool any = false;

    for (uint32_t i = 0; i < n; i++)
        any = any || p[i].ahead || w->cascade_readers[p[i].geo.out->id] > 1;
    return any;
}

/* Return true if weights that are fetched again for each tile take longer to arrive than the array
 * uses them. */
static bool awaits_weights(const struct layout_work *w, const struct op_plan *p, uint32_t n)
{
    const uint32_t weights = w->hw->rows * w->hw->columns;

    for (uint32_t i = 0; i < n && p[n - 1].refetched; i++)
        if (geo_on_array(&p[i].geo) && p[i].tile_rows < p[i].geo.oh &&
            p[i].tile_rows * p[i].geo.ow < weights / w->hw->axi_bytes)
            return true;
    return false;
}

static bool fits(struct layout_work *w, struct op_plan *p, uint32_t n, uint32_t space)
{
    if (awaits_weights(w, p, n))
        return false;
    return cascade_bytes(w, p, n) <= space &&
           (!may_lag(w, p, n) || (keep_lag(w, p, n) && cascade_bytes(w, p, n) <= space));
}

bool layout_fit_cascade(struct layout_work *w, struct op_plan *p, uint32_t space)
{
    uint32_t n = cascade_length(p), wish = w->program->knobs[p[n - 1].position].tile_rows,
             quarter = div_up(p[n - 1].geo.oh, 4);

    if (!wish) /* enough tiles to overlap */
        wish = quarter < CASCADE_ROWS ? quarter : CASCADE_ROWS;
    if (p[n - 1].refetched && wish < quarter)
        wish = quarter;
    for (uint32_t rows = wish; rows > 0; rows /= 2)
        for (uint32_t tiles = WRAP_TILES; tiles > 1; tiles /= 2) {
            set_tiles(w, p, n, rows, tiles);
            if (fits(w, p, n, space))
                return true;
        }
    return false;
}
