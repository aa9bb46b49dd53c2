/* knob_choices.c - alternative values of an operator's knobs. */
#include <string.h>

#include "compiler/systolic/layout/geometry.h"
#include "sched.h"

static void add(struct sched_knobs choice[], uint32_t *n, const struct sched_knobs *now,
                struct sched_knobs c)
{
    bool known = memcmp(&c, now, sizeof c) == 0;

    for (uint32_t i = 0; i < *n; i++)
        known = known || memcmp(&c, &choice[i], sizeof c) == 0;
    if (!known && *n < SCHED_MAX_CHOICES)
        choice[(*n)++] = c;
}

bool sched_has_knobs(const struct sched_program *p, uint32_t op, struct geo *g)
{
    const struct ir_op *o = p->graph->op[op];

    return sched_owns(p, o) && !sched_is_view(p, o) && geo_device(p->graph, o, g);
}

uint32_t sched_choices(const struct sched_program *p, uint32_t op, const struct sched_knobs *now,
                       struct sched_knobs choice[SCHED_MAX_CHOICES])
{
    struct geo g;
    uint32_t n = 0;

    if (!sched_has_knobs(p, op, &g))
        return 0;
    struct sched_knobs c = *now;
    if (geo_on_array(&g)) {
        uint32_t tiles = div_up(geo_streams(&g, p->hw, now->streams) * g.oc, p->hw->n);
        for (c.group_tiles = 1; c.group_tiles < tiles && c.group_tiles <= 16; c.group_tiles *= 2)
            add(choice, &n, now, c);
        c.group_tiles = 0;
        add(choice, &n, now, c);
        c = *now;
        c.tail_split = !now->tail_split;
        add(choice, &n, now, c);
        c = *now;
        c.params = !now->params;
        add(choice, &n, now, c);
        c = *now;
        for (c.streams = 1;
             c.streams <= 2 && geo_streams(&g, p->hw, 1) != geo_streams(&g, p->hw, 2); c.streams++)
            add(choice, &n, now, c);
        c = *now;
    }
    uint32_t least = div_up(p->hw->n, g.ow); /* at least as many pixels as a K tile has lanes */
    for (c.prologue = least; geo_on_array(&g) && c.prologue * 4 <= g.oh && c.prologue <= 4 * least;
         c.prologue *= 2)
        add(choice, &n, now, c);
    c.prologue = 0;
    add(choice, &n, now, c);
    c = *now;
    for (c.cascade = 0; c.cascade <= KNOB_CASCADE_AHEAD; c.cascade++)
        add(choice, &n, now, c);
    c = *now;
    for (c.tile_rows = g.oh; c.tile_rows > 1 && c.tile_rows * 32 > g.oh;
         c.tile_rows = div_up(c.tile_rows, 2))
        add(choice, &n, now, c);
    c.tile_rows = 0;
    add(choice, &n, now, c);
    return n;
}
