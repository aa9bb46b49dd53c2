/* acc_tb.cpp - hd_acc: the sums of all columns, kept and added, against an array: all addresses, an accumulator that is
 * asked for in the step after it was written (never in the very step), frozen cycles, sums that
 * wrap. Argument: [seed]. */
#include <array>
#include <cstdio>
#include <memory>
#include <vector>

#include "Vbench.h"
#include "wide.h"

int main(int argc, char **argv)
{
    constexpr uint32_t depth = CfgAccDepth;
    uint64_t seed = argc > 1 ? strtoull(argv[1], nullptr, 0) : 1;
    std::unique_ptr<Vbench> dut(new Vbench);
    using sums = std::array<uint32_t, CfgN>;
    std::vector<sums> kept(depth);
    std::vector<bool> known(depth);
    uint32_t asked = 0, last = 0; // the address of the step before; the one written last
    bool has = false;             // asked is valid and was known then
    sums value{};
    long checked = 0, failures = 0;
    rng r(seed);

    printf("acc_tb: depth %u, seed %llu\n", depth, (unsigned long long)seed);
    for (long cycle = 0; cycle < 200000; cycle++) {
        const bool step = r.chance(85), read = r.chance(80), add = has && r.chance(70),
                   write = r.chance(70);
        const uint32_t to = add && r.chance(80) ? asked : r.next() % depth,
                       wish = r.chance(40) ? last : r.next() % depth,
                       from = write && wish == to ? (wish + 1) % depth : wish;
        sums sum;
        bool right = true;

        dut->en_i = step;
        dut->re_i = read;
        dut->raddr_i = from;
        for (int c = 0; c < CfgN; c++) {
            const uint32_t psum = r.next();

            sum[c] = add ? psum + value[c] : psum;
            set_field(dut->psum_i, 32 * c, 32, psum);
        }
        dut->add_i = add;
        dut->we_i = write;
        dut->waddr_i = to;
        dut->clk_i = 0;
        dut->eval();
        checked++;
        for (int c = 0; c < CfgN; c++) {
            const uint32_t found = get_field(dut->sum_o, 32 * c, 32);

            if (found != sum[c] && right && failures < 5)
                printf("  cycle %ld, column %d: %08x, expected %08x\n", cycle, c, found, sum[c]);
            right = right && found == sum[c];
        }
        failures += !right;
        dut->clk_i = 1;
        dut->eval();
        if (!step)
            continue;
        if (read) {
            asked = from;
            has = known[from];
            value = kept[from];
        }
        if (write) {
            kept[to] = sum;
            known[to] = true;
            last = to;
        }
    }
    printf("acc_tb: %ld of %ld sums wrong\n", failures, checked);
    return failures != 0;
}
