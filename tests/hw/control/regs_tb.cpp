/* regs_tb.cpp - hd_regs against a state machine written after its contract: random accesses, units
 * and faults. Checked in every cycle: start, clear, stop, the units' reset, the interrupt; after a
 * submission, however it ends, every register; the regions as units see them. clk_i has an edge
 * only where active_o asked for one. Arguments: [seed [submissions]]. */
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <vector>

#include "Vbench.h"
#include "hd_accel.h"
#include "tests/hw/wide.h"

namespace
{
constexpr int A = CfgAxiAddrBits, kUnits = HD_UNIT_COUNT, kKinds = HD_COUNTER_SLOTS,
              kCodeBits = 4; /* of a fault */
constexpr uint32_t kRegions = HD_REG_REGION_SIZE_COUNT, kWords = 0x400;
constexpr uint32_t kEnables = HD_IRQ_ENABLE_DONE_MASK | HD_IRQ_ENABLE_ERROR_MASK;
constexpr uint32_t kFaultUnit[] = {HD_UNIT_LOAD, HD_UNIT_WEIGHT, HD_UNIT_STORE, HD_UNIT_FETCH};

enum state { kIdle, kRun, kFault, kReset, kClear };

struct bench {
    std::unique_ptr<Vbench> dut{new Vbench};
    rng r;
    long failures = 0;
    std::vector<uint32_t> known = std::vector<uint32_t>(kWords), writable = known;
    bool gated = true;

    /* The engine's state, and an accepted write. */
    state at = kIdle;
    bool cleared = false; /* clear_o in this cycle */
    bool aw = false, w = false;
    uint32_t aw_addr = 0, w_data = 0, w_mask = 0;
    bool done = false, error = false, irq_done = false, irq_error = false;
    uint64_t cycles = 0;
    uint32_t count[kUnits][kKinds] = {};
    uint32_t code = 0, unit = 0, command = 0;
    uint64_t address = 0;

    explicit bench(uint64_t seed) : r(seed)
    {
        for (uint32_t i = 0; i < kRegions; i++)
            writable[HD_REG_REGION_BASE_LO(i) / 4] = writable[HD_REG_REGION_BASE_HI(i) / 4] =
                writable[HD_REG_REGION_SIZE(i) / 4] = ~0u;
        writable[HD_REG_REGION_RIGHTS / 4] = ~0u;
        writable[HD_REG_COMMAND_OFFSET / 4] = writable[HD_REG_COMMAND_LENGTH / 4] = ~0u;
        writable[HD_REG_IRQ_ENABLE / 4] = kEnables;
        dut->rst_ni = 0;
        for (int i = 0; i < 3; i++)
            tick(true);
        dut->rst_ni = 1;
        tick(true);
        units();
    }

    void check(bool ok, const char *what, uint64_t found = 0, uint64_t expected = 0)
    {
        if (ok || failures++ >= 10)
            return;
        printf("  wrong: %s: %" PRIx64 ", expected %" PRIx64 ", state %d\n", what, found, expected,
               at);
    }

    void tick(bool edge)
    {
        dut->clk_free_i = 1;
        dut->clk_i = edge;
        dut->eval();
        dut->clk_free_i = dut->clk_i = 0;
        dut->eval();
    }

    /* --- the engine --- */
    void forget()
    {
        done = error = false;
        cycles = 0;
        for (auto &kinds : count)
            for (uint32_t &n : kinds)
                n = 0;
        code = unit = command = 0;
        address = 0;
    }

    void take_fault()
    {
        int first = 0;

        while ((dut->fault_i >> first & 1) == 0)
            first++;
        code = get_field(dut->fault_code_i, first * kCodeBits, kCodeBits);
        unit = kFaultUnit[first];
        command = get_field(dut->fault_cmd_i, first * 32, 32);
        address = get_field(dut->fault_addr_i, first * 64, 32) |
                  (uint64_t)get_field(dut->fault_addr_i, first * 64 + 32, 32) << 32;
    }

