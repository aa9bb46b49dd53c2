/* cascade_walk.c - see cascade_walk.h. Works depth first: the last stage asks for the rows it
 * reads, and each producer computes just those. */
#include "cascade_walk.h"

/* Return the stage that computes tensor `t`; n if none of the cascade does. */
static uint32_t maker(const struct cascade_walk *c, const struct ir_tensor *t)
{
    uint32_t i = 0;

    while (i < c->n && c->plan[i].geo.out != t)
        i++;
    return i;
}

bool cascade_read(const struct cascade_walk *c, const struct cascade_tile *t, uint32_t i,
                  struct cascade_read *r)
{
    const struct geo *g = &c->plan[t->stage].geo;
    const struct ir_tensor *x = geo_operand(g, i);
    uint32_t from;

    *r = (struct cascade_read){.buffer = &c->line_buffer[x->id], .tensor = x->id};
    if (!r->buffer->wrap)
        return false;
    geo_operand_rows(g, i, t->y, t->rows, &r->lo, &r->hi);
    from = maker(c, x);
    r->made = from < c->n ? c->done[from] : 0;
    return true;
}

/* Return true if the tile can read each operand without crossing a wrap of its line buffer. */
static bool without_wrap(const struct cascade_walk *c, const struct cascade_tile *t)
{
    struct cascade_read r;

    for (uint32_t i = 0; i < c->plan[t->stage].n_in; i++)
        if (cascade_read(c, t, i, &r) &&
            r.lo + r.buffer->halo < line_buffer_wrap(r.buffer, r.hi - 1))
            return false;
    return true;
}

/* Return the rows of the next tile. The first tile is smaller if a later one can then end at
 * `upto`, the end of the first reader tile's window, instead of a whole tile later. */
static uint32_t tile_rows(const struct cascade_walk *c, uint32_t k, uint32_t upto)
{
    const struct op_plan *p = &c->plan[k];
    const struct plan_line_buffer *r = &c->line_buffer[p->geo.out->id];
    uint32_t rows = p->tile_rows, left = p->geo.oh - c->done[k];

    if (c->done[k] == 0 && upto > rows && upto % rows)
        rows = upto % rows;
    rows = rows < left ? rows : left;
    if (r->wrap && rows > r->wrap - c->done[k] % r->wrap)
        rows = r->wrap - c->done[k] % r->wrap;
    while (rows > 1 && !without_wrap(c, &(struct cascade_tile){k, 0, c->done[k], rows, false}))
        rows--;
    return rows;
}

/* Return true if plan[from] also computes the rows of plan[k]'s next tile. Then neither waits for
 * the other: ARRAY has other tiles in between while VECTOR works. VECTOR's own commands do not
 * overlap. */
static bool is_ahead(const struct cascade_walk *c, uint32_t from, uint32_t k)
{
    const struct op_plan *p = &c->plan[from];

    return p->ahead && (geo_on_array(&p->geo) || geo_on_array(&c->plan[k].geo));
}

/* Make rows of stage `k` until it has `upto`, with earlier stages first. A stage reads nothing of
 * later ones, so the recursion ends. */
static void make(struct cascade_walk *c, uint32_t k, uint32_t upto)
{
    const struct op_plan *p = &c->plan[k];
    const struct plan_line_buffer *r = &c->line_buffer[p->geo.out->id];

    while (c->done[k] < upto) {
        uint32_t rows = tile_rows(c, k, upto), y = c->done[k], lo, hi;
        for (uint32_t i = 0; i < p->n_in; i++) {
            uint32_t from = maker(c, geo_operand(&p->geo, i)), more = rows;
            if (from == c->n)
                continue;
            if (is_ahead(c, from, k))
                more = rows + p->tile_rows < p->geo.oh - y ? rows + p->tile_rows : p->geo.oh - y;
            geo_operand_rows(&p->geo, i, y, more, &lo, &hi);
            make(c, from, hi);
        }
        const struct cascade_tile t = {k, c->tiles[k]++, y, rows,
                                       r->wrap && y > 0 && y % r->wrap == 0};
        c->visit(c, &t);
        c->done[k] += rows;
    }
}

void cascade_walk(struct arena *a, struct cascade_walk *c)
{
    c->done = ARENA_ARRAY(a, uint32_t, c->n);
    c->tiles = ARENA_ARRAY(a, uint32_t, c->n);
    make(c, c->n - 1, c->plan[c->n - 1].geo.oh);
    for (uint32_t i = 0; i < c->n; i++) /* results that operators outside the cascade read */
        if (!c->line_buffer[c->plan[i].geo.out->id].wrap)
            make(c, i, c->plan[i].geo.oh);
}
