// watchdog.h - detect that nothing moves any longer, and report which unit waits for which.
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
    // Cycles between two checks: at this distance a check costs nothing, and a stop comes at most
    // this much later.
    static constexpr uint64_t kStride = 256;

    explicit Watchdog(uint64_t limit) : limit_(limit != 0 ? limit : 100000)
    {
    }

    // A unit that reports busy counts as progress, but only for this long: a layer that keeps its
    // sums on chip commits nothing for a long time, and neither does an endless loop.
    static constexpr uint64_t kBusyFactor = 64;

    // Check once every kStride cycles; true: stuck.
    bool look(const hd_sim &sim);
    void restart(const hd_sim &sim);

    static std::string describe(const hd_sim &sim);

  private:
    const uint64_t limit_;
    uint64_t moved_ = 0;       // sum of the counts of progress, at the last change
    uint64_t still_since_ = 0; // no progress since this cycle
    uint64_t idle_since_ = 0;  // no unit busy since this one
};

} // namespace heddle

#endif
