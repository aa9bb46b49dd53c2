/* cascade.c - lower interleaved operators. Row by row: in the order of layout/cascade_walk.c.
 * Tensors between them need only a few rows of scratchpad (a line buffer, layout.h), and VECTOR
 * works in parallel with ARRAY. All weights of a cascade stay in weight memory, or belong to one
 * operator. By channels: a pool over the whole image reads all rows, but one channel tile of it needs
 * only the same tile of its input. ARRAY therefore computes a group of channels; VECTOR processes
 * the same group (a sum, a table, the pool) while ARRAY computes the next. The pool's result
 * overwrites the first pixel of the channel tiles that it has read, so no more bytes are held than
 * if the operators ran one by one. */
#include "compiler/systolic/layout/cascade_walk.h"
#include "lower.h"

struct cascade {
    struct lower *l;
    struct nest **nest; /* by stage, for ARRAY operators */
};

/* Start a new wrap at row `y`: copy the last rows of the previous wrap in front of it. */
static void copy_halo(struct lower *l, const struct op_plan *p, uint32_t y)
{
    const struct ir_tensor *t = p->geo.out;
    const struct plan_line_buffer *r = &l->layout->line_buffer[t->id];
    const struct sched_place *s = &l->program->place[t->id];
    uint32_t halo = r->halo < y ? r->halo : y, first = (y - halo) * r->pitch;

    if (halo == 0)
        return;
    const struct lower_rows rows = {.from = line_buffer_row0(r, y - r->wrap) + (int32_t)first,
                                    .to = line_buffer_row0(r, y) + (int32_t)first,
                                    .n = halo,
                                    .n_bytes = s->row_bytes,
                                    .pitch = r->pitch};
    lower_copy_rows(l, p->op->row, &rows, lower_note(l, "rows %u-%u again", y - halo, y - 1));
}

static void one_tile(struct cascade_walk *w, const struct cascade_tile *t)
{
    struct cascade *c = w->context;
    const struct op_plan *p = &w->plan[t->stage];

    if (t->wraps)
        copy_halo(c->l, p, t->y);
    c->l->made[p->geo.out->id] = t->y + t->rows;
    if (c->nest[t->stage])
        lower_array_tile(c->nest[t->stage], t->tile, t->y, t->rows);
    else
        lower_vector_tile(c->l, p, t->tile, t->y, t->rows);
}

enum status lower_cascade(struct lower *l, const struct op_plan *plan, uint32_t n)
{
    struct cascade c = {l, ARENA_ARRAY(l->arena, struct nest *, n)};
    struct cascade_walk walk = {.plan = plan,
                                .n = n,
                                .line_buffer = l->layout->line_buffer,
                                .context = &c,
                                .visit = one_tile};
    uint32_t words = 0, entries = 0;

    l->in_cascade = true;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t w, e;
        layout_cascade_needs(l->arena, &plan[i].geo, l->hw, &l->program->knobs[plan[i].position],
                             &w, &e);
        words += w;
        entries += e;
    }
    lower_reserve(&l->words, words);
    lower_reserve(&l->entries, entries);
    for (uint32_t i = 0; i < n; i++)
        if (geo_on_array(&plan[i].geo))
            c.nest[i] = lower_array_begin(l, &plan[i]);
        else
            lower_vector_begin(l, &plan[i]);
    cascade_walk(l->arena, &walk);
    l->in_cascade = false;
    return ST_OK;
}

/* --- by channels --- */

static enum status one_by_one(struct lower *l, const struct op_plan *plan, uint32_t n)
{
    TRY(lower_array(l, plan));
    for (uint32_t i = 1; i < n; i++)
        TRY(lower_vector(l, &plan[i]));
    return ST_OK;
}

enum status lower_slices(struct lower *l, const struct op_plan *plan, uint32_t n)
{
    if (!layout_slices_whole(plan, n))
        return one_by_one(l, plan, n);
    struct nest *nest = lower_array_begin(l, plan);
    for (uint32_t i = 1; i < n; i++)
        lower_vector_begin(l, &plan[i]);
    for (struct lower_slice s = {0}; lower_array_slice(nest, &s);)
        for (uint32_t i = 1; i < n; i++)
            lower_vector_slice(l, &plan[i], &s);
    return ST_OK;
}
