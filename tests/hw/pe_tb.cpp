/* pe_tb.cpp - hd_pe: every activation with random weights and sums, all modes, frozen cycles,
 * weights that change under way. Argument: [seed]. */
#include <cstdio>
#include <memory>

#include "Vbench.h"
#include "tests/hw/wide.h"

namespace
{
/* Signed 9-bit value as its field. */
uint32_t nine(int32_t x)
{
    return (uint32_t)x & 511;
}
} // namespace

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], nullptr, 0) : 1;
    std::unique_ptr<Vbench> dut(new Vbench);
    rng r(seed);
    int32_t weight = 0;
    uint32_t sum = 0;
    long failures = 0;
    const long cycles = 200000;

    printf("pe_tb: %llu\n", (unsigned long long)seed);
    for (long i = 0; i < cycles + 2; i++) {
        int32_t tap = (int32_t)(i % 511) - 255, row = r.range(-255, 255), row2 = r.range(-255, 255);
        int32_t next = r.chance(20) ? -255 : r.range(-255, 255);
        uint32_t above = r.next();
        dut->en_i = i < 2 || r.chance(80);
        dut->w_we_i = i == 0 || r.chance(30);
        dut->depthwise_i = r.chance(40);
        dut->tap_en_i = r.chance(70);
        dut->pair_i = r.chance(50);
        dut->second_i = r.chance(50);
        dut->tap_i = (uint16_t)nine(tap);
        dut->row_i = (uint32_t)row;
        dut->row2_i = (uint32_t)row2;
        dut->psum_i = above;
        dut->w_i = (uint16_t)nine(next);
        dut->clk_i = 0;
        dut->eval();
        dut->clk_i = 1;
        dut->eval();
        if (dut->en_i) {
            int32_t act = dut->pair_i && dut->second_i ? row2 : row;
            if (dut->depthwise_i)
                act = dut->tap_en_i ? tap : 0;
            sum = above + (uint32_t)(act * weight);
            weight = dut->w_we_i ? next : weight;
        }
        if (i >= 2 && dut->psum_o != sum && failures++ < 5)
            printf("  cycle %ld: %08x, expected %08x\n", i, dut->psum_o, sum);
    }
    printf("pe_tb: %ld of %ld cycles wrong\n", failures, cycles);
    return failures != 0;
}
