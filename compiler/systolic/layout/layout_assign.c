/* layout_assign.c - addresses of what layout.c keeps on chip, and the tensors' places that follow. */
#include "compiler/plan/place.h"
#include "layout_work.h"

/* Add the tile buffers. Operands of one elementwise operator have two phases. */
static void add_tiles(struct layout_work *w, struct place_set *set, struct op_plan *p)
{
    uint32_t banks = w->hw->banks * w->hw->n;
    struct plan_stream *s[3] = {&p->in[0], &p->in[1], &p->out};
    struct sched_span span = w->program->span[p->position];

    if (p->work_bytes)
        place_add_phase(set, p->work_bytes, span.first, span.last, 0, 0, &p->work);
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t k = 0; k < layout_buffers(p, i); k++) {
            const struct ir_tensor *t = i < 2 ? geo_operand(&p->geo, i) : NULL;
            bool pair = t && p->geo.kind == GEO_ELEMENTWISE;
            const uint32_t root = t ? layout_root(w, t) : 0;
            place_add_phase(set, s[i]->rows * s[i]->pitch, span.first, span.last, pair ? banks : 0,
                            pair ? w->phase[root] : 0, &s[i]->buf[k]);
        }
}

/* Copy the strips' addresses to the operators that read them from their producers. */
static void pass_tiles(struct layout *l)
{
    for (uint32_t i = 1; i < l->n_plan; i++)
        if (l->plan[i].passed) {
            l->plan[i].in[0] = l->plan[i - 1].out;
            l->plan[i].in[0].skip = 1;
        }
}

static void add_line_buffer(struct layout_work *w, struct place_set *set, const struct op_plan *p)
{
    const struct ir_tensor *t = p->geo.out;
    struct plan_line_buffer *r = &w->layout->line_buffer[t->id];
    struct sched_span span = w->program->span[p->position];
    uint32_t banks = w->hw->banks * w->hw->n;

    if (r->wrap)
        place_add_phase(set, (r->wrap + r->halo) * r->pitch, span.first, span.last, banks,
                        w->phase[t->id], &r->base);
}

/* Reduce the budget of the operators at which the buffer is alive. */
static void tighten(struct layout_work *w, const struct place_buffer *b)
{
    uint32_t step = w->hw->scratchpad_bytes / LAYOUT_BUDGET_STEPS;

    for (uint32_t i = b->first; i <= b->last; i++)
        w->budget[i] -= w->budget[i] > step ? step : 0;
}

bool layout_assign(struct layout_work *w)
{
    struct place_set set;
    uint32_t banks = w->hw->banks * w->hw->n;

    place_init(&set, w->arena);
    for (uint32_t t = 0; t < w->graph->n_tensor; t++) {
        struct sched_place *s = &w->program->place[t];
        s->inside = layout_inside(w, t);
        if (s->on_chip && !s->inside &&
            layout_matters(w->program, (struct sched_span){s->first, s->last}))
            place_add_phase(&set, w->n_bytes[t], s->first, s->last, banks, w->phase[t],
                            &w->base[t]);
    }
    for (uint32_t i = 0; i < w->layout->n_plan; i++)
        if (layout_matters(w->program, w->program->span[w->layout->plan[i].position])) {
            add_tiles(w, &set, &w->layout->plan[i]);
            add_line_buffer(w, &set, &w->layout->plan[i]);
        }
    for (uint32_t i = 0; i < set.n; i++)
        set.buffer[i].lead = 1; /* so its writer need not wait for an earlier reader */
    uint64_t peak = place_solve(&set, w->hw->n, w->hw->scratchpad_bytes);
    pass_tiles(w->layout);
    w->program->spad_peak = peak > UINT32_MAX ? UINT32_MAX : (uint32_t)peak;
    for (uint32_t i = 0; i < set.n; i++)
        if (set.buffer[i].offset + set.buffer[i].n_bytes > w->hw->scratchpad_bytes)
            tighten(w, &set.buffer[i]);
    for (uint32_t t = 0; t < w->graph->n_tensor; t++)
        if (w->program->place[t].inside)
            w->base[t] = w->base[w->in_place_of[t]->id];
    return peak <= w->hw->scratchpad_bytes;
}

