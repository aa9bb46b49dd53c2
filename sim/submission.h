// submission.h - the commands of one submission, read from memory at the doorbell, and when each
// started and completed. A unit executes its commands in stream order, so its k-th completion
// belongs to its k-th command; done_cmd_o must agree.
#ifndef HEDDLE_SIM_SUBMISSION_H
#define HEDDLE_SIM_SUBMISSION_H

#include <cstdint>
#include <vector>

#include "Vhd_sim_top.h"
#include "hd_accel.h"
#include "hd_sim.h"
#include "memory.h"
#include "rows.h"

namespace heddle
{

class Submission
{
  public:
    // Start the stream of `n_bytes` at `stream` (null: not in memory), at `offset` in region 0, in
    // cycle `now`; region: the bus address of each. `moved`: bytes moved before.
    void begin(const uint8_t *stream, uint32_t offset, uint32_t n_bytes, const uint64_t *region,
               hd_sim_moved moved, uint64_t now);

    // Sample settled signals before an edge, after the memory has. Return true if a command started
    // or completed.
    bool sample(const Vhd_sim_top &top, const Memory &memory, uint64_t now)
    {
        if (top.done_o == 0 && top.unit_kind_o == kinds_ && top.array_begin_o == 0)
            return false;
        return update(top, memory.moved(), now);
    }

    bool begun() const
    {
        return begun_;
    }
    uint64_t start() const
    {
        return start_;
    }
    uint64_t completed() const
    {
        return completed_;
    } // since open
    const std::vector<hd_sim_command> &commands() const
    {
        return commands_;
    }
    const hd_common *common(uint32_t command) const;
    // Return the command that `unit` runs or waits to run; commands().size(): none.
    uint32_t head(uint32_t unit) const;
    bool head_started(uint32_t unit) const
    {
        return started_ >> unit & 1;
    }
    uint32_t done_count(uint32_t unit) const
    {
        return done_count_[unit];
    }
    uint32_t last_completed() const
    {
        return last_;
    } // commands().size(): none
    const std::vector<hd_sim_row> &rows() const
    {
        return rows_.rows();
    }
    const char *violation() const
    {
        return violation_;
    }

  private:
    bool update(const Vhd_sim_top &top, hd_sim_moved moved, uint64_t now);
    void complete(uint32_t unit, uint32_t command, hd_sim_moved moved, uint64_t now);

    std::vector<hd_sim_command> commands_;
    std::vector<hd_common> words_;
    Rows rows_;
    std::vector<uint32_t> order_[HD_UNIT_COUNT]; // commands of a unit, in order
    uint32_t done_count_[HD_UNIT_COUNT] = {};
    uint32_t started_ = 0; // one bit per unit whose current command has started
    uint32_t kinds_ = ~0u;
    uint32_t last_ = 0;
    bool begun_ = false;
    bool known_ = false; // the stream is complete down to END
    uint64_t start_ = 0, completed_ = 0;
    hd_sim_moved before_ = {}; // since open
    char violation_[160] = "";
};

} // namespace heddle

#endif
