// replay.cpp - a trace of AXI4 (axi_traffic.py) through the checkers of sim/core: the first breach, or the cycles and
// handshakes seen. Optional arguments plant a breach: CYCLE SIGNAL VALUE, from that cycle on the next one alone.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <vector>

#include "core_check.h"

static const struct {
    const char *name;
    BusSignal signal;
    uint32_t bits;
} columns[] = {
    {"awid", AWID, 4},       {"awaddr", AWADDR, 16},  {"awlen", AWLEN, 8},
    {"awsize", AWSIZE, 3},   {"awburst", AWBURST, 2}, {"awlock", AWLOCK, 1},
    {"awcache", AWCACHE, 4}, {"awprot", AWPROT, 3},   {"awvalid", AWVALID, 1},
    {"awready", AWREADY, 1}, {"wdata", WDATA, 64},    {"wstrb", WSTRB, 8},
    {"wlast", WLAST, 1},     {"wvalid", WVALID, 1},   {"wready", WREADY, 1},
    {"bid", BID, 4},         {"bresp", BRESP, 2},     {"bvalid", BVALID, 1},
    {"bready", BREADY, 1},   {"arid", ARID, 4},       {"araddr", ARADDR, 16},
    {"arlen", ARLEN, 8},     {"arsize", ARSIZE, 3},   {"arburst", ARBURST, 2},
    {"arlock", ARLOCK, 1},   {"arcache", ARCACHE, 4}, {"arprot", ARPROT, 3},
    {"arvalid", ARVALID, 1}, {"arready", ARREADY, 1}, {"rid", RID, 4},
    {"rdata", RDATA, 64},    {"rresp", RRESP, 2},     {"rlast", RLAST, 1},
    {"rvalid", RVALID, 1},   {"rready", RREADY, 1},
};

int main(int argc, char **argv)
{
    std::ifstream in(argv[1]);
    std::string line, word;
    std::vector<size_t> order;
    uint64_t value[SIGNAL_COUNT] = {}, fired = 0;
    Bus bus;
    Core core;

    bus.name = "axi";
    bus.kind = BUS_AXI;
    bus.manager = true;
    bus.bytes = 8;
    for (const auto &c : columns)
        bus.wire[c.signal] = {reinterpret_cast<uint8_t *>(&value[c.signal]), 8, c.bits, 0, c.name};
    std::getline(in, line);
    for (std::istringstream words(line); words >> word;)
        for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
            if (word == columns[i].name)
                order.push_back(i);
    Handshakes handshakes(bus, core, true);
    AxiRules rules(bus, core);
    while (core.failure.empty() && std::getline(in, line)) {
        std::istringstream words(line);
        for (const size_t i : order) {
            words >> word;
            value[columns[i].signal] = strtoull(word.c_str(), nullptr, 16);
            if (argc > 4 && word.size() != 0 &&
                core.totals.cycles == strtoull(argv[2], nullptr, 10) &&
                argv[3] == std::string(columns[i].name))
                value[columns[i].signal] = strtoull(argv[4], nullptr, 16);
        }
        handshakes.sample();
        rules.sample();
        for (const BusSignal s : {AWVALID, WVALID, BVALID, ARVALID, RVALID})
            fired += bus.on(s) && bus.on(static_cast<BusSignal>(s + 1));
        core.totals.cycles++;
    }
    if (core.failure.empty())
        printf("%" PRIu64 " cycles, %" PRIu64 " handshakes, no breach\n", core.totals.cycles,
               fired);
    else
        printf("%s\n", core.failure.c_str());
    return core.failure.empty() ? 0 : 1;
}
