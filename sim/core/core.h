// core.h - what the sides of a core's buses share: wires to its ports, its memory, the first failure, the pace.
//   A bus of bus.def is a struct Bus: a Wire for each of its signals; without a port it is false.
//   A Side is what heddle has at the other end of a bus. In each cycle, after reset:
//     sample(): settled signals before the rising edge: handshakes, rules.
//     drive():  inputs for the next cycle, after the edge; totals.cycles is that cycle.
#ifndef HEDDLE_SIM_CORE_H
#define HEDDLE_SIM_CORE_H

#include <algorithm>
#include <cinttypes>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "core_fault.h"
#include "hd_sim.h"

enum BusKind {
#define BUS(bus, name, what) BUS_##bus,
#define SIGNAL(bus, channel, signal, names, from, width, need)
#define HANDSHAKE(bus, valid, ready)
#include "bus.def"
#undef BUS
#undef SIGNAL
    BUS_COUNT
};

enum BusSignal {
#define BUS(bus, name, what)
#define SIGNAL(bus, channel, signal, names, from, width, need) signal,
#include "bus.def"
#undef BUS
#undef SIGNAL
#undef HANDSHAKE
    SIGNAL_COUNT
};

constexpr uint32_t kWord = 64;        // bytes of the widest bus
constexpr uint32_t kPatience = 10000; // cycles that a core may let heddle wait
constexpr uint32_t kPeriod = 2048;    // cycles in which stalls are of one kind
constexpr uint32_t kStill = 100000;   // cycles without any activity: a hang

// A port; its value is in Verilator's class, in 1, 2, 4, 8 or more bytes, the lowest first.
struct Wire {
    uint8_t *at = nullptr;
    uint32_t bytes = 0, bits = 0, lsb = 0; // bytes: of its storage
    const char *name = "";

    explicit operator bool() const
    {
        return at != nullptr;
    }

    uint64_t get(uint64_t absent = 0) const
    {
        uint64_t value = 0;

        if (at == nullptr)
            return absent;
        switch (bytes) {
        case 1: return *at;
        case 2: memcpy(&value, at, 2); return value;
        case 4: memcpy(&value, at, 4); return value;
        default: memcpy(&value, at, 8); return value;
        }
    }

    void set(uint64_t value) const
    {
        if (at == nullptr)
            return;
        if (bits < 64)
            value &= (uint64_t{1} << bits) - 1;
        memcpy(at, &value, bytes < 8 ? bytes : 8);
    }

    // A byte address, of a port as [31:2] too.
    uint64_t address() const
    {
        return get() << lsb;
    }
    void set_address(uint64_t value) const
    {
        set(value >> lsb);
    }
};

struct Bus {
    const char *name = ""; // its prefix
    BusKind kind = BUS_COUNT;
    bool manager = false;        // the core is
    uint32_t bytes = 0;          // of its data
    Wire wire[SIGNAL_COUNT + 1]; // the last: none

    const Wire &operator[](BusSignal signal) const
    {
        return wire[signal];
    }
    bool on(BusSignal signal, uint64_t absent = 0) const
    {
        return wire[signal].get(absent) != 0;
    }
    bool fires(BusSignal valid, BusSignal ready) const
    {
        return on(valid) && on(ready, 1);
    }
};

struct Core {
    hd_sim_options options{};
    hd_sim_totals totals{};
    std::string failure;                                            // the first; empty: none
    void (*sink)(void *ctx, const hd_sim_commit *commit) = nullptr; // receives memory writes
    void *sink_ctx = nullptr;

    Faults faults;
    uint64_t granted = 0; // cycles of the system up to which run() has advanced
    // Cycles of the system after n of the core.
    uint64_t system(uint64_t n) const
    {
        return options.clock[0] ? (n * options.clock[1] + options.clock[0] - 1) / options.clock[0]
                                : n;
    }
    uint64_t time() const
    {
        return std::max(granted, system(totals.cycles));
    }

