/* layout.c - scratchpad residency and placement; see layout.h.
 * Every tensor that an accelerator operator touches starts on chip. While the buffers alive at some
 * operator do not fit, one of its tensors is streamed instead: first one that has a copy in memory
 * anyway, then one the operator does not touch, then the largest. What is left of the scratchpad
 * decides the tile height of streamed operators. */
#include "layout.h"

#include <string.h>

#include "../plan/memory_use.h"
#include "../plan/place.h"
#include "lower.h"

enum {
    LAP_TILES = 8,     /* most tiles of a ring's lap */
    CHAIN_ROWS = 16,   /* most rows of a chain's last tiles unless a knob says more */
    BUDGET_STEPS = 32, /* of the scratchpad, by which an operator's budget shrinks */
    BUDGET_TRIALS = 4, /* for how many of these steps layouts are tried */
};

/* What reads several rows of a tensor at once. */
struct multirow {
    uint32_t dilation; /* the largest, 0: nothing does */
    bool tails;        /* pairs of pixels, the end of one row beside the start of the next */
};

struct work {
    struct arena *arena;
    struct sched_program *program;
    const struct ir_graph *graph;
    const struct hd_config *hw;
    struct layout *layout;
    bool *compact;                   /* by tensor: rows must lie back to back */
    bool *upright;                   /* by tensor: its columns are rows, see geo_upright */
    struct multirow *multirow;       /* by tensor */
    bool *second;                    /* by tensor: the second operand of an elementwise operator */
    const struct op_plan **chain_to; /* by tensor: the next link of a chain that alone reads it */
    bool *chain_tensor;              /* by tensor: passes from link to link, cannot go to memory */
    const struct ir_tensor **within; /* by tensor: it lies in this one's first pixel */
    uint32_t *budget; /* by position: bytes of the scratchpad that buffers alive there may have */
};

/* Is p, a plan of l or of an operator by itself (l has no plans), a link of a chain? */
static bool in_chain(const struct layout *l, const struct op_plan *p)
{
    return p->chained || (l->n_plan > 0 && p > l->plan && p[-1].chained);
}

/* The tensor's image as this layout has it. */
static void image(const struct work *w, const struct ir_tensor *t, uint32_t *h, uint32_t *cols,
                  uint32_t *c)
{
    geo_image(t, h, cols, c);
    if (w->upright && w->upright[t->id]) {
        *h = *cols;
        *cols = 1;
    }
}

static struct sched_place *place_of(struct work *w, const struct ir_tensor *t)
{
    return &w->program->place[t->id];
}

/* Row pitch: padded so that four unaligned row reads meet no bank twice (rows 2 or 6 words apart
 * modulo 8). Two pairs of them, with `tails`, take two words each, the former a word further right:
 * rows 3 to 6 apart (resnet8 at sys32: 868 conflicts in 15,096 cycles with 2). */
static uint32_t pitch_of(const struct work *w, uint32_t row_bytes, uint32_t rows,
                         struct multirow by)
{
    uint32_t words = div_up(row_bytes, w->hw->n);
    if (rows > 1 && by.dilation > 0 && w->hw->ports > 1)
        for (uint32_t k = 0; k < 8; k++) {
            uint32_t apart = (words + k) * by.dilation % 8;
            if (by.tails ? 3 <= apart && apart <= 6 : apart == 2 || apart == 6) {
                words += k;
                break;
            }
        }
    return words * w->hw->n;
}

/* Columns as rows: an odd number of words, for ARRAY reads a word of one after the other, and those
 * in one bank would shut STORE out (128 x 128 x 128 at sys16: 9,784 to 9,031 cycles). */
static uint32_t upright_pitch(const struct work *w, uint32_t row_bytes)
{
    return (div_up(row_bytes, w->hw->n) | 1u) * w->hw->n;
}

static uint32_t tensor_pitch(const struct work *w, const struct ir_tensor *t)
{
    uint32_t h, c, cols;
    image(w, t, &h, &cols, &c);
    if (w->compact[t->id])
        return cols * c;
    if (w->upright[t->id])
        return upright_pitch(w, c);
    return pitch_of(w, cols * c, h, w->multirow[t->id]);
}

