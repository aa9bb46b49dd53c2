// commits.cpp - convert the commit ports to records.
#include <cstring>

#include "sim.h"

namespace
{

constexpr uint32_t kWord = sizeof(Vhd_sim_top::commit_q_data_o); // N
constexpr uint32_t kBeat = sizeof(Vhd_sim_top::m_wdata_o);
enum Space : uint32_t { kScratchpad = 0, kMemory = 1, kFirstOther = 2 };

constexpr uint64_t ones(uint32_t n)
{
    return n >= 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1;
}

template <typename Data>
hd_sim_commit record(const hd_sim &sim, uint32_t unit, uint32_t command, const Data &data)
{
    hd_sim_commit c{};

    static_assert(sizeof data <= sizeof c.data, "hd_sim_commit.data");
    c.cycle = sim.now - sim.submission.start();
    c.unit = unit;
    c.command = command;
    c.n_bytes = sizeof data;
    c.strobe = ones(sizeof data);
    memcpy(c.data, &data, sizeof data);
    return c;
}

} // namespace

void hd_sim::drain_commits()
{
    static_assert(kWord <= 64 && kBeat <= 64, "hd_sim_commit.data");
    if (top.commit_q_valid_o) {
        hd_sim_commit c =
            record(*this, top.commit_q_unit_o, top.commit_q_cmd_o, top.commit_q_data_o);

        c.space = kScratchpad;
        c.address = top.commit_q_addr_o;
        c.strobe = ones(top.commit_q_count_o);
        sink(sink_ctx, &c);
    }
    if (top.commit_l_valid_o) {
        hd_sim_commit c = record(*this, HD_UNIT_LOAD, top.commit_l_cmd_o, top.commit_l_data_o);

        c.space = kScratchpad;
        c.address = uint64_t{top.commit_l_word_o} * kWord;
        c.strobe = top.commit_l_be_o;
        sink(sink_ctx, &c);
    }
    if (top.commit_w_valid_o) {
        hd_sim_commit c = record(*this, HD_UNIT_WEIGHT, top.commit_w_cmd_o, top.commit_w_data_o);

        c.space = kFirstOther + top.commit_w_space_o;
        c.address = uint64_t{top.commit_w_word_o} * kWord;
        sink(sink_ctx, &c);
    }
    if (top.commit_m_valid_o) {
        hd_sim_commit c = record(*this, HD_UNIT_STORE, top.commit_m_cmd_o, top.commit_m_data_o);

        c.space = kMemory;
        c.address = top.commit_m_addr_o & ~uint64_t{kBeat - 1};
        c.strobe = top.commit_m_strb_o;
        sink(sink_ctx, &c);
    }
}
