// memory.h - the memory at the accelerator's AXI master: an AXI4 slave over the caller's bytes.
// sample(): settled signals before a rising edge: handshakes, protocol checks. drive(): inputs for
// the next cycle, after the edge. Ordered and regular with seed 0: first R beat `latency` cycles
// after the AR handshake, B `latency` cycles after the last W beat, bytes_per_cycle each way,
// bursts in the order of their addresses. With a seed every channel stalls at random, bursts of
// different IDs interleave and overtake, half of the reads take their data at the AR handshake, and
// a write takes effect only when its B is raised. Units must not rely on any of this order.
#ifndef HEDDLE_SIM_MEMORY_H
#define HEDDLE_SIM_MEMORY_H

#include <array>
#include <cstdint>
#include <memory>

#include "Vhd_sim_top.h"
#include "hd_sim.h"

namespace heddle
{

class Memory
{
  public:
    static constexpr uint32_t kBursts = 64;   // maximum outstanding bursts per direction
    static constexpr uint32_t kBeats = 256;   // maximum beats per burst (AXI4)
    static constexpr uint32_t kMaxWidth = 64; // bytes a beat
    static constexpr uint32_t kWidth = sizeof(Vhd_sim_top::m_wdata_o);

    explicit Memory(const hd_sim_options &options);

    // Start the random sequence of seed `value`; no burst may be outstanding.
    void seed(uint64_t value)
    {
        random_state_ = value * 0x9e3779b97f4a7c15u | 1;
        stall_ = {};
    }

    // Set the fault to apply from now on (hd_sim.h); nullptr: none, and withheld beats are sent.
    void set_fault(hd_sim_bus_fault *fault);

    void sample(const Vhd_sim_top &top, uint64_t now)
    {
        if (top.m_arvalid_o | top.m_awvalid_o | top.m_wvalid_o | r_valid_ | b_valid_ | held_)
            sample_busy(top, now);
    }
    // Return true if an input of the model may have changed.
    bool drive(Vhd_sim_top &top, uint64_t next)
    {
        const bool busy = changed_ | random_;

        if (busy)
            drive_busy(top, next);
        return busy;
    }

    uint64_t read_bytes() const
    {
        return read_bytes_;
    }
    uint64_t write_bytes() const
    {
        return write_bytes_;
    }
    hd_sim_moved moved() const
    {
        return {read_bytes_, write_bytes_};
    }
    uint64_t beats() const
    {
        return beats_;
    }
    // Return the first rule of AXI that the accelerator broke; empty: none.
    const char *violation() const
    {
        return violation_;
    }
    uint32_t reads_waiting() const
    {
        return n_reads_;
    }
    uint32_t writes_waiting() const
    {
        return n_writes_;
    }
    // Find the address and owner of the next beat of the oldest read; false: none is open.
    bool oldest_read(uint64_t &address, uint32_t &id) const
    {
        if (n_reads_ == 0)
            return false;
        address = beat_base(reads_[0].request, reads_[0].beat);
        id = reads_[0].request.id;
        return true;
    }
    // Find the oldest write burst's address.
    bool oldest_write(uint64_t &address) const
    {
        if (n_writes_ == 0)
            return false;
        address = writes_[0].request.address;
        return true;
    }

  private:
    struct Request { // an AR or AW payload
        uint64_t address;
        uint32_t id, beats, size, burst;
    };
    struct Read {
        Request request;
        uint64_t ready;       // first cycle a beat may be valid
        uint32_t beat;        // next one to present
        const uint8_t *early; // data read at the address handshake, or null
        uint32_t slot;
    };
    struct Write {
        Request request;
        uint64_t ready; // first cycle B may be valid; kOpen: beats are missing
        uint32_t beat;
        uint32_t response;
        uint32_t slot;
        bool answered; // B was early
    };
    struct Beat {
        std::array<uint8_t, kMaxWidth> data;
        uint64_t strobe;
        bool last;
    };
    static constexpr uint64_t kOpen = ~uint64_t{0};
    static constexpr uint32_t kAhead = 64; // W beats accepted before their AW

