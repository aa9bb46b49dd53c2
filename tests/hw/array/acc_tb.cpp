/* acc_tb.cpp - hd_acc: the sums of all columns, kept and added, against an array: all addresses, an accumulator that is
 * asked for in the step after it was written (never in the very step), frozen cycles, sums that
 * wrap, and 256 times. Argument: [seed]. */
#include <array>
#include <cstdio>
#include <memory>
#include <vector>

#include "Vbench.h"
#include "tests/hw/wide.h"

using sums = std::array<uint32_t, CfgColumns>;

/* The accumulators as they must be, and the read in flight. */
struct model {
    std::vector<sums> kept = std::vector<sums>(CfgAccDepth);
    std::vector<bool> known = std::vector<bool>(CfgAccDepth);
    uint32_t asked = 0, last = 0; // the address of the step before; the one written last
    bool has = false;             // asked is valid and was known then
    sums value{};
};

struct step {
    bool enable, read, add, upper, write;
    uint32_t from, to;
    sums psum, sum;
};

/* A random step: reads often follow a write to the same address. */
static step draw(rng &r, const model &m)
{
    constexpr uint32_t depth = CfgAccDepth;
    step s{};

    s.enable = r.chance(85), s.read = r.chance(80), s.add = m.has && r.chance(70);
    s.upper = CfgLstm && r.chance(20);
    s.write = r.chance(70);
    s.to = s.add && r.chance(80) ? m.asked : r.next() % depth;
    s.from = r.chance(40) ? m.last : r.next() % depth;
    if (s.write && s.from == s.to)
        s.from = (s.from + 1) % depth;
    for (int c = 0; c < CfgColumns; c++) {
        s.psum[c] = r.next();
        s.sum[c] = s.add ? s.psum[c] + (m.value[c] << (s.upper ? 8 : 0)) : s.psum[c];
    }
    return s;
}

static void drive(Vbench &dut, const step &s)
{
    dut.en_i = s.enable;
    dut.re_i = s.read;
    dut.raddr_i = s.from;
    for (int c = 0; c < CfgColumns; c++)
        set_field(dut.psum_i, 32 * c, 32, s.psum[c]);
    dut.add_i = s.add;
    dut.upper_i = s.upper;
    dut.we_i = s.write;
    dut.waddr_i = s.to;
    dut.clk_i = 0;
    dut.eval();
}

/* Return true if all columns' sums are right; the first wrong one is printed if `say`. */
static bool check(const Vbench &dut, const step &s, long cycle, bool say)
{
    for (int c = 0; c < CfgColumns; c++) {
        const uint32_t found = get_field(dut.sum_o, 32 * c, 32);

        if (found == s.sum[c])
            continue;
        if (say)
            printf("  cycle %ld, column %d: %08x, expected %08x\n", cycle, c, found, s.sum[c]);
        return false;
    }
    return true;
}

static void advance(model &m, const step &s)
{
    if (s.enable && s.read) {
        m.asked = s.from;
        m.has = m.known[s.from];
        m.value = m.kept[s.from];
    }
    if (s.enable && s.write) {
        m.kept[s.to] = s.sum;
        m.known[s.to] = true;
        m.last = s.to;
    }
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], nullptr, 0) : 1;
    std::unique_ptr<Vbench> dut(new Vbench);
    model m;
    long checked = 0, failures = 0;
    rng r(seed);

    printf("acc_tb: depth %u, seed %llu\n", CfgAccDepth, (unsigned long long)seed);
    for (long cycle = 0; cycle < 200000; cycle++) {
        const step s = draw(r, m);

        drive(*dut, s);
        checked++;
        failures += !check(*dut, s, cycle, failures < 5);
        dut->clk_i = 1;
        dut->eval();
        advance(m, s);
    }
    printf("acc_tb: %ld of %ld sums wrong\n", failures, checked);
    return failures != 0;
}
