/* reuse_table.c - the functions of the table that replaces the model's. */
#include "reuse_parts.h"

#include <string.h>

#include "hd_accel.h"

static struct reuse *of(struct hd_sim *sim)
{
    return (struct reuse *)(void *)sim;
}

static void sim_close(struct hd_sim *sim)
{
    struct reuse *const r = of(sim);

    if (r->sim) {
        if (r->setup.store)
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
        reuse_ring(r);
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
        reuse_end_sim(r);
    else if (stop != HD_SIM_CYCLES)
        reuse_go_alone(r);
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
    struct reuse *const r = of(sim);

    if (!reuse_open_sim(r))
        return -1;
    r->wave.on = true;
    reuse_trace(r, r->alone);
    if (r->setup.api->trace_start(r->sim, path, limit_bytes) != 0)
        r->wave.on = false;
    return r->wave.on ? 0 : -1;
}

static void sim_trace_stop(struct hd_sim *sim)
{
    struct reuse *const r = of(sim);

    if (r->wave.on)
        r->setup.api->trace_stop(r->sim);
    r->wave.on = false;
}

static void sim_trace_window(struct hd_sim *sim, int by_command, uint64_t first, uint64_t last)
{
    struct reuse *const r = of(sim);

    r->wave.by_command = by_command;
    r->wave.first = first;
    r->wave.last = last;
    if (r->alone)
        reuse_trace(r, true);
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
