/* knobs.c - the knobs by name, and the version of the schedule that knows what they mean. */
#include <stddef.h>

#include "hd_schedule_version.h"
#include "sched.h"

static const struct {
    const char *name;
    size_t offset;
    uint32_t most;
} table[SCHED_KNOBS] = {
    {"tile_rows", offsetof(struct sched_knobs, tile_rows), 1u << 20},
    {"group_tiles", offsetof(struct sched_knobs, group_tiles), 1u << 20},
    {"streams", offsetof(struct sched_knobs, streams), 2},
    {"tail_split", offsetof(struct sched_knobs, tail_split), 1},
    {"params", offsetof(struct sched_knobs, params), 1},
    {"prologue", offsetof(struct sched_knobs, prologue), 1u << 20},
    {"chain", offsetof(struct sched_knobs, cascade), 1},
};
_Static_assert(sizeof(struct sched_knobs) == SCHED_KNOBS * sizeof(uint32_t), "a knob has no name");

const char *sched_knob_name(uint32_t i)
{
    return table[i].name;
}

uint32_t sched_knob_most(uint32_t i)
{
    return table[i].most;
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
