// memory.cpp - the memory model: effects of handshakes. memory_drive.cpp sets the signals of the
// next cycle.
#include "memory.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace heddle
{

namespace
{

constexpr uint32_t kOkay = 0, kSlverr = 2, kDecerr = 3;
constexpr uint32_t kIncr = 1;

} // namespace

Memory::Memory(const hd_sim_options &options)
    : options_(options), rate_(options.bytes_per_cycle != 0 ? options.bytes_per_cycle : kWidth),
      random_(options.stall_seed != 0)
{
    seed(options.stall_seed);
    if (random_) {
        early_.reset(new uint8_t[size_t{kBursts} * kBeats * kWidth]);
        late_.reset(new Beat[size_t{kBursts} * kBeats]);
    }
}

void Memory::violate(const char *format, ...)
{
    va_list ap;

    if (violation_[0] != '\0')
        return;
    va_start(ap, format);
    (void)vsnprintf(violation_, sizeof violation_, format, ap);
    va_end(ap);
}

// --- Bytes ---

uint64_t Memory::beat_base(const Request &request, uint32_t beat)
{
    return (request.address & ~uint64_t{kWidth - 1}) + uint64_t{beat} * kWidth;
}

// Read the beat at `base` into `data`. A beat may be half outside the memory: the rest reads as 0.
uint32_t Memory::fetch(uint64_t base, uint8_t *data) const
{
    const uint64_t offset = base - options_.memory_base;

    if (options_.fault_enable != 0 && options_.fault_address - base < kWidth) {
        memset(data, 0, kWidth);
        return kSlverr;
    }
    if (offset < options_.memory_bytes && options_.memory_bytes - offset >= kWidth) {
        memcpy(data, options_.memory + offset, kWidth);
        return kOkay;
    }
    uint32_t inside = 0;
    for (uint32_t i = 0; i < kWidth; i++) {
        const bool in = offset + i < options_.memory_bytes;

        data[i] = in ? options_.memory[offset + i] : 0;
        inside += in;
    }
    return inside != 0 ? kOkay : kDecerr;
}

uint32_t Memory::write_response(uint64_t base, uint64_t strobe) const
{
    const uint64_t offset = base - options_.memory_base;

    if (options_.fault_enable != 0 && options_.fault_address - base < kWidth)
        return kSlverr;
    if (offset < options_.memory_bytes && options_.memory_bytes - offset >= kWidth)
        return kOkay;
    for (uint32_t i = 0; i < kWidth; i++)
        if ((strobe >> i & 1) != 0 && offset + i >= options_.memory_bytes)
            return kDecerr;
    return kOkay;
}

void Memory::store(uint64_t base, const uint8_t *data, uint64_t strobe)
{
    constexpr uint64_t kAll = kWidth == 64 ? ~uint64_t{0} : (uint64_t{1} << (kWidth & 63)) - 1;
    uint8_t *const to = options_.memory + (base - options_.memory_base);

    if (strobe == kAll) {
        memcpy(to, data, kWidth);
        return;
    }
    for (uint32_t i = 0; i < kWidth; i++)
        if ((strobe >> i & 1) != 0)
            to[i] = data[i];
}

// --- Rules ---

void Memory::check_request(const char *channel, const Request &request)
{
    const uint64_t last = beat_base(request, request.beats - 1) + kWidth - 1;

    if (request.burst != kIncr)
        violate("%s: burst type %u, expected INCR", channel, request.burst);
    if (1u << request.size != kWidth)
        violate("%s: size %u (%u bytes a beat), expected %u bytes", channel, request.size,
                1u << request.size, kWidth);
    if (request.address >> 12 != last >> 12)
        violate("%s: burst of %u beats from 0x%llx crosses 4 KiB", channel, request.beats,
                static_cast<unsigned long long>(request.address));
}

void Memory::check_held(const char *channel, const Request &was, bool valid, const Request &is)
{
    if (!valid)
        violate("%s: valid fell before ready", channel);
    else if (was.address != is.address || was.id != is.id || was.beats != is.beats)
        violate("%s: address, ID or length changed while waiting for ready", channel);
}

// --- Handshakes ---

void Memory::sample_busy(const Vhd_sim_top &top, uint64_t now)
{
    sample_ar(top, now);
    sample_r(top);
    sample_aw(top);
    sample_w(top, now);
    match_beats(now);
    sample_b(top);
    held_ = ar_held_ | aw_held_ | w_held_;
    changed_ = true;
}

void Memory::sample_ar(const Vhd_sim_top &top, uint64_t now)
{
    const Request request{top.m_araddr_o, top.m_arid_o, top.m_arlen_o + 1u, top.m_arsize_o,
                          top.m_arburst_o};

    if (ar_held_)
        check_held("AR", ar_was_, top.m_arvalid_o, request);
    ar_held_ = top.m_arvalid_o && !ar_ready_;
    ar_was_ = request;
    if (!top.m_arvalid_o || !ar_ready_)
        return;
    check_request("AR", request);
    const uint32_t slot = static_cast<uint32_t>(__builtin_ctzll(~slots_read_));
    const uint64_t extra = random_ ? draw() % (options_.latency + 1) : 0;
    Read &read = reads_[n_reads_++];

    read = {request, now + (options_.latency != 0 ? options_.latency : 1) + extra, 0, nullptr,
            slot};
    slots_read_ |= uint64_t{1} << slot;
    if (random_ && (draw() & 1) != 0) {
        uint8_t *const early = &early_[size_t{slot} * kBeats * kWidth];

        for (uint32_t i = 0; i < request.beats; i++)
            (void)fetch(beat_base(request, i), early + size_t{i} * kWidth);
        read.early = early;
    }
    beats_++;
}

void Memory::sample_r(const Vhd_sim_top &top)
{
    r_fired_ = r_valid_ && top.m_rready_o;
    if (!r_fired_)
        return;
    Read &read = reads_[r_index_];

    beats_++;
    r_beats_++;
    read_bytes_ += kWidth;
    if (++read.beat < read.request.beats)
        return;
    slots_read_ &= ~(uint64_t{1} << read.slot);
    n_reads_--;
    for (uint32_t i = r_index_; i < n_reads_; i++)
        reads_[i] = reads_[i + 1];
}

void Memory::sample_aw(const Vhd_sim_top &top)
{
    const Request request{top.m_awaddr_o, top.m_awid_o, top.m_awlen_o + 1u, top.m_awsize_o,
                          top.m_awburst_o};

    if (aw_held_)
        check_held("AW", aw_was_, top.m_awvalid_o, request);
    aw_held_ = top.m_awvalid_o && !aw_ready_;
    aw_was_ = request;
    if (!top.m_awvalid_o || !aw_ready_)
        return;
    check_request("AW", request);
    const uint32_t slot = static_cast<uint32_t>(__builtin_ctzll(~slots_written_));

    slots_written_ |= uint64_t{1} << slot;
    writes_[n_writes_++] = {request, kOpen, 0, kOkay, slot, false};
    beats_++;
}

void Memory::sample_w(const Vhd_sim_top &top, uint64_t now)
{
    if (!top.m_wvalid_o && !w_held_)
        return;
    Beat beat;

    memcpy(beat.data.data(), &top.m_wdata_o, kWidth);
    beat.strobe = top.m_wstrb_o;
    beat.last = top.m_wlast_o != 0;
    if (w_held_ && !top.m_wvalid_o)
        violate("W: valid fell before ready");
    else if (w_held_ && (memcmp(beat.data.data(), w_was_.data.data(), kWidth) != 0 ||
                         beat.strobe != w_was_.strobe || beat.last != w_was_.last))
        violate("W: data, strobe or last changed while waiting for ready");
    w_held_ = top.m_wvalid_o && !w_ready_;
    if (w_held_)
        w_was_ = beat;
    if (w_held_ || !top.m_wvalid_o)
        return;
    const uint64_t back = now * rate_ - rate_ + 1;

    w_free_ = (w_free_ > back ? w_free_ : back) + kWidth;
    ahead_[n_ahead_++] = beat;
}

// Assign accepted W beats to the oldest open burst.
void Memory::match_beats(uint64_t now)
{
    uint32_t used = 0;

    while (used < n_ahead_ && open_write_ < n_writes_)
        take_beat(writes_[open_write_], ahead_[used++], now);
    if (used == 0)
        return;
    n_ahead_ -= used;
    for (uint32_t i = 0; i < n_ahead_; i++)
        ahead_[i] = ahead_[i + used];
}

void Memory::take_beat(Write &write, const Beat &beat, uint64_t now)
{
    const uint64_t base = beat_base(write.request, write.beat);
    const bool last = write.beat + 1 == write.request.beats;
    uint32_t response = write_response(base, beat.strobe);

    spoil_write(write, response);
    if (beat.last != last)
        violate("W: last is %d at beat %u of %u, address 0x%llx", beat.last, write.beat,
                write.request.beats, static_cast<unsigned long long>(base));
    if (response != kOkay && write.response == kOkay)
        write.response = response;
    if (random_)
        late_[size_t{write.slot} * kBeats + write.beat] = beat;
    else if (response == kOkay)
        store(base, beat.data.data(), beat.strobe);
    beats_++;
    write_bytes_ += kWidth;
    write.beat++;
    if (!last)
        return;
    write.ready = now + (options_.latency != 0 ? options_.latency : 1) +
                  (random_ ? draw() % (options_.latency + 1) : 0);
    spoil_answer(write);
    if (write.answered)
        remove_write(open_write_);
    else
        open_write_++;
}

// Random mode: write the bytes of a whole burst when its B appears.
void Memory::land(const Write &write)
{
    for (uint32_t i = 0; i < write.request.beats; i++) {
        const Beat &beat = late_[size_t{write.slot} * kBeats + i];
        const uint64_t base = beat_base(write.request, i);

        if (write_response(base, beat.strobe) == kOkay)
            store(base, beat.data.data(), beat.strobe);
    }
}

void Memory::sample_b(const Vhd_sim_top &top)
{
    b_fired_ = b_valid_ && top.m_bready_o;
    if (!b_fired_)
        return;
    beats_++;
    if (early_b_ == 2) {
        early_b_ = 0;
        if (open_write_ == 0) { // its last beat has not arrived since
            writes_[0].answered = true;
            return;
        }
    }
    open_write_--;
    remove_write(b_index_);
}

void Memory::remove_write(uint32_t index)
{
    slots_written_ &= ~(uint64_t{1} << writes_[index].slot);
    n_writes_--;
    for (uint32_t i = index; i < n_writes_; i++)
        writes_[i] = writes_[i + 1];
}

} // namespace heddle
