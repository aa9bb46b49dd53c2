// memory_drive.cpp - the memory model: the signals of the next cycle.
#include <cstring>

#include "memory.h"

namespace heddle
{

// xorshift64* (Vigna 2016).
uint64_t Memory::draw()
{
    random_state_ ^= random_state_ >> 12;
    random_state_ ^= random_state_ << 25;
    random_state_ ^= random_state_ >> 27;
    return random_state_ * 0x2545f4914f6cdd1du >> 32;
}

// Each channel runs without stalls in three of four cycles, otherwise stalls for 1 to 8 cycles,
// occasionally up to 64.
void Memory::draw_stalls()
{
    for (uint32_t &stall : stall_) {
        if (stall != 0) {
            stall--;
            continue;
        }
        const uint64_t r = draw();

        if ((r & 3) == 0)
            stall = 1 + (r >> 8) % ((r >> 2 & 15) == 0 ? 64 : 8);
    }
}

void Memory::drive_busy(Vhd_sim_top &top, uint64_t next)
{
    if (random_)
        draw_stalls();
    ar_ready_ = n_reads_ < kBursts && stall_[kAr] == 0;
    aw_ready_ = n_writes_ < kBursts && stall_[kAw] == 0;
    w_ready_ = n_ahead_ < kAhead && stall_[kW] == 0 && next * rate_ >= w_free_;
    top.m_arready_i = ar_ready_;
    top.m_awready_i = aw_ready_;
    top.m_wready_i = w_ready_;
    drive_r(top, next);
    drive_b(top, next);
    changed_ = n_reads_ != 0 || n_writes_ != 0 || n_ahead_ != 0 || !w_ready_;
}

// Choose the next burst to send a beat: the oldest; in random mode any that is the oldest of its
// ID.
uint32_t Memory::choose_read(uint64_t next)
{
    uint32_t pick = kBursts, seen_ids = 0, candidates = 0;

    if (!random_)
        return n_reads_ != 0 && reads_[0].ready <= next ? 0 : kBursts;
    for (uint32_t i = 0; i < n_reads_; i++) {
        const uint32_t bit = 1u << (reads_[i].request.id & 31);

        if ((seen_ids & bit) == 0 && reads_[i].ready <= next && draw() % ++candidates == 0)
            pick = i;
        seen_ids |= bit;
    }
    return pick;
}

uint32_t Memory::choose_write(uint64_t next)
{
    uint32_t pick = kBursts, seen_ids = 0, candidates = 0;

    if (!random_)
        return open_write_ != 0 && writes_[0].ready <= next ? 0 : kBursts;
    for (uint32_t i = 0; i < open_write_; i++) {
        const uint32_t bit = 1u << (writes_[i].request.id & 31);

        if ((seen_ids & bit) == 0 && writes_[i].ready <= next && draw() % ++candidates == 0)
            pick = i;
        seen_ids |= bit;
    }
    return pick;
}

void Memory::present_beat(Vhd_sim_top &top, Read &read)
{
    uint8_t data[kWidth];
    uint32_t response = fetch(beat_base(read.request, read.beat), data);
    const uint8_t *const bytes =
        read.early != nullptr ? read.early + size_t{read.beat} * kWidth : data;

    memcpy(&top.m_rdata_i, bytes, kWidth);
    top.m_rid_i = read.request.id;
    top.m_rlast_i = spoil_beat(read, response);
    top.m_rresp_i = response;
}

void Memory::drive_r(Vhd_sim_top &top, uint64_t next)
{
    if (r_valid_ && !r_fired_)
        return;
    r_fired_ = false;
    r_valid_ = false;
    if (n_reads_ != 0 && next * rate_ >= r_free_ && stall_[kR] == 0) {
        r_index_ = choose_read(next);
        if (r_index_ != kBursts && !withhold_read(reads_[r_index_], next)) {
            const uint64_t back = next * rate_ - rate_ + 1;

            r_valid_ = true;
            r_free_ = (r_free_ > back ? r_free_ : back) + kWidth;
            present_beat(top, reads_[r_index_]);
        }
    }
    top.m_rvalid_i = r_valid_;
}

void Memory::drive_b(Vhd_sim_top &top, uint64_t next)
{
    if (b_valid_ && !b_fired_)
        return;
    b_fired_ = false;
    b_valid_ = false;
    if (early_b_ == 1) {
        early_b_ = 2;
        b_index_ = 0;
        b_valid_ = true;
        top.m_bid_i = writes_[0].request.id;
        top.m_bresp_i = 0;
    } else if (open_write_ != 0 && stall_[kB] == 0) {
        b_index_ = choose_write(next);
        if (b_index_ != kBursts) {
            const Write &write = writes_[b_index_];

            b_valid_ = true;
            if (random_)
                land(write);
            top.m_bid_i = write.request.id;
            top.m_bresp_i = write.response;
        }
    }
    top.m_bvalid_i = b_valid_;
}

} // namespace heddle