static uint32_t whole_bytes(const struct work *w, const struct ir_tensor *t)
{
    uint32_t h, c, cols;
    image(w, t, &h, &cols, &c);
    return div_up(h * tensor_pitch(w, t), w->hw->n) * w->hw->n;
}

/* Of how many input rows ARRAY reads one. */
static uint32_t row_skip(const struct geo *g)
{
    return geo_on_array(g) && g->kind != GEO_DENSE && g->kh == 1 && g->pt == 0 ? g->sy : 1;
}

/* Rows of operand i that `rows` output rows need at most. */
static uint32_t in_tile_rows(const struct geo *g, uint32_t i, uint32_t rows)
{
    uint32_t h = (uint32_t)ir_dim_back(geo_operand(g, i), 2);
    if (g->kind == GEO_ELEMENTWISE)
        return h > 1 ? rows : 1;
    if (g->kind == GEO_DENSE || g->turned)
        return h;
    if (row_skip(g) > 1)
        return rows;
    uint32_t need = (rows - 1) * g->sy + (g->kh - 1) * g->dy + 1;
    return need < g->h ? need : g->h;
}

/* Two buffers if there is more than one tile; a buffer starts at a word. */
static uint32_t stream_bytes(const struct work *w, const struct plan_stream *s, uint32_t n_tiles)
{
    return div_up(s->rows * s->pitch, w->hw->n) * w->hw->n * (n_tiles > 1 ? 2 : 1);
}

/* How the operator reads its input's rows; its pixels lie side by side as knob `streams` says. */
static struct multirow reads_of(const struct work *w, const struct geo *g, uint32_t streams)
{
    if (g->kh == 1 || !geo_on_array(g))
        return (struct multirow){0};
    return (struct multirow){g->dy, g->kw * g->c > w->hw->n && geo_streams(g, w->hw, streams) == 2};
}

/* Row pitch of a tile buffer; a matrix product takes and makes flat strings. */
static uint32_t tile_pitch(const struct work *w, const struct op_plan *p, const struct ir_tensor *t,
                           uint32_t rows)
{
    const struct geo *g = &p->geo;
    uint32_t h, c, cols, streams = w->program ? w->program->knobs[p->position].streams : 0;
    image(w, t, &h, &cols, &c);
    if (g->kind == GEO_DENSE)
        return cols * c;
    if (w->upright && w->upright[t->id])
        return upright_pitch(w, c);
    return pitch_of(w, cols * c, rows,
                    t != g->out ? reads_of(w, g, streams) : (struct multirow){0});
}

/* Rows of the first and the last tile where a knob makes these smaller; 0: as all. */
static uint32_t ramp_of(const struct work *w, const struct op_plan *p)
{
    const struct geo *g = &p->geo;
    uint32_t rows = w->program ? w->program->knobs[p->position].ramp : 0;
    return geo_on_array(g) && !geo_parts(g, w->hw) && g->oh > 2 * rows ? rows : 0;
}

uint32_t layout_tile(uint32_t oh, uint32_t rows, uint32_t ramp, uint32_t tile, uint32_t *y)
{
    uint32_t size = ramp ? ramp : rows, end = oh - ramp;
    *y = 0;
    for (; tile > 0 && *y < end; tile--) {
        *y = end - *y < size ? end : *y + size;
        size = size + div_up(size, 2) < rows ? size + div_up(size, 2) : rows;
    }
    if (*y == end)
        return tile == 0 ? ramp : 0;
    return size < end - *y ? size : end - *y;
}

static uint32_t n_tiles_of(const struct work *w, const struct op_plan *p, uint32_t rows)
{
    uint32_t ramp = ramp_of(w, p), n = 0, y;
    ramp = ramp < rows ? ramp : 0;
    if (!ramp)
        return div_up(p->geo.oh, rows);
    while (layout_tile(p->geo.oh, rows, ramp, n, &y))
        n++;
    return n;
}

/* Bytes of the tile buffers of `p` with `rows` output rows a tile; fills the streams' pitch and
 * rows. */
