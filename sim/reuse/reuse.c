/* reuse.c - see reuse.h. The driver's registers are the functional model's. `pending`: the RTL runs
 * a submission, and the driver waits. `alone`: the RTL differed; registers are the RTL's. */
#include "reuse.h"

#include <stdio.h>
#include <string.h>

#include "driver/hd_port.h"
#include "hd_accel.h"
#include "measured.h"
#include "restore.h"
#include "same_cycles.h"
#include "sim/functional/hd_func.h"

enum { CHECK_EACH = 20 };

struct reuse {
    struct hd_sim_api api;
    struct arena *arena, *scratch; /* scratch: of the last submission */
    struct reuse_setup setup;
    struct hd_sim_options options; /* of the model: its memory is `copy` */
    uint8_t *memory, *copy;        /* the driver's bytes, and those that the RTL sees */
    struct hd_func func, shadow;   /* shadow: what the RTL wrote into its memories */
    struct hd_port port;           /* of func */
    struct hd_sim *sim;            /* the RTL; NULL until the first submission without a record */
    bool stale;                    /* the RTL's memories are older than func's */
    bool pending, alone;
    struct hash128 key;
    struct key_stream stream;
    struct reuse_record record;
    bool found;       /* `record` was read, and the RTL runs nevertheless */
    int claim;        /* lock of the submission that the RTL runs for `fill`; -1: none */
    uint32_t n_found; /* records found */
    struct reuse_counts counts;
    uint64_t read_bytes, write_bytes;
    void (*sink)(void *ctx, const struct hd_sim_commit *commit);
    void *sink_ctx;
    char why[512];
};

static struct reuse *of(struct hd_sim *sim)
{
    return (struct reuse *)(void *)sim;
}

static uint64_t register64(const struct hd_func *f, uint32_t low, uint32_t high)
{
    return f->reg[low / 4] | (uint64_t)f->reg[high / 4] << 32;
}

/* --- the key --- */

/* Set r->stream to the submission that the registers describe; false: it is not in memory. */
static bool find_stream(struct reuse *r)
{
    const struct hd_func *const f = &r->func;
    uint64_t *const base = ARENA_ARRAY(r->scratch, uint64_t, HD_REGIONS);

    for (uint32_t i = 0; i < HD_REGIONS; i++)
        base[i] = register64(f, HD_REG_REGION_BASE_LO(i), HD_REG_REGION_BASE_HI(i));
    const uint64_t address = base[0] + f->reg[HD_REG_COMMAND_OFFSET / 4],
                   at = address - r->options.memory_base;
    const uint32_t n = f->reg[HD_REG_COMMAND_LENGTH / 4];
    if (address < r->options.memory_base || at > f->memory.n_bytes || n > f->memory.n_bytes - at)
        return false;
    r->stream = (struct key_stream){
        .bytes = r->memory + at, .n_bytes = n, .address = address, .base = base};
    return true;
}

static void hash_memories(struct hash128 *h, const struct reuse *r)
{
    const uint32_t rights = r->func.reg[HD_REG_REGION_RIGHTS / 4];

    hash_bytes(h, r->stream.base, HD_REGIONS * sizeof *r->stream.base);
    hash_bytes(h, &rights, sizeof rights);
    hash_large(h, r->memory, r->func.memory.n_bytes);
    for (uint32_t i = 0; i < HD_SPACE_COUNT; i++)
        hash_large(h, r->func.space[i], r->func.n_bytes[i]);
}

static void make_key(struct reuse *r)
{
    r->key = key_cycles(r->scratch, r->setup.api, &r->options, &r->stream);
    if (r->setup.mode == REUSE_SAME)
        hash_memories(&r->key, r);
}

/* --- the RTL --- */

/* Follow the RTL's writes in `shadow`, and pass them on. */
static void committed(void *ctx, const struct hd_sim_commit *c)
{
    struct reuse *const r = ctx;

    hd_func_apply(&r->shadow, c);
    if (r->sink)
        r->sink(r->sink_ctx, c);
}

static void copy_memories(struct hd_func *to, const struct hd_func *from)
{
    for (uint32_t i = 0; i < HD_SPACE_COUNT; i++)
        memcpy(to->space[i], from->space[i], from->n_bytes[i]);
}

/* Return true if the RTL's memories have the functional model's bytes. */
static bool same_memories(const struct reuse *r)
{
    for (uint32_t i = 0; i < HD_SPACE_COUNT; i++)
        if (memcmp(r->shadow.space[i], r->func.space[i], r->func.n_bytes[i]) != 0)
            return false;
    return memcmp(r->copy, r->memory, r->func.memory.n_bytes) == 0;
}

