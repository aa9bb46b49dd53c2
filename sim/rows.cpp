// rows.cpp - see rows.h.
#include "rows.h"

#include <algorithm>
#include <cstring>

#include "memory.h"

namespace heddle
{

namespace
{

constexpr uint64_t kWidth = Memory::kWidth;

// Return the bytes of the beats that cover [at, at + n).
uint64_t beat_bytes(uint64_t at, uint64_t n)
{
    return n == 0 ? 0 : (at + n - 1) / kWidth * kWidth - at / kWidth * kWidth + kWidth;
}

uint64_t run_bytes(uint64_t at, uint32_t runs, uint32_t n, uint32_t pitch)
{
    uint64_t sum = 0;

    for (uint32_t r = 0; r < runs; r++)
        sum += beat_bytes(at + uint64_t{r} * pitch, n);
    return sum;
}

} // namespace

// Order the rows by the last command of each layer; END, the only command of FETCH, has no row.
void Rows::order(const std::vector<hd_sim_command> &commands)
{
    std::vector<size_t> last(UINT16_MAX + 1, 0); // index + 1 of a layer's last command

    for (size_t i = 0; i < commands.size(); i++)
        if (commands[i].unit != HD_UNIT_FETCH)
            last[commands[i].layer] = i + 1;
    rows_.clear();
    for (size_t i = 0; i < commands.size(); i++)
        if (last[commands[i].layer] == i + 1) {
            rows_.push_back({});
            rows_.back().layer = commands[i].layer;
        }
    row_of_layer_.assign(last.size(), static_cast<uint32_t>(rows_.size()));
    for (uint32_t r = 0; r < rows_.size(); r++)
        row_of_layer_[rows_[r].layer] = r;
    open_.assign(rows_.size(), 0);
    array_.clear();
    vector_.clear();
    for (const hd_sim_command &c : commands) {
        const uint32_t row = row_of_layer_[c.layer];

        if (c.unit == HD_UNIT_FETCH)
            continue;
        open_[row]++;
        if (c.unit == HD_UNIT_ARRAY)
            array_.push_back(row);
        else if (c.unit == HD_UNIT_VECTOR)
            vector_.push_back(row);
    }
}

// by layer: index + 1 of its last command
uint64_t Rows::add_bytes(const uint8_t *stream, uint32_t n_bytes, const uint64_t *region,
                         const std::vector<hd_sim_command> &commands)
{
    uint64_t at = HD_HEADER_BYTES;

    for (const hd_sim_command &c : commands) {
        hd_cmd_dma_read read = {};
        hd_cmd_store store = {};

        if (c.unit == HD_UNIT_FETCH)
            break;
        hd_sim_row &row = rows_[row_of_layer_[c.layer]];
        memcpy(&read, stream + at, std::min<uint64_t>(sizeof read, n_bytes - at));
        memcpy(&store, stream + at, std::min<uint64_t>(sizeof store, n_bytes - at));
        if ((c.unit == HD_UNIT_LOAD || c.unit == HD_UNIT_WEIGHT) && read.spad == 0)
            row.read_bytes += run_bytes(region[read.region] + read.offset, read.runs,
                                        read.run_bytes, read.run_pitch);
        else if (c.unit == HD_UNIT_STORE)
            row.write_bytes += run_bytes(region[store.region] + store.offset, store.runs,
                                         store.run_bytes, store.run_pitch);
        row.read_bytes += uint64_t{read.common.length} * HD_COMMAND_ALIGN;
        at += uint64_t{read.common.length} * HD_COMMAND_ALIGN;
    }
    return at - HD_HEADER_BYTES;
}

void Rows::begin(const uint8_t *stream, uint32_t offset, uint32_t n_bytes, const uint64_t *region,
                 const std::vector<hd_sim_command> &commands, uint64_t start)
{
    order(commands);
    unfinished_ = 0;
    array_begun_ = vector_done_ = 0;
    since_ = start + 1; // Return the bytes of the stream that belong to some row's commands.
    running_ = !rows_.empty();
    if (!running_)
        return;
    rows_[row_of_layer_[commands[0].layer]].read_bytes +=
        beat_bytes(region[0] + offset, n_bytes) - add_bytes(stream, n_bytes, region, commands);
}

void Rows::account(uint64_t until)
{
    if (!running_ || until <= since_)
        return;
    const uint64_t n = until - since_;
    const bool steps = array_steps() && array_begun_ > 0 && array_begun_ <= array_.size();
    const uint32_t array = steps ? array_[array_begun_ - 1] : unfinished_;
    hd_sim_row &row = rows_[array];

    row.cycles += n;
    for (uint32_t unit = 0; unit < HD_UNIT_COUNT; unit++)
        row.counter[unit][kind(unit)] += n;
    if (kind(HD_UNIT_ARRAY) == HD_COUNTER_ARRAY_BUSY % HD_COUNTER_SLOTS)
        row.array_cycles += n;
    if (kind(HD_UNIT_VECTOR) == HD_COUNTER_VECTOR_BUSY % HD_COUNTER_SLOTS &&
        vector_done_ < vector_.size())
        rows_[vector_[vector_done_]].vector_cycles += n;
    since_ = until;
}

void Rows::array_begins(uint64_t now)
{
    if (steps_before_)
        account(now + 1);
    array_begun_++;
}

void Rows::complete(uint32_t unit, uint32_t layer, uint64_t now)
{
    if (!running_ || layer >= row_of_layer_.size() || row_of_layer_[layer] >= rows_.size())
        return;
    uint32_t &open = open_[row_of_layer_[layer]];

    open -= open > 0;
    if (unit == HD_UNIT_VECTOR) {
        account(now + 1);
        vector_done_++;
    }
    for (; unfinished_ + 1 < rows_.size() && open_[unfinished_] == 0; unfinished_++)
        account(now + 1);
}

void Rows::end(uint64_t now)
{
    account(now + 1);
    running_ = false;
}

} // namespace heddle
