// the doorbell's own cycle does not belong to the submission
#ifndef HEDDLE_SIM_ROWS_H
#define HEDDLE_SIM_ROWS_H

#include <cstdint>
#include <vector>

#include "hd_accel.h"
#include "hd_sim.h"

namespace heddle
{

class Rows
{
  public:
    // Start the submission of `commands` in cycle `start`. Its stream is n_bytes at `stream`, at
    // `offset` in region 0; region: the bus address of each.
    void begin(const uint8_t *stream, uint32_t offset, uint32_t n_bytes, const uint64_t *region,
               const std::vector<hd_sim_command> &commands, uint64_t start);

    // All units' activities change: `kinds` counts from cycle `now` on.
    void change(uint32_t kinds, uint64_t now)
    {
        account(now);
        steps_before_ = array_steps();
        kinds_ = kinds;
    }
    // ARRAY's steps belong to the next command from now on: from cycle `now` if it took none in the
    // previous cycle, otherwise from the next one. Call it after change().
    void array_begins(uint64_t now);
    // A command of `unit` for `layer` completed in cycle `now`.
    void complete(uint32_t unit, uint32_t layer, uint64_t now);
    // END completed: `now` is the last cycle.
    void end(uint64_t now);

    const std::vector<hd_sim_row> &rows() const
    {
        return rows_;
    }

  private:
    void order(const std::vector<hd_sim_command> &commands);
    uint64_t add_bytes(const uint8_t *stream, uint32_t n_bytes, const uint64_t *region,
                       const std::vector<hd_sim_command> &commands);
    void account(uint64_t until);
    // Return the current activity of `unit`.
    uint32_t kind(uint32_t unit) const
    {
        return kinds_ >> (3 * unit) & 7;
    }
    bool array_steps() const
    {
        return kind(HD_UNIT_ARRAY) == HD_COUNTER_ARRAY_BUSY % HD_COUNTER_SLOTS ||
               kind(HD_UNIT_ARRAY) == HD_COUNTER_ARRAY_CONFLICT % HD_COUNTER_SLOTS;
    }

    std::vector<hd_sim_row> rows_;
    std::vector<uint32_t> row_of_layer_;   // rows_.size(): none
    std::vector<uint32_t> open_;           // by row: number of incomplete commands
    std::vector<uint32_t> array_, vector_; // rows of the unit's commands, in order
    size_t array_begun_ = 0, vector_done_ = 0;
    uint32_t unfinished_ = 0;   // the first row that is unfinished
    bool steps_before_ = false; // ARRAY took a step in the previous cycle
    uint32_t kinds_ = 0;
    uint64_t since_ = 0; // first cycle that is not attributed yet
    bool running_ = false;
};

} // namespace heddle

#endif
