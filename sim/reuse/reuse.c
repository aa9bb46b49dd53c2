/* reuse.c - see reuse.h. The driver's registers are the functional model's. `pending`: the RTL runs
 * a submission, and the driver waits. `alone`: the RTL differed; registers are the RTL's. */
#include "reuse_parts.h"

#include <stdio.h>
#include <string.h>

#include "hd_accel.h"
#include "restore.h"

enum { CHECK_EACH = 20 };

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
    r->key = key_cycles(r->scratch, r->setup.source_hash, r->setup.api->config_hash, &r->options,
                        &r->stream);
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

bool reuse_open_sim(struct reuse *r)
{
    const uint64_t n = r->func.memory.n_bytes, room = restore_bytes(&r->func);

    if (r->sim)
        return true;
    r->copy = arena_alloc(r->arena, n + room + 64);
    r->copy += (64 - (uintptr_t)r->copy % 64) % 64;
    r->options.memory = r->copy;
    r->options.memory_bytes = n + room;
    r->sim = r->setup.api->open(&r->options, r->why, sizeof r->why);
    return r->sim != NULL;
}

void reuse_trace(const struct reuse *r, bool on)
{
    if (r->wave.on && on)
        r->setup.api->trace_window(r->sim, r->wave.by_command, r->wave.first, r->wave.last);
    else if (r->wave.on)
        r->setup.api->trace_window(r->sim, 0, UINT64_MAX, UINT64_MAX);
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
    reuse_trace(r, true);
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

void reuse_go_alone(struct reuse *r)
{
    release(r);
    r->pending = false;
    r->alone = true;
    memcpy(r->memory, r->copy, r->func.memory.n_bytes);
    r->setup.api->commits(r->sim, r->sink, r->sink_ctx);
}

void reuse_end_sim(struct reuse *r)
{
    const uint64_t known = r->record.cycles;
    const uint32_t status =
        r->setup.api->read32(r->sim, HD_REG_STATUS) | r->func.reg[HD_REG_STATUS / 4];

    if ((status & HD_STATUS_ERROR_MASK) || !same_memories(r)) {
        reuse_go_alone(r);
        return;
    }
    r->pending = false;
    reuse_trace(r, false);
    r->setup.api->write32(r->sim, HD_REG_IRQ_STATUS, HD_IRQ_STATUS_DONE_MASK);
    measure(r);
    if (r->found && known != r->record.cycles)
        r->counts.off++;
    if (r->setup.store)
        measured_write(r->scratch, r->setup.store, &r->key, &r->record);
    release(r);
    present(r);
}

/* Execute a submission on the functional model, whose writes go to the sink. */
static void execute(struct reuse *r)
{
    hd_func_commits(&r->func, r->sink, r->sink_ctx);
    r->port.write32(r->port.ctx, HD_REG_CONTROL, HD_CONTROL_START_MASK);
    hd_func_commits(&r->func, NULL, NULL);
    present(r);
    r->stale = true;
    if (r->found)
        r->counts.stored++;
    else
        r->counts.skipped++;
}

/* Return true if the RTL runs a submission though nothing needs its cycles. */
static bool wants_sim(struct reuse *r)
{
    const bool waves = r->wave.on && r->wave.first != UINT64_MAX;

    return waves || (r->setup.mode == REUSE_CHECK && r->n_found++ % CHECK_EACH == 0);
}

/* Return true if the cycles of the submission are known, not asked for, or another process's
 * work. */
static bool needs_no_cycles(struct reuse *r)
{
    const char *const store = r->setup.store;

    r->found = store && measured_read(r->scratch, store, &r->key, &r->record);
    if (!r->found && r->setup.fill) {
        r->claim = measured_claim(r->scratch, store, &r->key);
        if (r->claim < 0)
            return true;
        r->found = measured_read(r->scratch, store, &r->key, &r->record);
        if (r->found)
            release(r);
    }
    return r->found || r->setup.mode == REUSE_WAVES;
}

void reuse_ring(struct reuse *r)
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
    if (needs_no_cycles(r) && !wants_sim(r)) {
        execute(r);
        return;
    }
    if (!reuse_open_sim(r)) {
        r->func.stuck = 1;
        return;
    }
    start_sim(r);
    if (r->pending)
        r->port.write32(r->port.ctx, HD_REG_CONTROL, HD_CONTROL_START_MASK);
}
