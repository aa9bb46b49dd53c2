/* ports.c - see ports.h: the ports in Verilator's header, and what they are. */
#define _GNU_SOURCE
#include "ports.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"

enum { MAX_FILE = 1 << 24 };

/* --- names --- */

/* "a___05Fb" as "a__b", "__SYM__int" as "int": Verilator's way with names that C++ cannot have. */
static const char *decoded(struct arena *a, const char *member)
{
    char *const name = arena_strdup(a, strncmp(member, "__SYM__", 7) == 0 ? member + 7 : member);
    char *to = name;
    unsigned code;

    for (const char *s = name; *s != '\0';)
        if (strncmp(s, "__0", 3) == 0 && sscanf(s + 3, "%2x", &code) == 1) {
            *to++ = (char)code;
            s += 5;
        } else
            *to++ = *s++;
    *to = '\0';
    return name;
}

static const char *plain(struct arena *a, const char *name)
{
    char *const text = arena_strdup(a, name), *to = text;
    size_t n = strlen(name);

    if (n > 2 && name[n - 2] == '_' && strchr("ioIO", name[n - 1]) != NULL)
        n -= 2;
    for (size_t i = 0; i < n; i++)
        if (name[i] != '_')
            *to++ = (char)tolower((unsigned char)name[i]);
    *to = '\0';
    return text;
}

/* --- the header --- */

static uint32_t distance(int a, int b)
{
    return (uint32_t)(a > b ? a - b : b - a) + 1;
}

/* Read a line as " VL_IN16(&reg_addr_i,15,0);"; a wide port has its number of words after it. An input
 * that is an array, " VL_IN8((&lanes_i)[4],7,0);", is lanes_i[4], which nothing drives. */
static bool read_port(struct arena *a, const char *line, struct port *p)
{
    char kind[16], member[256], sizes[64];
    int msb, lsb;

    if (sscanf(line, " VL_IN%15[A-Z0-9]((&%190[^)])%63[^,],%d,%d", kind, member, sizes, &msb,
               &lsb) == 5 ||
        sscanf(line, " VL_IN%1[(](&%190[^)])%63[^,],%d,%d", kind, member, sizes, &msb, &lsb) == 5) {
        strcpy(kind, "IN");
        strcat(member, sizes);
    } else if (sscanf(line, " VL_%15[A-Z0-9](&%255[^,],%d,%d", kind, member, &msb, &lsb) != 4)
        return false;
    *p = (struct port){.name = decoded(a, member),
                       .member = arena_strdup(a, member),
                       .direction = strncmp(kind, "INOUT", 5) == 0 ? "inout"
                                    : strncmp(kind, "IN", 2) == 0  ? "input"
                                                                   : "output",
                       .bits = distance(msb, lsb),
                       .lsb = (uint32_t)(lsb < msb ? lsb : msb)};
    p->plain = plain(a, p->name);
    return true;
}

static void read_ports(struct arena *a, const char *header, struct ports *p)
{
    struct diag ignored = {.status = ST_OK};
    uint8_t *data;
    size_t n, room = 1;
    char *rest, *line;

    if (file_read(a, header, MAX_FILE, &data, &n, &ignored) != ST_OK)
        return;
    rest = (char *)data;
    for (const char *s = rest; *s != '\0'; s++)
        room += *s == '\n';
    p->port = ARENA_ARRAY(a, struct port, room);
    while ((line = strsep(&rest, "\n")) != NULL)
        p->n += read_port(a, line, &p->port[p->n]);
}

static uint32_t find(const struct ports *p, const char *name)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (strcmp(p->port[i].name, name) == 0)
            return i;
    return PORT_NONE;
}

/* --- buses --- */

/* `name`'s length before the end that one of `names` makes; -1: none does. */
static int prefix_of(const char *name, const char *names)
{
    const size_t n = strlen(name);

    for (const char *s = names; *s != '\0'; s += strspn(s, "|")) {
        const size_t m = strcspn(s, "|");

        if (n >= m && strncmp(name + n - m, s, m) == 0)
            return (int)(n - m);
        s += m;
    }
    return -1;
}

static const char *direction(const struct port_bus *b, enum bus_signal s)
{
    return (bus_signal_info[s].from == 'M') == b->manager ? "output" : "input";
}

static bool fits(const struct port *p, const struct port_bus *b, enum bus_signal s)
{
    const int n = prefix_of(p->plain, bus_signal_info[s].names);

    return n >= 0 && (size_t)n == strlen(b->prefix) && strncmp(p->plain, b->prefix, (size_t)n) == 0;
}

/* The port that is signal s: of the right direction, else, for a message, of the other one. */
static uint32_t signal_port(const struct ports *p, const struct port_bus *b, enum bus_signal s)
{
    const bool shared = s == SIGNAL_DAT_W || s == SIGNAL_DAT_R; /* one name, told apart by it */
    uint32_t other = PORT_NONE;

    for (uint32_t i = 0; i < p->n; i++) {
        if (p->port[i].used || !fits(&p->port[i], b, s))
            continue;
        if (strcmp(p->port[i].direction, direction(b, s)) == 0)
            return i;
        other = shared ? PORT_NONE : i;
    }
    return other;
}

