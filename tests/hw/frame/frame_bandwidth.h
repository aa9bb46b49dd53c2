/* frame_bandwidth.h - print the beats per cycle of long streams. */
#ifndef HEDDLE_TESTS_HW_FRAME_BANDWIDTH_H
#define HEDDLE_TESTS_HW_FRAME_BANDWIDTH_H

#include "frame.h"

namespace
{
double rate(const std::vector<uint64_t> &beats)
{
    return beats.size() < 2 ? 0
                            : (double)(beats.size() - 1) / (double)(beats.back() - beats.front());
}

void measure(bench &b, const char *name, uint32_t opcode, uint32_t commands, uint32_t bytes,
             uint32_t offset, uint32_t rows, double least)
{
    stream s(b.hash);
    const uint32_t unit = opcode == HD_OPCODE_LOAD     ? HD_UNIT_LOAD
                          : opcode == HD_OPCODE_WEIGHT ? HD_UNIT_WEIGHT
                                                       : HD_UNIT_STORE;

    for (uint32_t i = 0; i < commands; i++) {
        if (opcode == HD_OPCODE_STORE) {
            hd_cmd_store c = {};
            set_shape(c, {1, bytes, 0, rows, bytes / rows, offset + i * bytes});
            c.region = 2;
            c.src_pitch = words_of(bytes / rows);
            s.add(c, opcode, unit);
        } else {
            hd_cmd_dma_read c = {};
            set_shape(c, {1, bytes, 0, rows, bytes / rows, offset + i * bytes});
            c.region = 1;
            c.space = opcode == HD_OPCODE_LOAD ? HD_SPACE_SCRATCHPAD : HD_SPACE_WEIGHTS;
            c.dest_pitch = words_of(bytes / rows);
            s.add(c, opcode, unit);
        }
    }
    s.end();
    b.bus.keep = true;
    b.start(s.words, 0);
    b.wait();
    b.finish(false);
    b.bus.keep = false;
    /* The stream's own beats come first; the data are the last beats. */
    std::vector<uint64_t> &beats = opcode == HD_OPCODE_STORE ? b.bus.w_beats : b.bus.r_beats;
    const uint64_t data =
        (offset % CfgAxiBytes + (uint64_t)commands * bytes + CfgAxiBytes - 1) / CfgAxiBytes;
    if (beats.size() > data)
        beats.erase(beats.begin(), beats.end() - (long)data);
    printf("  %-34s latency %3d: %.4f beats a cycle, %.2f bytes, %llu cycles\n", name,
           (int)b.bus.latency, rate(beats), rate(beats) * CfgAxiBytes,
           (unsigned long long)(beats.back() - beats.front() + 1));
    CHECK(rate(beats) >= least, "%s: bandwidth", name);
    b.bus.r_beats.clear();
    b.bus.w_beats.clear();
}

void test_bandwidth(bench &b)
{
    /* The limit is one word per cycle if N is below the bus width, and the bursts if the latency
     * exceeds what they cover. */
    b.bus.stall = 0;
    b.d->noise_i = 0;
    for (int latency : {64, 200}) {
        const double covered = CfgReadBursts * 16.0 / (latency + 4);
        const double most = std::min({1.0, (double)N / CfgAxiBytes, covered});
        const double least = most * (most < 1 ? 0.85 : 0.999);
        const uint32_t big = std::min<uint32_t>(CfgWeightBytes, kSpadWords * N);

        b.bus.latency = (uint64_t)latency;
        measure(b, "WEIGHT, one run", HD_OPCODE_WEIGHT, 1, big, 0, 1, least);
        measure(b, "WEIGHT, unaligned", HD_OPCODE_WEIGHT, 1, big, 5, 1, least);
        measure(b, "WEIGHT, 8 commands", HD_OPCODE_WEIGHT, 8, big / 2, 0, 1, least);
        measure(b, "WEIGHT, 8 commands, unaligned", HD_OPCODE_WEIGHT, 8, big / 2 - CfgAxiBytes, 3,
                1, 0.9 * least);
        measure(b, "LOAD, one run", HD_OPCODE_LOAD, 1, big, 0, 1, least);
        measure(b, "LOAD, 8 commands, rows", HD_OPCODE_LOAD, 8, big / 2, 0, big / 2 / (8 * N),
                least);
        measure(b, "STORE, one run", HD_OPCODE_STORE, 1, big, 0, 1,
                std::min(1.0, (double)N / CfgAxiBytes) * 0.95);
        measure(b, "STORE, 4 commands, unaligned", HD_OPCODE_STORE, 4, big / 4, 7, 1,
                std::min(1.0, (double)N / CfgAxiBytes) * 0.9);
    }
    b.bus.latency = 10;
}
} // namespace

#endif
