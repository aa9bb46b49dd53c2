// hd_core.cpp - a target's own core with the table of hd_sim.h: registers, a memory
// (core_memory.h), an interrupt (README.md). Verilator's class is always called Vhd_sim_top.
#include <chrono>
#include <cstdio>
#include <new>
#include <string>
#include <sys/stat.h>

#include "Vhd_sim_top.h"
#include "core_memory.h"
#include "hd_sim.h"
#include "hd_sim_config.h"
#include "verilated.h"
#include "verilated_fst_c.h"

static thread_local std::string model_failure; // $finish, $stop, assertions

void vl_finish(const char *file, int line, const char *) VL_MT_UNSAFE
{
    model_failure = std::string("$finish at ") + file + ":" + std::to_string(line);
}

void vl_stop(const char *file, int line, const char *) VL_MT_UNSAFE
{
    model_failure = std::string("assertion or $stop at ") + file + ":" + std::to_string(line);
}

void vl_fatal(const char *file, int line, const char *, const char *message) VL_MT_UNSAFE
{
    model_failure = std::string(message) + " at " + file + ":" + std::to_string(line);
}

struct hd_sim {
    VerilatedContext context;
    Vhd_sim_top top{&context};
    CoreMemory<Vhd_sim_top> memory;
    hd_sim_totals &totals = memory.totals;
    std::string &failure = memory.failure;
    VerilatedFstC *trace = nullptr;
    std::string trace_path;
    uint64_t trace_limit = 0;

    void dump(uint64_t half)
    {
        if (trace != nullptr)
            trace->dump(totals.cycles * 10 + half);
    }

    void cycle()
    {
        top.clk_i = 0;
        top.eval();
        dump(0);
        memory.sample(top);
#define COUNT(index, port) totals.counter[index] += top.port;
        HD_CORE_COUNTERS(COUNT)
#undef COUNT
        top.clk_i = 1;
        top.eval();
        dump(5);
        totals.cycles++;
        memory.drive(top);
        top.reg_write_i = 0;
        if (failure.empty() && !model_failure.empty())
            failure.swap(model_failure);
        if (trace != nullptr)
            check_trace();
    }

    void check_trace()
    {
        struct stat info;
        totals.trace_cycles++;
        if (trace_limit == 0 || totals.trace_cycles % 4096 != 0)
            return;
        trace->flush();
        if (stat(trace_path.c_str(), &info) != 0 ||
            static_cast<uint64_t>(info.st_size) < trace_limit)
            return;
        totals.trace_limited = 1;
        stop_trace();
    }

    void stop_trace()
    {
        struct stat info;
        if (trace == nullptr)
            return;
        trace->close();
        delete trace;
        trace = nullptr;
        if (stat(trace_path.c_str(), &info) == 0)
            totals.trace_bytes = static_cast<uint64_t>(info.st_size);
    }
};

static hd_sim *core_open(const hd_sim_options *options, char *error, size_t error_bytes)
{
    hd_sim *const sim = new (std::nothrow) hd_sim;
    if (sim == nullptr) {
        snprintf(error, error_bytes, "no memory");
        return nullptr;
    }
    sim->memory.options = *options;
    sim->memory.seed(options->stall_seed);
    sim->context.traceEverOn(true);
    sim->top.rst_ni = 0;
    for (int i = 0; i < 8; i++)
        sim->cycle();
    sim->top.rst_ni = 1;
    return sim;
}

static void core_close(hd_sim *sim)
{
    sim->stop_trace();
    sim->top.final();
    delete sim;
}

static uint32_t core_read32(hd_sim *sim, uint32_t offset)
{
    sim->top.reg_addr_i = static_cast<uint16_t>(offset);
    sim->top.clk_i = 0;
    sim->top.eval();
    const uint32_t value = sim->top.reg_rdata_o;
    sim->cycle();
    return value;
}

static void core_write32(hd_sim *sim, uint32_t offset, uint32_t value)
{
    sim->top.reg_addr_i = static_cast<uint16_t>(offset);
    sim->top.reg_wdata_i = value;
    sim->top.reg_write_i = 1;
    sim->cycle();
}

static hd_sim_stop core_run(hd_sim *sim, uint64_t max_cycles)
{
    const auto begin = std::chrono::steady_clock::now();
    uint64_t n = 0;
    while (n < max_cycles && sim->failure.empty() && sim->top.irq_o == 0) {
        sim->cycle();
        n++;
    }
    sim->memory.check_done(sim->top);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    sim->totals.wall_seconds += took.count();
    if (!sim->failure.empty())
        return HD_SIM_FAILED;
    return sim->top.irq_o != 0 ? HD_SIM_IRQ : HD_SIM_CYCLES;
}

static const char *core_stuck_text(hd_sim *sim)
{
    return sim->failure.c_str();
}

static void core_seed(hd_sim *sim, uint64_t seed)
{
    sim->memory.seed(seed);
}

static void core_totals(hd_sim *sim, hd_sim_totals *totals)
{
    *totals = sim->totals;
}

static uint32_t core_commands(hd_sim *, const hd_sim_command **commands)
{
    *commands = nullptr;
    return 0;
}

static uint32_t core_rows(hd_sim *, const hd_sim_row **rows)
{
    *rows = nullptr;
    return 0;
}

static int core_trace_start(hd_sim *sim, const char *path, uint64_t limit_bytes)
{
    sim->stop_trace();
    sim->trace = new VerilatedFstC;
    sim->trace_path = path;
    sim->trace_limit = limit_bytes;
    sim->totals.trace_cycles = sim->totals.trace_bytes = 0;
    sim->totals.trace_limited = 0;
    sim->top.trace(sim->trace, 99);
    sim->trace->open(path);
    if (sim->trace->isOpen())
        return 0;
    sim->stop_trace();
    return -1;
}

static void core_trace_stop(hd_sim *sim)
{
    sim->stop_trace();
}

static void core_trace_window(hd_sim *, int, uint64_t, uint64_t)
{
}

static void core_commits(hd_sim *, void (*)(void *, const hd_sim_commit *), void *)
{
}

extern "C" __attribute__((visibility("default")))
const hd_sim_api hd_sim_api = {HD_SIM_ABI,         HD_SIM_NAME,     HD_SIM_CONFIG_HASH,
                               HD_SIM_SOURCE_HASH, core_open,       core_close,
                               core_read32,        core_write32,    core_run,
                               core_stuck_text,    nullptr,         core_seed,
                               core_totals,        core_commands,   core_rows,
                               core_trace_start,   core_trace_stop, core_trace_window,
                               core_commits,       nullptr,         CoreMemory<Vhd_sim_top>::kBits};