    void count_cycle()
    {
        cycles++;
        for (int u = 0; u < kUnits; u++)
            count[u][get_field(dut->unit_kind_i, u * 3, 3)]++;
    }

    /* Apply the write that takes effect now. */
    void apply(uint32_t word)
    {
        known[word] =
            (known[word] & ~(w_mask & writable[word])) | (w_data & w_mask & writable[word]);
        if (word == HD_REG_IRQ_STATUS / 4) {
            irq_done &= (w_data & w_mask & HD_IRQ_STATUS_DONE_MASK) == 0;
            irq_error &= (w_data & w_mask & HD_IRQ_STATUS_ERROR_MASK) == 0;
        }
    }

    bool interrupt() const
    {
        const uint32_t enable = known[HD_REG_IRQ_ENABLE / 4];

        return (irq_done && (enable & HD_IRQ_ENABLE_DONE_MASK)) ||
               (irq_error && (enable & HD_IRQ_ENABLE_ERROR_MASK));
    }

    void cycle()
    {
        for (int u = 0; u < kUnits; u++)
            set_field(dut->unit_kind_i, u * 3, 3, r.next() & 7);
        dut->eval();
        const bool effect = aw && w && at != kClear, mine = aw_addr / 4 == HD_REG_CONTROL / 4;
        const uint32_t control = effect && mine ? w_data & w_mask : 0;
        const bool start = (control & HD_CONTROL_START_MASK) != 0 && at == kIdle;

        check(dut->start_o == start, "start_o", dut->start_o, start);
        check(dut->clear_o == cleared, "clear_o", dut->clear_o, cleared);
        check(dut->stop_o == (at >= kFault), "stop_o");
        check(dut->unit_rst_no == (at != kClear), "unit_rst_no");
        check(dut->irq_o == interrupt(), "irq_o", dut->irq_o, interrupt());
        check(dut->stream_offset_o == known[HD_REG_COMMAND_OFFSET / 4], "stream_offset_o");
        check(dut->stream_bytes_o == known[HD_REG_COMMAND_LENGTH / 4], "stream_bytes_o");
        check(at != kClear || (!dut->s_awready_o && !dut->s_wready_o), "a write in StClear");
        check((!aw || !dut->s_awready_o) && (!w || !dut->s_wready_o), "half of a write, again");
        check(dut->s_bresp_o == 0 && dut->s_rresp_o == 0, "OKAY");

        state next = at;
        switch (at) {
        case kIdle: next = start ? kRun : kIdle; break;
        case kRun: next = dut->fault_i ? kFault : dut->end_i ? kClear : kRun; break;
        case kFault: next = dut->bus_quiet_i && dut->units_quiet_i ? kClear : kFault; break;
        case kReset: next = dut->bus_quiet_i ? kClear : kReset; break;
        default: next = kIdle;
        }
        if (control & HD_CONTROL_SOFT_RESET_MASK)
            next = kReset;
        if (at == kRun || at == kFault)
            count_cycle();
        if (at == kRun && dut->fault_i)
            take_fault();
        if (effect)
            apply(aw_addr / 4);
        cleared = start || (at == kReset && next == kClear);
        if (cleared)
            forget();
        if (at == kReset && next == kClear)
            irq_done = irq_error = false;
        if ((at == kRun || at == kFault) && next == kClear) {
            done = irq_done = true;
            error = at == kFault;
            irq_error |= error;
        }
        if (effect)
            aw = w = false;
        at = next;
        accept();
        tick(!gated || dut->active_o);
    }

    void accept()
    {
        if (dut->s_awvalid_i && dut->s_awready_o) {
            aw = true;
            aw_addr = dut->s_awaddr_i;
        }
        if (dut->s_wvalid_i && dut->s_wready_o) {
            w = true;
            w_data = dut->s_wdata_i;
            w_mask = 0;
            for (int k = 0; k < 4; k++)
                w_mask |= dut->s_wstrb_i >> k & 1 ? 0xffu << (8 * k) : 0;
        }
    }

