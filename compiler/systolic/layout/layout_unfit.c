/* layout_unfit.c - report the operator that does not fit in a layout, and why; the partition moves
 * it to another target. */
#include "layout_work.h"

static enum status unfit(struct layout_work *w, const struct op_plan *p, const char *why,
                         struct diag *d)
{
    w->layout->unfit = p->op;
    w->layout->unfit_why = why;
    return FAIL(d, ST_NO_SPACE,
                "operator %s does not fit: %s; use a configuration with a larger scratchpad, or "
                "--target=c",
                w->graph->row[p->op->row].name, why);
}

enum status layout_no_space(struct layout_work *w, struct op_plan *p, struct diag *d)
{
    const char *why = arena_printf(
        w->arena, "its tensors need %u bytes of scratchpad at one row a tile: %s has %u",
        w->resident[p->position] + layout_tile_bytes(w, p, 1), w->hw->name,
        w->hw->scratchpad_bytes);

    return unfit(w, p, why, d);
}

enum status layout_fragmented(struct layout_work *w, struct diag *d)
{
    const struct op_plan *most = &w->layout->plan[0];
    const char *why;

    for (uint32_t i = 1; i < w->layout->n_plan; i++)
        if (w->budget[w->layout->plan[i].position] < w->budget[most->position])
            most = &w->layout->plan[i];
    why = arena_printf(w->arena, "the scratchpad of %s (%u bytes) is too fragmented", w->hw->name,
                       w->hw->scratchpad_bytes);
    return unfit(w, most, why, d);
}
