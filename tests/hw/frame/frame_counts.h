/* frame_counts.h - more than 2^16 commands of each unit, so that waits wrap. */
#ifndef HEDDLE_TESTS_HW_FRAME_COUNTS_H
#define HEDDLE_TESTS_HW_FRAME_COUNTS_H

#include "frame.h"

namespace
{
/* More commands than waits have numbers: 2^16 of each unit and some, their waits modulo 2^16. */
void test_counts(bench &b)
{
    constexpr uint32_t n = 0x10000 + 100, room = 0x2000000;
    stream s(b.hash);
    const hd_cmd_dma_read load = one_run_read(HD_SPACE_SCRATCHPAD, 1),
                          weight = one_run_read(HD_SPACE_WEIGHTS, 1);
    hd_cmd_array array = {};
    hd_cmd_vector vector = {};
    uint64_t at[HD_UNIT_COUNT] = {};

    b.bus.stall = 0;
    b.bus.latency = 1;
    b.d->noise_i = 0;
    for (uint32_t i = 0; i < n; i++) {
        s.add(load, HD_OPCODE_LOAD, HD_UNIT_LOAD);
        s.add(weight, HD_OPCODE_WEIGHT, HD_UNIT_WEIGHT);
        s.add(one_run_store(1), HD_OPCODE_STORE, HD_UNIT_STORE);
        s.add(array, HD_OPCODE_ARRAY, HD_UNIT_ARRAY);
        wait_all(vector.common, s, i % 100 == 0 ? 31 : 0);
        s.add(vector, HD_OPCODE_VECTOR, HD_UNIT_VECTOR);
    }
    array.common.layer = 0xffff;
    s.add(array, HD_OPCODE_ARRAY, HD_UNIT_ARRAY);
    wait_all(vector.common, s, 1u << HD_UNIT_ARRAY);
    vector.common.layer = 0xffff;
    s.add(vector, HD_OPCODE_VECTOR, HD_UNIT_VECTOR);
    s.end();
    b.bus.memory.resize(kMemory + room);
    b.region(0, b.bus.base + kMemory, room);
    memcpy(&b.bus.memory[kMemory], s.words.data(), s.words.size() * 4);
    b.launch(0, (uint32_t)s.words.size() * 4, s.words);
    if (!b.wait(20000000))
        return;
    for (const done_event &e : b.done)
        at[e.unit] = e.cycle;
    CHECK(at[HD_UNIT_ARRAY] < at[HD_UNIT_VECTOR], "VECTOR waits for ARRAY's command %u", n);
    CHECK(b.done.size() == s.commands, "%zu completions of %u", b.done.size(), s.commands);
    for (uint32_t u = 0; u < HD_UNIT_FETCH; u++)
        CHECK(b.read(HD_REG_UNIT_DONE(u)) == s.count[u], "done of unit %u", u);
    b.finish(false);
    b.place(b.bus.base);
    b.bus.memory.resize(kMemory);
    printf("counts: %u commands, %d failures\n", s.commands, failures);
}
} // namespace

#endif
