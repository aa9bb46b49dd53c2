// hd_sim.cpp - the C table of hd_sim.h over the Verilated model.
#include "hd_sim.h"

#include <cstdio>
#include <new>

#include "hd_sim_config.h" // HD_SIM_NAME, HD_SIM_CONFIG_HASH, HD_SIM_SOURCE_HASH: sim/build/build.c
#include "sim.h"

static_assert(HD_UNIT_COUNT == HD_SIM_UNITS && HD_COUNTER_SLOTS == HD_SIM_KINDS, "hd_sim.h");

static Vhd_sim_top *new_model(VerilatedContext &context)
{
    context.traceEverOn(VM_TRACE != 0); // must come before the first eval
    return new Vhd_sim_top(&context, "TOP");
}

hd_sim::hd_sim(const hd_sim_options &o)
    : options(o), top_owner(new_model(context)), top(*top_owner), memory(o),
      watchdog(o.watchdog_cycles)
{
    reset();
}

hd_sim::~hd_sim()
{
    trace.stop();
    top.final();
}

namespace
{

hd_sim *sim_open(const hd_sim_options *options, char *error, size_t error_bytes)
{
    const uint64_t mask = heddle::Memory::kWidth - 1;

    if ((options->memory_base & mask) != 0) {
        (void)snprintf(error, error_bytes, "memory_base is not a multiple of %u, the AXI width",
                       heddle::Memory::kWidth);
        return nullptr;
    }
    try {
        return new hd_sim(*options);
    } catch (const std::bad_alloc &) {
        (void)snprintf(error, error_bytes, "out of memory");
        return nullptr;
    }
}

void sim_close(hd_sim *sim)
{
    delete sim;
}

uint32_t sim_read32(hd_sim *sim, uint32_t offset)
{
    return sim->read32(offset);
}

void sim_write32(hd_sim *sim, uint32_t offset, uint32_t value)
{
    sim->write32(offset, value);
}

hd_sim_stop sim_run(hd_sim *sim, uint64_t max_cycles)
{
    return sim->run(max_cycles);
}

const char *sim_stuck_text(hd_sim *sim)
{
    return sim->failure.empty() ? sim->stuck.c_str() : sim->failure.c_str();
}

void sim_seed(hd_sim *sim, uint64_t seed)
{
    sim->memory.seed(seed);
}

void sim_bus_fault(hd_sim *sim, hd_sim_bus_fault *fault)
{
    sim->memory.set_fault(fault);
}

void sim_totals(hd_sim *sim, hd_sim_totals *totals)
{
    *totals = {sim->now,
               sim->memory.read_bytes(),
               sim->memory.write_bytes(),
               sim->wall_seconds,
               sim->trace.cycles(),
               sim->trace.bytes(),
               sim->trace.limited(),
               sim->submission.start(),
               {},
               0,
               sim->now};
}

uint32_t sim_commands(hd_sim *sim, const hd_sim_command **commands)
{
    *commands = sim->submission.commands().data();
    return static_cast<uint32_t>(sim->submission.commands().size());
}

uint32_t sim_rows(hd_sim *sim, const hd_sim_row **rows)
{
    *rows = sim->submission.rows().data();
    return static_cast<uint32_t>(sim->submission.rows().size());
}

int sim_trace_start(hd_sim *sim, const char *path, uint64_t limit_bytes)
{
    return sim->trace.start(*sim, path, limit_bytes);
}

void sim_trace_stop(hd_sim *sim)
{
    sim->trace.stop();
}

void sim_trace_window(hd_sim *sim, int by_command, uint64_t first, uint64_t last)
{
    sim->trace.window(by_command != 0, first, last);
}

void sim_commits(hd_sim *sim, void (*sink)(void *, const hd_sim_commit *), void *ctx)
{
    sim->sink = sink;
    sim->sink_ctx = ctx;
}

void sim_show_host(hd_sim *sim, uint64_t cycles, const char *function)
{
    while (cycles-- > 0) {
        sim->settle();
        sim->edge();
    }
    if (function != nullptr)
        sim->trace.show_host(*sim, function);
}

} // namespace

extern "C" __attribute__((visibility("default"))) const hd_sim_api hd_sim_api = {
    HD_SIM_ABI,
    HD_SIM_NAME,
    HD_SIM_CONFIG_HASH,
    HD_SIM_SOURCE_HASH,
    sim_open,
    sim_close,
    sim_read32,
    sim_write32,
    sim_run,
    sim_stuck_text,
    sim_bus_fault,
    sim_seed,
    sim_totals,
    sim_commands,
    sim_rows,
    sim_trace_start,
    sim_trace_stop,
    sim_trace_window,
    sim_commits,
    sim_show_host,
    0,
    nullptr,
    nullptr,
};
