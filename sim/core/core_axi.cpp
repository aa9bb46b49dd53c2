// core_axi.cpp - the memory at an AXI4 master of a core: bursts of every kind and size, several outstanding. Regular with
// seed 0: bursts in the order of their addresses. With a seed bursts of different IDs interleave and overtake, half of
// the reads take their data at the AR handshake, and a write lands only with its B (as Memory, sim/memory.h).
#include <deque>
#include <vector>

#include "core_check.h"

namespace
{

constexpr size_t kBursts = 64;

class AxiMemory : public Side
{
  public:
    AxiMemory(const Bus &bus, Core &core)
        : bus_(bus), core_(core), handshakes_(bus, core), rules_(bus, core), pace_(core)
    {
    }
    void seed(uint64_t seed) override
    {
        pace_.seed(seed);
    }
    uint64_t waiting() const override
    {
        return reads_.size() + writes_.size() + ahead_.size();
    }

    void sample() override
    {
        handshakes_.sample();
        rules_.sample();
        if (bus_.fires(RVALID, RREADY))
            end_read();
        if (bus_.fires(BVALID, BREADY)) {
            writes_.erase(writes_.begin() + static_cast<long>(b_index_));
            b_shown_ = false;
        }
        if (bus_.fires(ARVALID, ARREADY))
            begin_read();
        if (bus_.fires(AWVALID, AWREADY))
            writes_.push_back({AxiRequest(bus_, false), 0, 0, 0, false, {}});
        if (bus_.fires(WVALID, WREADY)) {
            const uint8_t *const data = bus_[WDATA].at;
            ahead_.push_back({{data, data + bus_.bytes}, bus_[WSTRB].get()});
            pace_.take(w_free_, bus_.bytes, core_.totals.cycles);
        }
        match();
    }

    void drive() override
    {
        bus_[ARREADY].set(reads_.size() < kBursts && !pace_.stalls(0));
        bus_[AWREADY].set(writes_.size() < kBursts && !pace_.stalls(1));
        bus_[WREADY].set(ahead_.size() < kBursts && !pace_.stalls(2) &&
                         pace_.may(w_free_, bus_.bytes));
        drive_read();
        drive_answer();
    }

  private:
    struct Read {
        AxiRequest request;
        uint64_t ready;
        uint32_t beat;
        std::vector<uint8_t> early; // taken at the handshake
    };
    struct Data {
        std::vector<uint8_t> bytes;
        uint64_t strobe;
    };
    struct Write {
        AxiRequest request;
        uint64_t ready;
        uint32_t beat;
        uint64_t response;
        bool complete;
        std::vector<Data> late; // lands with B
    };

    uint64_t word_of(const AxiRequest &r, uint32_t beat) const
    {
        return r.beat_address(beat) & ~uint64_t{bus_.bytes - 1};
    }

    // The bytes of a beat, in their lanes.
    void fetch(const AxiRequest &r, uint32_t beat, uint8_t *lanes)
    {
        const uint64_t at = r.beat_address(beat);
        core_.read(at, lanes + (at - word_of(r, beat)), r.beat_bytes(beat));
    }

    void begin_read()
    {
        Read read{AxiRequest(bus_, true), core_.totals.cycles + pace_.latency(), 0, {}};

        if (!core_.failure.empty())
            return;
        if (pace_.random() && pace_.draw() % 2 == 0) {
            read.early.resize(size_t{read.request.beats} * bus_.bytes);
            for (uint32_t i = 0; i < read.request.beats; i++)
                fetch(read.request, i, &read.early[size_t{i} * bus_.bytes]);
        }
        reads_.push_back(std::move(read));
    }

    void end_read()
    {
        Read &read = reads_[r_index_];

        r_shown_ = false;
        if (++read.beat == read.request.beats)
            reads_.erase(reads_.begin() + static_cast<long>(r_index_));
    }