    /* --- the bus --- */
    void write(uint32_t addr, uint32_t value, uint32_t strobe = 15)
    {
        const int order = r.range(0, 2); /* address first, data first, together */
        bool aw_left = true, w_left = true;

        dut->s_awaddr_i = (uint16_t)addr;
        dut->s_wdata_i = value;
        dut->s_wstrb_i = strobe & 15;
        dut->s_bready_i = 0;
        for (int i = 0; (aw_left || w_left) && i < 100; i++) {
            dut->s_awvalid_i = aw_left && (order != 1 || i > 2);
            dut->s_wvalid_i = w_left && (order != 0 || i > 2);
            dut->eval();
            const bool aw_now = dut->s_awvalid_i && dut->s_awready_o,
                       w_now = dut->s_wvalid_i && dut->s_wready_o;
            cycle();
            aw_left &= !aw_now;
            w_left &= !w_now;
        }
        dut->s_awvalid_i = dut->s_wvalid_i = 0;
        dut->s_awaddr_i = (uint16_t)(r.next() & 0xfff);
        dut->s_wdata_i = r.next();
        dut->s_wstrb_i = r.next() & 15;
        for (int i = r.range(1, 4); i > 0 || (!dut->s_bvalid_o && i > -100); i--)
            cycle();
        check(dut->s_bvalid_o, "a write's answer");
        dut->s_awvalid_i = dut->s_wvalid_i = r.chance(50);
        dut->eval();
        check(!dut->s_awready_o && !dut->s_wready_o, "a write while another has no answer");
        dut->s_awvalid_i = dut->s_wvalid_i = 0;
        dut->s_bready_i = 1;
        cycle();
        dut->s_bready_i = 0;
        check(!dut->s_bvalid_o, "an answer stays");
    }

    uint32_t read(uint32_t addr)
    {
        dut->s_araddr_i = (uint16_t)addr;
        dut->s_arvalid_i = 1;
        dut->s_rready_i = 0;
        dut->eval();
        check(dut->s_arready_o, "a read's address is taken at once");
        cycle();
        dut->s_arvalid_i = 0;
        dut->s_araddr_i = (uint16_t)(r.next() & 0xfff);
        dut->s_rready_i = r.chance(50);
        for (int i = 0; !dut->s_rvalid_o && i < 20; i++) {
            check(!dut->s_arready_o, "a read while another has no answer");
            cycle();
        }
        check(dut->s_rvalid_o, "a read's answer");
        const uint32_t value = dut->s_rdata_o;
        if (!dut->s_rready_i)
            for (int i = r.range(0, 3); i > 0; i--)
                cycle();
        check(dut->s_rvalid_o && dut->s_rdata_o == value, "a read's answer stays");
        dut->s_rready_i = 1;
        cycle();
        dut->s_rready_i = 0;
        check(!dut->s_rvalid_o, "an answer is given once");
        return value;
    }

    /* --- values of registers --- */
    uint32_t expected(uint32_t word) const
    {
        const uint32_t u = word - HD_REG_UNIT_COMMAND(0) / 4, d = word - HD_REG_UNIT_DONE(0) / 4,
                       k = word - HD_REG_COUNTER(0) / 4;

        if (u < (uint32_t)kUnits)
            return get_field(dut->unit_cmd_i, (int)u * 32, 32);
        if (d < (uint32_t)kUnits)
            return get_field(dut->unit_count_i, (int)d * 32, 32);
        if (k < HD_REG_COUNTER_COUNT)
            return count[k / kKinds][k % kKinds];
        switch (word * 4) {
        case HD_REG_ID: return HD_ID;
        case HD_REG_VERSION: return HD_STREAM_VERSION;
        case HD_REG_CONFIG_HASH: return dut->hash_o;
        case HD_REG_STATUS:
            return (at == kRun || at == kFault ? HD_STATUS_BUSY_MASK : 0) |
                   (done ? HD_STATUS_DONE_MASK : 0) | (error ? HD_STATUS_ERROR_MASK : 0) |
                   (at == kReset ? HD_STATUS_RESETTING_MASK : 0);
        case HD_REG_IRQ_STATUS:
            return (irq_done ? HD_IRQ_STATUS_DONE_MASK : 0) |
                   (irq_error ? HD_IRQ_STATUS_ERROR_MASK : 0);
        case HD_REG_ERR_CAUSE: return code | unit << HD_ERR_CAUSE_UNIT_LSB;
        case HD_REG_ERR_COMMAND: return command;
        case HD_REG_ERR_ADDRESS_LO: return (uint32_t)address;
        case HD_REG_ERR_ADDRESS_HI: return (uint32_t)(address >> 32);
        case HD_REG_CYCLES_LO: return (uint32_t)cycles;
        case HD_REG_CYCLES_HI: return (uint32_t)(cycles >> 32);
        default: return known[word];
        }
    }

