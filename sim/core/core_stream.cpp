// core_stream.cpp - the stream mover: bytes of the core's memory to its AXI4-Stream inputs and from its outputs, one
// transfer at a time each (driver/hd_stream.h). The first beat of an input comes after the latency; bytes_per_cycle; with a seed both stall. An output without a transfer
// waits.
#include "core_check.h"

namespace
{

class Mover : public Stream
{
  public:
    Mover(const Bus &bus, Core &core) : bus_(bus), core_(core), handshakes_(bus, core), pace_(core)
    {
    }
    void seed(uint64_t seed) override
    {
        pace_.seed(seed);
    }
    void start(uint32_t address, uint32_t bytes) override
    {
        if (left != 0)
            core_.broken(bus_, TVALID, "a transfer of %u bytes is started, %u of the last are left",
                         bytes, left);
        at_ = address;
        left = bytes;
        used = true;
        begin_ = core_.totals.cycles + core_.options.latency;
    }

  protected:
    uint32_t count() const
    {
        return left < bus_.bytes ? left : bus_.bytes;
    }
    uint64_t lanes() const
    {
        return count() == 64 ? ~uint64_t{0} : (uint64_t{1} << count()) - 1;
    }
    const Bus &bus_;
    Core &core_;
    Handshakes handshakes_;
    Pace pace_;
    uint64_t at_ = 0, free_ = 0, begin_ = 0;
};

class Source : public Mover
{
  public:
    using Mover::Mover;
    void sample() override
    {
        if (!bus_.fires(TVALID, TREADY))
            return;
        at_ += count();
        left -= count();
        shown_ = false;
    }
    void drive() override
    {
        if (!shown_ && left != 0 && !pace_.stalls(0) && pace_.may(free_, bus_.bytes) &&
            core_.totals.cycles >= begin_ && core_.failure.empty() &&
            !core_.faults.holds(false, at_, core_.totals.cycles)) {
            shown_ = true;
            (void)core_.faults.take(false, 0, at_, at_);
            pace_.take(free_, bus_.bytes, core_.totals.cycles);
            memset(bus_[TDATA].at, 0, bus_.bytes);
            core_.read(at_, bus_[TDATA].at, count());
            bus_[TKEEP].set(lanes());
            bus_[TSTRB].set(lanes());
            bus_[TLAST].set(left <= bus_.bytes);
        }
        bus_[TVALID].set(shown_);
    }

  private:
    bool shown_ = false;
};

class Sink : public Mover
{
  public:
    using Mover::Mover;
    void sample() override
    {
        handshakes_.sample();
        if (!bus_.fires(TVALID, TREADY))
            return;
        if (left == 0)
            return core_.broken(bus_, TVALID, "%s: expected no beat without a transfer, found one",
                                bus_[TVALID].name);
        const uint64_t keep = bus_[TKEEP].get(bus_[TSTRB].get(~uint64_t{0}));
        const uint64_t strobe = keep & bus_[TSTRB].get(~uint64_t{0}) & lanes();

        if ((lanes() & ~keep) != 0 && !bus_.on(TLAST))
            core_.broken(bus_, TKEEP,
                         "%s: expected bytes of a beat that is not the last, found 0x%" PRIx64,
                         bus_[TKEEP].name, keep);
        (void)core_.faults.take(true, 0, at_, at_);
        core_.write(at_, bus_[TDATA].at, count(), strobe);
        pace_.take(free_, bus_.bytes, core_.totals.cycles);
        at_ += count();
        left -= count();
        if (bus_.on(TLAST) && left != 0)
            core_.broken(bus_, TLAST,
                         "%s: expected with the transfer's last byte, found %u bytes "
                         "before",
                         bus_[TLAST].name, left);
    }
    void drive() override
    {
        bus_[TREADY].set(left != 0 && !pace_.stalls(0) && pace_.may(free_, bus_.bytes) &&
                         !core_.faults.holds(true, at_, core_.totals.cycles));
    }
};

} // namespace

std::unique_ptr<Stream> make_stream(const Bus &bus, Core &core)
{
    if (bus.manager)
        return std::make_unique<Sink>(bus, core);
    return std::make_unique<Source>(bus, core);
}
