/* board.c - see board.h. */
#define _GNU_SOURCE
#include "board.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "sim/cpu/cpu.h"
#include "sim/iss/iss_elf.h"

#define MAX_ELF     ((size_t)256 << 20)
#define FREE_RUN    1000000u /* cycles of the processor alone, at a time */
#define MAX_PRINTED 4096u
#define STACK_GUARD 1024u    /* bytes, driver/package/bare/riscv.ld */
#define APPLICATION 0x20026u /* semihosting: the program has ended by itself */

enum { SYS_OPEN = 1, SYS_CLOSE = 2, SYS_WRITE0 = 4, SYS_WRITE = 5, SYS_READ = 6, SYS_EXIT = 0x20 };
enum { OF_REST, OF_DRIVER }; /* owners of code */

struct board {
    struct arena *arena;
    struct run_job *job;
    struct run_shared *shared;
    const char *elf;
    struct iss *cpu;
    struct iss_program program;
    struct cpu core;              /* --host=rtl: executes in its place */
    const struct hd_sim_api *api; /* NULL without accelerator */
    struct hd_sim *sim;
    struct iss_device registers;
    uint64_t synced; /* the processor's cycle up to which the model has come */
    bool busy;       /* a submission runs */
    bool pending;    /* one has ended, and what it cost is not collected */
    bool stuck;      /* the model cannot go on */
    uint32_t process;
    uint64_t begun;     /* cycle in which the inference began; 0: none */
    uint64_t before[4]; /* parts[] when it began */
    uint64_t parts[4];  /* cycles by owner, while the accelerator rests (0, 1) and works (2, 3) */
    uint64_t read[64];  /* inferences that each file has given or taken */
    struct text printed;
    bool ended;
    uint32_t reason, code; /* of its end */
    struct diag *d;
};

/* --- one time --- */

/* Cycles since the last call, to what the processor did in them. */
static void account(struct board *b)
{
    iss_spend(b->cpu);
    for (uint32_t i = 0; i < 2; i++) {
        b->parts[2 * b->busy + i] += b->cpu->spent[i];
        b->cpu->spent[i] = 0;
    }
}

static uint64_t model_cycles(const struct board *b)
{
    struct hd_sim_totals t = {0};

    b->api->totals(b->sim, &t);
    return t.cycles;
}

/* What the submission that ended tells. */
static void collect(struct board *b)
{
    const struct hd_sim_row *from;
    const bool first = b->shared->inferences == 0 && b->process == 0;

    if (!b->pending)
        return;
    b->pending = false;
    const uint32_t n = b->api->rows(b->sim, &from);
    run_add_rows(b->job, b->shared, from, n);
    for (uint32_t i = 0; first && i < HD_SIM_UNITS * HD_SIM_KINDS; i++)
        b->shared->counter[i] += b->api->read32(b->sim, HD_REG_COUNTER(i));
}

static void rest(struct board *b)
{
    account(b);
    b->busy = false;
    b->pending = true;
}

/* At most `cycles` of the model, while a submission runs; true: it has ended. */
static bool advance(struct board *b, uint64_t cycles)
{
    const enum hd_sim_stop stop = b->api->run(b->sim, cycles);

    iss_irq(b->cpu, ISS_IRQ_EXTERNAL, stop == HD_SIM_IRQ);
    b->stuck = stop == HD_SIM_STUCK || stop == HD_SIM_FAILED;
    return stop == HD_SIM_IRQ;
}

/* Bring the model to the processor's cycle. */
static void follow(struct board *b)
{
    if (b->busy && b->cpu->cycles > b->synced && advance(b, b->cpu->cycles - b->synced))
        rest(b);
    b->synced = b->cpu->cycles;
}

/* Sleep until the interrupt: the model alone. */
static enum status sleep(struct board *b)
{
    uint64_t before;
    bool ended;

    if (!b->busy)
        return FAIL(b->d, ST_DEVICE, "the program waits for an interrupt, and nothing runs");
    before = model_cycles(b);
    ended = advance(b, b->job->options->max_cycles);
    b->cpu->cycles += model_cycles(b) - before;
    b->synced = b->cpu->cycles;
    if (ended)
        rest(b);
    if (!ended && !b->stuck)
        return FAIL(b->d, ST_DEVICE, "no interrupt in %llu cycles (--max-cycles)",
                    (unsigned long long)b->job->options->max_cycles);
    return ST_OK;
}

/* --- the accelerator's registers --- */

