/* layout_check.c - independent check of a scratchpad layout; shares only the result with layout.c.
 * Every buffer is within the scratchpad, and no two share a byte at one operator. In an image
 * shared by tensors no two operators write the same byte. Line buffers hold the rows that are read
 * from them. */
#include "cascade_walk.h"

struct buffer {
    const char *what;
    uint32_t id;          /* tensor id or operator position */
    uint32_t first, last; /* operator positions */
    uint64_t begin, end;
};

struct buffers {
    struct buffer *b;
    uint32_t n;
};

static void add(struct buffers *s, const char *what, uint32_t id, struct sched_span span,
                uint32_t base, uint64_t n_bytes)
{
    s->b[s->n++] = (struct buffer){what, id, span.first, span.last, base, base + n_bytes};
}

static void add_streams(struct buffers *s, const struct sched_program *p,
                        const struct op_plan *plan)
{
    const struct plan_stream *stream[3] = {&plan->in[0], &plan->in[1], &plan->out};
    const struct sched_span span = p->span[plan->position];

    if (plan->work_bytes)
        add(s, "work buffer of operator", plan->position, span, plan->work, plan->work_bytes);
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t k = 0; k < layout_buffers(plan, i); k++)
            add(s, "tile buffer of operator", plan->position, span, stream[i]->buf[k],
                (uint64_t)stream[i]->rows * stream[i]->pitch);
}

static uint32_t root_base(const struct sched_program *p, uint32_t root)
{
    return p->place[root].base - sched_view_offset(p, root, p->place[root].pitch);
}

static struct buffers buffers_of(const struct sched_program *p)
{
    const struct layout *l = p->layout;
    struct buffers s = {
        ARENA_ARRAY(p->arena, struct buffer, p->graph->n_tensor + l->n_plan * 8u + 1), 0};

    for (uint32_t t = 0; t < p->graph->n_tensor; t++) {
        const struct sched_place *at = &p->place[t];
        if (at->on_chip && !at->inside && p->view[t].root == t)
            add(&s, "tensor", t, (struct sched_span){at->first, at->last}, root_base(p, t),
                at->mem_bytes / sched_value_bytes(at) / at->mem_pitch * (uint64_t)at->pitch);
    }
    for (uint32_t i = 0; i < l->n_plan; i++) {
        const struct op_plan *plan = &l->plan[i];
        const struct plan_line_buffer *r = &l->line_buffer[plan->geo.out->id];
        add_streams(&s, p, plan);
        if (r->wrap)
            add(&s, "line buffer of tensor", plan->geo.out->id, p->span[plan->position], r->base,
                (uint64_t)(r->wrap + r->halo) * r->pitch);
    }
    return s;
}

static bool overlap(const struct buffer *a, const struct buffer *b)
{
    return a->first <= b->last && b->first <= a->last && a->begin < b->end && b->begin < a->end;
}

/* Begin and end of a written tensor in its root's image along one direction. */
struct extent {
    uint32_t first, end;
};

static void extents(const struct sched_program *p, uint32_t t, struct extent e[3])
{
    const struct sched_view *v = &p->view[t];
    const uint32_t at[3] = {(uint32_t)v->y, (uint32_t)v->x, (uint32_t)v->c};
    uint32_t n[3];

    geo_image(p->graph->tensor[t], &n[v->swapped], &n[!v->swapped], &n[2]);
    for (uint32_t k = 0; k < 3; k++)
        e[k] = (struct extent){at[k], at[k] + n[k]};
}

/* Check that an operator's result is within its root's image and that no byte is written twice. */
static enum status check_written(const struct sched_program *p, uint32_t i, struct diag *d)
{
    const struct op_plan *plan = p->layout->plan;
    const uint32_t t = plan[i].geo.out->id;
    const struct sched_view *root = &p->view[p->view[t].root];
    const uint32_t most[3] = {root->h, root->w, root->n};
    struct extent a[3], b[3];

    extents(p, t, a);
    for (uint32_t k = 0; k < 3; k++)
        if (a[k].end > most[k])
            return FAIL(d, ST_INTERNAL, "layout: tensor %u exceeds the image of tensor %u", t,
                        root->root);
    for (uint32_t n = 0; n < i; n++) {
        const uint32_t u = plan[n].geo.out->id;
        if (p->view[u].root != root->root || p->graph->tensor[u]->role == IR_VARIABLE)
            continue;
        extents(p, u, b);
        if (a[0].first < b[0].end && b[0].first < a[0].end && a[1].first < b[1].end &&
            b[1].first < a[1].end && a[2].first < b[2].end && b[2].first < a[2].end)
            return FAIL(d, ST_INTERNAL, "layout: tensors %u and %u are written to the same bytes",
                        u, t);
    }
    return ST_OK;
}

/* A row that is not in a line buffer when it is read. */
struct missing {
    bool any;
    uint32_t tensor, row;
};

static void check_tile(struct cascade_walk *c, const struct cascade_tile *t)
{
    struct missing *m = c->context;
    struct cascade_read r;

    for (uint32_t i = 0; i < c->plan[t->stage].n_in && !m->any; i++) {
        if (!cascade_read(c, t, i, &r))
            continue;
        if (r.hi > r.made)
            *m = (struct missing){true, r.tensor, r.hi - 1};
        else if (line_buffer_read(r.buffer, r.lo, r.hi, r.made) == UINT32_MAX)
            *m = (struct missing){true, r.tensor, r.lo};
    }
}

static enum status check_cascades(const struct sched_program *p, struct diag *d)
{
    const struct layout *l = p->layout;

    for (uint32_t i = 0, n; i < l->n_plan; i += n) {
        struct missing m = {0};
        n = cascade_length(&l->plan[i]);
        struct cascade_walk c = {.plan = &l->plan[i],
                                 .n = n,
                                 .line_buffer = l->line_buffer,
                                 .context = &m,
                                 .visit = check_tile};
        if (n > 1)
            cascade_walk(p->arena, &c);
        if (m.any)
            return FAIL(d, ST_INTERNAL, "layout: the line buffer of tensor %u has lost row %u",
                        m.tensor, m.row);
    }
    return ST_OK;
}

enum status layout_check(const struct sched_program *p, struct diag *d)
{
    const struct buffers s = buffers_of(p);

    for (uint32_t i = 0; i < p->layout->n_plan; i++)
        TRY(check_written(p, i, d));
    TRY(check_cascades(p, d));
    for (uint32_t i = 0; i < s.n; i++) {
        const struct buffer *a = &s.b[i];
        if (a->end > p->hw->scratchpad_bytes)
            return FAIL(d, ST_INTERNAL, "layout: %s %u [%llu, %llu) exceeds the scratchpad of %u",
                        a->what, a->id, (unsigned long long)a->begin, (unsigned long long)a->end,
                        p->hw->scratchpad_bytes);
        for (uint32_t k = i + 1; k < s.n; k++)
            if (overlap(a, &s.b[k]))
                return FAIL(d, ST_INTERNAL,
                            "layout: %s %u [%llu, %llu) and %s %u [%llu, %llu) share bytes",
                            a->what, a->id, (unsigned long long)a->begin,
                            (unsigned long long)a->end, s.b[k].what, s.b[k].id,
                            (unsigned long long)s.b[k].begin, (unsigned long long)s.b[k].end);
    }
    return ST_OK;
}