static uint32_t tile_bytes(struct work *w, struct op_plan *p, uint32_t rows)
{
    const struct geo *g = &p->geo;
    uint32_t n_tiles = in_chain(w->layout, p) ? 2 : n_tiles_of(w, p, rows), total = 0;
    for (uint32_t i = 0; i < p->n_in; i++)
        if (p->in[i].streamed) {
            p->in[i].skip = row_skip(g);
            p->in[i].rows = in_tile_rows(g, i, rows);
            p->in[i].pitch = tile_pitch(w, p, geo_operand(g, i), p->in[i].rows);
            total += stream_bytes(w, &p->in[i], n_tiles);
        }
    if (p->out.streamed) {
        p->out.rows = g->kind == GEO_DENSE ? (uint32_t)ir_dim_back(g->out, 2) : rows;
        p->out.pitch = tile_pitch(w, p, g->out, p->out.rows);
        total += stream_bytes(w, &p->out, n_tiles);
    }
    return total;
}

uint32_t layout_least(const struct geo *g, const struct hd_config *hw)
{
    struct layout none = {0};
    struct work w = {.hw = hw, .layout = &none};
    struct op_plan p = {.geo = *g, .n_in = g->y2 ? 2 : 1};
    for (uint32_t i = 0; i < p.n_in; i++)
        p.in[i].streamed = true;
    p.out.streamed = true;
    return tile_bytes(&w, &p, 1);
}

/* A matrix product takes and makes tensors as one flat string. */
static void note_flat(struct work *w, const struct geo *g, const struct ir_tensor *t)
{
    if (g->kind == GEO_DENSE && ir_dim_back(t, 2) > 1)
        w->compact[t->id] = true;
}

/* What readers ask of a tensor's rows. */
static void note_reader(struct work *w, const struct op_plan *p, const struct ir_tensor *t)
{
    struct multirow *m = &w->multirow[t->id],
                    by = reads_of(w, &p->geo, w->program->knobs[p->position].streams);
    note_flat(w, &p->geo, t);
    m->dilation = m->dilation > by.dilation ? m->dilation : by.dilation;
    m->tails |= by.tails;
}

static void touch(struct work *w, const struct ir_tensor *t, uint32_t position)
{
    struct sched_place *s = place_of(w, t);
    struct sched_span span = w->program->span[position];
    if (!s->on_chip) {
        s->on_chip = true;
        s->first = span.first;
    }
    s->last = span.last;
}

/* Operands of one elementwise operator: the same row pitch and four banks apart, so that the two
 * reads of a cycle never meet (resnet8's last ADD at sys16: 526 cycles without, 278 with). */
static void pair_operands(struct work *w)
{
    for (uint32_t i = 0; i < w->layout->n_plan; i++) {
        const struct geo *g = &w->layout->plan[i].geo;
        if (!g->y2 || g->x == g->y2)
            continue;
        struct multirow *a = &w->multirow[g->x->id], *b = &w->multirow[g->y2->id];
        *a = *b = (struct multirow){a->dilation > b->dilation ? a->dilation : b->dilation,
                                    a->tails || b->tails};
        w->second[g->y2->id] = !w->second[g->x->id];
    }
}

static enum status collect(struct work *w, struct diag *d)
{
    const struct ir_graph *g = w->graph;
    struct layout *l = w->layout;
    l->plan = ARENA_ARRAY(w->arena, struct op_plan, g->n_op);
    for (uint32_t i = 0; i < g->n_op; i++) {
        const struct ir_op *op = g->op[i];
        if (!sched_owns(w->program, op) || sched_is_view(w->program, op))
            continue;
        struct op_plan *p = &l->plan[l->n_plan++];
        *p = (struct op_plan){.op = op, .position = i};
        if (!geo_of(g, op, &p->geo))
            return FAIL(d, ST_INTERNAL,
                        "operator %s was given to the accelerator but has no lowering",
                        g->row[op->row].name);
        p->n_in = p->geo.y2 ? 2 : 1;
        if (geo_upright(g, &p->geo))
            w->upright[p->geo.x->id] = w->upright[p->geo.out->id] = true;
    }
    return ST_OK;
}

