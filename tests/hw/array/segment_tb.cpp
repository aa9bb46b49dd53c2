/* segment_tb.cpp - hd_segment against the walk as C states it (driver/hd_walk.h): random
 * kernels in both modes, steps with and without take, a start in the middle of a walk, walks that
 * begin again by themselves. Argument: [seed]. */
#include <cstdio>
#include <memory>

#include "Vbench.h"
#include "driver/hd_walk.h"
#include "tests/hw/wide.h"

namespace
{

constexpr int kN = CfgRows, kPorts = CfgPorts;

int log2_up(uint32_t n)
{
    int bits = 0;
    while (1u << bits < n)
        bits++;
    return bits;
}

const int kCntBits = log2_up(CfgN + 1), kAddrBits = log2_up(CfgScratchpadBytes), kPosBits = 18,
          kRowBits = 19;

struct kernel {
    uint32_t height, row_bytes, ports, depthwise, pitch, dilation;
};

kernel random_kernel(rng &r)
{
    kernel k;
    k.depthwise = r.chance(40);
    k.height = (uint32_t)(r.chance(10) ? r.range(1, 255) : r.range(1, 9));
    k.row_bytes = (uint32_t)(k.depthwise    ? r.range(1, kN)
                             : r.chance(20) ? r.range(1, 3000)
                                            : r.range(1, 3 * kN + 1));
    if (!k.depthwise && r.chance(1)) { /* rows as long as the field allows */
        k.height = (uint32_t)r.range(1, 2);
        k.row_bytes = (uint32_t)r.range(3000, 65535);
    }
    k.ports = (uint32_t)r.range(1, kPorts);
    k.pitch = r.next() & ((1u << kAddrBits) - 1);
    k.dilation = (uint32_t)r.range(1, 255);
    return k;
}

struct bench {
    std::unique_ptr<Vbench> dut{new Vbench};
    long checked = 0, failures = 0;

    void clock()
    {
        dut->clk_i = 1;
        dut->eval();
        dut->clk_i = 0;
        dut->eval();
    }

    void expect(const char *what, uint32_t got, uint32_t want)
    {
        checked++;
        if (got != want && failures++ < 8)
            printf("  %s: %u, expected %u\n", what, got, want);
    }

    void set(const kernel &k)
    {
        dut->depthwise_i = k.depthwise;
        dut->ports_i = k.ports;
        dut->kernel_h_i = k.height;
        dut->row_bytes_i = k.row_bytes;
        dut->pitch_dil_i = k.pitch;
        dut->dilation_i = k.dilation;
        dut->walk_pitch_i = k.pitch;
        dut->walk_dilation_i = k.dilation;
    }

    void piece(const kernel &k, const hd_piece &p, int g)
    {
        const uint32_t position = k.depthwise ? 0 : p.of - p.lo;

        expect("lo", get_bits(dut->lo_o, g * kCntBits, kCntBits), p.lo);
        expect("hi", get_bits(dut->hi_o, g * kCntBits, kCntBits), p.hi);
        expect("pos", get_bits(dut->pos_o, g * kPosBits, kPosBits),
               position & ((1u << kPosBits) - 1));
        expect("base", get_bits(dut->base_o, g * kAddrBits, kAddrBits),
               (p.ky * k.pitch + position) & ((1u << kAddrBits) - 1));
        expect("row", get_bits(dut->row_o, g * kRowBits, kRowBits),
               (p.ky * k.dilation) & ((1u << kRowBits) - 1));
    }

    /* One walk, or the first `most` segments of it. */
    void walk(const kernel &k, rng &r, uint32_t most)
    {
        hd_walk w;
        hd_segment seg;

        hd_walk_start(&w, k.height, k.row_bytes, kN, k.ports, k.depthwise);
        for (uint32_t i = 0; i < most && hd_walk_next(&w, &seg); i++) {
            while (r.chance(25))
                clock();
            dut->take_i = 1;
            dut->eval();
            expect("valid", dut->valid_o, (1u << seg.n_pieces) - 1);
            expect("len", dut->len_o, seg.len);
            expect("last", dut->last_o, seg.last);
            for (uint32_t g = 0; g < seg.n_pieces; g++)
                piece(k, seg.piece[g], (int)g);
            clock();
            dut->take_i = 0;
            for (int wait = 0; wait < 2; wait++)
                clock();
        }
    }

    void start()
    {
        dut->start_i = 1;
        clock();
        dut->start_i = 0;
    }

    /* No rows, no ports, or depthwise rows of more than N lanes. */
    void does_not_fit(kernel k, rng &r)
    {
        switch (r.range(0, 2)) {
        case 0: k.height = 0; break;
        case 1: k.ports = 0; break;
        default: k.depthwise = 1, k.row_bytes = (uint32_t)r.range(kN + 1, 2 * kN); break;
        }
        set(k);
        start();
        expect("valid of a kernel that does not fit", dut->valid_o, 0);
        expect("its lanes", dut->len_o, 0);
    }
};

} // namespace

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], nullptr, 0) : 1;
    rng r(seed);
    bench b;

    b.dut->more_i = 1;
    b.dut->eval(); // before the first clock edge
    printf("segment_tb: N = %d, %d ports, seed %llu\n", kN, kPorts, (unsigned long long)seed);
    for (int i = 0; i < 3000; i++) {
        const kernel k = random_kernel(r);

        if (r.chance(10))
            b.does_not_fit(k, r);
        b.set(k);
        if (r.chance(30)) {
            b.start();
            b.walk(k, r, (uint32_t)r.range(0, 3)); // left in the middle
        }
        b.start();
        b.walk(k, r, ~0u);
        if (r.chance(50))
            b.walk(k, r, ~0u); // again without a start
    }
    printf("segment_tb: %ld of %ld values wrong\n", b.failures, b.checked);
    return b.failures != 0;
}
