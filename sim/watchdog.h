// watchdog.h - notices that nothing moves any more, and states who waits for what.
#ifndef HEDDLE_SIM_WATCHDOG_H
#define HEDDLE_SIM_WATCHDOG_H

#include <cstdint>
#include <string>

struct hd_sim;

namespace heddle
{

class Watchdog
{
  public:
    // Cycles between two looks: a look costs nothing at this distance, and a stop comes this much
    // later.
    static constexpr uint64_t kStride = 256;

    explicit Watchdog(uint64_t limit) : limit_(limit != 0 ? limit : 100000)
    {
    }

    // A unit that reports it is busy counts as progress, but not for ever: a layer that keeps its
    // sums on chip commits nothing for long, a loop that never ends commits nothing either.
    static constexpr uint64_t kBusyFactor = 64;

    // Once every kStride cycles. True: stuck.
    bool look(const hd_sim &sim);
    void restart(const hd_sim &sim);

    static std::string describe(const hd_sim &sim);

  private:
    const uint64_t limit_;
    uint64_t moved_ = 0;       // sum of what counts as movement, at the last change
    uint64_t still_since_ = 0; // no movement since this cycle
    uint64_t idle_since_ = 0;  // nor any unit busy since this one
};

} // namespace heddle

#endif