/* A half of AXI4 exists if any port of its address channel's handshake does. */
static bool has_half(const struct port_bus *b, bool write)
{
    return write
               ? b->signal[SIGNAL_AWVALID] != PORT_NONE || b->signal[SIGNAL_AWREADY] != PORT_NONE ||
                     b->signal[SIGNAL_AWADDR] != PORT_NONE
               : b->signal[SIGNAL_ARVALID] != PORT_NONE || b->signal[SIGNAL_ARREADY] != PORT_NONE ||
                     b->signal[SIGNAL_ARADDR] != PORT_NONE;
}

bool ports_required(const struct port_bus *b, enum bus_signal s)
{
    const enum bus_need need = bus_signal_info[s].need;
    const bool write = s == SIGNAL_AWVALID || need == NEED_WRITE;

    if (bus_signal_info[s].bus != b->bus)
        return false;
    return need == NEED_MUST || (need != NEED_MAY && (b->bus != BUS_AXI || has_half(b, write)));
}

static bool is_unit(enum bus bus)
{
    return bus == BUS_CFU || bus == BUS_PCPI;
}

/* Heddle's own buses, APB and those of custom instructions have one direction. */
static bool has_role(enum bus bus, bool manager)
{
    return (bus == BUS_REG || bus == BUS_APB || is_unit(bus)) ? !manager
           : (bus == BUS_MEM || bus == BUS_WIDE)              ? manager
                                                              : true;
}

static bool known(const struct ports *p, enum bus bus, const char *prefix)
{
    for (uint32_t i = 0; i < p->n_bus; i++)
        if (p->bus[i].bus == bus && strcmp(p->bus[i].prefix, prefix) == 0)
            return true;
    return false;
}

/* The prefix as the port has it: as many letters and digits as the plain one. */
static const char *prefix_name(struct arena *a, const char *port, size_t n_plain)
{
    const char *s = port;

    for (size_t n = 0; *s != '\0' && (n < n_plain || *s == '_'); s++)
        n += *s != '_';
    size_t n = (size_t)(s - port);
    while (n > 0 && port[n - 1] == '_')
        n--;
    return arena_strndup(a, port, n);
}

/* A bus with the key at port k, if half of what it must have is there. */
static void try_bus(struct arena *a, struct ports *p, uint32_t k, enum bus_signal key)
{
    const struct port *const port = &p->port[k];
    const int n = prefix_of(port->plain, bus_signal_info[key].names);
    struct port_bus b = {.bus = bus_signal_info[key].bus, .key = k};

    uint32_t required = 0, found = 0;

    b.data_bits = b.bus == BUS_MEM                                         ? 64
                  : b.bus == BUS_REG || b.bus == BUS_APB || is_unit(b.bus) ? 32
                                                                           : 0;
    if (n < 0 || port->used || port->bits != 1)
        return;
    b.prefix = arena_strndup(a, port->plain, (size_t)n);
    b.name = prefix_name(a, port->name, (size_t)n);
    if (b.name[0] == '\0')
        b.name = bus_info[b.bus].name;
    b.manager = (bus_signal_info[key].from == 'M') == (strcmp(port->direction, "output") == 0);
    if (known(p, b.bus, b.prefix) || !has_role(b.bus, b.manager))
        return;
    for (uint32_t s = 0; s < SIGNAL_COUNT; s++)
        b.signal[s] = bus_signal_info[s].bus == b.bus ? signal_port(p, &b, s) : PORT_NONE;
    for (uint32_t s = 0; s < SIGNAL_COUNT; s++) {
        required += ports_required(&b, s);
        found += ports_required(&b, s) && b.signal[s] != PORT_NONE;
    }
    if (2 * found < required)
        return;
    for (uint32_t s = 0; s < SIGNAL_COUNT; s++)
        if (b.signal[s] != PORT_NONE) {
            p->port[b.signal[s]].used = true;
            if (bus_signal_info[s].width == BUS_DATA && (b.data_bits == 0 || s == SIGNAL_WR_DATA))
                b.data_bits = p->port[b.signal[s]].bits;
        }
    p->bus[p->n_bus++] = b;
}

static void find_buses(struct arena *a, struct ports *p)
{
    p->bus = ARENA_ARRAY(a, struct port_bus, p->n + 1);
    for (uint32_t s = 0; s < SIGNAL_COUNT; s++)
        for (uint32_t i = 0; bus_signal_info[s].need == NEED_KEY && i < p->n; i++)
            try_bus(a, p, i, s);
}

static bool is_registers(const struct port_bus *b)
{
    return !b->manager && b->bus != BUS_STREAM;
}

