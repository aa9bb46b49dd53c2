/* ports.h - the ports of a target's own core, and what each of them is: a signal of a bus (sim/ports/bus.def), a clock,
 * a reset, the interrupt, a counter, a constant.
 * in:  Vhd_sim_top.h, as Verilator wrote it; what target.json declares.   out: struct ports, ST_USAGE, gen/hd_core_ports.h.
 * A bus is found by the names of its ports: a prefix, then the signal, in any case, with or without _ and a last _i, _o. */
#ifndef HEDDLE_SIM_PORTS_H
#define HEDDLE_SIM_PORTS_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"
#include "bus_table.h"
#include "sim_core.h"

#define PORT_NONE UINT32_MAX

struct port {
    const char *name;      /* in Verilog */
    const char *member;    /* in Verilator's class */
    const char *plain;     /* as declared or named: lower case, without _ and a last _i, _o */
    const char *direction; /* "input", "output", "inout" */
    uint32_t bits, lsb;
    bool used;
};

struct port_bus {
    enum bus bus;
    bool manager;       /* the core is; else the subordinate */
    const char *prefix; /* plain */
    const char *name;   /* prefix as in Verilog, without a last _; the bus's name if it is empty */
    uint32_t data_bits;
    uint32_t key;                  /* the port that it was found by */
    uint32_t signal[SIGNAL_COUNT]; /* ports; PORT_NONE */
};

enum port_irq { IRQ_HIGH, IRQ_LOW, IRQ_RISING, IRQ_FALLING };

#define PORT_CLOCKS 8
#define PORT_RESETS 8

struct ports {
    struct port *port;
    uint32_t n;
    struct port_bus *bus;
    uint32_t n_bus;
    uint32_t registers; /* a bus, or PORT_NONE */
    uint32_t n_clock;   /* the first is the clock in whose cycles everything counts */
    struct port_clock {
        uint32_t port, ticks, of; /* ticks in `of` cycles of the first */
    } clock[PORT_CLOCKS];
    uint32_t n_reset;
    struct port_reset {
        uint32_t port;
        bool high; /* the level that resets */
    } reset[PORT_RESETS];
    uint32_t irq; /* a port, or PORT_NONE */
    enum port_irq irq_kind;
    const char *const *doubt; /* ports that more than one thing could be, as text; for adopt */
    uint32_t n_doubt;
};

/* Every port in the header, and what it is; nothing is refused. */
void ports_find(struct arena *a, const char *header, const struct sim_core *core, struct ports *p);
/* ST_USAGE: a line for each port that is missing, of another direction or width, or that nothing drives. */
enum status ports_check(struct arena *a, const struct ports *p, const struct sim_core *core,
                        struct diag *d);
/* gen/hd_core_ports.h: what sim/core binds. */
void ports_header(struct text *t, const struct ports *p, const struct sim_core *core);
/* ports.txt of the model: one line per port, as waves have it: reg_addr_i[15:0]. */
void ports_list(struct text *t, const struct ports *p);

/* True: the signal must exist on this bus. */
bool ports_required(const struct port_bus *b, enum bus_signal s);

#endif