    void match()
    {
        size_t i = 0;

        while (i < writes_.size() && writes_[i].complete)
            i++;
        for (; i < writes_.size() && !ahead_.empty() && core_.failure.empty();) {
            Write &w = writes_[i];
            const uint64_t at = word_of(w.request, w.beat);

            if (core_.faulty(at, bus_.bytes))
                w.response = 2;
            if (pace_.random())
                w.late.push_back(ahead_.front());
            else
                core_.write(at, ahead_.front().bytes.data(), bus_.bytes, ahead_.front().strobe);
            ahead_.pop_front();
            if (++w.beat < w.request.beats)
                continue;
            w.complete = true;
            w.ready = core_.totals.cycles + pace_.latency();
            i++;
        }
    }

    // The oldest; in random mode any that is the oldest of its ID. list.size(): none is ready.
    template <class List, class Ready> size_t choose(const List &list, Ready ready)
    {
        size_t pick = list.size();
        uint64_t candidates = 0;
        std::vector<uint32_t> seen;

        for (size_t i = 0; i < list.size(); i++) {
            bool first = true;
            for (const uint32_t id : seen)
                first = first && id != list[i].request.id;
            seen.push_back(list[i].request.id);
            if (first && ready(list[i]) && (candidates == 0 || pace_.draw() % ++candidates == 0)) {
                pick = i;
                candidates += candidates == 0;
            }
            if (!pace_.random())
                break;
        }
        return pick;
    }

    void drive_read()
    {
        const uint64_t now = core_.totals.cycles;

        if (!r_shown_ && !reads_.empty() && !pace_.stalls(3) && pace_.may(r_free_, bus_.bytes)) {
            r_index_ = choose(reads_, [now](const Read &r) { return r.ready <= now; });
            if (r_index_ != reads_.size())
                show_read(reads_[r_index_]);
        }
        bus_[RVALID].set(r_shown_);
    }

    void show_read(const Read &read)
    {
        uint8_t lanes[kWord] = {};

        if (read.early.empty())
            fetch(read.request, read.beat, lanes);
        else
            memcpy(lanes, &read.early[size_t{read.beat} * bus_.bytes], bus_.bytes);
        memcpy(bus_[RDATA].at, lanes, bus_.bytes);
        bus_[RID].set(read.request.id);
        bus_[RLAST].set(read.beat + 1 == read.request.beats);
        bus_[RRESP].set(core_.faulty(word_of(read.request, read.beat), bus_.bytes) ? 2 : 0);
        pace_.take(r_free_, bus_.bytes, core_.totals.cycles);
        r_shown_ = true;
    }

    void drive_answer()
    {
        const uint64_t now = core_.totals.cycles;

        if (!b_shown_ && !writes_.empty() && !pace_.stalls(4)) {
            b_index_ =
                choose(writes_, [now](const Write &w) { return w.complete && w.ready <= now; });
            if (b_index_ != writes_.size())
                show_answer(writes_[b_index_]);
        }
        bus_[BVALID].set(b_shown_);
    }

    void show_answer(const Write &w)
    {
        for (uint32_t i = 0; i < w.late.size(); i++)
            core_.write(word_of(w.request, i), w.late[i].bytes.data(), bus_.bytes,
                        w.late[i].strobe);
        bus_[BID].set(w.request.id);
        bus_[BRESP].set(w.response);
        b_shown_ = true;
    }

    const Bus &bus_;
    Core &core_;
    Handshakes handshakes_;
    AxiRules rules_;
    Pace pace_;
    std::deque<Read> reads_;
    std::deque<Write> writes_;
    std::deque<Data> ahead_;
    size_t r_index_ = 0, b_index_ = 0;
    bool r_shown_ = false, b_shown_ = false;
    uint64_t r_free_ = 0, w_free_ = 0;
};

} // namespace

std::unique_ptr<Side> make_axi_memory(const Bus &bus, Core &core)
{
    return std::make_unique<AxiMemory>(bus, core);
}