    void fail(const char *format, ...) __attribute__((format(printf, 2, 3)));
    // "m_axi AW, cycle 12: " and the text.
    void broken(const Bus &bus, BusSignal of, const char *format, ...)
        __attribute__((format(printf, 4, 5)));
    // n bytes at `at`; those beyond the end are 0, and all of them a failure.
    void read(uint64_t at, void *to, uint64_t n);
    void write(uint64_t at, const uint8_t *from, uint64_t n, uint64_t strobe);
    bool faulty(uint64_t at, uint64_t n) const; // SLVERR (hd_sim_options)

    // The last accesses; those of registers that read again what they read before do not count as activity.
    struct Access {
        const char *what; // "reads", "writes" of memory; "register read", "register write"
        uint64_t at, value, cycle;
    };
    void note(const char *what, uint64_t at, uint64_t value);
    bool still() const
    {
        return totals.cycles - active_ >=
               (options.watchdog_cycles ? options.watchdog_cycles : kStill);
    }
    void stir()
    {
        active_ = totals.cycles;
    }
    std::string last_accesses() const;

  private:
    Access access_[8] = {};
    uint64_t n_access_ = 0, active_ = 0;
    void outside(const char *what, uint64_t at);
};

// Bandwidth and stalls of a memory, as Memory's (sim/memory.h).
class Pace
{
  public:
    explicit Pace(const Core &core) : core_(core)
    {
        seed(core.options.stall_seed);
    }
    void seed(uint64_t seed);
    bool random() const
    {
        return random_ != 0;
    }
    uint64_t draw();
    // Three of four cycles go on; else a stall of 1 to 8 cycles. For some periods a channel stalls for up
    // to 64, or never.
    bool stalls(uint32_t channel);
    uint64_t latency(); // from now on; random: up to twice
    bool may(uint64_t free, uint32_t bytes) const
    {
        return core_.totals.cycles * rate(bytes) >= free;
    }
    void take(uint64_t &free, uint32_t bytes, uint64_t cycle) const;

  private:
    uint64_t rate(uint32_t bytes) const
    {
        const uint32_t n = core_.options.bytes_per_cycle;
        return n != 0 && n < bytes ? n : bytes;
    }
    const Core &core_;
    uint64_t random_ = 0;
    uint64_t modes_ = 0, period_ = UINT64_MAX; // two bits a channel, for these kPeriod cycles
    uint32_t stall_[8] = {};
};

class Side
{
  public:
    virtual ~Side() = default;
    virtual void sample() = 0;
    virtual void drive() = 0;
    virtual void seed(uint64_t)
    {
    }
    // Accesses of the core that are not answered.
    virtual uint64_t waiting() const
    {
        return 0;
    }
};

// The registers' bus: one access at a time.
class Registers : public Side
{
  public:
    virtual void begin(bool write, uint32_t offset, uint32_t value) = 0;
    bool done = true;
    uint32_t value = 0;
    bool wrote = false; // of a unit: the last instruction has a result
};

// A stream: bytes of the memory to or from the core (core_stream.cpp).
class Stream : public Side
{
  public:
    virtual void start(uint32_t address, uint32_t bytes) = 0;
    uint32_t left = 0; // bytes still to come
    bool used = false; // started since open
};

// A unit of custom instructions, CFU or PCPI (core_unit.cpp), as registers: operands are written at 0 and 4, an
// instruction at 8, which executes it; 8 is then its result.
std::unique_ptr<Registers> make_unit(const Bus &bus, Core &core);
constexpr bool is_unit(BusKind kind)
{
    return kind == BUS_CFU || kind == BUS_PCPI;
}

std::unique_ptr<Registers> make_registers(const Bus &bus, Core &core);
std::unique_ptr<Side> make_memory(const Bus &bus, Core &core);
std::unique_ptr<Side> make_axi_memory(const Bus &bus, Core &core);
std::unique_ptr<Stream> make_stream(const Bus &bus, Core &core);

#endif
