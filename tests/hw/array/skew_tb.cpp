/* skew_tb.cpp - hd_skew: what comes out went in delay + 1 steps ago, for every delay, with frozen
 * cycles and delays that change from step to step. Argument: [seed]. */
#include <cstdio>
#include <memory>
#include <vector>

#include "Vbench.h"
#include "tests/hw/wide.h"

int main(int argc, char **argv)
{
    constexpr uint32_t depth = 32; // hd_skew's default
    uint64_t seed = argc > 1 ? strtoull(argv[1], nullptr, 0) : 1;
    std::unique_ptr<Vbench> dut(new Vbench);
    std::vector<uint32_t> history; // d_i by step
    uint32_t delay = 0, expected = 0;
    long checked = 0, failures = 0;
    bool known = false;
    rng r(seed);

    printf("skew_tb: seed %llu\n", (unsigned long long)seed);
    for (long cycle = 0; cycle < 100000; cycle++) {
        if (cycle % 2000 < 1000 ? r.chance(1) : r.chance(50))
            delay = (uint32_t)r.range(0, depth - 1);
        const bool step = r.chance(80);

        dut->en_i = step;
        dut->ptr_i = (uint32_t)history.size() % depth;
        dut->delay_i = delay;
        dut->d_i = r.next() & 511;
        if (step) {
            history.push_back(dut->d_i);
            known = history.size() > delay;
            expected = known ? history[history.size() - 1 - delay] : 0;
        }
        dut->clk_i = 0;
        dut->eval();
        dut->clk_i = 1;
        dut->eval();
        // Frozen: the output of the last step stays.
        if (!step)
            continue;
        checked += known;
        if (known && dut->q_o != expected && failures++ < 5)
            printf("  cycle %ld, delay %u: %u, expected %u\n", cycle, delay, dut->q_o, expected);
        if (known && r.chance(30)) {
            dut->en_i = 0;
            dut->d_i = r.next() & 511;
            dut->clk_i = 0;
            dut->eval();
            dut->clk_i = 1;
            dut->eval();
            checked++;
            if (dut->q_o != expected && failures++ < 5)
                printf("  cycle %ld, frozen: %u, expected %u\n", cycle, dut->q_o, expected);
        }
    }
    printf("skew_tb: %ld of %ld values wrong\n", failures, checked);
    return failures != 0;
}
