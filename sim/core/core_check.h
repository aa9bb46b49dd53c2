// core_check.h - the rules of a bus, checked on its wires, whichever side drives them. The first breach is a failure of the core,
// with bus, channel, cycle and signal.
//   Handshakes: every handshake of bus.def: valid stays until ready, what belongs to it is stable; the core's ready
//     comes within kPatience cycles.
//   AxiRules: lengths, 4 KiB, sizes, strobes, last beats, IDs, answers without a request.
//   WishboneRules: stb with cyc, until ack, with all that belongs to it; one answer, after its request.
//   ApbRules: a cycle of setup, then penable until pready, with all that belongs to it.
#ifndef HEDDLE_SIM_CORE_CHECK_H
#define HEDDLE_SIM_CORE_CHECK_H

#include <deque>
#include <map>
#include <vector>

#include "core.h"

class Handshakes
{
  public:
    // both: heddle's side is checked too.
    Handshakes(const Bus &bus, Core &core, bool both = false);
    void sample();

  private:
    struct Channel {
        BusSignal valid, ready;
        bool core_drives; // valid
        std::vector<BusSignal> payload;
        bool held = false;
        uint32_t waited = 0;
        std::vector<uint8_t> was;
    };
    void look(Channel &channel);
    const Bus &bus_;
    Core &core_;
    std::vector<Channel> channels_;
};

struct AxiRequest {
    uint64_t address = 0;
    uint32_t id = 0, beats = 1, size = 0, burst = 1; // size: bytes a beat

    AxiRequest() = default;
    AxiRequest(const Bus &bus, bool read);
    uint64_t beat_address(uint32_t beat) const;
    uint32_t beat_bytes(uint32_t beat) const; // from beat_address to the beat's end
};

class AxiRules
{
  public:
    AxiRules(const Bus &bus, Core &core) : bus_(bus), core_(core)
    {
    }
    void sample();

  private:
    struct Write {
        AxiRequest request;
        uint32_t beat = 0;
    };
    struct Beat {
        uint64_t strobe;
        bool last;
    };
    void request(const AxiRequest &request, bool read);
    void data();
    void match();
    void answer();
    void response(BusSignal of, uint64_t value);
    const Bus &bus_;
    Core &core_;
    std::map<uint32_t, std::deque<Write>> reads_; // by ID
    std::deque<Write> writes_;                    // whose data are not complete
    std::deque<Beat> ahead_;                      // data before their address
    std::map<uint32_t, uint32_t> complete_;       // writes without their answer, by ID
};

class WishboneRules
{
  public:
    WishboneRules(const Bus &bus, Core &core) : bus_(bus), core_(core), was_(bus.bytes)
    {
    }
    void sample();

  private:
    void changed(BusSignal s, uint64_t was, uint64_t is);
    void check_held();
    const Bus &bus_;
    Core &core_;
    bool held_ = false, we_ = false;
    uint64_t address_ = 0, sel_ = 0,
             under_way_ = 0; // under_way_: of pipelined cycles, without their answer
    std::vector<uint8_t> was_;
};

class ApbRules
{
  public:
    ApbRules(const Bus &bus, Core &core) : bus_(bus), core_(core)
    {
    }
    void sample();

  private:
    const Bus &bus_;
    Core &core_;
    bool waits_ = false; // the last cycle was a setup, or an access without pready
    uint64_t was_[4] = {};
};

#endif