static void note_plans(struct work *w)
{
    for (uint32_t i = 0; i < w->layout->n_plan; i++) {
        const struct op_plan *p = &w->layout->plan[i];
        for (uint32_t k = 0; k < p->n_in; k++) {
            note_reader(w, p, geo_operand(&p->geo, k));
            touch(w, geo_operand(&p->geo, k), p->position);
        }
        note_flat(w, &p->geo, p->geo.out);
        touch(w, p->geo.out, p->position);
    }
}

/* --- chains ----------------------------------------------------------------------------------- */

static bool by_rows(const struct work *w, const struct geo *g)
{
    return g->kind != GEO_DENSE && !g->turned && !geo_parts(g, w->hw) && g->oh > 1;
}

static bool may_chain(const struct work *w, const struct op_plan *p, const struct op_plan *next)
{
    return w->program->knobs[p->position].chain && p->op->region == next->op->region &&
           by_rows(w, &p->geo) && by_rows(w, &next->geo);
}

static uint32_t readers(const struct work *w, const struct ir_tensor *t)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->graph->n_op; i++)
        for (uint32_t k = 0; k < w->graph->op[i]->n_in && !w->graph->op[i]->dead; k++)
            if (w->graph->op[i]->in[k] == t->id) {
                n++;
                break;
            }
    return n;
}

/* `next` joins the chain that begins at `first`: what it reads of that chain stays on chip. */
static void note_link(struct work *w, const struct op_plan *first, const struct op_plan *next)
{
    for (const struct op_plan *p = first; p < next; p++) {
        const struct ir_tensor *t = p->geo.out;
        if (next->geo.x != t && next->geo.y2 != t)
            continue;
        w->chain_tensor[t->id] = true;
        if (p + 1 == next && !place_of(w, t)->in_memory && readers(w, t) == 1)
            w->chain_to[t->id] = next;
    }
}

/* Operators from plan[first] on that are interleaved by rows: while their weights fit together, and
 * one table serves them. */
static uint32_t chain_from(struct work *w, uint32_t first)
{
    struct layout *l = w->layout;
    uint32_t words = 0, entries = 0, tables = 0, i = first;
    for (; i < l->n_plan; i++) {
        struct op_plan *p = &l->plan[i];
        uint32_t need, params;
        chain_needs(w->arena, &p->geo, w->hw, &w->program->knobs[p->position], &need, &params);
        words += need;
        entries += params;
        tables += p->geo.kind == GEO_LUT;
        if (i == first)
            continue;
        if (!may_chain(w, p - 1, p) || words > w->hw->weight_bytes / w->hw->n ||
            entries > w->hw->param_entries || tables > 1)
            break;
        p[-1].chained = true;
        note_link(w, &l->plan[first], p);
    }
    return i - first;
}

static void note_span(struct work *w, const struct op_plan *p, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++)
        w->program->span[p[k].position] = (struct sched_span){p->position, p[n - 1].position};
}

/* How many operators from p on are interleaved by channels; 1: none. Their tensors are alive at
 * once, the pool's result in place of its input: that must not exceed the network's own need. */
static uint32_t slices_from(struct work *w, struct op_plan *p, uint64_t bound)
{
    uint32_t n = slices_length(w->program, p, w->layout->n_plan - (uint32_t)(p - w->layout->plan));
    const struct ir_tensor *x = p[n - 1].geo.x, *y = p[n - 1].geo.out;
    if (n == 1 || place_of(w, x)->in_memory || readers(w, x) > 1)
        return 1;
    note_span(w, p, n);
    bound += place_of(w, y)->in_memory ? 0 : ir_bytes(y);
    if (memory_live_at(w->arena, w->graph, w->program->span, p->position) > bound) {
        for (uint32_t k = 0; k < n; k++)
            note_span(w, &p[k], 1);
        return 1;
    }
    for (uint32_t k = 0; k + 1 < n; k++)
        p[k].sliced = true;
    w->within[y->id] = x;
    return n;
}

/* Which operators are interleaved, by channels or by rows. */
static void find_chains(struct work *w)
{
    struct layout *l = w->layout;
    uint64_t bound = memory_live_bound(w->arena, w->graph);
    uint32_t n;
    for (uint32_t first = 0; first < l->n_plan; first += n) {
        n = slices_from(w, &l->plan[first], bound);
        if (n == 1)
            n = chain_from(w, first);
        note_span(w, &l->plan[first], n);
    }
}