/* The access has taken the model's cycles since `before`. */
static void accessed(struct board *b, uint64_t before)
{
    b->cpu->cycles += model_cycles(b) - before;
    b->synced = b->cpu->cycles;
    iss_irq(b->cpu, ISS_IRQ_EXTERNAL, b->api->run(b->sim, 0) == HD_SIM_IRQ);
    b->cpu->yield = true;
}

static bool read_register(void *ctx, uint32_t offset, uint32_t n_bytes, uint32_t *value)
{
    struct board *const b = ctx;
    uint64_t before;

    follow(b);
    before = model_cycles(b);
    *value = b->api->read32(b->sim, offset);
    accessed(b, before);
    if (offset == HD_REG_CYCLES_LO || offset == HD_REG_CYCLES_HI) /* the driver: once each */
        b->shared->cycles += (uint64_t)*value << (offset == HD_REG_CYCLES_HI ? 32 : 0);
    if (b->busy && offset == HD_REG_STATUS && (*value & HD_STATUS_DONE_MASK))
        rest(b);
    return n_bytes == 4;
}

static bool write_register(void *ctx, uint32_t offset, uint32_t n_bytes, uint32_t value)
{
    struct board *const b = ctx;
    uint64_t before;

    if (n_bytes != 4)
        return false;
    follow(b);
    account(b);
    if (offset == HD_REG_CONTROL)
        collect(b);
    before = model_cycles(b);
    b->api->write32(b->sim, offset, value);
    accessed(b, before);
    b->busy = b->busy || (offset == HD_REG_CONTROL && (value & HD_CONTROL_START_MASK));
    return true;
}

/* --- semihosting --- */

/* "in_3.bin" is file 3, "out_0.bin" the one after the inputs; -1: no such file. */
static int32_t open_file(const struct board *b, uint32_t name, uint32_t length)
{
    const struct ir_graph *g = b->job->p->graph;
    const char *const text = (const char *)iss_bytes(b->cpu, name, length);
    char copy[16];
    uint32_t index;
    char kind[8];

    if (text == NULL || length >= sizeof copy)
        return -1;
    memcpy(copy, text, length);
    copy[length] = '\0';
    if (sscanf(copy, "%3[a-z]_%u.bin", kind, &index) != 2)
        return -1;
    if (strcmp(kind, "in") == 0)
        return index < g->n_in ? (int32_t)index : -1;
    return index < g->n_out ? (int32_t)(g->n_in + index) : -1;
}

/* The next inference's bytes of an input or output, if there is one; NULL: none. */
static uint8_t *next_bytes(struct board *b, uint32_t file, uint32_t n_bytes)
{
    const struct run_job *job = b->job;
    const uint32_t n_in = job->p->graph->n_in;
    const struct run_data *const data = file < n_in ? &job->in[file] : &job->out[file - n_in];
    const uint64_t k = b->process + b->read[file] * job->n_process;

    if (k >= job->n || n_bytes != data->n_bytes)
        return NULL;
    b->read[file]++;
    return data->bytes + k * data->n_bytes;
}

/* An inference lasts from its last input to its first output. */
static void begin(struct board *b)
{
    account(b);
    b->shared->inference = b->process + b->shared->inferences * b->job->n_process;
    b->begun = b->cpu->cycles;
    if (b->sim && b->job->options->stall_seed)
        b->api->seed(b->sim, b->job->options->stall_seed + b->shared->inference);
    memcpy(b->before, b->parts, sizeof b->before);
}

static void end(struct board *b)
{
    account(b);
    collect(b);
    b->shared->host.total += b->cpu->cycles - b->begun;
    b->shared->host.operators += b->parts[0] + b->parts[2] - b->before[0] - b->before[2];
    b->shared->host.driver += b->parts[1] - b->before[1];
    b->shared->host.waiting += b->parts[3] - b->before[3];
    b->shared->inferences++;
    b->begun = 0;
}

static uint32_t read_file(struct board *b, uint32_t file, uint32_t to, uint32_t n_bytes)
{
    uint8_t *const bytes = iss_bytes(b->cpu, to, n_bytes);
    const uint8_t *const from = bytes ? next_bytes(b, file, n_bytes) : NULL;

    if (!from)
        return n_bytes;
    memcpy(bytes, from, n_bytes);
    if (file + 1 == b->job->p->graph->n_in)
        begin(b);
    return 0;
}

