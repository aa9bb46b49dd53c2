/* board_clock.c - see board_clock.h. */
#include "board_clock.h"

uint64_t board_scaled(const uint32_t clock[2], uint64_t cycle)
{
    return cycle * clock[1] / clock[0];
}

uint64_t board_device_cycle(const struct board *b, uint64_t cycle)
{
    return board_scaled(b->setup->clock, cycle);
}

void board_wait_until(struct board *b, uint64_t device_cycle)
{
    const uint32_t *const ratio = b->setup->clock;
    const uint64_t cycle = (device_cycle * ratio[0] + ratio[1] - 1) / ratio[1];

    if (cycle > b->cpu->cycles)
        b->cpu->cycles = cycle;
}

uint32_t board_bus_wait(const struct board *b)
{
    const struct board_setup *const s = b->setup;
    const uint64_t device = s->bus ? s->bus : s->memory_latency,
                   cycles = (device * s->clock[0] + s->clock[1] - 1) / s->clock[1];

    return cycles > s->ram ? (uint32_t)(cycles - s->ram) : 0;
}

uint64_t board_cycles(const struct hd_sim_api *api, struct hd_sim *sim)
{
    struct hd_sim_totals t = {0};

    api->totals(sim, &t);
    return t.time;
}
