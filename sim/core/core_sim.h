// core_sim.h - a core in simulation: Verilator's model, its clocks, resets and interrupt, the sides of its buses, the watchdog,
// waves.
#ifndef HEDDLE_SIM_CORE_SIM_H
#define HEDDLE_SIM_CORE_SIM_H

#include <cstdio>
#include <memory>
#include <string>
#include <sys/stat.h>
#include <vector>

#include "Vhd_sim_top.h"
#include "core.h"
#include "hd_core_ports.h"
#include "hd_sim_config.h"
#include "verilated.h"
#include "verilated_fst_c.h"

extern thread_local std::string model_failure; // $finish, $stop, assertions

struct hd_sim {
    VerilatedContext context;
    Vhd_sim_top top;
    Core core;
    hd_sim_totals &totals = core.totals;
    std::string &failure = core.failure;
    Bus bus[HD_CORE_BUSES + 1];
    std::unique_ptr<Registers> registers; // may be none
    std::vector<std::unique_ptr<Side>> memories;
    std::vector<std::unique_ptr<Stream>> inputs, outputs;
    std::vector<Side *> sides;
    bool in_reset = true, level = false, pending = false; // of the interrupt: now, its edge
    uint64_t phase[HD_CORE_CLOCKS] = {};
    VerilatedFstC *trace = nullptr;
    std::string trace_path;
    uint64_t trace_limit = 0, trace_first = 0, trace_last = UINT64_MAX;
    std::string hang;              // what stuck_text says of it
    std::vector<uint32_t> offsets; // of registers that were accessed

    // With a seed of stalls registers begin with random values; else with 0.
    static VerilatedContext *seeded(VerilatedContext &context, uint64_t seed)
    {
        context.randReset(seed != 0 ? 2 : 0);
        context.randSeed(static_cast<int>(seed * 2654435761u >> 1 & 0x7fffffff));
        return &context;
    }

    explicit hd_sim(const hd_sim_options &options) : top{seeded(context, options.stall_seed)}
    {
        core.options = options;
#define ADD(index, kind, manager, name, bits) set_bus(bus[index], name, BUS_##kind, manager, bits);
        HD_CORE_BUS(ADD)
#undef ADD
#define ADD(index, signal, member, name, bits, lsb)                                                \
    bus[index].wire[signal] = {reinterpret_cast<uint8_t *>(&top.member), sizeof top.member, bits,  \
                               lsb, name};
        HD_CORE_WIRE(ADD)
#undef ADD
        for (Bus &b : bus)
            for (const Wire &wire : b.wire)
                if (wire)
                    memset(wire.at, 0, wire.bytes);
#define ADD(member, value) top.member = value;
        HD_CORE_CONSTANT(ADD)
#undef ADD
        for (uint32_t i = 0; i < HD_CORE_BUSES; i++)
            add_side(bus[i], static_cast<int>(i) == HD_CORE_REGISTERS);
    }

    static void set_bus(Bus &b, const char *name, BusKind kind, bool manager, uint32_t bits)
    {
        b = {name, kind, manager, bits / 8, {}};
    }

    void add_side(const Bus &b, bool is_registers)
    {
        if (is_registers) {
            registers = make_registers(b, core);
            sides.push_back(registers.get());
        } else if (b.kind == BUS_STREAM) {
            auto &list = b.manager ? outputs : inputs;
            list.push_back(make_stream(b, core));
            sides.push_back(list.back().get());
        } else if (b.manager) {
            memories.push_back(make_memory(b, core));
            sides.push_back(memories.back().get());
        }
    }

    void dump(uint64_t half)
    {
        if (trace != nullptr && totals.cycles >= trace_first && totals.cycles <= trace_last)
            trace->dump(totals.cycles * 10 + half);
    }

    void set_reset(bool active)
    {
        in_reset = active;
#define SET(member, high) top.member = active == static_cast<bool>(high);
        HD_CORE_RESET(SET)
#undef SET
    }

    // Clock i, which ticks `ticks` times in `of` cycles: its ticks in this cycle.
    uint32_t ticks(uint32_t i, uint32_t ticks, uint32_t of)
    {
        phase[i] += ticks;
        const uint64_t n = phase[i] / of;
        phase[i] %= of;
        return static_cast<uint32_t>(n);
    }

    // Edges of the clocks that tick more than once come before the last, which all share.
    void rise()
    {
        uint32_t count[HD_CORE_CLOCKS], most = 1, i = 0;
#define COUNT(member, n, of)                                                                       \
    count[i] = ticks(i, n, of);                                                                    \
    most = count[i] > most ? count[i] : most;                                                      \
    i++;
        HD_CORE_CLOCK(COUNT)
#undef COUNT
        for (uint32_t left = most; left > 0; left--) {
            i = 0;
#define LOW(member, n, of)  top.member = 0;
#define HIGH(member, n, of) top.member = count[i++] >= left;
            if (left != most) {
                HD_CORE_CLOCK(LOW)
                top.eval();
            }
            HD_CORE_CLOCK(HIGH)
            top.eval();
        }
    }