static uint32_t write_file(struct board *b, uint32_t file, uint32_t from, uint32_t n_bytes)
{
    const uint8_t *const bytes = iss_bytes(b->cpu, from, n_bytes);
    uint8_t *to;

    if (b->begun)
        end(b);
    to = bytes ? next_bytes(b, file, n_bytes) : NULL;
    if (!to)
        return n_bytes;
    memcpy(to, bytes, n_bytes);
    return 0;
}

static void print(struct board *b, uint32_t at)
{
    for (const uint8_t *c; (c = iss_bytes(b->cpu, at, 1)) != NULL && *c != '\0'; at++)
        if (b->printed.length < MAX_PRINTED)
            text_printf(&b->printed, "%c", *c);
}

/* RISC-V semihosting 0.2: the operation in a0, the address of its arguments in a1, its result in
 * a0. */
static void semihosting(struct board *b)
{
    uint32_t *const x = b->cpu->x, argument[3] = {0};

    for (uint32_t i = 0; i < 3; i++) {
        const uint8_t *const word = iss_bytes(b->cpu, x[11] + 4 * i, 4);
        if (word != NULL)
            memcpy(&argument[i], word, 4);
    }
    const uint32_t files = b->job->p->graph->n_in + b->job->p->graph->n_out;
    const bool known = argument[0] < files;
    b->cpu->pc += 4;
    switch (x[10]) {
    case SYS_OPEN: x[10] = (uint32_t)open_file(b, argument[0], argument[2]); break;
    case SYS_CLOSE: x[10] = 0; break;
    case SYS_WRITE0: print(b, x[11]); break;
    case SYS_READ:
        x[10] = known ? read_file(b, argument[0], argument[1], argument[2]) : argument[2];
        break;
    case SYS_WRITE:
        x[10] = known ? write_file(b, argument[0], argument[1], argument[2]) : argument[2];
        break;
    case SYS_EXIT:
        b->ended = true;
        b->reason = argument[0];
        b->code = argument[1];
        break;
    default: x[10] = ~0u; break;
    }
}

/* --- set up --- */

static bool is_driver(const struct iss_symbol *s)
{
    return strncmp(s->name, "hd_", 3) == 0 || strncmp(s->file, "hd", 2) == 0 ||
           strcmp(s->file, "port_mmio.c") == 0 || strcmp(s->name, "port_interrupt") == 0;
}

/* The driver is what is in its own files; a kernel's name begins with hdk_. */
static void name_owners(struct board *b)
{
    struct iss *const c = b->cpu;

    for (uint32_t i = 0; i < b->program.n_symbol; i++) {
        const struct iss_symbol *const s = &b->program.symbol[i];
        const uint32_t from = s->address - c->code_base, to = i + 1 < b->program.n_symbol
                                                                  ? s[1].address - c->code_base
                                                                  : c->code_bytes;
        for (uint32_t at = from; at < to && at < c->code_bytes; at += 4)
            c->owner[at / 4] =
                is_driver(s) && strncmp(s->file, "hdk", 3) != 0 ? OF_DRIVER : OF_REST;
    }
}

/* RAM in two pieces, around the guard below the stack. */
static enum status load(struct board *b)
{
    uint8_t *const ram = arena_alloc(b->arena, BOARD_RAM_BYTES), *file;
    const struct iss_symbol *guard;
    size_t n_bytes;

    iss_memory(b->cpu, BOARD_RAM, BOARD_RAM_BYTES, ram);
    TRY(file_read(b->arena, b->elf, MAX_ELF, &file, &n_bytes, b->d));
    TRY(iss_load(b->cpu, b->arena, b->elf, file, n_bytes, &b->program, b->d));
    name_owners(b);
    guard = iss_symbol_named(&b->program, "stack_guard");
    if (guard == NULL)
        return FAIL(b->d, ST_INTERNAL, "%s: found no symbol stack_guard", b->elf);
    const uint32_t low = guard->address - BOARD_RAM, high = low + STACK_GUARD;
    b->cpu->n_region = 0;
    iss_memory(b->cpu, BOARD_RAM, low, ram);
    iss_memory(b->cpu, BOARD_RAM + high, BOARD_RAM_BYTES - high, ram + high);
    return ST_OK;
}

