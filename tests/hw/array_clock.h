/* array_clock.h - what ARRAY does in each cycle, in C: hw/README.md's rule for a sequence of
 * commands. in:  each cycle, whether a command is taken and whether conflicts hold the steps. out:
 * whether the unit would take one, whether one is done, which counter the cycle belongs to.
 * Invariant: no data; a command is its tiles' steps and where its last vector is issued. */
#ifndef HEDDLE_TESTS_HW_ARRAY_CLOCK_H
#define HEDDLE_TESTS_HW_ARRAY_CLOCK_H

#include <algorithm>
#include <array>
#include <deque>

#include "driver/func/hd_walk.h"
#include "hd_accel.h"

constexpr int N = CfgN;

static inline int ceil_div(int a, int b)
{
    return (a + b - 1) / b;
}

/* One command. Steps are counted from 0. */
struct array_job {
    using setup_fields = std::array<uint32_t, 5>;

    long steps = 0;         /* of all tiles */
    long last_tile = 0;     /* first step of the last tile */
    long last_position = 0; /* step that issues it */
    long last_vector = 0;
    int flush;          /* cycles from the last sum to done */
    setup_fields setup; /* of the cells: commands that differ in it do not meet in them */

    long issued = 0; /* steps so far */
    long pipe = 0;   /* steps since the last vector */
    int flushed = 0;

    explicit array_job(const hd_cmd_array &c)
    {
        long tile = 0;
        hd_walk walk;
        hd_segment seg;

        hd_walk_start(&walk, c.kernel_h, c.kernel_row_bytes, N, c.ports, c.depthwise);
        while (hd_walk_next(&walk, &seg))
            for (uint32_t b = 0; b < c.blocks; b++) {
                tile = std::max({b + 1 == c.blocks ? c.last_scan : c.block_scan, seg.len, 4u});
                steps += tile;
            }
        steps *= ceil_div((int)c.out_channels, N);
        last_tile = steps - tile;
        last_position = last_tile + c.last_scan - 1;
        last_vector = last_position;
        if (c.depthwise)
            last_vector -= c.scan - 1 - (c.out_w - 1) * c.stride_x;
        flush = c.acc_hold ? 0 : 5; /* hd_requant's latency */
        setup = c.depthwise ? setup_fields{1, c.pad_left, c.kernel_row_bytes, c.kernel_h, c.ports}
                            : setup_fields{0, c.streams, c.pair_split, 0, 0};
    }

    bool running() const
    {
        return issued < steps;
    }
    bool done() const
    {
        return !running() && pipe == N + 4 && flushed == flush;
    }
    void step()
    {
        if (issued > last_vector)
            pipe = std::min(pipe + 1, (long)N + 4);
        if (running())
            issued++;
    }
};

/* The unit. Questions are about the cycle that tick() will end. */
class array_clock
{
  public:
    bool ready() const
    {
        const array_job *now = current();
        return waiting_.empty() && (!now || now->issued >= now->last_tile);
    }
    bool done() const
    {
        return !begun_.empty() && begun_.front().done();
    }
    /* Position within the unit's counters of a cycle that no conflict takes. */
    int kind() const
    {
        hd_counter kind = current() || begins()                ? HD_COUNTER_ARRAY_BUSY
                          : begun_.empty() && waiting_.empty() ? HD_COUNTER_ARRAY_IDLE
                                                               : HD_COUNTER_ARRAY_DRAIN;
        return kind % HD_COUNTER_SLOTS;
    }
    /* taken: a command is, if not null; frozen: not a step. */
    void tick(const hd_cmd_array *taken, bool frozen)
    {
        bool starts = !frozen && begins(), ends = done();

        for (array_job &j : begun_)
            j.flushed += j.pipe == N + 4 && j.flushed < j.flush;
        if (!frozen) {
            still_++;
            if (const array_job *now = current())
                still_ = now->issued <= now->last_position ? 0 : still_;
            for (array_job &j : begun_)
                j.step();
        }
        if (starts) {
            last_ = waiting_.front().setup;
            begun_.push_back(waiting_.front());
            waiting_.pop_front();
        }
        if (ends)
            begun_.pop_front();
        if (taken)
            waiting_.emplace_back(*taken);
    }

  private:
    const array_job *current() const
    {
        return !begun_.empty() && begun_.back().running() ? &begun_.back() : nullptr;
    }
    /* A command may begin in the last step of the one before, if that is the only one in the pipe
     * and the cells stay as they are; else they must have been without work for a while. */
    bool begins() const
    {
        const array_job *now = current();
        if (waiting_.empty() || begun_.size() == 2 || (now && now->issued + 1 < now->steps))
            return false;
        return waiting_.front().setup == last_ || (!now && still_ > N);
    }

    std::deque<array_job> waiting_, begun_; /* at most one waits */
    array_job::setup_fields last_{};        /* no command has it */
    long still_ = N + 1;                    /* steps without a position */
};

#endif
