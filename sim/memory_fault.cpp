// memory_fault.cpp - the memory model: faults on request (hd_sim.h).
#include "memory.h"

namespace heddle
{

namespace
{

constexpr uint32_t kSlverr = 2, kDecerr = 3;
constexpr uint64_t kNever = ~uint64_t{0} - 1;

} // namespace

void Memory::set_fault(hd_sim_bus_fault *fault)
{
    fault_ = fault;
    r_beats_ = w_beats_ = r_late_ = 0;
    struck_ = false;
    for (uint32_t i = 0; i < n_writes_; i++)
        if (writes_[i].ready == kNever)
            writes_[i].ready = 0;
    changed_ = true;
}

// Return true if the fault is one of kinds [first, last] and at this beat.
bool Memory::strikes(uint32_t first, uint32_t last, uint64_t beat) const
{
    return fault_ != nullptr && fault_->kind >= first && fault_->kind <= last &&
           fault_->beat == beat;
}

void Memory::happened(const Request &request, uint32_t beat)
{
    fault_->happened = 1;
    fault_->unit = request.id;
    fault_->address = beat_base(request, beat);
    fault_->burst = request.address;
}

// Late or missing: stall the read channel at this beat.
bool Memory::withhold_read(const Read &read, uint64_t next)
{
    if (!strikes(HD_SIM_BUS_READ_LATE, HD_SIM_BUS_READ_MISSING, r_beats_))
        return false;
    if (fault_->happened == 0) {
        happened(read.request, read.beat);
        r_late_ = next + HD_SIM_BUS_LATE;
    }
    return fault_->kind == HD_SIM_BUS_READ_MISSING || next < r_late_;
}

// Set RLAST and the response of the presented beat.
bool Memory::spoil_beat(Read &read, uint32_t &response)
{
    const bool last = read.beat + 1 == read.request.beats;

    if (fault_ == nullptr || fault_->beat != r_beats_)
        return last;
    switch (fault_->kind) {
    case HD_SIM_BUS_READ_SLVERR: response = kSlverr; break;
    case HD_SIM_BUS_READ_DECERR: response = kDecerr; break;
    case HD_SIM_BUS_READ_SHORT:
        if (last)
            return last;
        read.request.beats = read.beat + 1;
        break;
    case HD_SIM_BUS_READ_LONG:
        if (!last)
            return last;
        read.request.beats++;
        break;
    default: return last;
    }
    happened(read.request, read.beat);
    return fault_->kind == HD_SIM_BUS_READ_SHORT || (fault_->kind != HD_SIM_BUS_READ_LONG && last);
}

// Accept a write beat: set its response, and whether its burst's answer will be wrong.
void Memory::spoil_write(Write &write, uint32_t &response)
{
    if (!strikes(HD_SIM_BUS_WRITE_SLVERR, HD_SIM_BUS_WRITE_EARLY, w_beats_++))
        return;
    if (fault_->kind == HD_SIM_BUS_WRITE_EARLY) {
        // Answers of earlier bursts come first: only the oldest can be answered too early.
        if (write.beat + 1 == write.request.beats || open_write_ != 0)
            return;
        early_b_ = 1;
    }
    struck_ = true;
    happened(write.request, write.beat);
    if (fault_->kind == HD_SIM_BUS_WRITE_SLVERR)
        response = kSlverr;
    else if (fault_->kind == HD_SIM_BUS_WRITE_DECERR)
        response = kDecerr;
}

// Handle the burst's last accepted beat.
void Memory::spoil_answer(Write &write)
{
    if (!struck_)
        return;
    struck_ = false;
    if (fault_->kind == HD_SIM_BUS_WRITE_LATE)
        write.ready += HD_SIM_BUS_LATE;
    else if (fault_->kind == HD_SIM_BUS_WRITE_MISSING)
        write.ready = kNever;
}

} // namespace heddle