    void check_register(uint32_t word)
    {
        const uint32_t found = read(word * 4 | (r.next() & 3)), want = expected(word);

        if (found != want)
            printf("  register %x\n", word * 4);
        check(found == want, "register", found, want);
    }

    /* Check all registers, and some addresses beyond them. */
    void check_registers()
    {
        for (uint32_t word = 0; word < HD_REG_BYTES / 4; word++)
            check_register(word);
        for (int i = 0; i < 20; i++)
            check_register(r.next() % kWords);
    }

    /* --- stimuli --- */
    void units()
    {
        for (int u = 0; u < kUnits; u++) {
            set_field(dut->unit_cmd_i, u * 32, 32, r.next());
            set_field(dut->unit_count_i, u * 32, 32, r.next());
        }
    }

    void fault(uint32_t from)
    {
        dut->fault_i = from & 15;
        set_field(dut->fault_code_i, 0, 4 * kCodeBits, r.next());
        for (int i = 0; i < 8; i++)
            set_field(dut->fault_addr_i, i * 32, 32, r.next());
        for (int i = 0; i < 4; i++)
            set_field(dut->fault_cmd_i, i * 32, 32, r.next());
    }

    void some_writes(int n)
    {
        for (int i = 0; i < n; i++) {
            const uint32_t word = r.next() % (r.chance(20) ? kWords : HD_REG_BYTES / 4);

            if (word != HD_REG_CONTROL / 4)
                write(word * 4 | (r.next() & 3), r.next(), r.next());
        }
    }

    /* Regions near the end of the bus and beyond, as units see them. */
    void regions()
    {
        for (uint32_t i = 0; i < kRegions; i++) {
            const uint64_t hi = r.chance(30) ? 1ull << r.range(A - 32, 31) : 0,
                           end = r.chance(30) ? (1ull << (A - 32)) - 1 : r.next() >> (64 - A);

            write(HD_REG_REGION_BASE_LO(i), r.chance(30) ? ~0u << r.range(4, 31) : r.next());
            write(HD_REG_REGION_BASE_HI(i), (uint32_t)(hi | end));
            write(HD_REG_REGION_SIZE(i), r.next());
        }
        write(HD_REG_REGION_RIGHTS, r.next());
        gated = false; /* its user keeps the clock running */
        for (int i = 0; i < 4; i++)
            cycle();
        for (int i = 0; i < 100; i++) {
            dut->region_i = r.next() & 0xffff;
            cycle();
            for (int p = 0; p < 4; p++)
                check_lookup(p, dut->region_i >> (4 * p) & 15);
        }
        gated = true;
    }

    void check_lookup(int p, uint32_t i)
    {
        const uint64_t base = known[HD_REG_REGION_BASE_LO(i) / 4] |
                              (uint64_t)known[HD_REG_REGION_BASE_HI(i) / 4] << 32,
                       end = base + known[HD_REG_REGION_SIZE(i) / 4], bus = 1ull << A,
                       limit = base >= bus ? 0
                               : end < bus ? end
                                           : bus,
                       found = get_bits(dut->region_limit_o, p * (A + 1), 32) |
                               (uint64_t)get_bits(dut->region_limit_o, p * (A + 1) + 32, A - 31)
                                   << 32,
                       start = get_bits(dut->region_base_o, p * A, 32) |
                               (uint64_t)get_bits(dut->region_base_o, p * A + 32, A - 32) << 32;
        const uint32_t rights = known[HD_REG_REGION_RIGHTS / 4],
                       right = rights >> (p == 2 ? HD_REGION_RIGHTS_WRITE_LSB : 0) >> i & 1;

        check(found == limit, "limit", found, limit);
        check(limit == 0 || start == base, "base", start, base);
        check((dut->region_right_o >> p & 1) == right, "right");
    }

