// rows.h - what each layer of a submission cost: its cycles, what every unit did in them, and the
// bytes its commands moved.
//   Rows stand in the order in which layers end (the last command of each, in stream order). A row
//   ends when all commands of it and of the rows before have completed; the first starts with the
//   doorbell, the last ends with the interrupt. So every cycle of the submission belongs to one
//   row, and in a row the counters of each unit add up to its cycles. Bytes are counted with the
//   layer whose command moves them, in whole beats of the bus, whenever that happens; a command's
//   own words are bytes read for its layer, the stream's header is the first row's, END and what
//   rounds the stream up to beats are the last row's.
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
        kinds_ = kinds;
    }
    // A command of `layer` completed in cycle `now`.
    void complete(uint32_t layer, uint64_t now);
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

    std::vector<hd_sim_row> rows_;
    std::vector<uint32_t> row_of_layer_; // rows_.size(): none
    std::vector<uint32_t> open_;         // by row: commands not completed
    uint32_t current_ = 0;
    uint32_t kinds_ = 0;
    uint64_t since_ = 0; // first cycle not accounted for
    bool running_ = false;
};

} // namespace heddle

#endif
