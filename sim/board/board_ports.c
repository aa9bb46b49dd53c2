/* board_ports.c - see board_ports.h. */
#include "board_ports.h"

#include "board_clock.h"
#include "board_cores.h"
#include "board_time.h"
#include "sim/load.h"

/* Let the processor wait for the core cycles that the access takes. */
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

/* Execute an instruction on a unit, whose clock is the processor's. */
static bool execute(void *ctx, uint32_t word, uint32_t rs1, uint32_t rs2, struct iss_answer *answer)
{
    struct board_core *const c = ctx;
    const uint64_t now = c->board->cpu->cycles;
    uint64_t before, took;
    int rc;

    if (now > c->synced)
        (void)c->api->run(c->sim, now - c->synced);
    before = board_cycles(c->api, c->sim);
    rc = c->api->instruction(c->sim, word, rs1, rs2, &answer->value);
    took = board_cycles(c->api, c->sim) - before;
    c->synced = now + took;
    if (rc < 0) {
        c->board->stuck = c->api->stuck_text(c->sim);
        return false;
    }
    answer->writes = rc == 1;
    answer->wait = (uint32_t)(took - 1);
    return true;
}

/* Attach the core to the processor if it is a unit of custom instructions. */
static enum status attach(struct board_core *c, const char *name)
{
    struct board *const b = c->board;

    if (!c->api->instruction)
        return ST_OK;
    if (b->cpu->unit)
        return FAIL(b->d, ST_UNSUPPORTED,
                    "target %s: a second unit of custom instructions; the processor has room for "
                    "one, leave one of them out of --target",
                    name);
    c->unit = (struct iss_unit){execute, c};
    b->cpu->unit = &c->unit;
    return ST_OK;
}

static enum status open_core(struct board *b, uint32_t i)
{
    const struct board_setup *const o = b->setup;
    const struct board_device *of = &o->core[i];
    struct board_core *const c = &b->core_of[i];
    uint8_t *const memory = arena_alloc(b->arena, of->memory_bytes);
    struct hd_sim_options s = {.memory = memory,
                               .memory_bytes = of->memory_bytes,
                               .latency = o->memory_latency,
                               .bytes_per_cycle = o->memory_bytes,
                               .stall_seed = o->stall_seed,
                               .clock = {of->clock[0], of->clock[1]},
                               .watchdog_cycles = UINT64_MAX /* it rests while the program runs */};
    char error[512] = "";
    uint32_t n_bytes[BOARD_CORES];

    for (uint32_t k = 0; k <= i; k++)
        n_bytes[k] = o->core[k].memory_bytes;
    *c = (struct board_core){.board = b};
    TRY(sim_load(of->model->path, of->model->source_hash, 0, &c->api, b->d));
    c->sim = c->api->open(&s, error, sizeof error);
    if (!c->sim)
        return FAIL(b->d, ST_INTERNAL, "cannot open the core of %s: %s", of->name, error);
    c->registers = (struct iss_device){read_register, write_register, c};
    iss_device(b->cpu, BOARD_CORE_REGISTERS(i), BOARD_CORE_REGISTERS_BYTES, &c->registers);
    iss_memory(b->cpu, board_core_memory(n_bytes, i), of->memory_bytes, memory, board_bus_wait(b));
    b->n_core++;
    return attach(c, of->name);
}

enum status board_open_cores(struct board *b)
{
    for (uint32_t i = 0; i < b->setup->n_core; i++)
        TRY(open_core(b, i));
    return ST_OK;
}