static void find_registers(struct arena *a, struct ports *p, const struct sim_core *core)
{
    uint32_t n = 0;

    p->registers = PORT_NONE;
    for (uint32_t i = 0; i < p->n_bus; i++)
        if (is_registers(&p->bus[i]) && n++ == 0)
            p->registers = i;
    if (n > 1)
        p->registers = PORT_NONE;
    for (uint32_t k = 0; k < core->n_declared; k++)
        for (uint32_t i = 0; core->declared[k].kind == SIM_REGISTERS && i < p->n_bus; i++)
            if (is_registers(&p->bus[i]) &&
                strcmp(plain(a, core->declared[k].port), p->bus[i].prefix) == 0)
                p->registers = i;
}

/* --- clocks, resets, the interrupt --- */

static bool single(const struct port *p, const char *dir)
{
    return !p->used && p->bits == 1 && strcmp(p->direction, dir) == 0;
}

static bool has(const char *text, const char *a, const char *b)
{
    return strstr(text, a) != NULL || strstr(text, b) != NULL;
}

static void add_clock(struct ports *p, uint32_t port, uint64_t ticks, uint64_t of)
{
    if (port == PORT_NONE || p->n_clock == PORT_CLOCKS)
        return;
    p->port[port].used = true;
    p->clock[p->n_clock++] = (struct port_clock){port, (uint32_t)ticks, (uint32_t)of};
}

static void add_reset(struct ports *p, uint32_t port, bool high)
{
    if (port == PORT_NONE || p->n_reset == PORT_RESETS)
        return;
    p->port[port].used = true;
    p->reset[p->n_reset++] = (struct port_reset){port, high};
}

static void declared(struct ports *p, const struct sim_core *core)
{
    p->irq = PORT_NONE;
    for (uint32_t k = 0; k < core->n_declared; k++) {
        const struct sim_declared *const o = &core->declared[k];
        const uint32_t port = find(p, o->port);

        switch (o->kind) {
        case SIM_CLOCK: add_clock(p, port, o->a, o->b); break;
        case SIM_RESET_LOW:
        case SIM_RESET_HIGH: add_reset(p, port, o->kind == SIM_RESET_HIGH); break;
        case SIM_IRQ_HIGH:
        case SIM_IRQ_LOW:
        case SIM_IRQ_RISING:
        case SIM_IRQ_FALLING:
            p->irq = port;
            p->irq_kind = (enum port_irq)(o->kind - SIM_IRQ_HIGH);
            if (port != PORT_NONE)
                p->port[port].used = true;
            break;
        case SIM_CONSTANT:
        case SIM_MUTANT:
            if (port != PORT_NONE)
                p->port[port].used = true;
            break;
        case SIM_REGISTERS:
        case SIM_NAME: break;
        }
    }
}

static bool declares(const struct sim_core *core, enum sim_declare first, enum sim_declare last)
{
    for (uint32_t k = 0; k < core->n_declared; k++)
        if (core->declared[k].kind >= first && core->declared[k].kind <= last)
            return true;
    return false;
}

static bool ends_low(const char *name)
{
    const size_t n = strlen(name);

    return name[n - 1] == 'n' || text_ends(name, "ni") || text_ends(name, "no") ||
           has(name, "nrst", "nreset");
}

/* "irq", "interrupt", "intr", "int", with a prefix that _ ends. */
static bool is_irq(const struct port *p)
{
    const size_t n = strlen(p->plain);

    return has(p->plain, "irq", "interrupt") || strcmp(p->plain, "int") == 0 ||
           strcmp(p->plain, "intr") == 0 || (n > 4 && strcmp(p->plain + n - 4, "intr") == 0);
}

static void find_rest(struct ports *p, const struct sim_core *core)
{
    for (uint32_t i = 0; i < p->n; i++) {
        const struct port *const port = &p->port[i];

        if (single(port, "input") && has(port->plain, "clk", "clock"))
            add_clock(p, i, 1, 1);
        else if (single(port, "input") && has(port->plain, "rst", "reset"))
            add_reset(p, i, !ends_low(port->plain));
    }
    for (uint32_t i = 0; i < p->n && !declares(core, SIM_IRQ_HIGH, SIM_IRQ_FALLING); i++)
        if (single(&p->port[i], "output") && is_irq(&p->port[i]) && p->irq == PORT_NONE) {
            p->irq = i;
            p->irq_kind = ends_low(p->port[i].plain) ? IRQ_LOW : IRQ_HIGH;
            p->port[i].used = true;
        }
}

void ports_find(struct arena *a, const char *header, const struct sim_core *core, struct ports *p)
{
    *p = (struct ports){.registers = PORT_NONE, .irq = PORT_NONE};
    read_ports(a, header, p);
    for (uint32_t k = 0; k < core->n_declared; k++) {
        const uint32_t port = find(p, core->declared[k].port);

        if (core->declared[k].kind == SIM_NAME && port != PORT_NONE)
            p->port[port].plain = plain(a, core->declared[k].as);
    }
    declared(p, core);
    find_buses(a, p);
    find_registers(a, p, core);
    find_rest(p, core);
}
