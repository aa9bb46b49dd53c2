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
        if (!core_.faults.breaks()) // else heddle does, and the core is not at fault
            rules_.sample();
        if (bus_.fires(RVALID, RREADY))
            end_read();
        if (bus_.fires(BVALID, BREADY))
            end_write();
        if (bus_.fires(ARVALID, ARREADY))
            begin_read();
        if (bus_.fires(AWVALID, AWREADY))
            writes_.push_back({AxiRequest(bus_, false), 0, 0, 0, 0, 0, Open, {}});
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
        bool extra;                 // one beat too many (a fault)
    };
    struct Data {
        std::vector<uint8_t> bytes;
        uint64_t strobe;
    };
    enum Progress {
        Open,
        Early,
        Answered,
        Complete
    }; // Early, Answered: B is before the last beat (a fault)
    struct Write {
        AxiRequest request;
        uint64_t ready;
        uint32_t beat;
        uint64_t response, delay, last; // last: the number of its last beat among all
        Progress progress;
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
        Read read{AxiRequest(bus_, true), core_.totals.cycles + pace_.latency(), 0, {}, false};

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

    void end_write()
    {
        b_shown_ = false;
        if (writes_[b_index_].progress == Early)
            writes_[b_index_].progress = Answered;
        else
            writes_.erase(writes_.begin() + static_cast<long>(b_index_));
    }

    // A beat of data is written to `at`: the fault that may happen at it. Return false if it does not land.
    bool spoil_write(Write &w, bool oldest, uint64_t at)
    {
        const bool last = w.beat + 1 == w.request.beats;
        const uint32_t able =
            one_of(HD_SIM_BUS_WRITE_SLVERR, HD_SIM_BUS_WRITE_MISSING) |
            (oldest && !last ? one_of(HD_SIM_BUS_WRITE_EARLY, HD_SIM_BUS_WRITE_EARLY) : 0);

        w.last = core_.faults.writes();
        const uint32_t kind = core_.faults.take(true, able, at, w.request.address);
        if (kind == HD_SIM_BUS_WRITE_LATE)
            w.delay = HD_SIM_BUS_LATE;
        if (kind == HD_SIM_BUS_WRITE_EARLY)
            w.progress = Early;
        if (response_of(kind) != 0)
            w.response = response_of(kind);
        return response_of(kind) == 0;
    }

    void land(const Write &w)
    {
        for (uint32_t i = 0; i < w.late.size(); i++)
            core_.write(word_of(w.request, i), w.late[i].bytes.data(), bus_.bytes,
                        w.late[i].strobe);
    }

    void match()
    {
        size_t i = 0;

        while (i < writes_.size() && writes_[i].progress == Complete)
            i++;
        for (; i < writes_.size() && !ahead_.empty() && core_.failure.empty();) {
            Write &w = writes_[i];
            const uint64_t at = word_of(w.request, w.beat);

            if (core_.faulty(at, bus_.bytes))
                w.response = 2;
            if (!spoil_write(w, i == 0, at))
                ahead_.front().strobe = 0;
            if (pace_.random())
                w.late.push_back(ahead_.front());
            else
                core_.write(at, ahead_.front().bytes.data(), bus_.bytes, ahead_.front().strobe);
            ahead_.pop_front();
            if (++w.beat < w.request.beats)
                continue;
            w.ready = core_.totals.cycles + pace_.latency() + w.delay;
            if (w.progress == Answered) { // the only one that is not later than it
                land(w);
                writes_.erase(writes_.begin() + static_cast<long>(i));
                continue;
            }
            w.progress = Complete;
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
            if (r_index_ != reads_.size() &&
                !core_.faults.holds(
                    false, reads_[r_index_].request.beat_address(reads_[r_index_].beat), now))
                show_read(reads_[r_index_]);
        }
        bus_[RVALID].set(r_shown_);
    }

    // Let the fault of this beat happen: its response; the burst may end with it, or get one beat more.
    uint32_t spoil_read(Read &read)
    {
        const bool last = read.beat + 1 == read.request.beats;
        const uint32_t shape = last ? HD_SIM_BUS_READ_LONG : HD_SIM_BUS_READ_SHORT;
        const uint32_t kind = core_.faults.take(
            false, one_of(HD_SIM_BUS_READ_SLVERR, HD_SIM_BUS_READ_DECERR) | one_of(shape, shape),
            read.request.beat_address(read.beat), read.request.address);

        if (kind == HD_SIM_BUS_READ_SHORT)
            read.request.beats = read.beat + 1;
        if (kind == HD_SIM_BUS_READ_LONG) {
            read.request.beats++;
            read.extra = true;
        }
        return response_of(kind);
    }

    void show_read(Read &read)
    {
        uint8_t lanes[kWord] = {};
        const bool extra = read.extra;
        const uint32_t response = spoil_read(read);

        if (extra) // no bytes
            ;
        else if (read.early.empty())
            fetch(read.request, read.beat, lanes);
        else
            memcpy(lanes, &read.early[size_t{read.beat} * bus_.bytes], bus_.bytes);
        memcpy(bus_[RDATA].at, lanes, bus_.bytes);
        for (uint32_t i = 0; response != 0 && i < bus_.bytes; i++) // not the memory's bytes
            bus_[RDATA].at[i] = static_cast<uint8_t>(~lanes[i]);
        bus_[RID].set(read.request.id);
        bus_[RLAST].set(read.beat + 1 == read.request.beats);
        bus_[RRESP].set(core_.faulty(word_of(read.request, read.beat), bus_.bytes) ? 2 : response);
        pace_.take(r_free_, bus_.bytes, core_.totals.cycles);
        r_shown_ = true;
    }

    void drive_answer()
    {
        const uint64_t now = core_.totals.cycles;

        if (!b_shown_ && !writes_.empty() && !pace_.stalls(4)) {
            b_index_ = choose(writes_, [this, now](const Write &w) {
                return (w.progress == Early || (w.progress == Complete && w.ready <= now)) &&
                       !core_.faults.lost(w.last);
            });
            if (b_index_ != writes_.size())
                show_answer(writes_[b_index_]);
        }
        bus_[BVALID].set(b_shown_);
    }

    void show_answer(const Write &w)
    {
        land(w);
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