/* Rows that a chain's links make at once, from what the last one makes: each as many as the next
 * one takes. Sets tiles and rings, a lap of these being `tiles` tiles where a halo is copied, else
 * two; bytes of all of them. */
static uint64_t chain_bytes(struct work *w, struct op_plan *p, uint32_t n, uint32_t rows,
                            uint32_t tiles)
{
    uint64_t total = 0;
    for (uint32_t i = n; i-- > 0;) {
        const struct geo *g = &p[i].geo;
        uint32_t wish = w->program->knobs[p[i].position].tile_rows;
        rows = i + 1 < n ? rows * p[i + 1].geo.sy : rows;
        rows = wish && i + 1 < n ? wish : rows;
        rows = rows < g->oh ? rows : g->oh;
        p[i].tile_rows = rows;
        p[i].n_tiles = div_up(g->oh, rows) + 1;
        total += tile_bytes(w, &p[i], rows);
        struct plan_ring *r = &w->layout->ring[g->out->id];
        if (!r->lap)
            continue;
        const struct geo *next = &p[i + 1].geo;
        r->halo = (next->kh - 1) * next->dy;
        r->lap = rows * (r->halo ? tiles : 2);
        r->lap = r->lap < g->oh ? r->lap : g->oh;
        r->pitch = pitch_of(w, g->ow * g->oc, r->lap + r->halo, w->multirow[g->out->id]);
        total += (uint64_t)(r->lap + r->halo) * r->pitch;
    }
    return total;
}

static bool fit_chain(struct work *w, struct op_plan *p, uint32_t n, uint32_t space)
{
    uint32_t wish = w->program->knobs[p[n - 1].position].tile_rows,
             quarter = div_up(p[n - 1].geo.oh, 4);
    if (!wish) /* tiles enough to overlap */
        wish = quarter < CHAIN_ROWS ? quarter : CHAIN_ROWS;
    for (uint32_t rows = wish; rows > 0; rows /= 2)
        for (uint32_t tiles = LAP_TILES; tiles > 1; tiles /= 2)
            if (chain_bytes(w, p, n, rows, tiles) <= space)
                return true;
    return false;
}

static uint32_t chain_length(const struct op_plan *p)
{
    uint32_t n = 1;
    while (p[n - 1].chained)
        n++;
    return n;
}

static bool alive(const struct sched_place *s, uint32_t position)
{
    return s->on_chip && s->first <= position && position <= s->last;
}

/* A result that lies within its input, if both stay on chip: the input's place is its own. */
static bool inside(const struct work *w, uint32_t t)
{
    return w->within[t] && w->program->place[t].on_chip &&
           w->program->place[w->within[t]->id].on_chip;
}

/* An input is kept as long as the result within it. */
static void keep_inputs(struct work *w)
{
    for (uint32_t t = 0; t < w->graph->n_tensor; t++)
        if (inside(w, t))
            place_of(w, w->within[t])->last = w->program->place[t].last;
}

static uint32_t resident_bytes(struct work *w, uint32_t position)
{
    uint32_t total = 0;
    for (uint32_t t = 0; t < w->graph->n_tensor; t++)
        if (alive(&w->program->place[t], position) && !inside(w, t))
            total += whole_bytes(w, w->graph->tensor[t]);
    return total;
}

static bool touches(const struct op_plan *p, const struct ir_tensor *t)
{
    return p->geo.x == t || p->geo.y2 == t || p->geo.out == t;
}

/* The tensor to stream so that operator `p` fits; NULL if there is none left. */
static const struct ir_tensor *victim(struct work *w, const struct op_plan *p)
{
    const struct ir_tensor *best = NULL;
    uint64_t best_score = 0;
    for (uint32_t i = 0; i < w->graph->n_tensor; i++) {
        const struct ir_tensor *t = w->graph->tensor[i];
        if (!alive(place_of(w, t), p->position))
            continue;
        if (w->chain_tensor[t->id] && !w->chain_to[t->id])
            continue;
        uint64_t score = 1 + whole_bytes(w, t);
        if (w->chain_to[t->id]) /* a few rows are enough */
            score += (uint64_t)1 << 42;
        if (place_of(w, t)->in_memory)
            score += (uint64_t)1 << 40;
        if (!touches(p, t))
            score += (uint64_t)1 << 41;
        if (score > best_score) {
            best_score = score;
            best = t;
        }
    }
    return best;
}

