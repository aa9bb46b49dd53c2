/* frame_order.h - waits of ARRAY and VECTOR, END after all; a stream longer than FETCH reads ahead. */
#ifndef HEDDLE_TESTS_HW_FRAME_ORDER_H
#define HEDDLE_TESTS_HW_FRAME_ORDER_H

#include "frame.h"

namespace
{
void test_order(bench &b)
{
    stream s(b.hash);
    hd_cmd_array slow = {}, after = {};
    uint64_t at[HD_UNIT_COUNT] = {};

    random_bus(b);
    slow.common.layer = 3000;
    s.add(slow, HD_OPCODE_ARRAY, HD_UNIT_ARRAY);
    wait_all(after.common, s, 1u << HD_UNIT_ARRAY);
    after.common.layer = 100;
    s.add(after, HD_OPCODE_VECTOR, HD_UNIT_VECTOR);
    s.end();
    b.start(s.words, 0);
    if (!b.wait())
        return;
    for (const done_event &e : b.done)
        at[e.unit] = e.cycle;
    CHECK(at[HD_UNIT_ARRAY] + 100 < at[HD_UNIT_VECTOR] && at[HD_UNIT_VECTOR] < at[HD_UNIT_FETCH],
          "waits");
    CHECK(b.read(HD_REG_COUNTER(HD_COUNTER_VECTOR_WAIT_TOKEN)) > 1000, "wait_token");
    b.finish(false);
}

/* A stream longer than what FETCH reads ahead, blocked by the queue of a unit that reads:
 * read-ahead beats must not hold the bus that this unit waits for. */
void test_long_stream(bench &b)
{
    stream s(b.hash);
    hd_cmd_dma_read load = {};

    random_bus(b);
    set_shape(load, {40, 100, 5000, 40, 100, 3});
    load.region = 1;
    load.dest_pitch = words_of(100);
    for (int i = 0; i < 150; i++)
        s.add(load, HD_OPCODE_LOAD, HD_UNIT_LOAD);
    s.end();
    b.start(s.words, 0);
    if (b.wait(2000000))
        b.finish(false);
}
} // namespace

#endif
