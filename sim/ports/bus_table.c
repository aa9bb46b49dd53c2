/* bus_table.c - see bus_table.h. */
#include "bus_table.h"

#define HANDSHAKE(bus, valid, ready)

const struct bus_info bus_info[BUS_COUNT] = {
#define BUS(bus, name, what) {#bus, name, what},
#define SIGNAL(bus, channel, signal, names, from, width, need)
#include "bus.def"
#undef BUS
#undef SIGNAL
};

const struct bus_signal_info bus_signal_info[SIGNAL_COUNT] = {
#define UPTO(n) BUS_UPTO(n)
#define DATA    BUS_DATA
#define STROBE  BUS_STROBE
#define BUS(bus, name, what)
#define SIGNAL(bus, channel, signal, names, from, width, need)                                     \
    {BUS_##bus, #signal, names, #from[0], width, NEED_##need},
#include "bus.def"
};