static void stream_tensor(struct work *w, const struct ir_tensor *t)
{
    struct layout *l = w->layout;
    place_of(w, t)->on_chip = false;
    if (w->chain_to[t->id]) {
        l->ring[t->id].lap = 1; /* and as many as fit */
        return;
    }
    place_of(w, t)->in_memory = true;
    for (uint32_t i = 0; i < l->n_plan; i++) {
        struct op_plan *p = &l->plan[i];
        for (uint32_t k = 0; k < p->n_in; k++)
            if (geo_operand(&p->geo, k) == t)
                p->in[k].streamed = true;
        if (p->geo.out == t)
            p->out.streamed = true;
    }
}

/* A chain holds all its tensors at once. Where these are more than the network has alive at any
 * operator, those whose readers' windows do not overlap become rings, which need no copies of a
 * halo (resnet8 at sys16: 64 KiB to the bound of 48 in as many cycles). */
static void ring_without_halo(struct work *w)
{
    uint64_t bound = memory_live_bound(w->arena, w->graph);
    for (uint32_t i = 0; i < w->graph->n_tensor; i++) {
        const struct op_plan *p = w->chain_to[i];
        if (p && p->geo.kh == 1 && resident_bytes(w, p->position) > bound)
            stream_tensor(w, w->graph->tensor[i]);
    }
}

static bool any_stream(const struct op_plan *p)
{
    return p->in[0].streamed || p->in[1].streamed || p->out.streamed;
}

/* Output rows per tile for operators whose operands are all on chip: one command, unless rows
 * arrive from or leave for memory, where tiles let the units overlap. */
static uint32_t overlap_rows(struct work *w, const struct op_plan *p)
{
    const struct geo *g = &p->geo;
    bool moves = place_of(w, g->x)->in_memory || place_of(w, g->out)->in_memory;
    uint32_t rows = geo_block_rows(g, w->hw), wish = w->program->knobs[p->position].tile_rows;
    if (wish && geo_parts(g, w->hw)) /* accumulators are kept: a tile is a block */
        wish = wish < rows ? wish : rows;
    if (wish)
        return wish < g->oh ? wish : g->oh;
    if (!(moves || geo_parts(g, w->hw)) || g->oh == 1 || rows >= g->oh)
        return g->oh;
    return rows;
}

static void set_tile(struct work *w, struct op_plan *p, uint32_t rows)
{
    uint32_t ramp = ramp_of(w, p);
    p->tile_rows = rows;
    p->ramp = ramp < rows ? ramp : 0;
    p->n_tiles = n_tiles_of(w, p, rows);
    tile_bytes(w, p, rows);
}

/* Tile height for the space that residents leave. ST_NO_SPACE without a message if even one row
 * does not fit. */
static bool fit_tile(struct work *w, struct op_plan *p, uint32_t space)
{
    if (p->chained)
        return fit_chain(w, p, chain_length(p), space);
    uint32_t rows = overlap_rows(w, p);
    if (!any_stream(p)) {
        set_tile(w, p, rows);
        return true;
    }
    while (rows > 1 && tile_bytes(w, p, rows) > space)
        rows--;
    if (tile_bytes(w, p, rows) > space)
        return false;
    set_tile(w, p, rows);
    return true;
}

static enum status no_space(struct work *w, struct op_plan *p, struct diag *d)
{
    return FAIL(d, ST_NO_SPACE,
                "operator %s does not fit: its tensors need %u bytes of scratchpad at one row a "
                "tile, configuration %s has %u; "
                "use a configuration with a larger scratchpad, or --target=c",
                w->graph->row[p->op->row].name,
                resident_bytes(w, p->position) + tile_bytes(w, p, 1), w->hw->name,
                w->hw->scratchpad_bytes);
}

