/* bus_table.h - sim/ports/bus.def as tables. */
#ifndef HEDDLE_SIM_BUS_TABLE_H
#define HEDDLE_SIM_BUS_TABLE_H

#include <stdint.h>

enum bus {
#define BUS(bus, name, what) BUS_##bus,
#define SIGNAL(bus, channel, signal, names, from, width, need)
#define HANDSHAKE(bus, valid, ready)
#include "bus.def"
#undef BUS
#undef SIGNAL
    BUS_COUNT
};

enum bus_signal {
#define BUS(bus, name, what)
#define SIGNAL(bus, channel, signal, names, from, width, need) SIGNAL_##signal,
#include "bus.def"
#undef BUS
#undef SIGNAL
#undef HANDSHAKE
    SIGNAL_COUNT
};

enum bus_need { NEED_KEY, NEED_MUST, NEED_READ, NEED_WRITE, NEED_MAY };

/* Widths of bus_signal_info that are not a number of bits. */
#define BUS_UPTO(n) (-(n))
#define BUS_DATA    1000
#define BUS_STROBE  1001

extern const struct bus_info {
    const char *id, *name, *what;
} bus_info[BUS_COUNT];

extern const struct bus_signal_info {
    enum bus bus;
    const char *id, *names; /* alternatives separated by | */
    char from;              /* M, S */
    int16_t width;
    enum bus_need need;
} bus_signal_info[SIGNAL_COUNT];

#endif