static bool open_sim(struct reuse *r)
{
    const uint64_t n = r->func.memory.n_bytes, room = restore_bytes(&r->func);

    if (r->sim)
        return true;
    r->copy = arena_alloc(r->arena, n + room + 64);
    r->copy += (64 - (uintptr_t)r->copy % 64) % 64;
    r->options.memory = r->copy;
    r->options.memory_bytes = n + room;
    r->sim = r->setup.api->open(&r->options, r->why, sizeof r->why);
    r->stale = r->counts.submissions > 1; /* all memories are 0 before the first */
    return r->sim != NULL;
}

static void write_registers(struct reuse *r)
{
    static const uint32_t once[] = {HD_REG_IRQ_ENABLE, HD_REG_COMMAND_OFFSET,
                                    HD_REG_COMMAND_LENGTH};
    const struct hd_sim_api *const api = r->setup.api;
    const uint32_t *const reg = r->func.reg;

    for (uint32_t i = 0; i < HD_REGIONS; i++) {
        api->write32(r->sim, HD_REG_REGION_BASE_LO(i), reg[HD_REG_REGION_BASE_LO(i) / 4]);
        api->write32(r->sim, HD_REG_REGION_BASE_HI(i), reg[HD_REG_REGION_BASE_HI(i) / 4]);
        api->write32(r->sim, HD_REG_REGION_SIZE(i), reg[HD_REG_REGION_SIZE(i) / 4]);
    }
    api->write32(r->sim, HD_REG_REGION_RIGHTS, reg[HD_REG_REGION_RIGHTS / 4]);
    for (uint32_t i = 0; i < sizeof once / sizeof *once; i++)
        api->write32(r->sim, once[i], reg[once[i] / 4]);
}

/* Bring the RTL to where the functional model is, and ring its doorbell. */
static void start_sim(struct reuse *r)
{
    const struct hd_sim_api *const api = r->setup.api;
    const uint64_t n = r->func.memory.n_bytes;
    struct diag d = {0};

    api->commits(r->sim, NULL, NULL);
    if (r->stale &&
        restore_run(&r->func, api, r->sim, r->copy + n, r->options.memory_base + n, &d) != ST_OK) {
        snprintf(r->why, sizeof r->why, "%.*s", (int)sizeof r->why - 1, d.text);
        r->func.stuck = 1;
        return;
    }
    r->stale = false;
    copy_memories(&r->shadow, &r->func);
    memcpy(r->copy, r->memory, n);
    write_registers(r);
    api->commits(r->sim, committed, r);
    api->write32(r->sim, HD_REG_IRQ_STATUS, HD_IRQ_STATUS_DONE_MASK | HD_IRQ_STATUS_ERROR_MASK);
    api->write32(r->sim, HD_REG_CONTROL, HD_CONTROL_START_MASK);
    r->pending = true;
}

/* Take what the RTL measured. */
static void measure(struct reuse *r)
{
    const struct hd_sim_api *const api = r->setup.api;
    const struct hd_sim_command *command;
    const struct hd_sim_row *row;
    struct reuse_record *const m = &r->record;

    *m = (struct reuse_record){0};
    m->cycles = api->read32(r->sim, HD_REG_CYCLES_LO);
    m->cycles |= (uint64_t)api->read32(r->sim, HD_REG_CYCLES_HI) << 32;
    for (uint32_t i = 0; i < HD_SIM_UNITS * HD_SIM_KINDS; i++)
        m->counter[i] = api->read32(r->sim, HD_REG_COUNTER(i));
    m->n_command = api->commands(r->sim, &command);
    m->n_row = api->rows(r->sim, &row);
    m->command = arena_memdup(r->scratch, command, m->n_command * sizeof *command);
    m->row = arena_memdup(r->scratch, row, m->n_row * sizeof *row);
    for (uint32_t i = 0; i < m->n_command; i++)
        m->command[i].layer = r->stream.number[m->command[i].layer] - 1;
    for (uint32_t i = 0; i < m->n_row; i++)
        m->row[i].layer = r->stream.number[m->row[i].layer] - 1;
}

/* --- a submission's end --- */

/* Present r->record: registers, and layers as rows of the network. */
static void present(struct reuse *r)
{
    struct reuse_record *const m = &r->record;
    uint32_t *const reg = r->func.reg;

    reg[HD_REG_CYCLES_LO / 4] = (uint32_t)m->cycles;
    reg[HD_REG_CYCLES_HI / 4] = (uint32_t)(m->cycles >> 32);
    memcpy(&reg[HD_REG_COUNTER(0) / 4], m->counter, sizeof m->counter);
    for (uint32_t i = 0; i < m->n_command; i++)
        m->command[i].layer = r->stream.layer[m->command[i].layer];
    for (uint32_t i = 0; i < m->n_row; i++) {
        m->row[i].layer = r->stream.layer[m->row[i].layer];
        r->read_bytes += m->row[i].read_bytes;
        r->write_bytes += m->row[i].write_bytes;
    }
}

