// replay.cpp BUS TRACE - a trace of *_traffic.py through the checkers of sim/core: the first breach, or the cycles and
// handshakes seen. Optional arguments plant a breach: CYCLE SIGNAL VALUE, in that cycle alone.
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
    {"rvalid", RVALID, 1},   {"rready", RREADY, 1},   {"cyc", CYC, 1},
    {"stb", STB, 1},         {"we", WE, 1},           {"adr", ADR, 16},
    {"datwr", DAT_W, 32},    {"datrd", DAT_R, 32},    {"sel", SEL, 4},
    {"ack", ACK, 1},         {"stall", STALL, 1},     {"psel", PSEL, 1},
    {"penable", PENABLE, 1}, {"pwrite", PWRITE, 1},   {"paddr", PADDR, 16},
    {"pwdata", PWDATA, 32},  {"prdata", PRDATA, 32},  {"pstrb", PSTRB, 4},
    {"pready", PREADY, 1},   {"pslverr", PSLVERR, 1},
};

// Valid and ready of each channel; SIGNAL_COUNT: always ready.
static const struct {
    BusKind kind;
    BusSignal valid, ready;
} channels[] = {
    {BUS_AXI, AWVALID, AWREADY}, {BUS_AXI, WVALID, WREADY}, {BUS_AXI, BVALID, BREADY},
    {BUS_AXI, ARVALID, ARREADY}, {BUS_AXI, RVALID, RREADY}, {BUS_WISHBONE, ACK, SIGNAL_COUNT},
    {BUS_APB, PENABLE, PREADY},
};

static BusKind kind_of(const std::string &name)
{
    return name == "axi" ? BUS_AXI : name == "apb" ? BUS_APB : BUS_WISHBONE;
}

int main(int argc, char **argv)
{
    std::ifstream in(argv[2]);
    std::string line, word;
    std::vector<size_t> order;
    uint64_t value[SIGNAL_COUNT] = {}, fired = 0;
    Bus bus;
    Core core;

    bus.name = argv[1];
    bus.kind = kind_of(argv[1]);
    bus.manager = true;
    bus.bytes = bus.kind == BUS_AXI ? 8 : 4;
    std::getline(in, line);
    for (std::istringstream words(line); words >> word;)
        for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
            if (word == columns[i].name) {
                const auto &c = columns[i];
                order.push_back(i);
                bus.wire[c.signal] = {reinterpret_cast<uint8_t *>(&value[c.signal]), 8, c.bits, 0,
                                      c.name};
            }
    Handshakes handshakes(bus, core, true);
    AxiRules axi(bus, core);
    WishboneRules wishbone(bus, core);
    ApbRules apb(bus, core);
    while (core.failure.empty() && std::getline(in, line)) {
        std::istringstream words(line);
        for (const size_t i : order) {
            words >> word;
            value[columns[i].signal] = strtoull(word.c_str(), nullptr, 16);
            if (argc > 5 && word.size() != 0 &&
                core.totals.cycles == strtoull(argv[3], nullptr, 10) &&
                argv[4] == std::string(columns[i].name))
                value[columns[i].signal] = strtoull(argv[5], nullptr, 16);
        }
        handshakes.sample();
        if (bus.kind == BUS_AXI)
            axi.sample();
        else if (bus.kind == BUS_APB)
            apb.sample();
        else
            wishbone.sample();
        for (const auto &c : channels)
            fired += c.kind == bus.kind && bus.fires(c.valid, c.ready);
        core.totals.cycles++;
    }
    if (core.failure.empty())
        printf("%" PRIu64 " cycles, %" PRIu64 " handshakes, no breach\n", core.totals.cycles,
               fired);
    else
        printf("%s\n", core.failure.c_str());
    return core.failure.empty() ? 0 : 1;
}
