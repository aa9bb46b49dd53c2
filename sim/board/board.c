/* board.c - see board.h. */
#define _GNU_SOURCE
#include "board.h"

#include <string.h>
#include <time.h>

#include "base/file.h"
#include "board_clock.h"
#include "board_cores.h"
#include "board_files.h"
#include "board_ports.h"
#include "board_rows.h"
#include "board_source.h"
#include "board_time.h"
#include "board_waves.h"
#include "sim/load.h"

#define MAX_ELF     ((size_t)256 << 20)
#define FREE_RUN    1000000u /* cycles for which the processor runs alone at a time */
#define STACK_GUARD 1024u    /* bytes, driver/package/bare/riscv.ld */
#define APPLICATION 0x20026u /* semihosting: the program has ended normally */

/* --- set up --- */

static bool is_driver(const struct iss_symbol *s)
{
    if (strcmp(s->name, "hd_program") == 0)
        return false;
    return strncmp(s->name, "hd_", 3) == 0 || strncmp(s->file, "hd", 2) == 0 ||
           strcmp(s->file, "port_mmio.c") == 0 || strcmp(s->name, "port_interrupt") == 0;
}

/* Set the owner of each function: the driver owns the functions of its files; a kernel's name
 * begins with hdk_. */
static void name_owners(struct board *b)
{
    struct iss *const c = b->cpu;

    for (uint32_t i = 0; i < b->program.n_symbol; i++) {
        const struct iss_symbol *const s = &b->program.symbol[i];
        const uint32_t from = s->address - c->code_base, to = i + 1 < b->program.n_symbol
                                                                  ? s[1].address - c->code_base
                                                                  : c->code_bytes;
        for (uint32_t at = from; at < to && at < c->code_bytes; at += 4)
            c->owner[at / 4] = board_is_run(s)                                   ? OF_RUN
                               : is_driver(s) && strncmp(s->file, "hdk", 3) != 0 ? OF_DRIVER
                                                                                 : OF_REST;
    }
    c->left = board_left;
    c->left_ctx = b;
}

/* Load the program into RAM, which is two ranges around the guard below the stack. */
static enum status load(struct board *b)
{
    uint8_t *const ram = arena_alloc(b->arena, BOARD_RAM_BYTES), *file;
    const struct iss_symbol *guard;
    size_t n_bytes;

    iss_memory(b->cpu, BOARD_RAM, BOARD_RAM_BYTES, ram, 0);
    TRY(file_read(b->arena, b->setup->elf, MAX_ELF, &file, &n_bytes, b->d));
    TRY(iss_load(b->cpu, b->arena, b->setup->elf, file, n_bytes, &b->program, b->d));
    name_owners(b);
    TRY(board_find_rows(b));
    guard = iss_symbol_named(&b->program, "stack_guard");
    if (guard == NULL)
        return FAIL(b->d, ST_INTERNAL, "%s: found no symbol stack_guard", b->setup->elf);
    const uint32_t low = guard->address - BOARD_RAM, high = low + STACK_GUARD;
    b->cpu->n_region = 0;
    iss_memory(b->cpu, BOARD_RAM, low, ram, 0);
    iss_memory(b->cpu, BOARD_RAM + high, BOARD_RAM_BYTES - high, ram + high, 0);
    return ST_OK;
}

static enum status open_accelerator(struct board *b)
{
    const struct board_setup *const o = b->setup;
    const uint64_t n = o->program ? BOARD_PROGRAM_BYTES : BOARD_MEMORY_BYTES;
    uint8_t *const raw = arena_alloc(b->arena, n + 64),
                   *memory = raw + (64 - (uintptr_t)raw % 64) % 64;
    struct hd_sim_options s = {.memory = memory,
                               .memory_base = BOARD_MEMORY,
                               .memory_bytes = n,
                               .latency = o->memory_latency,
                               .bytes_per_cycle = o->memory_bytes,
                               .stall_seed = o->stall_seed,
                               .layer_names = o->row_name,
                               .n_layers = o->n_row,
                               .tile = o->tile,
                               .tile_ctx = o->tile_ctx};
    char error[512] = "";

    TRY(sim_load(o->sim->path, o->sim->source_hash, o->hash, &b->api, b->d));
    b->sim = b->api->open(&s, error, sizeof error);
    if (!b->sim)
        return FAIL(b->d, ST_INTERNAL, "cannot open the model: %s", error);
    b->registers = (struct iss_device){board_read_register, board_write_register, b};
    b->shown = ~0u;
    TRY(b->watch->opened(b->watch->ctx, b->api, b->sim, b->d));
    iss_device(b->cpu, BOARD_REGISTERS, BOARD_REGISTERS_BYTES, &b->registers);
    iss_memory(b->cpu, BOARD_MEMORY, (uint32_t)n, memory, board_bus_wait(b));
    return ST_OK;
}

/* --- run --- */

/* Return the inference that runs, or ran last. */
static uint32_t inference(const struct board *b)
{
    const uint32_t k = b->within || b->done == 0 ? b->done : b->done - 1;

    return b->setup->first + k * b->setup->step;
}

