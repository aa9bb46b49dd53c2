// submission.cpp - track the commands of the current submission: their start and completion.
#include "submission.h"

#include <cstdio>
#include <cstring>

#include "hd_sim_names.h"

namespace heddle
{

namespace
{

uint32_t unit_of_opcode(uint32_t opcode)
{
    switch (opcode) {
    case HD_OPCODE_LOAD: return HD_UNIT_LOAD;
    case HD_OPCODE_WEIGHT: return HD_UNIT_WEIGHT;
    case HD_OPCODE_ARRAY: return HD_UNIT_ARRAY;
    case HD_OPCODE_VECTOR: return HD_UNIT_VECTOR;
    case HD_OPCODE_STORE: return HD_UNIT_STORE;
    default: return HD_UNIT_FETCH;
    }
}

// Return true for activities in which a unit has not begun its next command. They are the same in
// every unit except FETCH.
bool is_waiting(uint32_t unit, uint32_t kind)
{
    if (unit == HD_UNIT_FETCH)
        return kind != HD_COUNTER_FETCH_WAIT_END % HD_COUNTER_SLOTS;
    return kind == HD_COUNTER_LOAD_WAIT_TOKEN % HD_COUNTER_SLOTS ||
           hd_counter_names[unit][kind] == nullptr ||
           strcmp(hd_counter_names[unit][kind], "idle") == 0;
}

} // namespace

void Submission::begin(const uint8_t *stream, uint32_t offset, uint32_t n_bytes,
                       const uint64_t *region, hd_sim_moved moved, uint64_t now)
{
    commands_.clear();
    words_.clear();
    for (std::vector<uint32_t> &order : order_)
        order.clear();
    memset(done_count_, 0, sizeof done_count_);
    started_ = 0;
    kinds_ = ~0u;
    violation_[0] = '\0';
    start_ = now;
    before_ = moved;
    begun_ = true;
    known_ = false;
    for (uint64_t at = HD_HEADER_BYTES; stream != nullptr && at + sizeof(hd_common) <= n_bytes;) {
        hd_common common;

        memcpy(&common, stream + at, sizeof common);
        const uint32_t unit = unit_of_opcode(common.opcode);
        order_[unit].push_back(static_cast<uint32_t>(commands_.size()));
        commands_.push_back({0, 0, {}, {}, unit, common.layer});
        words_.push_back(common);
        known_ = common.opcode == HD_OPCODE_END;
        if (known_ || common.length == 0)
            break;
        at += common.length * HD_COMMAND_ALIGN;
    }
    last_ = static_cast<uint32_t>(commands_.size());
    rows_.begin(stream, offset, n_bytes, region, commands_, now);
}

const hd_common *Submission::common(uint32_t command) const
{
    return command < words_.size() ? &words_[command] : nullptr;
}

uint32_t Submission::head(uint32_t unit) const
{
    const std::vector<uint32_t> &order = order_[unit];
    const uint32_t k = done_count_[unit];

    return k < order.size() ? order[k] : static_cast<uint32_t>(commands_.size());
}

void Submission::complete(uint32_t unit, uint32_t command, hd_sim_moved moved, uint64_t now)
{
    const uint32_t expected = head(unit);

    if (command != expected && known_ && violation_[0] == '\0')
        (void)snprintf(violation_, sizeof violation_, "%s completed command %u, expected %u of %zu",
                       hd_unit_names[unit], command, expected, commands_.size());
    completed_++;
    done_count_[unit]++;
    if (expected >= commands_.size())
        return;
    hd_sim_command &done = commands_[expected];
    done.done = now - start_;
    done.at_done = moved;
    if (unit == HD_UNIT_FETCH)
        rows_.end(now);
    else
        rows_.complete(unit, done.layer, now);
    if ((started_ >> unit & 1) == 0) {
        done.start = done.done;
        done.at_start = moved;
    }
    started_ &= ~(1u << unit);
    last_ = expected;
}

bool Submission::update(const Vhd_sim_top &top, hd_sim_moved moved, uint64_t now)
{
    bool changed = false;

    moved = {moved.read - before_.read, moved.written - before_.written};
    kinds_ = top.unit_kind_o;
    rows_.change(kinds_, now);
    if (top.array_begin_o != 0)
        rows_.array_begins(now);
    for (uint32_t unit = 0; unit < HD_UNIT_COUNT; unit++) {
        if ((started_ >> unit & 1) == 0 && !is_waiting(unit, kinds_ >> (3 * unit) & 7)) {
            const uint32_t command = head(unit);

            if (command < commands_.size()) {
                commands_[command].start = now - start_;
                commands_[command].at_start = moved;
                started_ |= 1u << unit;
                changed = true;
            }
        }
        if ((top.done_o >> unit & 1) != 0) {
            complete(unit, top.done_cmd_o[unit], moved, now);
            kinds_ = ~0u; // check again: the next command may start with the same activity
            changed = true;
        }
    }
    return changed;
}

} // namespace heddle