    void fall()
    {
        HD_CORE_CLOCK(LOW)
#undef LOW
#undef HIGH
        top.eval();
    }

    void cycle()
    {
        fall();
        dump(0);
        if (!in_reset)
            for (Side *const side : sides)
                side->sample();
#define COUNT(index, port) totals.counter[index] += top.port;
        HD_CORE_COUNTERS(COUNT)
#undef COUNT
        rise();
        dump(5);
        totals.cycles++;
        if (!in_reset)
            for (Side *const side : sides)
                side->drive();
        look();
        if (failure.empty() && !model_failure.empty())
            failure.swap(model_failure);
        if (trace != nullptr)
            check_trace();
    }

    // The interrupt after the edge; every answer must have come before it rises, unless it is of one unit.
    void look()
    {
        const bool was = level;
#ifdef HD_CORE_IRQ
        level = (top.HD_CORE_IRQ != 0) == (HD_CORE_IRQ_KIND % 2 == 0);
#endif
        if (in_reset)
            return;
        pending = pending || (level && !was);
        if (level != was)
            core.stir();
        if (level && !was)
            check_done();
    }

    void check_done()
    {
#ifdef HD_CORE_IRQ
        for (const auto &memory : memories)
            if (memory->waiting() != 0 && core.options.irq_of_unit == 0)
                core.fail(HD_CORE_IRQ_NAME ", cycle %" PRIu64 ": expected every access answered, "
                                           "found %" PRIu64 " under way",
                          totals.cycles, memory->waiting());
#endif
    }

    // Return what ends wait_irq: a level, an edge since the last register write, or the end of transfers.
    bool irq() const
    {
#ifdef HD_CORE_IRQ
        return HD_CORE_IRQ_KIND < 2 ? level : pending;
#else
        bool used = false, left = false;
        for (const auto *const list : {&inputs, &outputs})
            for (const auto &stream : *list) {
                used = used || stream->used;
                left = left || stream->left != 0;
            }
        return used && !left;
#endif
    }

    Stream *stream(uint32_t offset) const
    {
        const auto &list = offset < 0xf000 ? inputs : outputs;
        const uint32_t i = (offset & 0xfff) / 0x20;
        return offset >= 0xe000 && i < list.size() ? list[i].get() : nullptr;
    }

    uint32_t access(bool write, uint32_t offset, uint32_t value)
    {
        Stream *const s = stream(offset);

        if (s != nullptr || registers == nullptr) {
            if (write && s != nullptr && offset % 0x20 == 0)
                stream_at = value;
            else if (write && s != nullptr)
                s->start(stream_at, value);
            else if (s == nullptr)
                core.fail("register 0x%x: the core has no registers", offset);
            cycle();
            return s != nullptr ? s->left : 0;
        }
        pending = pending && !write;
        registers->begin(write, offset, value);
        totals.register_reads += !write;
        while (!registers->done && failure.empty())
            cycle();
        if (!failure.empty())
            return ~0u;
        remember(offset);
        core.note(write ? "register write" : "register read", offset,
                  write ? value : registers->value);
        written = write ? totals.cycles : written;
        if (core.still()) // it is polled
            failure = describe_hang();
        else if (core.options.max_cycles != 0 && totals.cycles - written > core.options.max_cycles)
            failure = describe("the device did not finish in the cycles allowed; only "
                               "register reads for " +
                               std::to_string(core.options.max_cycles) + " cycles (--max-cycles)");
        return registers->value;
    }

    void remember(uint32_t offset)
    {
        for (const uint32_t known : offsets)
            if (known == offset)
                return;
        if (offsets.size() < 64)
            offsets.push_back(offset);
    }

    const std::string &describe_hang()
    {
        return describe(
            "the device can make no more progress; no register, memory or interrupt activity for " +
            std::to_string(core.options.watchdog_cycles ? core.options.watchdog_cycles : kStill) +
            " cycles");
    }

    // The registers' values are read once more, by the bus.
    const std::string &describe(const std::string &what)
    {
        char one[64];
        const std::string accesses = core.last_accesses();

        hang = what + ", until cycle " + std::to_string(totals.cycles) + "; registers:";
        for (const uint32_t offset : offsets) {
            registers->begin(false, offset, 0);
            for (uint32_t n = 0; !registers->done && n < 1000 && failure.empty(); n++)
                cycle();
            const bool answered = registers->done && failure.empty();
            (void)snprintf(one, sizeof one, answered ? " 0x%x = 0x%x" : " 0x%x: no answer", offset,
                           registers->value);
            hang += one;
            if (!answered)
                break;
        }
        hang += "; last accesses: " + accesses;
        if (core.faults.happened()) {
            (void)snprintf(one, sizeof one, "; the bus fault: at 0x%" PRIx64,
                           core.faults.address());
            hang += one;
        }
        return hang;
    }
    uint64_t written = 0;   // the cycle of the last register write, or end of a wait
    uint32_t stream_at = 0; // the address of the next transfer

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

#endif
