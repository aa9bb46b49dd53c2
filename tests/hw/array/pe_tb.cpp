/* pe_tb.cpp - hd_pe, both forms side by side against plain C++: every product of a 9-bit activation
 * and a 9-bit weight in every mode, then random modes, sums, frozen cycles and weights that change
 * under way. Argument: [seed]. */
#include <cstdio>
#include <memory>

#include "Vbench.h"
#include "tests/hw/wide.h"

namespace
{

struct cell {
    std::unique_ptr<Vbench> dut{new Vbench};
    int32_t weight = 0;
    int32_t last = 0; /* activation of the previous step */
    uint32_t sum = 0, wide = 0;
    long cycles = 0, failures = 0;

    /* Return a signed 9-bit value as its field. */
    static uint16_t nine(int32_t x)
    {
        return (uint16_t)((uint32_t)x & 511);
    }

    /* Run one cycle; inputs not given keep their values. In depthwise mode there is no row. */
    void step(int32_t tap, int32_t row, int32_t row2, uint32_t above, int32_t next, bool check)
    {
        row = dut->depthwise_i ? 0 : row;
        dut->tap_i = nine(tap);
        dut->row_i = (uint32_t)row;
        dut->row2_i = (uint32_t)row2;
        dut->psum_i = above;
        dut->w_i = nine(next);
        dut->clk_i = 0;
        dut->eval();
        dut->clk_i = 1;
        dut->eval();
        if (dut->en_i) {
            int32_t act = dut->pair_i && dut->second_i ? row2 : row;
            if (dut->depthwise_i)
                act = dut->tap_en_i ? tap : 0;
            sum = above + (uint32_t)(last * weight);
            wide = above + (uint32_t)(act * weight); /* at once */
            last = act;
            weight = dut->w_we_i ? next : weight;
        }
        cycles++;
        if (check && (dut->wide_o != wide || dut->narrow_o != sum) && failures++ < 5)
            printf("  cycle %ld: wide %08x, narrow %08x, expected %08x and %08x\n", cycles,
                   dut->wide_o, dut->narrow_o, wide, sum);
    }
};

/* All of -256..255 times -256..255; mode 0 convolution, 1 and 2 pairs, 3 and 4 depthwise. */
void every_product(cell &c, rng &r, int mode)
{
    c.dut->en_i = 1;
    c.dut->depthwise_i = mode >= 3;
    c.dut->tap_en_i = mode == 3;
    c.dut->pair_i = mode == 1 || mode == 2;
    c.dut->second_i = mode == 2;
    for (int32_t weight = -256; weight < 256; weight++) {
        c.dut->w_we_i = 1;
        c.step(0, 0, 0, 0, weight, false);
        c.dut->w_we_i = 0;
        for (int32_t act = -256; act < 256; act++)
            c.step(mode >= 3 ? act : r.range(-256, 255), mode < 2 ? act : r.range(-256, 255),
                   mode == 2 ? act : r.range(-256, 255), r.next(), 0, true);
    }
}

void random_cycles(cell &c, rng &r)
{
    for (long i = 0; i < 200000; i++) {
        c.dut->en_i = r.chance(80);
        c.dut->w_we_i = r.chance(30);
        c.dut->depthwise_i = r.chance(40);
        c.dut->tap_en_i = c.dut->depthwise_i && r.chance(70);
        c.dut->pair_i = !c.dut->depthwise_i && r.chance(50);
        c.dut->second_i = r.chance(50);
        c.step(r.range(-256, 255), r.range(-256, 255), r.range(-256, 255), r.next(),
               r.range(-256, 255), true);
    }
}

} // namespace

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], nullptr, 0) : 1;
    rng r(seed);
    cell c;

    printf("pe_tb: %llu\n", (unsigned long long)seed);
    for (int mode = 0; mode < 5; mode++)
        every_product(c, r, mode);
    random_cycles(c, r);
    printf("pe_tb: %ld of %ld cycles wrong\n", c.failures, c.cycles);
    return c.failures != 0;
}
