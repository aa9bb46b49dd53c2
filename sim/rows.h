// rows.h - what each layer of a submission cost: its cycles, what every unit did in them, ARRAY's
// and VECTOR's busy cycles for its commands, and the bytes its commands moved.
//   Rows are in the order in which layers end (the last command of each, in stream order). Every
//   cycle of the submission belongs to one row, and in a row the counters of each unit add up to
//   its cycles: a cycle in which ARRAY takes steps belongs to the layer it takes them for; in any
//   other cycle it is the first layer that is not finished, in the rows' order. So the steps of a
//   layer, each of which multiplies N x N pairs at most, are all within its own cycles. (If a
//   layer's cycles were those between its neighbours' ends, one whose first tiles run while the
//   layer before is stored would do more MACs than its cycles allow.) Bytes are counted with the
//   layer whose command moves them, in whole beats of the bus, whenever that happens; a command's
//   own words are bytes read for its layer. The stream's header, END and what rounds the stream up
//   to beats are those of the first command's layer, as app/stats/actions.c counts them.
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
    // The submission of `commands` starts in cycle `start`. Its stream is n_bytes at `stream`,
    // which is `offset` in region 0; region: the bus address of each.
    void begin(const uint8_t *stream, uint32_t offset, uint32_t n_bytes, const uint64_t *region,
               const std::vector<hd_sim_command> &commands, uint64_t start);

    // The kinds of all units changed: `kinds` counts from cycle `now` on.
    void change(uint32_t kinds, uint64_t now)
    {
        account(now);
        steps_before_ = array_steps();
        kinds_ = kinds;
    }
    // ARRAY's steps are the next command's, from cycle `now` on if it took none in the cycle
    // before, else from the next on. Call it after change().
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
    // The kind of `unit` now.
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
    std::vector<uint32_t> open_;           // by row: commands not completed
    std::vector<uint32_t> array_, vector_; // rows of the unit's commands, in order
    size_t array_begun_ = 0, vector_done_ = 0;
    uint32_t unfinished_ = 0;   // the first row that is
    bool steps_before_ = false; // ARRAY took a step in the cycle before
    uint32_t kinds_ = 0;
    uint64_t since_ = 0; // first cycle not accounted for
    bool running_ = false;
};

} // namespace heddle

#endif