/* Choose residents and tiles so that the sum at each operator stays within its budget. */
static enum status choose(struct work *w, struct diag *d)
{
    struct layout *l = w->layout;
    for (uint32_t i = 0; i < l->n_plan; i++) {
        struct op_plan *p = &l->plan[i];
        if (i > 0 && p[-1].chained)
            continue; /* fitted with the first of its chain */
        for (;;) {
            uint32_t used = resident_bytes(w, p->position), budget = w->budget[p->position];
            if (used <= budget && fit_tile(w, p, budget - used))
                break;
            const struct ir_tensor *t = victim(w, p);
            if (!t && fit_tile(w, p, w->hw->scratchpad_bytes))
                break; /* alone with its tiles: nothing to be fragmented by */
            if (!t)
                return no_space(w, p, d);
            stream_tensor(w, t);
            i = UINT32_MAX; /* earlier operators may have changed: start over */
            break;
        }
        if (i == UINT32_MAX)
            continue;
    }
    return ST_OK;
}

/* Phase: operands of one elementwise operator lie four banks apart. */
static void add_tiles(struct work *w, struct place_set *set, struct op_plan *p)
{
    uint32_t n = p->n_tiles > 1 ? 2 : 1, banks = w->hw->banks * w->hw->n;
    struct plan_stream *s[3] = {&p->in[0], &p->in[1], &p->out};
    struct sched_span span = w->program->span[p->position];
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t k = 0; k < n && s[i]->streamed; k++) {
            const struct ir_tensor *t = i < 2 ? geo_operand(&p->geo, i) : NULL;
            bool pair = t && p->geo.y2;
            place_add_phase(set, s[i]->rows * s[i]->pitch, span.first, span.last, pair ? banks : 0,
                            pair && w->second[t->id] ? banks / 2 : 0, &s[i]->buf[k]);
        }
}

static void add_ring(struct work *w, struct place_set *set, const struct op_plan *p)
{
    const struct ir_tensor *t = p->geo.out;
    struct plan_ring *r = &w->layout->ring[t->id];
    struct sched_span span = w->program->span[p->position];
    uint32_t banks = w->hw->banks * w->hw->n;
    if (r->lap)
        place_add_phase(set, (r->lap + r->halo) * r->pitch, span.first, span.last, banks,
                        w->second[t->id] ? banks / 2 : 0, &r->base);
}

/* Less for the operators at which the buffer is alive. */
static void tighten(struct work *w, const struct place_buffer *b)
{
    uint32_t step = w->hw->scratchpad_bytes / BUDGET_STEPS;
    for (uint32_t i = b->first; i <= b->last; i++)
        w->budget[i] -= w->budget[i] > step ? step : 0;
}

/* Give every resident and tile buffer an address; if fragmentation needs more than there is, false,
 * and less budget where buffers lie too high. */
static bool assign(struct work *w)
{
    struct place_set set;
    uint32_t banks = w->hw->banks * w->hw->n;
    place_init(&set, w->arena);
    for (uint32_t t = 0; t < w->graph->n_tensor; t++) {
        struct sched_place *s = &w->program->place[t];
        s->inside = inside(w, t);
        if (s->on_chip && !s->inside)
            place_add_phase(&set, whole_bytes(w, w->graph->tensor[t]), s->first, s->last, banks,
                            w->second[t] ? banks / 2 : 0, &s->base);
    }
    for (uint32_t i = 0; i < w->layout->n_plan; i++) {
        add_tiles(w, &set, &w->layout->plan[i]);
        add_ring(w, &set, &w->layout->plan[i]);
    }
    uint64_t peak = place_solve(&set, w->hw->n);
    w->program->spad_peak = peak > UINT32_MAX ? UINT32_MAX : (uint32_t)peak;
    for (uint32_t i = 0; i < set.n; i++)
        if (set.buffer[i].offset + set.buffer[i].n_bytes > w->hw->scratchpad_bytes)
            tighten(w, &set.buffer[i]);
    for (uint32_t t = 0; t < w->graph->n_tensor; t++)
        if (w->program->place[t].inside)
            w->program->place[t].base = place_of(w, w->within[t])->base;
    return peak <= w->hw->scratchpad_bytes;
}

