// simulate.cpp - ulx3s in Verilator, run from configuration on: what its program writes to the serial line is printed. In:
// soc.hex in the current folder. Argument: cycles, at most. Exit status 0: the program has said "ended", and the lights
// say so; 1: it has failed, stopped, taken too long, or sent no stop bit.
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "Vsoc.h"
#include "verilated.h"

static constexpr uint32_t kDivisor = SOC_DIVISOR;

struct Line {
    uint32_t wait = 0, bits = 0, left = 0;
    std::string text; // text of the last line
    bool wrong = false;

    // Call once per cycle; samples the middle of each bit.
    void sample(bool high)
    {
        if (left == 0 && !high) {
            left = 10;
            wait = kDivisor / 2;
        } else if (left != 0 && --wait == 0) {
            bits = bits >> 1 | static_cast<uint32_t>(high) << 9;
            wait = kDivisor;
            if (--left == 0)
                byte();
        }
    }

    void byte()
    {
        const char c = static_cast<char>(bits >> 1 & 255);
        wrong |= (bits & 1) != 0 || (bits >> 9) == 0;
        std::putchar(c);
        if (text.empty() || text.back() != '\n')
            text += c;
        else
            text = c;
    }
};

int main(int argc, char **argv)
{
    const uint64_t limit = argc > 1 ? std::strtoull(argv[1], nullptr, 0) : 10000000;
    VerilatedContext context;
    Vsoc top{&context};
    Line line;
    uint64_t cycles = 0;

    // A few cycles after the last line the lights have changed.
    for (uint64_t end = limit; cycles < end; cycles++) {
        top.clk_25mhz = 0;
        top.eval();
        line.sample(top.ftdi_rxd != 0);
        top.clk_25mhz = 1;
        top.eval();
        if (end == limit &&
            (line.text == "ended\n" || line.text == "failed\n" || top.led >> 7 != 0))
            end = cycles + 200;
    }
    top.final();
    std::printf("%" PRIu64 " cycles since the clock began, lights %02x\n", cycles, top.led & 0xbfu);
    return line.text == "ended\n" && top.led == 2 && !line.wrong ? 0 : 1;
}
