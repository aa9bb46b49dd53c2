/* frame_reset.h - soft reset at a random cycle: the bus is drained, and the engine restarts. */
#ifndef HEDDLE_TESTS_HW_FRAME_RESET_H
#define HEDDLE_TESTS_HW_FRAME_RESET_H

#include "frame_transfers.h"

namespace
{
void test_reset(bench &b)
{
    transfers t(b);
    const int n = b.random.range(0, 3000);

    random_bus(b);
    t.compose(30);
    b.start(t.s.words, 0);
    for (int i = 0; i < n; i++)
        b.cycle();
    b.started = false;
    b.write(HD_REG_CONTROL, HD_CONTROL_SOFT_RESET_MASK);
    int patience = 50000;
    while ((b.read(HD_REG_STATUS) & HD_STATUS_RESETTING_MASK) != 0 && patience-- > 0)
        continue;
    CHECK(b.read(HD_REG_STATUS) == 0, "status %x after reset at %d", b.read(HD_REG_STATUS), n);
    CHECK(b.bus.quiet(), "bus busy after reset");
    CHECK(b.bus.violation.empty(), "%s", b.bus.violation.c_str());
    CHECK(!b.d->irq_o, "interrupt after reset");
    CHECK(b.read(HD_REG_CYCLES_LO) == 0 && b.read(HD_REG_UNIT_DONE(0)) == 0,
          "counters after reset");
    test_transfers(b, 10);
}
} // namespace

#endif