static enum status open_accelerator(struct board *b, const struct sim_model *so)
{
    const struct options *o = b->job->options;
    const uint64_t n = BOARD_MEMORY_BYTES;
    uint8_t *const raw = arena_alloc(b->arena, n + 64),
                   *memory = raw + (64 - (uintptr_t)raw % 64) % 64;
    struct hd_sim_options s = {.memory = memory,
                               .memory_base = BOARD_MEMORY,
                               .memory_bytes = n,
                               .latency = o->mem_latency,
                               .bytes_per_cycle = o->mem_bytes,
                               .stall_seed = o->stall_seed};
    char error[512] = "";

    TRY(sim_load(so->path, so->source_hash, b->job->p->program->device[0].hw->hash, &b->api, b->d));
    b->sim = b->api->open(&s, error, sizeof error);
    if (!b->sim)
        return FAIL(b->d, ST_INTERNAL, "cannot open the model: %s", error);
    b->registers = (struct iss_device){read_register, write_register, b};
    iss_device(b->cpu, BOARD_REGISTERS, BOARD_REGISTERS_BYTES, &b->registers);
    iss_memory(b->cpu, BOARD_MEMORY, (uint32_t)n, memory);
    return ST_OK;
}

/* --- run --- */

/* "inference 3, hdk_softmax + 0x1c: " before what happened. */
static enum status told(struct board *b, enum status st)
{
    if (st != ST_OK)
        diag_prefix(b->d, "inference %u, in %s", b->shared->inference,
                    iss_place(b->arena, &b->program, b->cpu->pc));
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

static enum status check_end(const struct board *b)
{
    if (b->reason == APPLICATION && b->code == 0)
        return ST_OK;
    return FAIL(b->d, ST_DEVICE, "the program ended with code %u: %s", b->code,
                b->printed.length ? b->printed.data : "nothing printed");
}

/* Until the program ends; an inference, and what is before and after them, takes at most
 * max_cycles. */
static enum status run(struct board *b)
{
    const uint64_t most = b->job->options->max_cycles;
    uint64_t since = 0;
    uint32_t seen = 0;

    while (!b->ended) {
        const uint64_t step = b->busy ? 1 : FREE_RUN;
        const uint64_t until = b->cpu->cycles + step;
        const enum iss_stop stop = b->job->cpu ? cpu_run(&b->core, until) : iss_run(b->cpu, until);

        follow(b);
        if (stop == ISS_ECALL)
            return FAIL(b->d, ST_DEVICE, "ecall: there is no system to call");
        if (stop == ISS_TRAP)
            return trapped(b);
        if (stop == ISS_SEMIHOSTING)
            semihosting(b);
        if (stop == ISS_WAITING)
            TRY(sleep(b));
        if (b->stuck)
            return FAIL(b->d, ST_DEVICE, "%s", b->api->stuck_text(b->sim));
        if (b->shared->inferences != seen) {
            seen = b->shared->inferences;
            since = b->cpu->cycles;
        }
        if (b->cpu->cycles - since > most)
            return FAIL(b->d, ST_DEVICE, "no end after %llu cycles (--max-cycles)",
                        (unsigned long long)most);
    }
    return check_end(b);
}

static void totals(struct board *b)
{
    struct hd_sim_totals t = {0};

    b->shared->sim_cycles = b->cpu->cycles;
    if (!b->sim)
        return;
    b->api->totals(b->sim, &t);
    b->shared->read_bytes = t.read_bytes;
    b->shared->write_bytes = t.write_bytes;
    b->api->close(b->sim);
}

enum status board_run(struct run_job *job, uint32_t process, const char *elf,
                      const struct sim_model *sim, struct diag *d)
{
    struct board *const b = ARENA_NEW(job->arena, struct board);
    const struct options *o = job->options;
    const struct iss_cycles cost = iss_with_memory(run_iss_core(o), o->host_memory);
    enum status st;
    double start;

    *b = (struct board){.arena = job->arena,
                        .job = job,
                        .shared = run_results(job, process),
                        .elf = elf,
                        .cpu = iss_new(job->arena, &cost),
                        .process = process,
                        .d = d};
    text_init(&b->printed, job->arena);
    b->cpu->stop_at_calls = b->cpu->stop_at_traps = true;
    TRY(load(b));
    if (sim->path)
        TRY(open_accelerator(b, sim));
    if (job->cpu)
        TRY(cpu_open(&b->core, job->cpu, b->cpu, o->host_memory, d));
    start = run_now();
    st = told(b, run(b));
    b->shared->wall_seconds = run_now() - start;
    if (job->cpu)
        cpu_close(&b->core);
    totals(b);
    return st;
}