static uint32_t chip_pitch(struct layout_work *w, const struct ir_tensor *t)
{
    const struct plan_line_buffer *r = &w->layout->line_buffer[t->id];

    return r->wrap ? r->pitch : w->program->place[t->id].pitch;
}

/* Exchange the pitches of rows and pixels. */
static struct sched_place swapped(const struct sched_place *s)
{
    struct sched_place t = *s;

    t.pitch = s->pixel;
    t.mem_pitch = s->mem_pixel;
    t.pixel = s->pitch;
    t.mem_pixel = s->mem_pitch;
    return t;
}

/* Set the tensor's place in its root's image, in the scratchpad and as rows of memory. */
static void fill_place(struct layout_work *w, const struct ir_tensor *t)
{
    const struct sched_view *v = &w->program->view[t->id], *root = &w->program->view[v->root];
    struct sched_place *s = &w->program->place[t->id];
    uint32_t c, pitch = layout_tensor_pitch(w, v->root);

    geo_image(t, &s->h, &s->cols, &c);
    s->row_bytes = s->cols * c;
    s->pixel = v->pixel ? v->pixel : root->n * v->step_x;
    s->mem_pixel = s->pixel;
    s->pitch = v->pitch ? v->pitch : pitch * v->step_y;
    s->mem_pitch = v->pitch ? v->pitch : root->w * root->n * v->step_y;
    if (v->swapped)
        *s = swapped(s);
    s->base = w->base[v->root] + sched_view_offset(w->program, t->id, pitch);
    if (v->root == t->id && (uint64_t)v->h * v->w * v->n > ir_elements(t))
        s->mem_bytes =
            v->h * v->w * v->n * sched_value_bytes(s); /* the image also holds other tensors */
    s->on_chip = w->program->place[v->root].on_chip;
    s->first = w->program->place[v->root].first;
    s->last = w->program->place[v->root].last;
}

/* Return the pixel pitch on chip; a matrix product of a flat row has different pixels. */
static uint32_t chip_pixel(struct layout_work *w, const struct op_plan *p, uint32_t i)
{
    const struct ir_tensor *t = i == GEO_RESULT ? p->geo.out : geo_operand(&p->geo, i);
    struct sched_place s = w->program->place[t->id];

    geo_place_matrices(&p->geo, t, &s);
    return layout_pixel(&p->geo, t, s.pixel);
}

/* Record for memory_use what operators hold in addition to whole tensors. */
static void note_buffers(struct layout_work *w)
{
    w->program->buffer_bytes = ARENA_ARRAY(w->arena, uint32_t, w->graph->n_op + 1);
    for (uint32_t i = 0; i < w->layout->n_plan; i++) {
        const struct op_plan *p = &w->layout->plan[i];
        const struct plan_stream *s[3] = {&p->in[0], &p->in[1], &p->out};
        const struct plan_line_buffer *r = &w->layout->line_buffer[p->geo.out->id];
        uint32_t *n = &w->program->buffer_bytes[p->position];
        *n += p->work_bytes;
        for (uint32_t k = 0; k < 3; k++)
            *n += layout_stream_bytes(w, s[k], layout_buffers(p, k));
        if (r->wrap)
            *n += (r->wrap + r->halo) * r->pitch;
    }
}

void layout_fill_places(struct layout_work *w)
{
    for (uint32_t i = 0; i < w->graph->n_tensor; i++)
        fill_place(w, w->graph->tensor[i]);
    for (uint32_t i = 0; i < w->layout->n_plan; i++) {
        struct op_plan *p = &w->layout->plan[i];
        for (uint32_t k = 0; k < p->n_in; k++)
            if (!p->in[k].streamed) {
                p->in[k].pitch = chip_pitch(w, geo_operand(&p->geo, k));
                p->in[k].pixel = chip_pixel(w, p, k);
                p->in[k].skip = 1;
            }
        if (!p->out.streamed) {
            p->out.pitch = chip_pitch(w, p->geo.out);
            p->out.pixel = chip_pixel(w, p, GEO_RESULT);
        }
    }
    note_buffers(w);
}
