// core_unit.cpp - the processor's side of a unit of custom instructions: CFU Playground's handshakes, PicoRV32's PCPI.
// One instruction at a time; the unit's valid and ready decide its cycles.
#include "core_check.h"

namespace
{

constexpr uint32_t kPcpiPatience =
    16; // cycles after which PicoRV32 takes an instruction for illegal

class Unit : public Registers
{
  public:
    Unit(const Bus &bus, Core &core) : bus_(bus), core_(core)
    {
    }
    void begin(bool write, uint32_t offset, uint32_t v) override
    {
        done = true;
        value = write ? 0 : result_;
        if (write && offset < 8)
            operand_[offset / 4] = v;
        if (!write || offset != 8)
            return;
        done = false;
        waited_ = 0;
        offer(v);
    }

  protected:
    virtual void offer(uint32_t word) = 0;
    void answer(bool writes, uint64_t v)
    {
        wrote = writes;
        value = result_ = writes ? static_cast<uint32_t>(v) : 0;
        done = true;
    }
    const Bus &bus_;
    Core &core_;
    uint32_t operand_[2] = {}, result_ = 0, waited_ = 0;
};

class Cfu : public Unit
{
  public:
    Cfu(const Bus &bus, Core &core) : Unit(bus, core), handshakes_(bus, core)
    {
    }
    void offer(uint32_t word) override
    {
        bus_[CFU_FUNCTION].set((word >> 25) << 3 | (word >> 12 & 7));
        bus_[CFU_INPUT_0].set(operand_[0]);
        bus_[CFU_INPUT_1].set(operand_[1]);
        bus_[CFU_CMD_VALID].set(1);
        bus_[CFU_RSP_READY].set(1);
        taken_ = false;
    }
    void sample() override
    {
        handshakes_.sample();
        taken_ = taken_ || bus_.fires(CFU_CMD_VALID, CFU_CMD_READY);
        if (bus_.on(CFU_RSP_VALID) && (done || !taken_))
            core_.broken(bus_, CFU_RSP_VALID, "%s: expected after a command, found without one",
                         bus_[CFU_RSP_VALID].name);
        else if (bus_.on(CFU_RSP_VALID))
            answer(true, bus_[CFU_OUTPUT].get());
        else if (!done && ++waited_ > kPatience)
            core_.broken(bus_, CFU_RSP_VALID, "%s: expected within %u cycles, found none",
                         bus_[CFU_RSP_VALID].name, kPatience);
    }
    void drive() override
    {
        if (taken_)
            bus_[CFU_CMD_VALID].set(0);
        if (done)
            bus_[CFU_RSP_READY].set(0);
    }

  private:
    Handshakes handshakes_;
    bool taken_ = false;
};

class Pcpi : public Unit
{
  public:
    using Unit::Unit;
    void offer(uint32_t word) override
    {
        bus_[PCPI_INSN].set(word);
        bus_[PCPI_RS1].set(operand_[0]);
        bus_[PCPI_RS2].set(operand_[1]);
        bus_[PCPI_VALID].set(1);
    }
    void sample() override
    {
        if (done)
            return;
        if (bus_.on(PCPI_READY))
            return answer(bus_.on(PCPI_WR), bus_[PCPI_RD].get());
        waited_++;
        if (waited_ >= kPcpiPatience && !bus_.on(PCPI_WAIT))
            core_.broken(bus_, PCPI_READY, "%s: expected it or %s within %u cycles, found neither",
                         bus_[PCPI_READY].name, bus_[PCPI_WAIT].name, kPcpiPatience);
        if (waited_ > kPatience)
            core_.broken(bus_, PCPI_READY, "%s: expected within %u cycles, found none",
                         bus_[PCPI_READY].name, kPatience);
    }
    void drive() override
    {
        if (done)
            bus_[PCPI_VALID].set(0);
    }
};

} // namespace

std::unique_ptr<Registers> make_unit(const Bus &bus, Core &core)
{
    if (bus.kind == BUS_CFU)
        return std::make_unique<Cfu>(bus, core);
    return std::make_unique<Pcpi>(bus, core);
}
