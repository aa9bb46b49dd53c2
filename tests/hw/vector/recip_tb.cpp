/* recip_tb.cpp - hd_recip: the reciprocal of every number of cells, its cycles, and the last one,
 * which is kept. */
#include <cstdio>
#include <memory>

#include "Vbench.h"
#include "tests/hw/wide.h"

namespace
{
constexpr uint32_t kMost = 2048, kCycles = 18;

struct bench : findings {
    std::unique_ptr<Vbench> dut{new Vbench};

    void tick()
    {
        dut->clk_i = 0;
        dut->eval();
        dut->clk_i = 1;
        dut->eval();
    }

    /* Return the cycles from the request for `cells` to its reciprocal. */
    uint32_t need(uint32_t cells)
    {
        uint32_t cycles = 0;

        dut->en_i = 1;
        dut->next_i = cells;
        tick();
        dut->en_i = 0;
        dut->next_i = ~cells & 0xfff;
        dut->cells_i = cells;
        dut->need_i = 1;
        for (dut->eval(); !dut->ready_o && cycles < 100; cycles++)
            tick();
        check(dut->reciprocal_o == 0x7fffffff / cells + 1, "reciprocal", dut->reciprocal_o, cells);
        tick();
        dut->need_i = 0;
        seen++;
        return cycles;
    }
};
} // namespace

int main()
{
    bench b;

    b.dut->rst_ni = 0;
    b.tick();
    b.dut->rst_ni = 1;
    for (uint32_t cells = 2; cells <= kMost; cells++) {
        b.check(b.need(cells) == kCycles, "cycles of a division", cells);
        b.check(b.need(cells) == 0, "the last reciprocal is kept", cells);
    }
    for (uint32_t cells = kMost; cells > 1; cells--) /* another divisor before each */
        b.check(b.need(cells) == (cells == kMost ? 0 : kCycles), "cycles of a division", cells);
    printf("recip_tb: %ld divisions, %ld failures\n", b.seen, b.failures);
    return b.failures != 0;
}
