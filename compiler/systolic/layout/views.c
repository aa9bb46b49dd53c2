/* views.c - see views.h. Each view operator places its tensors in one image (view_storage.c). */
#include "views_work.h"

#include "compiler/ir/rules.h"

/* --- what operators need --- */

/* Return true if the operator uses rows that differ from those of the tensor's image. */
static bool rows_differ(const struct ir_tensor *t, uint32_t pixels, uint32_t channels)
{
    uint32_t h, w, c;

    geo_image(t, &h, &w, &c);
    return w != pixels || c != channels;
}

static struct need need_of(const struct geo *g, const struct ir_tensor *t)
{
    struct need n = {.step = 1};
    uint32_t h, w, c;

    geo_image(t, &h, &w, &c);
    n.flat = g->kind == GEO_DENSE && h > 1;
    n.rows = geo_rows_of_matrix(g, t);
    if (g->kind == GEO_PRODUCT)
        return n;
    if (geo_on_array(g) && t == g->x) {
        n.step = g->sx;
        n.dense = g->kind == GEO_TRANSPOSED || (g->kind == GEO_CONV && g->kw > 1) ||
                  rows_differ(t, geo_row_pixels(g, false), g->c);
    }
    if (t == g->out && !g->transposed) {
        n.step = g->kind == GEO_TRANSPOSED && g->sx > n.step ? g->sx : n.step;
        n.dense |= rows_differ(t, geo_row_pixels(g, true), g->oc);
    }
    return n;
}

static void add_need(struct views *w, const struct geo *g, const struct ir_tensor *t)
{
    struct need n = need_of(g, t), *all = &w->need[t->id];

    all->dense |= n.dense;
    all->flat |= n.flat;
    all->rows |= n.rows;
    all->step = n.step > all->step ? n.step : all->step;
}

static void find_needs(struct views *w)
{
    for (uint32_t i = 0; i < w->g->n_tensor; i++) {
        w->need[i].step = 1;
        w->need[i].external = w->p->place[i].in_memory || w->g->tensor[i]->role != IR_VALUE;
    }
    for (uint32_t i = 0; i < w->g->n_op; i++) {
        struct geo g;
        if (!sched_owns(w->p, w->g->op[i]) || !geo_device(w->g, w->g->op[i], &g))
            continue;
        add_need(w, &g, g.x);
        add_need(w, &g, g.out);
        if (g.y2)
            add_need(w, &g, g.y2);
    }
}

/* --- operators --- */

static void loosen(struct views *w, const struct ir_op *op, uint32_t in)
{
    w->loose.edge[w->loose.n++] = (struct views_edge){op->id, in};
}

/* Return the image direction (0 channels, 1 columns, 2 rows) of a dimension counted from the
 * innermost. All other dimensions are 1 (views_refusal). */
static uint32_t direction(const struct ir_tensor *t, uint32_t back)
{
    return t->rank < 4 && back > 0 ? 2 : back;
}

/* Return begin and step of dimension `back` of the operator's slice. */
static void slice_of(const struct ir_graph *g, const struct ir_op *op, uint32_t back,
                     int32_t *begin, int32_t *step)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *steps = ir_in(g, op, 2);
    const uint32_t k = x->rank - 1 - back;

    *begin = back < x->rank ? ir_const_i32(ir_in(g, op, 1), k) : 0;
    *step = back < x->rank && steps ? ir_const_i32(steps, k) : 1;
}

static void view_slice(struct views *w, const struct ir_op *op)
{
    const uint32_t x = op->in[0], y = op->out[0];
    struct sched_view at = w->view[x];
    const struct sched_view *own = &w->view[y];
    struct member m;
    int32_t begin[3] = {0, 0, 0}, step[3] = {1, 1, 1};

    for (uint32_t back = 0; back < w->g->tensor[x]->rank; back++)
        if (ir_dim_back(w->g->tensor[x], back) > 1)
            slice_of(w->g, op, back, &begin[direction(w->g->tensor[x], back)],
                     &step[direction(w->g->tensor[x], back)]);
    at.y += begin[2] * (int32_t)at.step_y;
    at.x += begin[1] * (int32_t)at.step_x;
    at.c += begin[0];
    at.step_y *= (uint32_t)step[2];
    at.step_x *= (uint32_t)step[1];
    m = (struct member){
        .h = (own->h - 1) * at.step_y + 1, .w = (own->w - 1) * at.step_x + 1, .c = own->n};
    if (w->need[y].external)
        loosen(w, op, VIEWS_RESULT);
    else if (at.pixel || !view_attach(w, y, &at, &m))
        loosen(w, op, w->need[y].dense || w->need[y].flat ? VIEWS_RESULT : 0);
}

