// core_fault.h - one beat of a core's memory goes wrong, on request (hd_sim.h). The beats of all memory ports and streams count
// together: a read as it is shown, a write as its data, or its answer, is due.
#ifndef HEDDLE_SIM_CORE_FAULT_H
#define HEDDLE_SIM_CORE_FAULT_H

#include <cstdint>

#include "hd_sim.h"

class Faults
{
  public:
    void set(hd_sim_bus_fault *fault); // nullptr: send what was withheld
    // The next beat is due: return true if it is late or missing.
    bool holds(bool write, uint64_t at, uint64_t cycle);
    // Count a beat. Return the fault that happens at it, if it is one of `able` (bits of hd_sim_bus_kind); else 0.
    uint32_t take(bool write, uint32_t able, uint64_t at, uint64_t burst);
    // Return true if the answer of a written beat, and of later ones, is missing.
    bool lost(uint64_t beat) const;
    uint64_t writes() const
    {
        return writes_;
    }
    // Return true if heddle broke the rules of AXI: the answers are not what was asked for.
    bool breaks() const;
    bool happened() const
    {
        return fault_ != nullptr && fault_->happened != 0;
    }
    uint64_t address() const
    {
        return fault_->address;
    }

  private:
    void mark(uint64_t at, uint64_t burst);
    hd_sim_bus_fault *fault_ = nullptr;
    uint64_t reads_ = 0, writes_ = 0, until_ = 0;
};

constexpr uint32_t one_of(uint32_t first, uint32_t last)
{
    return (2u << last) - (1u << first);
}

// The response of an AXI answer.
constexpr uint32_t response_of(uint32_t kind)
{
    return kind == HD_SIM_BUS_READ_SLVERR || kind == HD_SIM_BUS_WRITE_SLVERR   ? 2
           : kind == HD_SIM_BUS_READ_DECERR || kind == HD_SIM_BUS_WRITE_DECERR ? 3
                                                                               : 0;
}

#endif