static uint32_t chip_pitch(struct work *w, const struct ir_tensor *t)
{
    const struct plan_ring *r = &w->layout->ring[t->id];
    return r->lap ? r->pitch : place_of(w, t)->pitch;
}

static void fill_places(struct work *w)
{
    for (uint32_t i = 0; i < w->graph->n_tensor; i++) {
        const struct ir_tensor *t = w->graph->tensor[i];
        struct sched_place *s = &w->program->place[i];
        uint32_t c, cols;
        image(w, t, &s->h, &cols, &c);
        s->row_bytes = cols * c;
        s->pitch = tensor_pitch(w, t);
    }
    for (uint32_t i = 0; i < w->layout->n_plan; i++) {
        struct op_plan *p = &w->layout->plan[i];
        for (uint32_t k = 0; k < p->n_in; k++)
            if (!p->in[k].streamed) {
                p->in[k].pitch = chip_pitch(w, geo_operand(&p->geo, k));
                p->in[k].skip = 1;
            }
        if (!p->out.streamed)
            p->out.pitch = chip_pitch(w, p->geo.out);
    }
}

/* For memory_use: what operators hold beside whole tensors. */
static void note_buffers(struct work *w)
{
    w->program->buffer_bytes = ARENA_ARRAY(w->arena, uint32_t, w->graph->n_op + 1);
    for (uint32_t i = 0; i < w->layout->n_plan; i++) {
        const struct op_plan *p = &w->layout->plan[i];
        const struct plan_stream *s[3] = {&p->in[0], &p->in[1], &p->out};
        const struct plan_ring *r = &w->layout->ring[p->geo.out->id];
        uint32_t *n = &w->program->buffer_bytes[p->position];
        for (uint32_t k = 0; k < 3; k++)
            if (s[k]->streamed)
                *n += stream_bytes(w, s[k], p->n_tiles);
        if (r->lap)
            *n += (r->lap + r->halo) * r->pitch;
    }
}

enum status layout_run(struct arena *a, struct sched_program *program, struct layout **layout,
                       struct diag *d)
{
    struct work w = {.arena = a, .program = program, .graph = program->graph, .hw = program->hw};
    *layout = w.layout = ARENA_NEW(a, struct layout);
    w.layout->program = program;
    w.compact = ARENA_ARRAY(a, bool, w.graph->n_tensor + 1);
    w.upright = ARENA_ARRAY(a, bool, w.graph->n_tensor + 1);
    w.multirow = ARENA_ARRAY(a, struct multirow, w.graph->n_tensor + 1);
    w.second = ARENA_ARRAY(a, bool, w.graph->n_tensor + 1);
    w.chain_to = ARENA_ARRAY(a, const struct op_plan *, w.graph->n_tensor + 1);
    w.within = ARENA_ARRAY(a, const struct ir_tensor *, w.graph->n_tensor + 1);
    w.chain_tensor = ARENA_ARRAY(a, bool, w.graph->n_tensor + 1);
    w.layout->ring = ARENA_ARRAY(a, struct plan_ring, w.graph->n_tensor + 1);
    for (uint32_t i = 0; i < w.graph->n_op; i++)
        program->span[i] = (struct sched_span){i, i};
    TRY(collect(&w, d));
    find_chains(&w);
    note_plans(&w);
    keep_inputs(&w);
    pair_operands(&w);
    ring_without_halo(&w);
    w.budget = ARENA_ARRAY(a, uint32_t, w.graph->n_op + 1);
    for (uint32_t i = 0; i < w.graph->n_op; i++)
        w.budget[i] = program->hw->scratchpad_bytes;
    for (uint32_t i = 0; i < BUDGET_STEPS * BUDGET_TRIALS; i++) {
        TRY(choose(&w, d));
        if (assign(&w)) {
            fill_places(&w);
            note_buffers(&w);
            return ST_OK;
        }
    }
    return FAIL(
        d, ST_NO_SPACE,
        "the scratchpad of %s (%u bytes) is too fragmented for this network; use a larger one",
        program->hw->name, program->hw->scratchpad_bytes);
}