/* Return the position of operand `i` of a concatenation, from the result's first element. */
static void operand_at(const struct views *w, const struct ir_op *op, uint32_t i, int32_t at[3])
{
    const struct ir_tensor *y = w->g->tensor[op->out[0]];
    const uint32_t back = y->rank - 1 - (uint32_t)op->attr[IR_AXIS];
    int32_t offset = 0;

    for (uint32_t k = 0; k < i; k++)
        offset += ir_dim_back(w->g->tensor[op->in[k]], back);
    for (uint32_t k = 0; k < 3; k++)
        at[k] = direction(y, back) == 2 - k ? offset : 0;
}

/* Return true if operand `i`, moved to its place, would put bytes of other tensors at another
 * operand's position. */
static bool hides(const struct views *w, const struct ir_op *op, uint32_t i)
{
    const struct sched_view *v = &w->view[op->in[i]];
    int32_t own[3], at[3];

    operand_at(w, op, i, own);
    for (uint32_t k = 0; k < op->n_in; k++) {
        const struct sched_view *u = &w->view[op->in[k]];
        operand_at(w, op, k, at);
        const int32_t y = v->y - own[0] + at[0], x = v->x - own[1] + at[1],
                      c = v->c - own[2] + at[2];
        uint32_t h, cols, n;
        geo_image(w->g->tensor[op->in[k]], &h, &cols, &n);
        const struct part box = {y, x, c, y + (int32_t)h, x + (int32_t)cols, c + (int32_t)n};
        if (u->root == v->root && u->y == y && u->x == x && u->c == c)
            continue;
        for (uint32_t t = v->root; t != IR_NONE; t = w->member[t].next)
            if (w->member[t].written && view_parts_meet(view_part(w, t, views_nowhere), box))
                return true;
    }
    return false;
}

static void view_concat(struct views *w, const struct ir_op *op)
{
    const uint32_t y = op->out[0];

    w->member[y].written = w->need[y].external;
    if (w->need[y].external)
        loosen(w, op, VIEWS_RESULT);
    for (uint32_t i = 0; i < op->n_in && !w->need[y].external; i++) {
        struct sched_view at = w->view[y];
        int32_t by[3];
        operand_at(w, op, i, by);
        at.y += by[0];
        at.x += by[1];
        at.c += by[2];
        if (w->need[op->in[i]].external ||
            (w->view[op->in[i]].root != at.root && hides(w, op, i)) ||
            !view_place(w, op->in[i], &at))
            loosen(w, op, i);
    }
}

/* Make a RESHAPE a view: both shapes have the same rows, or the rows are contiguous. */
static void view_reshape(struct views *w, const struct ir_op *op)
{
    const uint32_t x = op->in[0], y = op->out[0];
    const struct sched_view *own = &w->view[y];
    struct sched_view at = w->view[x], *root = &w->view[at.root];
    struct storage *s = &w->storage[at.root];
    const struct member m = w->member[x];
    uint32_t h, cols, c;
    bool flat, whole;

    geo_image(w->g->tensor[x], &h, &cols, &c);
    if (w->need[y].external) {
        loosen(w, op, VIEWS_RESULT);
        return;
    }
    if (h == own->h && cols == own->w && c == own->n) {
        if (!view_attach(w, y, &at, &m))
            loosen(w, op, VIEWS_RESULT);
        return;
    }
    flat = own->h != h || w->need[y].flat;
    whole = at.x == 0 && at.c == 0 && cols == root->w && c == root->n && at.step_x == 1;
    if (at.pixel || (cols > 1 && (c != root->n || at.step_x != 1)) ||
        (flat && h > 1 && (!whole || at.step_y != 1))) {
        loosen(w, op, 0);
        return;
    }
    at.pixel = own->n;
    at.pitch = own->h != h ? own->w * own->n : 0;
    if (!view_attach(w, y, &at, &m)) {
        loosen(w, op, VIEWS_RESULT);
        return;
    }
    s->rigid |= cols > 1 || flat;
    root->flat |= flat && h > 1;
}

/* Return true if a table maps every value to itself, so that only scale and zero point change. */
static bool keeps_values(const int8_t *table)
{
    for (int32_t value = -128; value < 128; value++)
        if (table[value + 128] != value)
            return false;
    return true;
}

