/* knobs.c - the names of the knobs, and the version of the schedule that defines them. */
#include <stddef.h>

#include "compiler/systolic/layout/geometry.h"
#include "hd_schedule_version.h"
#include "sched.h"

static const struct {
    const char *name;
    size_t offset;
} table[SCHED_KNOBS] = {
    {"tile_rows", offsetof(struct sched_knobs, tile_rows)},
    {"group_tiles", offsetof(struct sched_knobs, group_tiles)},
    {"streams", offsetof(struct sched_knobs, streams)},
    {"tail_split", offsetof(struct sched_knobs, tail_split)},
    {"params", offsetof(struct sched_knobs, params)},
    {"prologue", offsetof(struct sched_knobs, prologue)},
    {"cascade", offsetof(struct sched_knobs, cascade)},
    {"band", offsetof(struct sched_knobs, band)},
    {"weight_group", offsetof(struct sched_knobs, weight_group)},
    {"to_host", offsetof(struct sched_knobs, to_host)},
};
_Static_assert(sizeof(struct sched_knobs) == SCHED_KNOBS * sizeof(uint32_t), "a knob has no name");

const char *sched_knob_name(uint32_t i)
{
    return table[i].name;
}

struct sched_knobs sched_knobs_most(const struct ir_graph *graph, const struct ir_op *op)
{
    struct geo g;

    if (op->dead || op->region == IR_NONE || !geo_device(graph, op, &g))
        return (struct sched_knobs){0};
    if (!geo_on_array(&g))
        return (struct sched_knobs){.tile_rows = g.oh, .cascade = KNOB_CASCADE_AHEAD};
    return (struct sched_knobs){.tile_rows = g.oh,
                                .group_tiles = g.oc,
                                .streams = 2,
                                .tail_split = 1,
                                .params = 1,
                                .prologue = g.oh,
                                .cascade = KNOB_CASCADE_AHEAD};
}

uint32_t *sched_knob(struct sched_knobs *k, uint32_t i)
{
    return (uint32_t *)(void *)((char *)k + table[i].offset);
}

void sched_print_knobs(const struct sched_knobs *k, struct text *t)
{
    struct sched_knobs copy = *k;
    bool any = false;

    for (uint32_t i = 0; i < SCHED_KNOBS; i++) {
        uint32_t value = *sched_knob(&copy, i);
        if (value)
            text_printf(t, "%s%s=%u", any ? " " : "", table[i].name, value);
        any = any || value;
    }
}

const char *sched_version(void)
{
    return HD_SCHEDULE_VERSION;
}
