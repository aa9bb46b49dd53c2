/* geo_start.c - copies whose position in memory is known at run time only: UPDATE_VARIABLE, and
 * GATHER of one row of a constant. The part is an on-chip tensor with that image; the whole tensor
 * is in memory only. in: the operator. out: x, out, start; the pitches of the part in memory. */
#include "geometry.h"

/* Return the elements of `t` between successive indices of dimension k. */
static uint32_t stride(const struct ir_tensor *t, uint32_t k)
{
    uint32_t n = 1;

    for (uint32_t i = k + 1; i < t->rank; i++)
        n *= (uint32_t)t->dim[i];
    return n;
}

/* Return the elements of `whole` between rows of the image of `part`; 0 if the distance varies. */
static uint32_t row_pitch(const struct ir_tensor *whole, const struct ir_tensor *part)
{
    uint32_t rows = 1, pitch = 0;

    for (uint32_t k = part->rank - (part->rank < 4 ? 1 : 2); k-- > 0;) {
        if (part->dim[k] == 1)
            continue;
        if (rows > 1 && stride(whole, k) != pitch * rows)
            return 0;
        pitch = rows > 1 ? pitch : stride(whole, k);
        rows *= (uint32_t)part->dim[k];
    }
    return rows > 1 ? pitch : (uint32_t)ir_elements(part);
}

bool geo_update(const struct ir_graph *graph, struct geo *g)
{
    g->out = ir_in(graph, g->op, 0);
    g->x = ir_in(graph, g->op, 1);
    g->start = ir_in(graph, g->op, 2);
    g->start_box = GEO_RESULT;
    return g->x && g->start && row_pitch(g->out, g->x) > 0;
}

bool geo_pick(const struct ir_graph *graph, struct geo *g)
{
    g->start = ir_in(graph, g->op, 1);
    g->start_box = 0;
    g->kind = GEO_POOL;
    return sched_window_op(graph, g->op) != NULL;
}

void geo_start_place(const struct ir_graph *graph, const struct geo *g, struct sched_place *s)
{
    const struct ir_tensor *whole = g->out, *part = g->x;

    s->window = sched_window(graph, g->op);
    s->whole = s->mem_offset;
    if (g->start_box == 0)
        whole = part = g->out; /* the bytes of a row are contiguous */
    s->mem_pitch = row_pitch(whole, part);
    s->mem_pixel = part->rank < 4 ? (uint32_t)ir_dim_back(part, 0) : stride(whole, whole->rank - 2);
}