/* Return true if the results' channels are those of column tiles that can have their own tables. */
static bool tiles_have_tables(const struct views *w, const struct geo *g)
{
    const uint32_t columns = g->kind == GEO_CONV ? 2 * g->oc : g->oc; /* of up to two pixels */

    return (g->kind == GEO_CONV || g->kind == GEO_DEPTHWISE || g->kind == GEO_ELEMENTWISE ||
            g->kind == GEO_POOL) &&
           !g->transposed &&
           div_up(columns, geo_tile_lanes(g, w->p->hw)) <= hd_config_tables(w->p->hw);
}

/* Return true if a LOAD alone may execute the operator: its operand is in memory. */
static bool may_only_load(const struct views *w, const struct geo *g)
{
    return g->copies && w->need[g->x->id].external;
}

/* Return the position of the operator that computes the LUT's input, if only the LUT reads it;
 * otherwise IR_NONE. */
static uint32_t looks_up(const struct views *w, const struct ir_op *lut)
{
    const uint32_t x = lut->in[0];
    const struct ir_tensor *t = w->g->tensor[x];
    const struct ir_op *op = t->producer == IR_NONE ? NULL : w->g->op[t->producer];
    struct geo g;

    if (!op || op->n_out != 1 || ir_uses(w->g, x) != 1 || w->need[x].external ||
        !sched_owns(w->p, op) || w->p->viewed[t->producer] || !geo_device(w->g, op, &g) ||
        geo_moves(&g) || may_only_load(w, &g) || g.kind == GEO_SOFTMAX || g.kind == GEO_LSTM ||
        op->opcode == lut->opcode || (lut->n_in == 2 && !tiles_have_tables(w, &g)))
        return IR_NONE;
    return t->producer;
}

static void view_table(struct views *w, const struct ir_op *op)
{
    const uint32_t x = op->in[0], y = op->out[0];
    const struct member m = w->member[x];
    const bool keeps = op->fixed.table && keeps_values(op->fixed.table);
    const uint32_t maker = keeps ? IR_NONE : looks_up(w, op);

    w->p->viewed[op->id] = false;
    if ((!keeps && maker == IR_NONE) || w->view[x].swapped || w->need[y].external ||
        w->g->tensor[x]->role == IR_CONST || w->view[x].pixel)
        return;
    w->p->viewed[op->id] = view_attach(w, y, &w->view[x], &m);
    if (w->p->viewed[op->id] && !keeps)
        w->p->look_up[maker] = op;
}

/* Give a tensor read of a variable the variable's place (schedule/places.c). */
static void view_read(struct views *w, const struct ir_op *op)
{
    const struct sched_place *y = &w->p->place[op->out[0]];

    w->p->viewed[op->id] = y->in_memory && y->mem_region == sched_state_region(w->g);
}

/* --- heads ------------------------------------------------------------------------------------ */

static bool is_product(const struct views *w, const struct ir_op *op)
{
    struct geo g;

    return sched_owns(w->p, op) && geo_device(w->g, op, &g) && g.kind == GEO_PRODUCT;
}

static bool only_products_read(const struct views *w, uint32_t t)
{
    for (uint32_t i = 0; i < w->g->n_op; i++)
        for (uint32_t k = 0; k < w->g->op[i]->n_in && !w->g->op[i]->dead; k++)
            if (w->g->op[i]->in[k] == t && !is_product(w, w->g->op[i]))
                return false;
    return true;
}

/* Return true if rows and columns are exchanged and channels stay. */
static bool swaps(const struct views *w, const struct ir_op *op)
{
    struct geo g;

    return w->g->tensor[op->in[0]]->rank == 4 && geo_device(w->g, op, &g) && g.from[0] == 0 &&
           g.from[1] == 2 && g.from[2] == 1;
}

/* Let a product write its result directly to its place in the TRANSPOSE's result. */
static bool write_swapped(struct views *w, uint32_t x, uint32_t y)
{
    const struct ir_tensor *t = w->g->tensor[x];
    const struct sched_view own = w->view[y], *v = &w->view[x];
    const struct sched_view at = {.root = y, .step_y = 1, .step_x = 1, .swapped = true};
    const struct member m = {.h = v->w, .w = v->h, .c = v->n};

    if (t->producer == IR_NONE || !is_product(w, w->g->op[t->producer]) || ir_uses(w->g, x) != 1 ||
        t->is_output || v->root != x || w->storage[x].last != x || own.h != v->w || own.w != v->h ||
        !view_attach(w, x, &at, &m))
        return false;
    w->member[x].written = true;
    w->member[y].written = false;
    return true;
}

/* Make a TRANSPOSE of heads a view if only products read its result or compute its operand: they
 * accept any distance between rows. */