static void release(struct reuse *r)
{
    measured_release(r->scratch, r->setup.store, &r->key, r->claim);
    r->claim = -1;
}

/* Go on with the RTL alone, with the bytes that it wrote. */
static void go_alone(struct reuse *r)
{
    release(r);
    r->pending = false;
    r->alone = true;
    memcpy(r->memory, r->copy, r->func.memory.n_bytes);
    r->setup.api->commits(r->sim, r->sink, r->sink_ctx);
}

/* The RTL's interrupt is high: compare, and keep what it measured. */
static void end_sim(struct reuse *r)
{
    const uint64_t known = r->record.cycles;
    const uint32_t status =
        r->setup.api->read32(r->sim, HD_REG_STATUS) | r->func.reg[HD_REG_STATUS / 4];

    if ((status & HD_STATUS_ERROR_MASK) || !same_memories(r)) {
        go_alone(r);
        return;
    }
    r->pending = false;
    r->setup.api->write32(r->sim, HD_REG_IRQ_STATUS, HD_IRQ_STATUS_DONE_MASK);
    measure(r);
    if (r->found && known != r->record.cycles)
        r->counts.off++;
    measured_write(r->scratch, r->setup.store, &r->key, &r->record);
    release(r);
    present(r);
}

/* Execute a submission with a record on the functional model, whose writes go to the sink. */
static void execute(struct reuse *r)
{
    hd_func_commits(&r->func, r->sink, r->sink_ctx);
    r->port.write32(r->port.ctx, HD_REG_CONTROL, HD_CONTROL_START_MASK);
    hd_func_commits(&r->func, NULL, NULL);
    present(r);
    r->stale = true;
    r->counts.stored++;
}

static void ring(struct reuse *r)
{
    arena_reset(r->scratch);
    r->record = (struct reuse_record){0};
    r->counts.submissions++;
    if (!find_stream(r)) {
        r->func.stuck = 1;
        snprintf(r->why, sizeof r->why, "the stream is not in memory");
        return;
    }
    make_key(r);
    r->found = measured_read(r->scratch, r->setup.store, &r->key, &r->record);
    if (!r->found && r->setup.fill) {
        r->claim = measured_claim(r->scratch, r->setup.store, &r->key);
        if (r->claim < 0) {
            execute(r);
            return;
        }
        r->found = measured_read(r->scratch, r->setup.store, &r->key, &r->record);
        if (r->found)
            release(r);
    }
    if (r->found && !(r->setup.mode == REUSE_CHECK && r->n_found++ % CHECK_EACH == 0)) {
        execute(r);
        return;
    }
    if (!open_sim(r)) {
        r->func.stuck = 1;
        return;
    }
    start_sim(r);
    if (r->pending)
        r->port.write32(r->port.ctx, HD_REG_CONTROL, HD_CONTROL_START_MASK);
}

/* --- the table --- */

static void sim_close(struct hd_sim *sim)
{
    struct reuse *const r = of(sim);

    if (r->sim) {
        measured_evict(r->scratch, r->setup.store);
        r->setup.api->close(r->sim);
    }
    r->sim = NULL;
    arena_free(r->scratch);
}

static uint32_t sim_read32(struct hd_sim *sim, uint32_t offset)
{
    struct reuse *const r = of(sim);

    return r->alone || r->pending ? r->setup.api->read32(r->sim, offset)
                                  : r->port.read32(r->port.ctx, offset);
}

static void sim_write32(struct hd_sim *sim, uint32_t offset, uint32_t value)
{
    struct reuse *const r = of(sim);

    if (r->alone || r->pending) {
        if (offset == HD_REG_CONTROL && value & HD_CONTROL_START_MASK)
            memcpy(r->copy, r->memory, r->func.memory.n_bytes);
        r->setup.api->write32(r->sim, offset, value);
    } else if (offset == HD_REG_CONTROL && value & HD_CONTROL_START_MASK) {
        ring(r);
    } else {
        r->port.write32(r->port.ctx, offset, value);
    }
}

static enum hd_sim_stop sim_run(struct hd_sim *sim, uint64_t max_cycles)
{
    struct reuse *const r = of(sim);

    if (!r->alone && !r->pending)
        return r->func.stuck ? HD_SIM_STUCK : HD_SIM_IRQ;
    const enum hd_sim_stop stop = r->setup.api->run(r->sim, max_cycles);
    if (r->pending && stop == HD_SIM_IRQ)
        end_sim(r);
    else if (stop != HD_SIM_CYCLES)
        go_alone(r);
    return stop;
}

