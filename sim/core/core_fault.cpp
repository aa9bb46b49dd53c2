// core_fault.cpp - see core_fault.h.
#include "core_fault.h"

void Faults::set(hd_sim_bus_fault *fault)
{
    fault_ = fault;
    reads_ = writes_ = 0;
}

void Faults::mark(uint64_t at, uint64_t burst)
{
    fault_->happened = 1;
    fault_->address = at;
    fault_->burst = burst;
}

bool Faults::holds(bool write, uint64_t at, uint64_t cycle)
{
    const uint32_t late = write ? HD_SIM_BUS_WRITE_LATE : HD_SIM_BUS_READ_LATE,
                   missing = write ? HD_SIM_BUS_WRITE_MISSING : HD_SIM_BUS_READ_MISSING;

    if (fault_ == nullptr || (fault_->kind != late && fault_->kind != missing) ||
        fault_->beat != (write ? writes_ : reads_))
        return false;
    if (fault_->happened == 0) {
        mark(at, at);
        until_ = cycle + HD_SIM_BUS_LATE;
    }
    return fault_->kind == missing || cycle < until_;
}

uint32_t Faults::take(bool write, uint32_t able, uint64_t at, uint64_t burst)
{
    const uint64_t beat = write ? writes_++ : reads_++;

    if (fault_ == nullptr || write != (fault_->kind >= HD_SIM_BUS_WRITE_SLVERR))
        return 0;
    fault_->beats = beat + 1;
    if (fault_->beat != beat || (able >> fault_->kind & 1) == 0)
        return 0;
    mark(at, burst);
    return fault_->kind;
}

bool Faults::lost(uint64_t beat) const
{
    return happened() && fault_->kind == HD_SIM_BUS_WRITE_MISSING && beat >= fault_->beat;
}

bool Faults::breaks() const
{
    return happened() &&
           (fault_->kind == HD_SIM_BUS_READ_SHORT || fault_->kind == HD_SIM_BUS_READ_LONG ||
            fault_->kind == HD_SIM_BUS_WRITE_EARLY);
}
