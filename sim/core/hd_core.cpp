// hd_core.cpp - a target's own core with the table of hd_sim.h (README.md); core_sim.h has the simulation.
#include "core_sim.h"

#include <chrono>
#include <new>

#include "hd_sim_config.h" // named in this file too: sim/build/objects.c then always compiles it
#include "verilated_cov.h"
#include "verilated_sym_props.h"
#include "verilated_syms.h"

thread_local std::string model_failure;

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

static hd_sim *core_open(const hd_sim_options *options, char *error, size_t error_bytes)
{
    hd_sim *const sim = new (std::nothrow) hd_sim(*options);
    if (sim == nullptr) {
        snprintf(error, error_bytes, "no memory");
        return nullptr;
    }
    sim->context.traceEverOn(true);
    sim->set_reset(true);
    for (int i = 0; i < 8; i++)
        sim->cycle();
    sim->set_reset(false);
    return sim;
}

static void core_close(hd_sim *sim)
{
    sim->stop_trace();
    sim->top.final();
#if VM_COVERAGE
    if (sim->core.options.coverage != nullptr)
        sim->context.coveragep()->write(sim->core.options.coverage);
#endif
    delete sim;
}

static uint32_t core_read32(hd_sim *sim, uint32_t offset)
{
    return sim->access(false, offset, 0);
}

static void core_write32(hd_sim *sim, uint32_t offset, uint32_t value)
{
    (void)sim->access(true, offset, value);
}

static hd_sim_stop core_run(hd_sim *sim, uint64_t max_cycles)
{
    const auto begin = std::chrono::steady_clock::now();
    const uint64_t from = sim->core.time(), end = from + std::min(max_cycles, UINT64_MAX - from);
    const bool was_stuck = !sim->hang.empty();
    const auto goes_on = [=] {
        return !was_stuck && sim->failure.empty() && !sim->irq() && !sim->core.still();
    };
    while (from < end && goes_on() && sim->core.system(sim->totals.cycles + 1) <= end)
        sim->cycle();
    if (goes_on())
        sim->core.granted = end;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    sim->totals.wall_seconds += took.count();
    if (!sim->failure.empty())
        return HD_SIM_FAILED;
    if (sim->irq()) {
        sim->written = sim->totals.cycles;
        return HD_SIM_IRQ;
    }
    if (!was_stuck && sim->core.still())
        sim->describe_hang();
    return sim->hang.empty() ? HD_SIM_CYCLES : HD_SIM_STUCK;
}

static const char *core_stuck_text(hd_sim *sim)
{
    return sim->failure.empty() ? sim->hang.c_str() : sim->failure.c_str();
}

static void core_bus_fault(hd_sim *sim, hd_sim_bus_fault *fault)
{
    sim->core.faults.set(fault);
}

static void core_seed(hd_sim *sim, uint64_t seed)
{
    for (Side *const side : sim->sides)
        side->seed(seed);
}

static void core_totals(hd_sim *sim, hd_sim_totals *totals)
{
    *totals = sim->totals;
    totals->time = sim->core.time();
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

static void core_trace_window(hd_sim *sim, int, uint64_t first, uint64_t last)
{
    sim->trace_first = first <= last ? first : 0;
    sim->trace_last = first <= last ? last : UINT64_MAX;
}

static void core_commits(hd_sim *sim, void (*sink)(void *ctx, const hd_sim_commit *commit),
                         void *ctx)
{
    sim->core.sink = sink;
    sim->core.sink_ctx = ctx;
}

// Execute a custom instruction: 1 if it has a result, 0 if not, -1 after a failure.
static int core_instruction(hd_sim *sim, uint32_t word, uint32_t rs1, uint32_t rs2,
                            uint32_t *result)
{
    core_write32(sim, 0, rs1);
    core_write32(sim, 4, rs2);
    *result = sim->access(true, 8, word);
    return !sim->failure.empty() ? -1 : sim->registers->wrote;
}

// An array "mem_q" of the top module, or "u_a.u_b.mem_q" of an instance, whose entries fill their storage.
static uint8_t *core_array(hd_sim *sim, const char *name, uint64_t *n_bytes)
{
    const std::string path = std::string(sim->top.name()) + "." HD_SIM_TOP "." + name;
    const size_t dot = path.rfind('.');
    const VerilatedScope *const scope = sim->context.scopeFind(path.substr(0, dot).c_str());
    const VerilatedVar *const var =
        scope != nullptr ? scope->varFind(path.c_str() + dot + 1) : nullptr;

    if (var == nullptr || var->packed().elements() % 8 != 0 ||
        var->entSize() * 8 != static_cast<uint32_t>(var->packed().elements()))
        return nullptr;
    *n_bytes = var->totalSize();
    return static_cast<uint8_t *>(var->datap());
}

static constexpr bool has_unit()
{
    bool found = false;
#define ADD(index, kind, manager, name, bits)                                                      \
    found = found || (index == HD_CORE_REGISTERS && is_unit(BUS_##kind));
    HD_CORE_BUS(ADD)
#undef ADD
    return found;
}

// The width of the first memory port that can wait; 0: none can, and options of the memory change nothing.
static constexpr uint32_t memory_bits()
{
    uint32_t n = 0;
#define ADD(index, kind, manager, name, bits)                                                      \
    if (n == 0 && BUS_##kind != BUS_MEM && (manager || BUS_##kind == BUS_STREAM))                  \
        n = bits;
    HD_CORE_BUS(ADD)
#undef ADD
    return n;
}

extern "C" __attribute__((visibility("default")))
const hd_sim_api hd_sim_api = {HD_SIM_ABI,         HD_SIM_NAME,
                               HD_SIM_CONFIG_HASH, HD_SIM_SOURCE_HASH,
                               core_open,          core_close,
                               core_read32,        core_write32,
                               core_run,           core_stuck_text,
                               core_bus_fault,     core_seed,
                               core_totals,        core_commands,
                               core_rows,          core_trace_start,
                               core_trace_stop,    core_trace_window,
                               core_commits,       nullptr,
                               memory_bits(),      has_unit() ? core_instruction : nullptr,
                               core_array};
