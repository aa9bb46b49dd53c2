/* channel_fusion.c - operators interleaved by channels: a pool over the whole image reads all rows,
 * but of one channel tile only what the same tile of its input is. So ARRAY makes a group of
 * channels, VECTOR takes the same ones on (a sum, a table, the pool) while ARRAY makes the next.
 * The result of a pool takes the place of the first pixel that it reads: of each channel tile that
 * is read by then, so that no more bytes are held than by one operator after the other. */
#include "lower.h"

static bool takes_slices(const struct geo *g, const struct geo *before)
{
    if (g->x != before->out && g->y2 != before->out)
        return false;
    if (g->kind == GEO_ELEMENTWISE)
        return g->x != g->y2 && ir_elements(g->x) == ir_elements(g->out) &&
               ir_elements(g->y2) == ir_elements(g->out);
    return g->kind == GEO_LUT || (g->kind == GEO_POOL && !g->turned);
}

uint32_t slices_length(const struct sched_program *p, const struct op_plan *plan, uint32_t n)
{
    const struct geo *g = &plan[0].geo;

    if (g->kind != GEO_CONV && g->kind != GEO_DEPTHWISE)
        return 1;
    if (geo_parts(g, p->hw) || g->oc <= p->hw->n)
        return 1;
    for (uint32_t i = 1; i < n; i++) {
        const struct geo *next = &plan[i].geo;
        if (!p->knobs[plan[i - 1].position].chain || plan[i].op->region != plan[0].op->region ||
            !takes_slices(next, &plan[i - 1].geo))
            return 1;
        if (next->kind == GEO_POOL)
            return next->oh == 1 && next->ow == 1 ? i + 1 : 1;
    }
    return 1;
}

bool slices_whole(const struct op_plan *plan, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (plan[i].n_tiles > 1 || plan[i].ramp || plan[i].in[0].streamed ||
            plan[i].in[1].streamed || plan[i].out.streamed)
            return false;
    return true;
}

static enum status one_by_one(struct lower *l, const struct op_plan *plan, uint32_t n)
{
    TRY(lower_array(l, plan));
    for (uint32_t i = 1; i < n; i++)
        TRY(lower_vector(l, &plan[i]));
    return ST_OK;
}

enum status lower_slices(struct lower *l, const struct op_plan *plan, uint32_t n)
{
    if (!slices_whole(plan, n))
        return one_by_one(l, plan, n);
    struct nest *nest = lower_array_begin(l, plan);
    for (uint32_t i = 1; i < n; i++)
        lower_vector_begin(l, &plan[i]);
    for (struct lower_slice s = {0}; lower_array_slice(nest, &s);)
        for (uint32_t i = 1; i < n; i++)
            lower_vector_slice(l, &plan[i], &s);
    return ST_OK;
}
