// core_memory.cpp - the memory at a core's bus: heddle's narrow and wide ports, Wishbone, OBI. core_axi.cpp has AXI4.
// Requests are answered in order, `latency` cycles later, with the bytes of that moment; bytes_per_cycle each way. With a
// seed ready and the answers stall.
#include <deque>

#include "core_check.h"

namespace
{

constexpr uint32_t kReads = 256; // under way, at most

class Narrow : public Side
{
  public:
    Narrow(const Bus &bus, Core &core) : bus_(bus), core_(core)
    {
    }
    void sample() override
    {
        const uint64_t at = bus_[MEM_ADDR].get();

        reads_ = bus_.on(MEM_READ);
        if (reads_ || bus_.on(MEM_WRITE))
            (void)core_.faults.take(bus_.on(MEM_WRITE), 0, at, at);
        if (bus_.on(MEM_WRITE))
            core_.write(at, bus_[MEM_WDATA].at, 8, bus_[MEM_WSTRB].get());
        if (reads_)
            core_.read(at, &word_, sizeof word_);
    }
    void drive() override
    {
        if (reads_)
            bus_[MEM_RDATA].set(word_);
    }

  private:
    const Bus &bus_;
    Core &core_;
    bool reads_ = false;
    uint64_t word_ = 0;
};

// The common part of Wide, Wishbone and OBI.
class Queue : public Side
{
  public:
    Queue(const Bus &bus, Core &core) : bus_(bus), core_(core), handshakes_(bus, core), pace_(core)
    {
    }
    void seed(uint64_t seed) override
    {
        pace_.seed(seed);
    }
    uint64_t waiting() const override
    {
        return requests_.size();
    }

  protected:
    struct Request {
        uint64_t address, ready;
        bool write;
        uint64_t id;
    };
    bool check_address(BusSignal channel, uint64_t at)
    {
        if (at % bus_.bytes != 0)
            core_.broken(bus_, channel, "%s: expected an address that %u divides, found 0x%" PRIx64,
                         bus_[channel].name, bus_.bytes, at);
        if (at >= core_.options.memory_bytes)
            core_.broken(bus_, channel,
                         "%s: expected an address below 0x%" PRIx64 ", found 0x%" PRIx64,
                         bus_[channel].name, core_.options.memory_bytes, at);
        return core_.failure.empty();
    }
    bool may_answer(uint64_t &free)
    {
        return !requests_.empty() && requests_[0].ready <= core_.totals.cycles &&
               !pace_.stalls(2) && pace_.may(free, bus_.bytes) && core_.failure.empty() &&
               !core_.faults.holds(requests_[0].write, requests_[0].address, core_.totals.cycles);
    }
    // Show the answer, with the bytes of a read. `error`: the bus's signal for errors, if it has one. Return true for
    // an error; its bytes are not the memory's.
    bool show(BusSignal data, BusSignal error)
    {
        const Request &r = requests_[0];
        const bool bad =
            core_.faults.take(r.write,
                              bus_[error]
                                  ? one_of(HD_SIM_BUS_READ_SLVERR, HD_SIM_BUS_READ_DECERR) |
                                        one_of(HD_SIM_BUS_WRITE_SLVERR, HD_SIM_BUS_WRITE_DECERR)
                                  : 0,
                              r.address, r.address) != 0;

        if (!r.write)
            core_.read(r.address, bus_[data].at, bus_.bytes);
        for (uint32_t i = 0; bad && !r.write && i < bus_.bytes; i++)
            bus_[data].at[i] = static_cast<uint8_t>(~bus_[data].at[i]);
        pace_.take(r_free_, bus_.bytes, core_.totals.cycles);
        return bad;
    }
    const Bus &bus_;
    Core &core_;
    Handshakes handshakes_;
    Pace pace_;
    std::deque<Request> requests_;
    uint64_t r_free_ = 0, w_free_ = 0;
};

class Wide : public Queue
{
  public:
    using Queue::Queue;
    void sample() override
    {
        handshakes_.sample();
        if (bus_.on(RD_VALID))
            (void)check_address(RD_ADDR, bus_[RD_ADDR].get());
        if (bus_.fires(RD_VALID, RD_READY))
            requests_.push_back(
                {bus_[RD_ADDR].get(),
                 core_.totals.cycles + (core_.options.latency ? core_.options.latency : 1), false,
                 0});
        if (bus_.fires(RSP_VALID, RSP_READY)) {
            requests_.pop_front();
            shown_ = false;
        }
        if (bus_.on(WR_VALID) && check_address(WR_ADDR, bus_[WR_ADDR].get()) && bus_.on(WR_READY)) {
            (void)core_.faults.take(true, 0, bus_[WR_ADDR].get(), bus_[WR_ADDR].get());
            core_.write(bus_[WR_ADDR].get(), bus_[WR_DATA].at, bus_.bytes, bus_[WR_STRB].get());
            pace_.take(w_free_, bus_.bytes, core_.totals.cycles);
        }
    }
    void drive() override
    {
        bus_[RD_READY].set(requests_.size() < kReads && !pace_.stalls(0));
        bus_[WR_READY].set(!pace_.stalls(1) && pace_.may(w_free_, bus_.bytes));
        if (!shown_ && may_answer(r_free_)) {
            shown_ = true;
            (void)show(RSP_DATA, SIGNAL_COUNT);
        }
        bus_[RSP_VALID].set(shown_);
    }

