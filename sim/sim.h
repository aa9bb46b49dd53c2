// sim.h - one open simulator: the Verilated model and everything around it.
#ifndef HEDDLE_SIM_SIM_H
#define HEDDLE_SIM_SIM_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "Vhd_sim_top.h"
#include "hd_accel.h"
#include "hd_sim.h"
#include "memory.h"
#include "submission.h"
#include "trace.h"
#include "verilated.h"
#include "watchdog.h"

struct hd_sim {
    explicit hd_sim(const hd_sim_options &options);
    ~hd_sim();
    hd_sim(const hd_sim &) = delete;
    hd_sim &operator=(const hd_sim &) = delete;

    // clock.cpp
    void reset();
    void settle(); // clock low: outputs follow the inputs
    void edge();   // process this cycle's events, then the rising edge
    void fall();
    hd_sim_stop run(uint64_t max_cycles);
    bool failed();

    // triggers.cpp
    void learn_triggers();
    void rise();       // raise the selected clocks
    void mark_moved(); // note that the next dump differs from the last one

    // registers.cpp
    uint32_t read32(uint32_t offset);
    void write32(uint32_t offset, uint32_t value);
    void written(uint32_t offset, uint32_t value);
    bool fetch_rests() const;
    void answered_doorbell();
    // Return in `cycle` when the current doorbell took effect; false: there was none.
    bool doorbell(uint64_t &cycle) const
    {
        const bool new_one = rung && now >= rung_at;

        cycle = new_one ? rung_at : submission.start();
        return new_one || submission.begun();
    }

    // commits.cpp
    void drain_commits();

    const hd_sim_options options;
    VerilatedContext context;
    std::unique_ptr<Vhd_sim_top> top_owner;
    Vhd_sim_top &top;
    heddle::Memory memory;
    heddle::Submission submission;
    heddle::Trace trace;
    heddle::Watchdog watchdog;

    uint64_t now = 0;  // cycles since open
    bool fresh = true; // an input of the model has not been sampled yet

    static constexpr uint32_t kClocks = 6; // take_i first
    bool known = false;                    // the effects of a rising clock are known
    bool *trigger[kClocks] = {};

    uint64_t commits_seen = 0;
    double wall_seconds = 0;
    void (*sink)(void *, const hd_sim_commit *) = nullptr;
    void *sink_ctx = nullptr;

    // Address of the command stream written by the bus master.
    uint32_t command_offset = 0, command_length = 0;
    uint64_t region_base[HD_REGIONS] = {};
    bool rung = false; // a doorbell was written while FETCH rested, and is not answered yet
    uint64_t rung_at = 0;

    std::string failure; // why the model cannot continue; empty: it can
    std::string stuck;   // why this submission cannot continue
};

#endif