    enum Channel { kAr, kR, kAw, kW, kB, kChannels };

    void sample_busy(const Vhd_sim_top &top, uint64_t now);
    void drive_busy(Vhd_sim_top &top, uint64_t next);

    void sample_ar(const Vhd_sim_top &top, uint64_t now);
    void sample_r(const Vhd_sim_top &top);
    void sample_aw(const Vhd_sim_top &top);
    void sample_w(const Vhd_sim_top &top, uint64_t now);
    void sample_b(const Vhd_sim_top &top);
    void match_beats(uint64_t now);
    void remove_write(uint32_t index);
    void take_beat(Write &write, const Beat &beat, uint64_t now);
    void land(const Write &write);

    void drive_r(Vhd_sim_top &top, uint64_t next);
    void drive_b(Vhd_sim_top &top, uint64_t next);
    void present_beat(Vhd_sim_top &top, Read &read);
    uint32_t choose_read(uint64_t next);
    // memory_fault.cpp
    bool strikes(uint32_t first, uint32_t last, uint64_t beat) const;
    void happened(const Request &request, uint32_t beat);
    bool withhold_read(const Read &read, uint64_t next);
    bool spoil_beat(Read &read, uint32_t &response);
    void spoil_write(Write &write, uint32_t &response);
    void spoil_answer(Write &write);
    uint32_t choose_write(uint64_t next);

    void check_request(const char *channel, const Request &request);
    void check_held(const char *channel, const Request &was, bool valid, const Request &is);
    void violate(const char *format, ...) __attribute__((format(printf, 2, 3)));

    static uint64_t beat_base(const Request &request, uint32_t beat);
    uint32_t fetch(uint64_t address, uint8_t *data) const;
    uint32_t write_response(uint64_t base, uint64_t strobe) const;
    void store(uint64_t base, const uint8_t *data, uint64_t strobe);

    uint64_t draw();
    void draw_stalls();

    const hd_sim_options options_;
    const uint64_t rate_; // bytes a cycle
    const bool random_;

    // Bursts in the order of their address handshakes.
    std::array<Read, kBursts> reads_;
    std::array<Write, kBursts> writes_;
    uint32_t n_reads_ = 0, n_writes_ = 0;
    uint32_t open_write_ = 0; // index of the first incomplete burst
    std::array<Beat, kAhead> ahead_;
    uint32_t n_ahead_ = 0;
    uint64_t slots_read_ = 0, slots_written_ = 0; // one bit per used slot of the pools below
    std::unique_ptr<uint8_t[]> early_;            // random: kBursts x kBeats x kWidth
    std::unique_ptr<Beat[]> late_;                // random: kBursts x kBeats

    // The signals that the accelerator receives now.
    bool ar_ready_ = false, aw_ready_ = false, w_ready_ = false, r_valid_ = false, b_valid_ = false;
    bool r_fired_ = false, b_fired_ = false;
    uint32_t r_index_ = 0, b_index_ = 0; // burst presented on R, on B
    bool changed_ = true;

    // Bandwidth: a beat may pass in cycle c if c * rate >= free.
    uint64_t r_free_ = 0, w_free_ = 0;

    // Valid but not accepted in the last cycle: must be unchanged now.
    bool ar_held_ = false, aw_held_ = false, w_held_ = false, held_ = false;
    Request ar_was_{}, aw_was_{};
    Beat w_was_{};

    uint64_t random_state_;
    std::array<uint32_t, kChannels> stall_{};

    uint64_t read_bytes_ = 0, write_bytes_ = 0, beats_ = 0;
    hd_sim_bus_fault *fault_ = nullptr;
    uint64_t r_beats_ = 0, w_beats_ = 0; // since the fault was set
    uint64_t r_late_ = 0;                // cycle in which the late beat may come
    uint32_t early_b_ = 0;               // 1: the open burst is to be answered; 2: B presents it
    bool struck_ = false;                // the open write burst contains the beat
    char violation_[200] = "";
};

} // namespace heddle

#endif