/* Add the place to a failure's message: "inference 3, hdk_softmax + 0x1c: ". */
static enum status located(struct board *b, enum status st)
{
    if (st != ST_OK && b->setup->program)
        diag_prefix(b->d, "%s, in %s", b->setup->program, board_place(b));
    else if (st != ST_OK)
        diag_prefix(b->d, "inference %u, in %s", inference(b), board_place(b));
    return st;
}

static enum status trapped(struct board *b)
{
    const struct iss *const c = b->cpu;
    const struct iss_symbol *const guard = iss_symbol_named(&b->program, "stack_guard");
    const bool full = c->mtval - guard->address < STACK_GUARD &&
                      (c->mcause == ISS_STORE_FAULT || c->mcause == ISS_LOAD_FAULT);

    return FAIL(b->d, ST_DEVICE, "%s, 0x%08x%s", iss_cause_text(c->mcause), c->mtval,
                full ? ": the stack is full (STACK_BYTES of bare/riscv.ld)" : "");
}

static enum status check_end(struct board *b)
{
    if (b->setup->program && b->within)
        board_end(b);
    b->result->code = b->code;
    if (b->reason == APPLICATION && (b->code == 0 || b->setup->program))
        return ST_OK;
    return FAIL(b->d, ST_DEVICE, "the program ended with code %u: %s", b->code,
                b->printed.length ? b->printed.data : "nothing printed");
}

/* Run until the program ends; one inference, or the part before or after all of them, may take at
 * most max_cycles. */
static enum status run(struct board *b)
{
    const uint64_t most = b->setup->max_cycles;
    uint64_t since = 0;
    uint32_t seen = 0;

    while (!b->ended) {
        const bool starts = b->setup->program && !b->within;
        const uint64_t step = b->busy || starts || board_waves_want(b) ? 1 : FREE_RUN;
        const uint64_t until = b->cpu->cycles + step;
        const enum iss_stop stop =
            b->setup->cpu ? cpu_run(&b->core, until) : iss_run(b->cpu, until);

        board_follow(b);
        if (starts && b->cpu->pc == iss_symbol_named(&b->program, "hd_program")->address)
            board_begin(b);
        if (stop == ISS_ECALL)
            return FAIL(b->d, ST_DEVICE, "ecall: there is no system to call");
        if (stop == ISS_TRAP && !b->stuck)
            return trapped(b);
        if (stop == ISS_SEMIHOSTING)
            board_semihosting(b);
        b->slept = stop == ISS_WAITING && !b->setup->cpu;
        if (stop == ISS_WAITING && !(b->cpu->mip & b->cpu->mie)) /* nor in the cycle of wfi */
            TRY(board_sleep(b));
        if (b->stuck)
            return FAIL(b->d, ST_DEVICE, "%s", b->stuck);
        if (b->done != seen) {
            seen = b->done;
            since = b->cpu->cycles;
        }
        if (b->cpu->cycles - since > most)
            return FAIL(b->d, ST_DEVICE, "no end after %llu cycles (--max-cycles)",
                        (unsigned long long)most);
    }
    return check_end(b);
}

/* Convert the processor's cycles to the accelerator's. */
static void scale(struct board *b)
{
    struct board_host *const h = &b->result->host;
    uint64_t *const sums[] = {&h->operators, &h->driver,   &h->waiting, &h->split[0],
                              &h->split[1],  &h->split[2], &h->split[3]};

    for (uint32_t i = 0; i < sizeof sums / sizeof *sums; i++)
        *sums[i] = board_device_cycle(b, *sums[i]);
    h->total = h->operators + h->driver + h->waiting;
}

static void totals(struct board *b)
{
    struct hd_sim_totals t = {0};

    b->result->sim_cycles = b->cpu->cycles;
    scale(b);
    board_close_cores(b);
    if (!b->sim)
        return;
    b->api->totals(b->sim, &t);
    b->watch->closing(b->watch->ctx, &t);
    b->result->read_bytes += t.read_bytes;
    b->result->write_bytes += t.write_bytes;
    b->api->close(b->sim);
}

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

enum status board_run(const struct board_setup *setup, struct board_result *result, struct diag *d)
{
    struct board *const b = ARENA_NEW(setup->arena, struct board);
    const struct iss_cycles cost = iss_with_memory(&setup->cost, setup->ram);
    enum status st;
    double start;

    *result = (struct board_result){0};
    *b = (struct board){.arena = setup->arena,
                        .setup = setup,
                        .watch = setup->watch,
                        .result = result,
                        .cpu = iss_new(setup->arena, &cost),
                        .d = d};
    text_init(&b->printed, setup->arena);
    b->cpu->stop_at_calls = b->cpu->stop_at_traps = true;
    TRY(load(b));
    if (setup->sim->path)
        TRY(open_accelerator(b));
    TRY(board_open_cores(b));
    if (setup->cpu)
        TRY(cpu_open(&b->core, setup->cpu, b->cpu, setup->ram, d));
    start = seconds();
    st = located(b, run(b));
    result->wall_seconds = seconds() - start;
    if (setup->cpu)
        cpu_close(&b->core);
    totals(b);
    return st;
}
