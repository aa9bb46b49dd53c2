/* board_cores.c - see board_parts.h. Cores of other targets on the board. A core that has been written to runs
 * while its interrupt is low; it is brought to the processor's time when the processor accesses a register or sleeps. */
#include "board_parts.h"

uint32_t board_core_memory(const struct core_targets *cores, uint32_t i)
{
    uint64_t at = BOARD_CORE_MEMORY;

    for (uint32_t k = 0; k < i; k++) {
        at += (cores->core[k].memory_bytes + BOARD_CORE_ALIGN - 1) / BOARD_CORE_ALIGN *
              BOARD_CORE_ALIGN;
        if (at > BOARD_RAM)
            return 0;
    }
    return (uint32_t)at;
}

/* Its interrupt is high: what it did since it was started counts as its cycles. */
static void rest(struct board_core *c)
{
    c->runs = false;
    c->board->shared->cycles += c->synced - c->begun;
    c->begun = c->synced;
    board_line(c->board);
}

/* Advance a core that runs by at most `cycles`; true: its interrupt is high. */
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

bool board_cores_line(const struct board *b)
{
    for (uint32_t i = 0; i < b->n_core; i++)
        if (!b->core_of[i].runs && b->core_of[i].api->run(b->core_of[i].sim, 0) == HD_SIM_IRQ)
            return true;
    return false;
}

/* Run all cores; several run cycle by cycle, so that all stop where the first of them does. */
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

/* The processor waits as long as the core's clock takes for the access. */
static void accessed(struct board_core *c, uint64_t before)
{
    struct board *const b = c->board;

    c->synced += board_cycles(c->api, c->sim) - before;
    board_wait_until(b, c->synced);
    c->runs = c->begun != 0 && c->api->run(c->sim, 0) != HD_SIM_IRQ;
    board_line(b);
    b->cpu->yield = true;
}

static bool read_register(void *ctx, uint32_t offset, uint32_t n_bytes, uint32_t *value)
{
    struct board_core *const c = ctx;
    uint64_t before;

    board_follow(c->board);
    before = board_cycles(c->api, c->sim);
    *value = c->api->read32(c->sim, offset);
    accessed(c, before);
    return n_bytes == 4;
}

static bool write_register(void *ctx, uint32_t offset, uint32_t n_bytes, uint32_t value)
{
    struct board_core *const c = ctx;
    uint64_t before;

    if (n_bytes != 4)
        return false;
    board_follow(c->board);
    before = board_cycles(c->api, c->sim);
    c->begun = c->synced;
    c->api->write32(c->sim, offset, value);
    accessed(c, before);
    return true;
}

static enum status open_core(struct board *b, uint32_t i)
{
    struct core_targets *const all = b->job->cores;
    const struct options *o = b->job->options;
    const struct core *of = &all->core[i];
    struct board_core *const c = &b->core_of[i];
    uint8_t *const memory = arena_alloc(b->arena, of->memory_bytes);
    struct hd_sim_options s = {.memory = memory,
                               .memory_bytes = of->memory_bytes,
                               .latency = o->mem_latency,
                               .bytes_per_cycle = o->mem_bytes,
                               .stall_seed = o->stall_seed};
    char error[512] = "";

    *c = (struct board_core){.board = b};
    TRY(sim_load(of->so.path, of->so.source_hash, 0, &c->api, b->d));
    c->sim = c->api->open(&s, error, sizeof error);
    if (!c->sim)
        return FAIL(b->d, ST_INTERNAL, "cannot open the core of %s: %s", of->name, error);
    c->registers = (struct iss_device){read_register, write_register, c};
    iss_device(b->cpu, BOARD_CORE_REGISTERS(i), BOARD_CORE_REGISTERS_BYTES, &c->registers);
    iss_memory(b->cpu, board_core_memory(all, i), of->memory_bytes, memory, board_bus_wait(b));
    b->n_core++;
    return ST_OK;
}

enum status board_open_cores(struct board *b)
{
    for (uint32_t i = 0; b->job->cores && i < b->job->cores->n; i++)
        TRY(open_core(b, i));
    return ST_OK;
}

void board_close_cores(struct board *b)
{
    for (uint32_t i = 0; i < b->n_core; i++) {
        struct hd_sim_totals t = {0};

        b->core_of[i].api->totals(b->core_of[i].sim, &t);
        b->shared->read_bytes += t.read_bytes;
        b->shared->write_bytes += t.write_bytes;
        b->core_of[i].api->close(b->core_of[i].sim);
    }
}