    /* A soft reset takes effect in the cycle of its write; nothing ends before. */
    void soft_reset()
    {
        dut->end_i = dut->bus_quiet_i = 0;
        write(HD_REG_CONTROL, HD_CONTROL_SOFT_RESET_MASK | (r.next() & ~HD_CONTROL_START_MASK));
        check(at == kReset, "a soft reset");
        for (uint32_t reg : {HD_REG_STATUS, HD_REG_IRQ_STATUS})
            check_register(reg / 4);
        dut->units_quiet_i = 0;
        drain();
    }

    /* Wait until bus and units are idle, with more faults, which do not count, and ends. */
    void drain()
    {
        while (at == kFault || at == kReset) {
            dut->bus_quiet_i = r.chance(30);
            if (at == kFault)
                dut->units_quiet_i = r.chance(30);
            fault(r.chance(50) ? r.next() : 0);
            dut->end_i = r.chance(30);
            cycle();
        }
        dut->fault_i = 0;
        dut->end_i = 0;
    }

    void submission(int n)
    {
        dut->bus_quiet_i = dut->units_quiet_i = 0;
        write(HD_REG_CONTROL, HD_CONTROL_START_MASK | (r.next() & ~HD_CONTROL_SOFT_RESET_MASK));
        check(at == kRun, "a start");
        for (int i = 0; i < n; i++)
            cycle();
        units();
        for (int i = 0; i < 4; i++)
            check_register((r.chance(50) ? HD_REG_UNIT_COMMAND(0) : HD_REG_UNIT_DONE(0)) / 4 +
                           r.next() % kUnits);
        check_register(HD_REG_STATUS / 4);
        write(HD_REG_CONTROL, HD_CONTROL_START_MASK); /* ignored */
        dut->bus_quiet_i = r.chance(50);
        switch (r.range(0, 3)) {
        case 0: dut->end_i = 1; break;
        case 1: soft_reset(); break;
        default: fault(1 + r.next() % 15); dut->end_i = r.chance(50);
        }
        if (at == kRun)
            cycle();
        dut->end_i = 0;
        if (at == kFault && r.chance(30))
            soft_reset();
        drain();
        for (int i = 0; i < 3; i++)
            cycle();
        check_registers();
    }

    /* Test each cause alone, and both; bytes without strobe have no effect. */
    void interrupts()
    {
        for (int i = 0; i < 6; i++) {
            write(HD_REG_IRQ_ENABLE, r.next(), r.next());
            cycle();
            check_register(HD_REG_IRQ_ENABLE / 4);
            write(HD_REG_IRQ_STATUS, r.next() & r.next(), r.next());
            check_register(HD_REG_IRQ_STATUS / 4);
        }
    }
};

} // namespace

int main(int argc, char **argv)
{
    const uint64_t seed = argc > 1 ? strtoull(argv[1], nullptr, 0) : 1;
    const int n = argc > 2 ? atoi(argv[2]) : 200;

    Verilated::commandArgs(argc, argv);
    printf("regs: seed %" PRIu64 ", %d submissions\n", seed, n);
    bench b(seed);
    b.write(HD_REG_REGION_SIZE(3), 77); /* waits until all regions are clear */
    b.check_registers();
    for (int i = 0; i < n && b.failures == 0; i++) {
        b.some_writes(20);
        if (i % 10 == 0)
            b.regions();
        if (i % 4 == 0)
            b.check_registers();
        b.submission(i == 0 ? 20000 : b.r.range(0, 100));
        b.interrupts();
    }
    printf("regs: %ld failures\n", b.failures);
    return b.failures != 0;
}
