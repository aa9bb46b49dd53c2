/* array_speed.cpp - M cycles/s of hd_array alone: a convolution whose activations, from a fixed
 * generator, change in every cycle, a weight row loaded every 16 cycles. For bench_sim.sh. */
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "Varray.h"

int main()
{
    constexpr long kCycles = 400000;
    static Varray top;
    uint32_t x = 1;

    memset(&top.row_i, 0, sizeof top.row_i);
    memset(&top.w_i, 0, sizeof top.w_i);
    top.en_i = 1;
    const auto begin = std::chrono::steady_clock::now();
    for (long t = 0; t < kCycles; t++) {
        for (size_t i = 0; i + sizeof x <= sizeof top.row_i; i += sizeof x) {
            x = x * 1664525u + 1013904223u;
            memcpy(reinterpret_cast<char *>(&top.row_i) + i, &x, sizeof x);
        }
        top.w_we_i = t % 16 == 0;
        top.clk_i = 0;
        top.eval();
        top.clk_i = 1;
        top.eval();
    }
    const std::chrono::duration<double> s = std::chrono::steady_clock::now() - begin;
    printf("%.2f\n", kCycles / s.count() / 1e6);
    return 0;
}
