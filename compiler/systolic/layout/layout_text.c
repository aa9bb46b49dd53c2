/* layout_text.c - a layout as text: tensors on chip, tiles, line buffers. */
#include "layout.h"

static void print_stream(const struct plan_stream *s, const char *what, uint32_t n_buffer,
                         struct text *t)
{
    if (!s->streamed)
        return;
    text_printf(t, "    %s: %u rows, pitch %u, at %u", what, s->rows, s->pitch, s->buf[0]);
    if (n_buffer > 1)
        text_printf(t, " and %u", s->buf[1]);
    text_printf(t, "%s\n", s->skip > 1 ? ", only rows that are read" : "");
}

static void print_strips(const struct op_plan *plan, struct text *t)
{
    const struct strip_cut *cut = &plan->cut;

    if (plan->n_strip > 1)
        text_printf(t, "    %u strips of up to %u rows, %u columns, %u channels\n", plan->n_strip,
                    cut->rows, cut->cols, cut->channels);
    if (geo_on_array(&plan->geo) && geo_k_cut(&plan->largest) < plan->geo.c)
        text_printf(t, "    of %u input channels at a time\n", geo_k_cut(&plan->largest));
}

static void print_plan(const struct sched_program *p, const struct op_plan *plan, struct text *t)
{
    const struct ir_tensor *out = plan->geo.out;
    const struct plan_line_buffer *r = &p->layout->line_buffer[out->id];

    text_printf(t, "%s: %u tile%s of %u row%s", p->graph->row[plan->op->row].name, plan->n_tiles,
                plan->n_tiles == 1 ? "" : "s", plan->tile_rows, plan->tile_rows == 1 ? "" : "s");
    if (plan->prologue)
        text_printf(t, ", first and last %u", plan->prologue);
    text_add(t, plan->cascaded       ? ", cascaded with the next\n"
                : plan->channel_wise ? ", fused by channels with the next\n"
                : plan->strip_wise   ? ", each strip taken on by the next\n"
                                     : "\n");
    print_strips(plan, t);
    print_stream(&plan->in[0], "input tiles", layout_buffers(plan, 0), t);
    print_stream(&plan->in[1], "second input tiles", layout_buffers(plan, 1), t);
    print_stream(&plan->out, "output tiles", layout_buffers(plan, GEO_RESULT), t);
    if (r->wrap)
        text_printf(t,
                    "    line buffer of tensor %u: %u rows after a halo of %u, pitch %u, at %u\n",
                    out->id, r->wrap, r->halo, r->pitch, r->base);
}

void layout_print(const struct sched_program *p, struct text *t)
{
    text_printf(t, "scratchpad of %s: %u of %u bytes\n", p->hw->name, p->spad_peak,
                p->hw->scratchpad_bytes);
    for (uint32_t i = 0; i < p->graph->n_tensor; i++) {
        const struct sched_place *s = &p->place[i];
        if (!s->on_chip)
            continue;
        text_printf(t, "tensor %u: %u rows of %u bytes, pitch %u, at %u, operators %u to %u%s", i,
                    s->h, s->row_bytes, s->pitch, s->base, s->first, s->last,
                    s->inside ? ", inside its input" : "");
        if (p->view[i].root != i)
            text_printf(t, ", in the image of tensor %u", p->view[i].root);
        if (s->pixel * s->cols != s->row_bytes && s->cols > 1)
            text_printf(t, ", pixels %u apart", s->pixel);
        text_add(t, "\n");
    }
    for (uint32_t i = 0; i < p->layout->n_plan; i++)
        print_plan(p, &p->layout->plan[i], t);
}

void layout_print_row(const struct sched_program *p, uint32_t row, struct text *t)
{
    for (uint32_t i = 0; i < p->layout->n_plan; i++)
        if (p->layout->plan[i].op->row == row)
            print_plan(p, &p->layout->plan[i], t);
}
