// core_registers.cpp - a manager for the registers of a core: AXI4-Lite (or AXI4, one beat), APB, Wishbone, OBI, heddle's
// own port. One access at a time; an answer with an error is a failure.
#include "core_check.h"

namespace
{

class Manager : public Registers
{
  public:
    Manager(const Bus &bus, Core &core)
        : bus_(bus), core_(core), handshakes_(bus, core), pace_(core)
    {
    }
    void seed(uint64_t seed) override
    {
        pace_.seed(seed);
    }

  protected:
    // 4 bytes at `offset` within a word of the bus.
    uint32_t lane(uint32_t offset) const
    {
        return bus_.bytes > 4 ? offset & (bus_.bytes - 1) & ~3u : 0;
    }
    uint32_t word(BusSignal data, uint32_t offset) const
    {
        uint32_t v;
        memcpy(&v, bus_[data].at + lane(offset), sizeof v);
        return v;
    }
    void put(BusSignal data, BusSignal strobe, uint32_t offset, uint32_t v) const
    {
        memset(bus_[data].at, 0, bus_.bytes);
        memcpy(bus_[data].at + lane(offset), &v, sizeof v);
        bus_[strobe].set(uint64_t{0xf} << lane(offset));
    }
    // Set `signal` to 1: now, or with stalls in one of the next cycles, in which reveal() is called. At most three at a time.
    void later(BusSignal signal)
    {
        due_[n_due_++] = signal;
    }
    void reveal()
    {
        uint32_t n = 0;

        for (uint32_t i = 0; i < n_due_; i++) {
            if (pace_.stalls(i))
                due_[n++] = due_[i];
            else
                bus_[due_[i]].set(1);
        }
        n_due_ = n;
    }
    void answer(bool write, uint32_t v)
    {
        value = write ? 0 : v;
        done = true;
        n_due_ = 0;
    }
    const Bus &bus_;
    Core &core_;
    Handshakes handshakes_;
    Pace pace_;
    BusSignal due_[3] = {};
    uint32_t offset_ = 0, n_due_ = 0;
};

class Own : public Manager
{
  public:
    using Manager::Manager;
    void begin(bool write, uint32_t offset, uint32_t v) override
    {
        bus_[REG_ADDR].set(offset);
        bus_[REG_WDATA].set(v);
        bus_[REG_WRITE].set(write);
        done = false;
    }
    void sample() override
    {
        if (!done)
            answer(bus_.on(REG_WRITE), static_cast<uint32_t>(bus_[REG_RDATA].get()));
    }
    void drive() override
    {
        bus_[REG_WRITE].set(0);
    }
};

class Axi : public Manager
{
  public:
    Axi(const Bus &bus, Core &core) : Manager(bus, core), rules_(bus, core)
    {
        const uint64_t size = bus.bytes > 4 ? 2 : static_cast<uint64_t>(__builtin_ctz(bus.bytes));

        bus_[ARSIZE].set(size);
        bus_[AWSIZE].set(size);
        bus_[ARBURST].set(1);
        bus_[AWBURST].set(1);
    }
    void begin(bool write, uint32_t offset, uint32_t v) override
    {
        offset_ = offset;
        write_ = write;
        done = false;
        bus_[write ? AWADDR : ARADDR].set(offset);
        later(write ? AWVALID : ARVALID);
        later(write ? BREADY : RREADY);
        if (write) {
            put(WDATA, WSTRB, offset, v);
            bus_[WLAST].set(1);
            later(WVALID);
        }
        reveal();
    }
    void sample() override
    {
        handshakes_.sample();
        rules_.sample();
        address_ = bus_.fires(AWVALID, AWREADY) || bus_.fires(ARVALID, ARREADY);
        data_ = bus_.fires(WVALID, WREADY);
        if (bus_.fires(BVALID, BREADY) || bus_.fires(RVALID, RREADY))
            answer(write_, write_ ? 0 : word(RDATA, offset_));
    }
    void drive() override
    {
        if (address_)
            for (const BusSignal s : {AWVALID, ARVALID})
                bus_[s].set(0);
        if (data_)
            bus_[WVALID].set(0);
        if (done)
            for (const BusSignal s : {BREADY, RREADY})
                bus_[s].set(0);
        address_ = data_ = false;
        reveal();
    }

