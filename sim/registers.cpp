// registers.cpp - the register bus: an AXI4-Lite master with one access at a time; every access
// clocks the model.
#include "sim.h"

namespace
{

// An accelerator that does not answer its registers is broken, not slow.
constexpr int kPatience = 1000;

} // namespace

uint32_t hd_sim::read32(uint32_t offset)
{
    bool asked = false;

    top.s_araddr_i = offset & 0xfff;
    top.s_arvalid_i = 1;
    top.s_rready_i = 1;
    for (int i = 0; i < kPatience; i++) {
        fresh = true;
        settle();
        const bool taken = top.s_arvalid_i && top.s_arready_o;
        const bool answered = top.s_rvalid_o && (asked || taken);
        const uint32_t value = top.s_rdata_o;

        edge();
        asked |= taken;
        if (taken)
            top.s_arvalid_i = 0;
        if (answered) {
            top.s_rready_i = 0;
            fresh = true;
            return value;
        }
    }
    failure = "register read unanswered at offset " + std::to_string(offset);
    top.s_arvalid_i = 0;
    fresh = true;
    return ~0u;
}

// Writes that the simulator must observe: the stream's address, and the doorbell with its cycle.
void hd_sim::written(uint32_t offset, uint32_t value)
{
    const auto index = [offset](uint32_t first) { return (offset - first) / 4; };

    if (offset == HD_REG_COMMAND_OFFSET)
        command_offset = value;
    else if (offset == HD_REG_COMMAND_LENGTH)
        command_length = value;
    else if (index(HD_REG_REGION_BASE_LO(0)) < HD_REGIONS)
        region_base[index(HD_REG_REGION_BASE_LO(0))] =
            (region_base[index(HD_REG_REGION_BASE_LO(0))] & ~uint64_t{0xffffffff}) | value;
    else if (index(HD_REG_REGION_BASE_HI(0)) < HD_REGIONS)
        region_base[index(HD_REG_REGION_BASE_HI(0))] =
            (region_base[index(HD_REG_REGION_BASE_HI(0))] & 0xffffffff) | uint64_t{value} << 32;
    else if (offset == HD_REG_CONTROL && (value & HD_CONTROL_START_MASK) != 0) {
        rung = fetch_rests();
        rung_at = now + 1; // hd_axil passes a write on in the next cycle
    }
}

bool hd_sim::fetch_rests() const
{
    return (top.unit_kind_o >> (3 * HD_UNIT_FETCH) & 7) == HD_COUNTER_FETCH_IDLE % HD_COUNTER_SLOTS;
}

// Handle the response to the doorbell's write. The accelerator ignores a doorbell while it is busy,
// drains a fault or resets. It accepted this one if FETCH, which rested, no longer does.
void hd_sim::answered_doorbell()
{
    const uint64_t at = region_base[0] + command_offset - options.memory_base;
    const bool there = at <= options.memory_bytes && command_length <= options.memory_bytes - at;

    rung = false;
    if (fetch_rests())
        return;
    submission.begin(there ? options.memory + at : nullptr, command_offset,
                     there ? command_length : 0, region_base, memory.moved(), rung_at);
    watchdog.restart(*this);
}

void hd_sim::write32(uint32_t offset, uint32_t value)
{
    bool accepted = false;

    top.s_awaddr_i = offset & 0xfff;
    top.s_awvalid_i = 1;
    top.s_wdata_i = value;
    top.s_wstrb_i = 0xf;
    top.s_wvalid_i = 1;
    top.s_bready_i = 1;
    for (int i = 0; i < kPatience; i++) {
        fresh = true;
        settle();
        const bool aw = top.s_awvalid_i && top.s_awready_o, w = top.s_wvalid_i && top.s_wready_o;
        const bool address_open = top.s_awvalid_i && !aw, data_open = top.s_wvalid_i && !w;

        if (!accepted && !address_open && !data_open) {
            accepted = true;
            written(offset, value);
        }
        const bool answered = accepted && top.s_bvalid_o;

        if (answered && rung)
            answered_doorbell();
        edge();
        top.s_awvalid_i = address_open;
        top.s_wvalid_i = data_open;
        if (answered) {
            top.s_bready_i = 0;
            fresh = true;
            return;
        }
    }
    failure = "register write unanswered at offset " + std::to_string(offset);
    top.s_awvalid_i = top.s_wvalid_i = 0;
    fresh = true;
}
