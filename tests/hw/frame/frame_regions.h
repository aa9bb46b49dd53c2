/* frame_regions.h - regions of any number of bytes at any address: the last byte, and the next
 * one. */
#ifndef HEDDLE_TESTS_HW_FRAME_REGIONS_H
#define HEDDLE_TESTS_HW_FRAME_REGIONS_H

#include "frame_faults.h"

namespace
{
/* Regions of any number of bytes at any address: LOAD, WEIGHT and STORE reach the last byte; the
 * next one is beyond. */
void test_region_bytes(bench &b, uint32_t place)
{
    const uint32_t n = (uint32_t)b.random.range(100, 1000), from = kSource + place % 512,
                   to = kTarget + 1 + place / 512 % 512;
    const uint8_t before = b.bus.memory[to - 1], after = b.bus.memory[to + n];

    b.region(1, b.bus.base + from, n);
    b.region(2, b.bus.base + to, n);
    for (const uint32_t unit :
         std::array<uint32_t, 4>{HD_UNIT_COUNT, HD_UNIT_LOAD, HD_UNIT_WEIGHT, HD_UNIT_STORE}) {
        trio t(b);

        t.load = one_run_read(HD_SPACE_SCRATCHPAD, n + (unit == HD_UNIT_LOAD));
        t.weight = one_run_read(HD_SPACE_WEIGHTS, n + (unit == HD_UNIT_WEIGHT));
        t.store = one_run_store(n + (unit == HD_UNIT_STORE));
        if (unit == HD_UNIT_COUNT) {
            b.start(t.make().words, 64);
            if (b.wait())
                b.finish(false);
            CHECK(memcmp(&b.bus.memory[from], &b.bus.memory[to], n) == 0 &&
                      b.bus.memory[to - 1] == before && b.bus.memory[to + n] == after,
                  "%u bytes from %x to %x", n, from, to);
        } else {
            expect_fault(
                b, t.make().words,
                {HD_FAULT_REGION_LIMIT, unit, unit == HD_UNIT_STORE ? 3 : unit + 1, 0, false},
                "a byte beyond a region");
        }
    }
    b.place(b.bus.base);
}

/* A run length with any single bit set must count as that many bytes: too many, not none. */
void test_large_runs(bench &b)
{
    for (uint32_t k = 20; k < 32; k++)
        for (uint32_t unit : {HD_UNIT_LOAD, HD_UNIT_WEIGHT, HD_UNIT_STORE}) {
            trio t(b);

            t.load = one_run_read(HD_SPACE_SCRATCHPAD, unit == HD_UNIT_LOAD ? 1u << k : N);
            t.weight = one_run_read(HD_SPACE_WEIGHTS, unit == HD_UNIT_WEIGHT ? 1u << k : N);
            t.store = one_run_store(unit == HD_UNIT_STORE ? 1u << k : N);
            t.load.offset = t.weight.offset = kSourceBytes - N;
            t.store.offset = kTargetBytes - N;
            expect_fault(
                b, t.make().words,
                {HD_FAULT_REGION_LIMIT, unit, unit == HD_UNIT_STORE ? 3 : unit + 1, 0, false},
                "a run of one bit");
        }
}

/* Test an answer before the last beat of its burst, the first after a reset. */
void test_early_answer(bench &b)
{
    trio t(b);

    b.bus.stall = 0;
    b.bus.answer_early = true;
    t.store = one_run_store(N);
    expect_fault(b, t.make().words,
                 {HD_FAULT_BUS_WRITE, HD_UNIT_STORE, 3, b.bus.base + kTarget, true},
                 "early answer");
    b.bus.answer_early = false;
}
} // namespace

#endif
