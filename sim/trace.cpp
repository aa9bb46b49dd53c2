// trace.cpp - FST waves.
#include "trace.h"

#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

#include "hd_sim_names.h"
#include "sim.h"
#if VM_TRACE
#include "verilated_fst_c.h"
#endif

namespace heddle
{

#if VM_TRACE
namespace
{

constexpr uint32_t kNameBytes = 32; // NameBits and OpBits of hd_sim_top.sv
constexpr uint32_t kOpBytes = 8;

constexpr uint64_t kLeastStep = 64;      // cycles between two checks of the size
constexpr uint64_t kCloseBytes = 200000; // maximum bytes that closing a file adds, at sys32

// Write a Verilog string: the last character in the lowest byte.
void put_text(void *field, uint32_t n_bytes, const char *text)
{
    uint8_t *const bytes = static_cast<uint8_t *>(field);
    const size_t length = strnlen(text, n_bytes);

    memset(bytes, 0, n_bytes);
    for (size_t i = 0; i < length; i++)
        bytes[i] = static_cast<uint8_t>(text[length - 1 - i]);
}

} // namespace

int Trace::start(hd_sim &sim, const char *path, uint64_t limit_bytes)
{
    stop();
    path_ = path;
    (void)unlink(path);
    file_ = new VerilatedFstC;
    sim.top.trace(file_, 99);
    file_->open(path);
    if (!file_->isOpen() || access(path, W_OK) != 0) {
        stop();
        return -1;
    }
    limit_ = limit_bytes;
    bytes_ = cycles_ = 0;
    next_check_ = kLeastStep;
    asked_ = false;
    limited_ = false;
    armed_ = true;
    return 0;
}

void Trace::stop()
{
    struct stat info;

    if (file_ == nullptr)
        return;
    file_->close();
    delete file_;
    file_ = nullptr;
    armed_ = active_ = false;
    if (stat(path_.c_str(), &info) == 0)
        bytes_ = static_cast<uint64_t>(info.st_size);
}

void Trace::window(bool by_command, uint64_t first, uint64_t last)
{
    by_command_ = by_command;
    first_ = first;
    last_ = last;
}

// Return true within the window. Commands: from the start of the first one until all of them are
// done.
bool Trace::in_window(const hd_sim &sim) const
{
    if (last_ < first_)
        return true;
    if (!by_command_) {
        uint64_t doorbell;
        const bool begun = sim.doorbell(doorbell);
        const uint64_t cycle = sim.now - doorbell;

        return begun && cycle >= first_ && cycle <= last_;
    }
    const std::vector<hd_sim_command> &commands = sim.submission.commands();
    bool started = false, open = false;

    for (uint64_t i = first_; i <= last_ && i < commands.size(); i++) {
        started |= commands[i].start != 0 || commands[i].done != 0;
        open |= commands[i].done == 0;
    }
    return started && open;
}

bool Trace::choose(hd_sim &sim, bool moved)
{
    const bool was = active_;
    uint64_t since;

    active_ = in_window(sim);
    if (!active_)
        return false;
    if (moved || !was)
        name_commands(sim);
    (void)sim.doorbell(since);
    sim.top.cycle_i = sim.now - since;
    return true;
}

void Trace::name_commands(hd_sim &sim)
{
    const Submission &s = sim.submission;

    for (uint32_t unit = 0; unit < HD_UNIT_COUNT; unit++) {
        const uint32_t head = s.head(unit);
        const hd_common *const common = s.head_started(unit) ? s.common(head) : nullptr;
        const char *layer = "", *op = "", *tile = nullptr;

        if (common != nullptr) {
            op = common->opcode < HD_OPCODE_COUNT ? hd_opcode_names[common->opcode] : "?";
            layer =
                common->layer < sim.options.n_layers ? sim.options.layer_names[common->layer] : "";
            if (sim.options.tile != nullptr)
                tile = sim.options.tile(sim.options.tile_ctx, sim.command_offset, head);
        }
        put_text(reinterpret_cast<uint8_t *>(&sim.top.layer_i) + unit * kNameBytes, kNameBytes,
                 layer != nullptr ? layer : "");
        put_text(reinterpret_cast<uint8_t *>(&sim.top.tile_i) + unit * kNameBytes, kNameBytes,
                 tile != nullptr ? tile : "");
        put_text(reinterpret_cast<uint8_t *>(&sim.top.op_i) + unit * kOpBytes, kOpBytes, op);
    }
}

void Trace::show_host(hd_sim &sim, const char *function)
{
    put_text(&sim.top.host_i, kNameBytes, function);
    sim.fresh = true;
}

void Trace::dump_high(hd_sim &sim)
{
    file_->dump(sim.now * 10);
    if (++cycles_ >= next_check_)
        check_size();
}

void Trace::dump_low(hd_sim &sim)
{
    file_->dump(sim.now * 10 + 5);
}

// Limit the file's size. The writer keeps blocks in memory, and flush() only requests a write,
// which happens with the next change of time. So request it, read the size one cycle later, and
// check again after half of the remaining room at the rate so far. Room for the bytes that closing
// adds (names of signals, the last block) is reserved.
void Trace::check_size()
{
    struct stat info;

    asked_ = !asked_;
    if (asked_) {
        file_->flush();
        next_check_ = cycles_ + 1;
        return;
    }
    if (stat(path_.c_str(), &info) == 0)
        bytes_ = static_cast<uint64_t>(info.st_size);
    if (limit_ == 0) {
        next_check_ = cycles_ + 65536; // the maximum that a crash may lose
        return;
    }
    const uint64_t rate = bytes_ / cycles_ + 1;
    const uint64_t kept = kCloseBytes + kLeastStep * rate;

    if (bytes_ + kept >= limit_) {
        stop();
        limited_ = true;
        return;
    }
    const uint64_t step = (limit_ - kept - bytes_) / rate / 2;

    next_check_ = cycles_ + (step < kLeastStep ? kLeastStep : step > 16384 ? 16384 : step);
}

#else // a model without waves

int Trace::start(hd_sim &, const char *, uint64_t)
{
    return -1;
}

void Trace::stop()
{
}

void Trace::window(bool, uint64_t, uint64_t)
{
}

bool Trace::choose(hd_sim &, bool)
{
    return false;
}

void Trace::name_commands(hd_sim &)
{
}

void Trace::show_host(hd_sim &, const char *)
{
}

void Trace::dump_low(hd_sim &)
{
}

void Trace::dump_high(hd_sim &)
{
}
#endif

} // namespace heddle
