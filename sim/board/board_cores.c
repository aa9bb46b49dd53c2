/* board_cores.c - see board_cores.h. A core that has been written to runs while its interrupt is
 * low. It is advanced to the processor's time when the processor accesses a register or sleeps. */
#include "board_cores.h"

#include "board_clock.h"

uint32_t board_core_memory(const uint32_t *n_bytes, uint32_t i)
{
    uint64_t at = BOARD_CORE_MEMORY;

    for (uint32_t k = 0; k < i; k++) {
        at += (n_bytes[k] + BOARD_CORE_ALIGN - 1) / BOARD_CORE_ALIGN * BOARD_CORE_ALIGN;
        if (at > BOARD_RAM)
            return 0;
    }
    return (uint32_t)at;
}

static bool cores_line(const struct board *b)
{
    for (uint32_t i = 0; i < b->n_core; i++)
        if (!b->core_of[i].runs && b->core_of[i].api->run(b->core_of[i].sim, 0) == HD_SIM_IRQ)
            return true;
    return false;
}

void board_line(struct board *b)
{
    iss_irq(b->cpu, ISS_IRQ_EXTERNAL, b->line || cores_line(b));
}

/* Stop a core whose interrupt is high; its activity since its start counts as its cycles. */
static void rest(struct board_core *c)
{
    struct board *const b = c->board;
    struct hd_sim_totals now = {0};

    c->runs = false;
    b->result->cycles += c->synced - c->begun;
    c->api->totals(c->sim, &now);
    if (b->row < b->setup->n_row)
        b->watch->core_rested(b->watch->ctx, b->row, (uint32_t)(c - b->core_of),
                              c->synced - c->begun, &now);
    c->begun = c->synced;
    board_line(c->board);
}

/* Advance a running core by at most `cycles`; true: its interrupt is high. */
static bool advance(struct board_core *c, uint64_t cycles)
{
    const uint64_t before = board_cycles(c->api, c->sim);
    const enum hd_sim_stop stop = c->api->run(c->sim, cycles);

    c->synced += board_cycles(c->api, c->sim) - before;
    if (stop == HD_SIM_FAILED)
        c->board->stuck = c->api->stuck_text(c->sim);
    if (stop == HD_SIM_IRQ)
        rest(c);
    return stop == HD_SIM_IRQ;
}

void board_follow_cores(struct board *b)
{
    const uint64_t now = board_device_cycle(b, b->cpu->cycles);

    for (uint32_t i = 0; i < b->n_core; i++) {
        struct board_core *const c = &b->core_of[i];

        if (c->runs && now > c->synced && !b->stuck)
            (void)advance(c, now - c->synced);
        c->synced = now;
    }
}

bool board_cores_run(const struct board *b)
{
    for (uint32_t i = 0; i < b->n_core; i++)
        if (b->core_of[i].runs)
            return true;
    return false;
}

/* Run all cores. Several run cycle by cycle, so that all stop with the first one. */
bool board_run_cores(struct board *b, uint64_t cycles)
{
    const uint64_t from = b->cpu->cycles;
    uint32_t n = 0;
    bool ended = false;

    for (uint32_t i = 0; i < b->n_core; i++)
        n += b->core_of[i].runs;
    for (uint64_t step = n > 1 ? 1 : cycles;
         !ended && !b->stuck && b->cpu->cycles - from < cycles;) {
        uint64_t now = 0;

        for (uint32_t i = 0; i < b->n_core; i++)
            if (b->core_of[i].runs) {
                ended = advance(&b->core_of[i], step) || ended;
                now = b->core_of[i].synced;
            }
        board_wait_until(b, now);
    }
    return ended;
}

void board_close_cores(struct board *b)
{
    for (uint32_t i = 0; i < b->n_core; i++) {
        struct hd_sim_totals t = {0};

        b->core_of[i].api->totals(b->core_of[i].sim, &t);
        b->result->read_bytes += t.read_bytes;
        b->result->write_bytes += t.write_bytes;
        b->core_of[i].api->close(b->core_of[i].sim);
    }
}
