/* frame_registers.h - random words and strobes at every address against a plain array. */
#ifndef HEDDLE_TESTS_HW_FRAME_REGISTERS_H
#define HEDDLE_TESTS_HW_FRAME_REGISTERS_H

#include "frame.h"

namespace
{
/* A bus master reads back what it wrote: bytes without strobe, read-only registers and addresses
 * without a register do not change. */
void test_registers(bench &b, int n)
{
    std::vector<uint32_t> known(0x400), writable(0x400);

    for (uint32_t r = 0; r < HD_REG_REGION_SIZE_COUNT; r++)
        writable[HD_REG_REGION_BASE_LO(r) / 4] = writable[HD_REG_REGION_BASE_HI(r) / 4] =
            writable[HD_REG_REGION_SIZE(r) / 4] = ~0u;
    writable[HD_REG_REGION_RIGHTS / 4] = ~0u;
    writable[HD_REG_COMMAND_OFFSET / 4] = writable[HD_REG_COMMAND_LENGTH / 4] = ~0u;
    writable[HD_REG_IRQ_ENABLE / 4] = HD_IRQ_ENABLE_DONE_MASK | HD_IRQ_ENABLE_ERROR_MASK;
    for (uint32_t i = 0; i < 0x400; i++) {
        known[i] = b.read(i * 4);
        CHECK(i * 4 < HD_REG_BYTES || known[i] == 0, "%x reads %x", i * 4, known[i]);
    }
    for (int i = 0; i < n; i++) {
        const uint32_t at = (uint32_t)b.random.range(0, b.random.chance(10) ? 0x3ff : 0x5a),
                       value = b.random.next(), strobe = b.random.next() & 15;
        uint32_t mask = 0;

        if (at == HD_REG_CONTROL / 4 || at == HD_REG_IRQ_STATUS / 4)
            continue;
        for (uint32_t k = 0; k < 4; k++)
            mask |= strobe >> k & 1 ? 0xffu << (8 * k) : 0;
        mask &= writable[at];
        b.write(at * 4 | (b.random.next() & 3), value, strobe);
        known[at] = (known[at] & ~mask) | (value & mask);
        CHECK(b.read(at * 4 | (b.random.next() & 3)) == known[at], "%x after a write of %x & %x",
              at * 4, value, mask);
    }
    for (uint32_t i = 0; i < 0x400; i++)
        CHECK(b.read(i * 4) == known[i], "%x: %x, expected %x", i * 4, b.read(i * 4), known[i]);
    b.write(HD_REG_REGION_RIGHTS, kRights);
    b.write(HD_REG_IRQ_ENABLE, HD_IRQ_ENABLE_DONE_MASK | HD_IRQ_ENABLE_ERROR_MASK);
}
} // namespace

#endif
