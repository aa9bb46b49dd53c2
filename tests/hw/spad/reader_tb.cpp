/* reader_tb.cpp - hd_reader against its equation: every offset, lane bounds, zero point, requests
 * that come and go. Argument: [seed]. */
#include <cstdio>
#include <memory>

#include "Vbench.h"
#include "tests/hw/wide.h"

namespace
{

constexpr int kN = CfgN;

struct request {
    bool valid = false;
    int offset = 0, lo = 0, hi = 0;
};

} // namespace

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], nullptr, 0) : 1;
    std::unique_ptr<Vbench> dut(new Vbench);
    request asked[2]; /* one and two cycles ago */
    int8_t bytes[2 * kN];
    long checked = 0, failures = 0;
    rng r(seed);

    printf("reader_tb: N = %d, seed %llu\n", kN, (unsigned long long)seed);
    for (long cycle = 0; cycle < 60000; cycle++) {
        const int z_in = r.chance(20) ? -128 : r.range(-128, 127);
        request next;

        next.valid = r.chance(80);
        next.offset = r.range(0, kN - 1);
        next.lo = r.range(0, kN);
        next.hi = r.chance(40) ? kN : r.range(next.lo, kN);
        for (int i = 0; i < 2 * kN; i++) {
            bytes[i] = (int8_t)r.range(-128, 127);
            set_field(dut->data_i, 8 * i, 8, (uint8_t)bytes[i]);
        }
        dut->req_i = next.valid;
        dut->offset_i = next.offset;
        dut->lo_i = next.lo;
        dut->hi_i = next.hi;
        dut->z_in_i = (uint8_t)z_in;
        dut->clk_i = 0;
        dut->eval();
        for (int l = 0; cycle > 1 && l < kN; l++) {
            const request &a = asked[1];
            const int expected = a.valid && l >= a.lo && l < a.hi ? bytes[a.offset + l] - z_in : 0;
            const uint32_t got = get_bits(dut->act_o, 9 * l, 9);

            checked++;
            if (got != ((uint32_t)expected & 511) && failures++ < 5)
                printf("  cycle %ld, lane %d: %03x, expected %d\n", cycle, l, got, expected);
        }
        asked[1] = asked[0];
        asked[0] = next;
        dut->clk_i = 1;
        dut->eval();
    }
    printf("reader_tb: %ld of %ld lanes wrong\n", failures, checked);
    return failures != 0;
}