  private:
    AxiRules rules_;
    bool write_ = false, address_ = false, data_ = false;
};

class Apb : public Manager
{
  public:
    Apb(const Bus &bus, Core &core) : Manager(bus, core), rules_(bus, core)
    {
    }
    void begin(bool write, uint32_t offset, uint32_t v) override
    {
        bus_[PSEL].set(1);
        bus_[PENABLE].set(0);
        bus_[PADDR].set_address(offset);
        bus_[PWRITE].set(write);
        bus_[PWDATA].set(v);
        bus_[PSTRB].set(write ? 0xf : 0);
        offset_ = offset;
        waited_ = 0;
        done = false;
    }
    void sample() override
    {
        rules_.sample();
        if (done || !bus_.on(PENABLE))
            return;
        if (!bus_.on(PREADY, 1)) {
            if (++waited_ > kPatience)
                core_.broken(bus_, PREADY, "%s: expected within %u cycles of penable, found none",
                             bus_[PREADY].name, kPatience);
            return;
        }
        if (bus_.on(PSLVERR))
            core_.broken(bus_, PSLVERR, "%s: expected 0, found an error at offset 0x%x",
                         bus_[PSLVERR].name, offset_);
        answer(bus_.on(PWRITE), static_cast<uint32_t>(bus_[PRDATA].get()));
    }
    void drive() override
    {
        bus_[PENABLE].set(bus_.on(PSEL) && !done);
        if (done)
            bus_[PSEL].set(0);
    }

  private:
    ApbRules rules_;
    uint32_t waited_ = 0;
};

class Wishbone : public Manager
{
  public:
    Wishbone(const Bus &bus, Core &core) : Manager(bus, core), rules_(bus, core)
    {
    }
    void begin(bool write, uint32_t offset, uint32_t v) override
    {
        bus_[CYC].set(1);
        bus_[STB].set(1);
        bus_[WE].set(write);
        bus_[ADR].set_address(offset);
        put(DAT_W, SEL, offset, v);
        offset_ = offset;
        waited_ = 0;
        taken_ = done = false;
    }
    void sample() override
    {
        const bool ack = bus_.on(ACK), error = bus_.on(ERR) || bus_.on(RTY);

        rules_.sample();
        if (done)
            return;
        taken_ = taken_ || (bus_[STALL] && bus_.on(STB) && !bus_.on(STALL));
        if (error)
            core_.broken(bus_, ERR, "%s: expected ack, found an error at offset 0x%x",
                         bus_[bus_.on(ERR) ? ERR : RTY].name, offset_);
        if (ack || error)
            answer(bus_.on(WE), word(DAT_R, offset_));
        else if (++waited_ > kPatience)
            core_.broken(bus_, ACK, "%s: expected within %u cycles of stb, found none",
                         bus_[ACK].name, kPatience);
    }
    void drive() override
    {
        if (taken_ || done)
            bus_[STB].set(0);
        if (done)
            bus_[CYC].set(0);
    }

  private:
    WishboneRules rules_;
    bool taken_ = false;
    uint32_t waited_ = 0;
};

class Obi : public Manager
{
  public:
    using Manager::Manager;
    void begin(bool write, uint32_t offset, uint32_t v) override
    {
        bus_[OBI_WE].set(write);
        bus_[OBI_ADDR].set_address(offset);
        put(OBI_WDATA, OBI_BE, offset, v);
        later(OBI_REQ);
        later(OBI_RREADY);
        reveal();
        offset_ = offset;
        write_ = write;
        granted_ = done = false;
        waited_ = 0;
    }
    void sample() override
    {
        handshakes_.sample();
        if (bus_.on(OBI_RVALID) && !granted_)
            core_.broken(bus_, OBI_RVALID, "%s: expected after a grant, found none",
                         bus_[OBI_RVALID].name);
        else if (bus_.fires(OBI_RVALID, OBI_RREADY)) {
            if (bus_.on(OBI_ERR))
                core_.broken(bus_, OBI_ERR, "%s: expected 0, found an error at offset 0x%x",
                             bus_[OBI_ERR].name, offset_);
            answer(write_, word(OBI_RDATA, offset_));
            granted_ = false;
        } else if (!done && ++waited_ > kPatience)
            core_.broken(bus_, OBI_RVALID, "%s: expected within %u cycles, found none",
                         bus_[OBI_RVALID].name, kPatience);
        if (bus_.fires(OBI_REQ, OBI_GNT))
            granted_ = true;
    }
    void drive() override
    {
        if (granted_ || done)
            bus_[OBI_REQ].set(0);
        if (done)
            bus_[OBI_RREADY].set(0);
        reveal();
    }

  private:
    bool write_ = false, granted_ = false;
    uint32_t waited_ = 0;
};

} // namespace

std::unique_ptr<Registers> make_registers(const Bus &bus, Core &core)
{
    switch (bus.kind) {
    case BUS_AXI: return std::make_unique<Axi>(bus, core);
    case BUS_APB: return std::make_unique<Apb>(bus, core);
    case BUS_WISHBONE: return std::make_unique<Wishbone>(bus, core);
    case BUS_OBI: return std::make_unique<Obi>(bus, core);
    case BUS_CFU:
    case BUS_PCPI: return make_unit(bus, core);
    default: return std::make_unique<Own>(bus, core);
    }
}