  private:
    bool shown_ = false;
};

// Classic: an ack for each stb that waits for it. Pipelined: a request in each cycle without stall.
class Wishbone : public Queue
{
  public:
    Wishbone(const Bus &bus, Core &core) : Queue(bus, core), rules_(bus, core)
    {
    }
    void sample() override
    {
        const bool answered = bus_.on(ACK) || bus_.on(ERR), piped = static_cast<bool>(bus_[STALL]);

        rules_.sample();
        if (answered)
            requests_.pop_front();
        if (!bus_.on(CYC) || !bus_.on(STB))
            return;
        if (piped ? !bus_.on(STALL) : !answered && requests_.empty())
            request(bus_[ADR].address() & ~uint64_t{bus_.bytes - 1});
    }
    void drive() override
    {
        const bool answers = may_answer(r_free_);

        bus_[STALL].set(requests_.size() >= 16 || pace_.stalls(0));
        const bool bad = answers && show(DAT_R, ERR);
        bus_[ACK].set(answers && !bad);
        bus_[ERR].set(bad);
    }

  private:
    void request(uint64_t at)
    {
        if (!check_address(ADR, at))
            return;
        requests_.push_back({at, core_.totals.cycles + pace_.latency(), bus_.on(WE), 0});
        if (bus_.on(WE))
            core_.write(at, bus_[DAT_W].at, bus_.bytes, bus_[SEL].get(~uint64_t{0}));
    }
    WishboneRules rules_;
};

class Obi : public Queue
{
  public:
    using Queue::Queue;
    void sample() override
    {
        handshakes_.sample();
        if (bus_.fires(OBI_RVALID, OBI_RREADY)) {
            requests_.pop_front();
            shown_ = false;
        }
        if (!bus_.fires(OBI_REQ, OBI_GNT))
            return;
        const uint64_t at = bus_[OBI_ADDR].address() & ~uint64_t{bus_.bytes - 1};
        if (!check_address(OBI_ADDR, at))
            return;
        requests_.push_back(
            {at, core_.totals.cycles + pace_.latency(), bus_.on(OBI_WE), bus_[OBI_AID].get()});
        if (bus_.on(OBI_WE))
            core_.write(at, bus_[OBI_WDATA].at, bus_.bytes, bus_[OBI_BE].get());
    }
    void drive() override
    {
        bus_[OBI_GNT].set(requests_.size() < kReads && !pace_.stalls(0));
        if (!shown_ && may_answer(r_free_)) {
            shown_ = true;
            bus_[OBI_ERR].set(show(OBI_RDATA, OBI_ERR));
            bus_[OBI_RID].set(requests_[0].id);
        }
        bus_[OBI_RVALID].set(shown_);
    }

  private:
    bool shown_ = false;
};

} // namespace

std::unique_ptr<Side> make_memory(const Bus &bus, Core &core)
{
    switch (bus.kind) {
    case BUS_AXI: return make_axi_memory(bus, core);
    case BUS_WIDE: return std::make_unique<Wide>(bus, core);
    case BUS_WISHBONE: return std::make_unique<Wishbone>(bus, core);
    case BUS_OBI: return std::make_unique<Obi>(bus, core);
    default: return std::make_unique<Narrow>(bus, core);
    }
}