static void view_transpose(struct views *w, const struct ir_op *op)
{
    const uint32_t x = op->in[0], y = op->out[0];
    struct sched_view at = w->view[x];
    const struct member m = w->member[x];

    w->p->viewed[op->id] = false;
    if (!swaps(w, op) || w->need[y].external || at.swapped)
        return;
    if (!w->need[x].external && write_swapped(w, x, y)) {
        w->p->viewed[op->id] = true;
        return;
    }
    at.swapped = true;
    if (w->g->tensor[x]->role != IR_CONST && only_products_read(w, y))
        w->p->viewed[op->id] = view_attach(w, y, &at, &m);
}

#define view_gather NULL
#define view_pad    NULL

static const struct {
    void (*view)(struct views *w, const struct ir_op *op);
} forms[] = {
#define OPERATOR(code, name, columns) {columns},
#define MOVES(rule)                   .view = view_##rule,
#include "operators/operators.def"
};

bool views_form(enum ir_opcode code)
{
    return forms[code].view && forms[code].view != view_transpose;
}

bool views_reads_parts(const struct ir_graph *g, const struct ir_op *op, uint32_t in)
{
    struct geo geo;
    struct need n;

    if (views_form(op->opcode) || !geo_device(g, op, &geo))
        return true;
    n = need_of(&geo, ir_in(g, op, in));
    return !n.dense && !n.flat;
}

/* Return true if an image's rows merge two dimensions, so that only both can be cut together. */
static bool rows_of_two(const struct ir_tensor *t)
{
    return t->rank < 4 ? ir_dim_back(t, 2) > 1 && ir_dim_back(t, 1) > 1 : ir_dim_back(t, 3) > 1;
}

const char *views_refusal(struct arena *a, const struct ir_graph *g, const struct ir_op *op)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *y = ir_out(g, op, 0);
    int32_t begin, step;

    if (ir_is_reshape(op))
        return NULL;
    if (rows_of_two(x) || rows_of_two(y))
        return arena_printf(a, "shape %s: parts of images in several dimensions are not supported",
                            ir_shape_text(a, y->rank, y->dim));
    for (uint32_t back = 0; back < x->rank && op->opcode == IR_OP_SLICE; back++) {
        slice_of(g, op, back, &begin, &step);
        if (ir_dim_back(y, back) == 1)
            continue;
        if (step < 1)
            return arena_printf(a, "step %d of dimension %u: expected at least 1", step,
                                x->rank - 1 - back);
        if (back == 0 && step > 1)
            return arena_printf(a, "step %d along channels: expected 1", step);
        if (direction(x, back) == 1 && (int64_t)step * ir_dim_back(x, 0) > VIEW_STEP_LIMIT)
            return arena_printf(a,
                                "step %d along columns of %d bytes: at most %d bytes are supported",
                                step, ir_dim_back(x, 0), VIEW_STEP_LIMIT);
    }
    return NULL;
}

struct views_edges views_find(struct sched_program *p)
{
    const struct ir_graph *g = p->graph;
    struct views w = {.p = p, .g = g};
    uint32_t edges = 0;

    p->view = w.view = ARENA_ARRAY(p->arena, struct sched_view, g->n_tensor + 1);
    p->viewed = ARENA_ARRAY(p->arena, bool, g->n_op + 1);
    p->look_up = ARENA_ARRAY(p->arena, const struct ir_op *, g->n_op + 1);
    w.need = ARENA_ARRAY(p->arena, struct need, g->n_tensor + 1);
    w.member = ARENA_ARRAY(p->arena, struct member, g->n_tensor + 1);
    w.storage = ARENA_ARRAY(p->arena, struct storage, g->n_tensor + 1);
    for (uint32_t i = 0; i < g->n_op; i++)
        edges += g->op[i]->n_in + 1;
    w.loose.edge = ARENA_ARRAY(p->arena, struct views_edge, edges + 1);
    for (uint32_t i = 0; i < g->n_tensor; i++)
        view_init(&w, i);
    find_needs(&w);
    for (uint32_t i = 0; i < g->n_op; i++) {
        const struct ir_op *op = g->op[i];
        void (*view)(struct views *, const struct ir_op *) = op->opcode == IR_OP_LUT ? view_table
                                                             : ir_is_read(op)
                                                                 ? view_read
                                                                 : forms[op->opcode].view;
        p->viewed[i] = view != NULL && sched_owns(p, op);
        if (p->viewed[i])
            view(&w, op);
    }
    return w.loose;
}