static const char *sim_stuck_text(struct hd_sim *sim)
{
    const struct reuse *const r = of(sim);

    return r->alone || r->pending ? r->setup.api->stuck_text(r->sim)
           : r->why[0]            ? r->why
                                  : r->func.why;
}

static void sim_bus_fault(struct hd_sim *sim, struct hd_sim_bus_fault *fault)
{
    (void)sim;
    (void)fault;
}

static void sim_seed(struct hd_sim *sim, uint64_t seed)
{
    (void)sim;
    (void)seed;
}

static void sim_totals(struct hd_sim *sim, struct hd_sim_totals *totals)
{
    const struct reuse *const r = of(sim);
    struct hd_sim_totals t = {0};

    if (r->sim)
        r->setup.api->totals(r->sim, &t);
    t.read_bytes = r->read_bytes;
    t.write_bytes = r->write_bytes;
    *totals = t;
}

static uint32_t sim_commands(struct hd_sim *sim, const struct hd_sim_command **commands)
{
    const struct reuse *const r = of(sim);

    if (r->alone || r->pending)
        return r->setup.api->commands(r->sim, commands);
    *commands = r->record.command;
    return r->record.n_command;
}

static uint32_t sim_rows(struct hd_sim *sim, const struct hd_sim_row **rows)
{
    const struct reuse *const r = of(sim);

    if (r->alone || r->pending)
        return r->setup.api->rows(r->sim, rows);
    *rows = r->record.row;
    return r->record.n_row;
}

static int sim_trace_start(struct hd_sim *sim, const char *path, uint64_t limit_bytes)
{
    (void)sim;
    (void)path;
    (void)limit_bytes;
    return -1;
}

static void sim_trace_stop(struct hd_sim *sim)
{
    (void)sim;
}

static void sim_trace_window(struct hd_sim *sim, int by_command, uint64_t first, uint64_t last)
{
    (void)sim;
    (void)by_command;
    (void)first;
    (void)last;
}

static void sim_commits(struct hd_sim *sim,
                        void (*sink)(void *ctx, const struct hd_sim_commit *commit), void *ctx)
{
    struct reuse *const r = of(sim);

    r->sink = sink;
    r->sink_ctx = ctx;
    if (r->alone)
        r->setup.api->commits(r->sim, sink, ctx);
}

static void sim_show_host(struct hd_sim *sim, uint64_t cycles, const char *function)
{
    (void)sim;
    (void)cycles;
    (void)function;
}

/* --- open --- */

static bool open_func(struct reuse *r, struct hd_func *f, struct hd_func_memory memory)
{
    const size_t n = hd_func_bytes(r->setup.hw);

    return n != 0 && hd_func_init(f, r->setup.hw, arena_alloc(r->arena, n), n, memory) == 0;
}

enum status reuse_open(struct arena *a, const struct reuse_setup *s, struct reuse **out,
                       struct diag *d)
{
    const struct hd_sim_options *const o = s->options;
    const struct hd_func_memory memory = {o->memory, o->memory_base, o->memory_bytes};
    struct reuse *const r = ARENA_NEW(a, struct reuse);

    *r = (struct reuse){.arena = a,
                        .scratch = arena_beside(a),
                        .setup = *s,
                        .options = *o,
                        .claim = -1,
                        .memory = o->memory};
    if (!open_func(r, &r->func, memory) || !open_func(r, &r->shadow, memory))
        return FAIL(d, ST_INTERNAL, "the functional model does not support configuration %s",
                    s->hw->name);
    hd_func_port(&r->func, &r->port);
    r->api = *s->api;
    r->api.close = sim_close;
    r->api.read32 = sim_read32;
    r->api.write32 = sim_write32;
    r->api.run = sim_run;
    r->api.stuck_text = sim_stuck_text;
    r->api.bus_fault = sim_bus_fault;
    r->api.seed = sim_seed;
    r->api.totals = sim_totals;
    r->api.commands = sim_commands;
    r->api.rows = sim_rows;
    r->api.trace_start = sim_trace_start;
    r->api.trace_stop = sim_trace_stop;
    r->api.trace_window = sim_trace_window;
    r->api.commits = sim_commits;
    r->api.show_host = sim_show_host;
    *out = r;
    return ST_OK;
}

const struct hd_sim_api *reuse_api(const struct reuse *r)
{
    return &r->api;
}

struct hd_sim *reuse_sim(struct reuse *r)
{
    return (struct hd_sim *)(void *)r;
}

struct reuse_counts reuse_counts(const struct reuse *r)
{
    return r->counts;
}
