/* frame_timing.h - delays and depths against accel.json's timing. */
#ifndef HEDDLE_TESTS_HW_FRAME_TIMING_H
#define HEDDLE_TESTS_HW_FRAME_TIMING_H

#include "frame.h"

namespace
{
uint64_t done_at(const bench &b, uint32_t unit)
{
    for (const done_event &e : b.done)
        if (e.unit == unit)
            return e.cycle;
    return 0;
}

void expect_delay(const char *what, uint64_t from, uint64_t to, int expected)
{
    printf("  %-44s %d\n", what, (int)(to - from));
    CHECK(to - from == (uint64_t)expected, "%s: %d cycles, hw/accel.json has %d", what,
          (int)(to - from), expected);
}

/* LOAD, then STORE, then ARRAY, then VECTOR: each delay on the way. */
void test_delays(bench &b)
{
    stream s(b.hash);
    timing_trace t;
    hd_cmd_dma_read load = one_run_read(HD_SPACE_SCRATCHPAD, 4 * N);
    hd_cmd_store store = one_run_store(N);
    hd_cmd_array array = {};
    hd_cmd_vector vector = {};
    const int chunk = std::min(CfgAxiBytes, 16);

    load.common.layer = 1;
    s.add(load, HD_OPCODE_LOAD, HD_UNIT_LOAD);
    wait_all(store.common, s, 1u << HD_UNIT_LOAD);
    store.common.layer = 2;
    s.add(store, HD_OPCODE_STORE, HD_UNIT_STORE);
    array.common.layer = 300;
    s.add(array, HD_OPCODE_ARRAY, HD_UNIT_ARRAY);
    wait_all(vector.common, s, 1u << HD_UNIT_ARRAY);
    vector.common.layer = 20;
    s.add(vector, HD_OPCODE_VECTOR, HD_UNIT_VECTOR);
    s.end();
    b.trace = &t;
    b.start(s.words, 0);
    b.wait();
    b.cycle();
    b.trace = nullptr;
    b.finish(false);
    const uint64_t first = t.taken[HD_UNIT_LOAD][0];
    expect_delay("doorbell to FETCH's ARVALID", t.doorbell, t.requests[HD_UNIT_FETCH][0],
                 HD_TIMING_FETCH_START + HD_TIMING_READ_GRANT);
    expect_delay("stream's first beat to taking the command", t.beats[HD_UNIT_FETCH][0], first,
                 HD_TIMING_FETCH_BEAT + HD_HEADER_BYTES / chunk + HD_TIMING_FETCH_CHECK +
                     HD_CMD_DMA_READ_BYTES / chunk + HD_TIMING_ISSUE_PUSH);
    expect_delay("taking LOAD to ARVALID", first, t.requests[HD_UNIT_LOAD][0],
                 HD_TIMING_BURST_REQUEST + HD_TIMING_READ_GRANT);
    expect_delay("beat to word", t.beats[HD_UNIT_LOAD][0], t.words[HD_UNIT_LOAD][0],
                 HD_TIMING_READ_WORD);
    expect_delay("last word to LOAD's done_o", t.words[HD_UNIT_LOAD].back(),
                 done_at(b, HD_UNIT_LOAD), HD_TIMING_READ_DONE);
    expect_delay("LOAD's done_o to taking STORE", done_at(b, HD_UNIT_LOAD),
                 t.taken[HD_UNIT_STORE][0], HD_TIMING_ISSUE_COUNT);
    expect_delay("taking STORE to WVALID", t.taken[HD_UNIT_STORE][0], t.written[0],
                 HD_TIMING_STORE_START);
    expect_delay("B to STORE's done_o", t.answers.back(), done_at(b, HD_UNIT_STORE),
                 HD_TIMING_STORE_DONE);
    expect_delay("ARRAY's done_o to taking VECTOR", done_at(b, HD_UNIT_ARRAY),
                 t.taken[HD_UNIT_VECTOR][0], HD_TIMING_ISSUE_COUNT);
    expect_delay("END's done_o to the interrupt", done_at(b, HD_UNIT_FETCH), t.irq,
                 HD_TIMING_END_IRQ);
}

void expect_count(const char *what, uint32_t found, uint32_t expected)
{
    printf("  %-44s %u\n", what, found);
    CHECK(found == expected, "%s: %u, hw/accel.json has %u", what, found, expected);
}

/* Count how many of `n` commands of one unit FETCH hands over while they wait for a slow ARRAY
 * command; or, with the bus held, for their data. */
template <class T>
uint32_t handed(bench &b, T c, uint32_t opcode, uint32_t unit, int n, timing_trace *t)
{
    stream s(b.hash);
    hd_cmd_array slow = {};

    slow.common.layer = 1000;
    s.add(slow, HD_OPCODE_ARRAY, HD_UNIT_ARRAY);
    wait_all(c.common, s, 1u << HD_UNIT_ARRAY);
    for (int i = 0; i < n; i++)
        s.add(c, opcode, unit);
    s.end();
    b.trace = t;
    b.start(s.words, 0);
    const int most = b.bus.hold_reads || b.bus.hold_writes ? 2000 : 800;
    for (int i = 0; i < most; i++)
        b.cycle();
    b.trace = nullptr;
    const uint32_t found = b.read(HD_REG_UNIT_DONE(HD_UNIT_FETCH)) - 1;
    b.bus.hold_reads = 0;
    b.bus.hold_writes = false;
    if (b.wait())
        b.finish(false);
    return found;
}

void test_depths(bench &b)
{
    const uint32_t two_beats = 2 * std::max(N, CfgAxiBytes),
                   held = N + CfgAxiBytes + std::min(N, CfgAxiBytes);
    const hd_cmd_dma_read load = one_run_read(HD_SPACE_SCRATCHPAD, N),
                          weight = one_run_read(HD_SPACE_WEIGHTS, N);
    hd_cmd_array array = {};
    hd_cmd_vector vector = {};
    timing_trace t, words;

    expect_count("queue of LOAD", handed(b, load, HD_OPCODE_LOAD, HD_UNIT_LOAD, 16, nullptr),
                 HD_TIMING_DMA_QUEUE);
    expect_count("queue of WEIGHT",
                 handed(b, weight, HD_OPCODE_WEIGHT, HD_UNIT_WEIGHT, 16, nullptr),
                 HD_TIMING_DMA_QUEUE);
    expect_count("queue of STORE",
                 handed(b, one_run_store(N), HD_OPCODE_STORE, HD_UNIT_STORE, 16, nullptr),
                 HD_TIMING_DMA_QUEUE);
    expect_count("queue of VECTOR", handed(b, vector, HD_OPCODE_VECTOR, HD_UNIT_VECTOR, 8, nullptr),
                 HD_TIMING_COMPUTE_QUEUE);
    const uint32_t queued = handed(b, array, HD_OPCODE_ARRAY, HD_UNIT_ARRAY, 40, &t);
    expect_count("queue of ARRAY", queued, HD_TIMING_COMPUTE_QUEUE);
    /* Used: the header, the commands handed over, one that waits for its place. */
    const uint32_t used =
        (HD_HEADER_BYTES + (queued + 2) * HD_CMD_ARRAY_BYTES) / (uint32_t)CfgAxiBytes;
    expect_count("beats that FETCH has asked for", (uint32_t)t.beats[HD_UNIT_FETCH].size(),
                 (used + HD_TIMING_FETCH_BEATS) / HD_TIMING_BURST_BEATS * HD_TIMING_BURST_BEATS);
    b.bus.hold_reads = 1u << HD_UNIT_LOAD;
    expect_count("LOAD commands without data",
                 handed(b, load, HD_OPCODE_LOAD, HD_UNIT_LOAD, 16, nullptr) - HD_TIMING_DMA_QUEUE,
                 HD_TIMING_DMA_AHEAD + 1);
    b.bus.hold_writes = true;
    expect_count("STORE commands without data",
                 handed(b, one_run_store(two_beats), HD_OPCODE_STORE, HD_UNIT_STORE, 16, nullptr) -
                     HD_TIMING_DMA_QUEUE,
                 HD_TIMING_DMA_AHEAD + 1);
    /* Words read and not yet on the bus: hd_align holds the wider port and twice the narrower one,
     * the W channel one beat. */
    b.bus.hold_writes = true;
    handed(b, one_run_store(40 * N), HD_OPCODE_STORE, HD_UNIT_STORE, 1, &words);
    expect_count("words that STORE reads ahead", (uint32_t)words.reads - (held + CfgAxiBytes) / N,
                 HD_TIMING_STORE_WORDS);
}

/* Rows of a byte each: a beat is many words, and LOAD writes one a cycle. */
void test_slack(bench &b)
{
    stream s(b.hash);
    timing_trace t;
    hd_cmd_dma_read load = one_run_read(HD_SPACE_SCRATCHPAD, 1);
    const uint32_t bytes = 60 * CfgAxiBytes;
    size_t written = 0;
    double most = 0;

    set_shape(load, {1, bytes, 0, bytes, 1, 0});
    s.add(load, HD_OPCODE_LOAD, HD_UNIT_LOAD);
    s.end();
    b.trace = &t;
    b.start(s.words, 0);
    b.wait();
    b.trace = nullptr;
    b.finish(false);
    const std::vector<uint64_t> &beats = t.beats[HD_UNIT_LOAD], &words = t.words[HD_UNIT_LOAD];
    for (size_t i = 0; i < beats.size(); i++) {
        while (written < words.size() && words[written] <= beats[i] + HD_TIMING_READ_WORD)
            written++;
        most = std::max(most, (double)(i + 1) - (double)written / CfgAxiBytes);
    }
    expect_count("beats whose words LOAD lets wait", (uint32_t)most,
                 HD_TIMING_READ_SLACK - (N < CfgAxiBytes));
}

void test_timing(bench &b)
{
    b.bus.stall = 0;
    b.bus.latency = 20;
    b.d->noise_i = 0;
    printf("timing:\n");
    test_delays(b);
    test_depths(b);
    test_slack(b);
}
} // namespace

#endif
