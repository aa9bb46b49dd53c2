/* ports_check.c - see ports.h: what is wrong with the ports of a core, and what sim/core binds to them. */
#include "ports.h"

#include <ctype.h>
#include <string.h>

enum { COUNTER_BITS = 32, SHOWN = 12 };

struct wrong {
    struct arena *a;
    struct diag *d;
    uint32_t n;
};

static void add(struct wrong *w, const char *text)
{
    w->n++;
    if (w->n == 1)
        (void)FAIL(w->d, ST_USAGE, "%s", text);
    else if (w->n <= SHOWN)
        diag_line(w->d, "%s", text);
}

static const char *bits_text(struct arena *a, uint32_t bits)
{
    return arena_printf(a, "%u bit%s", bits, bits == 1 ? "" : "s");
}

/* --- names of ports that are missing --- */

static bool own_names(enum bus bus)
{
    return bus == BUS_REG || bus == BUS_MEM || bus == BUS_WIDE;
}

/* Return the name of the port that should be signal `s` of bus `b`, after its other ports. */
static const char *expected_name(struct arena *a, const struct ports *p, const struct port_bus *b,
                                 enum bus_signal s)
{
    const char *const key = p->port[b->key].name;
    const size_t n = strlen(key), n_names = strcspn(bus_signal_info[s].names, "|");
    const bool marked = n > 2 && key[n - 2] == '_' && strchr("ioIO", key[n - 1]) != NULL;
    const bool upper = isupper((unsigned char)key[marked ? n - 3 : n - 1]);
    const bool output = (bus_signal_info[s].from == 'M') == b->manager;
    const size_t n_prefix = b->prefix[0] != '\0' ? strlen(b->name) : 0;
    const char *const join = n_prefix == 0                               ? ""
                             : own_names(b->bus) || key[n_prefix] == '_' ? "_"
                                                                         : "";
    char *const text = arena_printf(
        a, "%.*s%s%.*s%s", (int)n_prefix, key, join, own_names(b->bus) ? 32 : (int)n_names,
        own_names(b->bus) ? bus_signal_info[s].id : bus_signal_info[s].names,
        !marked  ? ""
        : output ? "_o"
                 : "_i");

    for (char *c = text + n_prefix; *c != '\0'; c++)
        *c = (char)(upper ? toupper((unsigned char)*c) : tolower((unsigned char)*c));
    return text;
}

/* --- buses --- */

/* The widths that heddle drives, least and greatest; powers of two between. */
static void widths(const struct port_bus *b, uint32_t *least, uint32_t *most)
{
    *least = b->bus == BUS_WIDE ? 64 : b->bus == BUS_STREAM ? 8 : 32;
    *most = b->bus == BUS_STREAM || b->manager ? 512 : b->bus == BUS_AXI ? 64 : 32;
}

static bool good_width(const struct port_bus *b)
{
    uint32_t least, most;

    widths(b, &least, &most);
    return b->data_bits >= least && b->data_bits <= most &&
           (b->data_bits & (b->data_bits - 1)) == 0;
}

static bool good_bits(uint32_t bits, int16_t width, const struct port_bus *b)
{
    if (width == BUS_DATA)
        return bits == b->data_bits;
    if (width == BUS_STROBE)
        return bits == b->data_bits / 8;
    return width > 0 ? bits == (uint32_t)width : bits >= 1 && bits <= (uint32_t)-width;
}

static const char *width_text(struct arena *a, int16_t width, const struct port_bus *b)
{
    if (width < 0)
        return arena_printf(a, "1 to %d bits", -width);
    return bits_text(a, width == BUS_DATA     ? b->data_bits
                        : width == BUS_STROBE ? b->data_bits / 8
                                              : (uint32_t)width);
}

static void check_signal(struct wrong *w, const struct ports *p, const struct port_bus *b,
                         enum bus_signal s)
{
    const char *const direction =
        (bus_signal_info[s].from == 'M') == b->manager ? "output" : "input";
    const char *const width = width_text(w->a, bus_signal_info[s].width, b);
    const struct port *const found = b->signal[s] != PORT_NONE ? &p->port[b->signal[s]] : NULL;

    if (found == NULL && ports_required(b, s))
        add(w, arena_printf(w->a, "port %s missing (%s, %s)", expected_name(w->a, p, b, s),
                            direction, width));
    if (found != NULL && (strcmp(found->direction, direction) != 0 ||
                          !good_bits(found->bits, bus_signal_info[s].width, b)))
        add(w, arena_printf(w->a, "port %s: expected %s of %s, found %s of %u", found->name,
                            direction, width, found->direction, found->bits));
}

static void check_bus(struct wrong *w, const struct ports *p, const struct port_bus *b)
{
    struct port_bus as = *b;
    uint32_t least, most;

    widths(b, &least, &most);
    if (b->data_bits == 0) /* its data are missing */
        as.data_bits = least;
    else if (!good_width(b))
        add(w, arena_printf(w->a, "%s %s: expected data of %u to %u bits, a power of two, found %u",
                            bus_info[b->bus].name, b->name, least, most, b->data_bits));
    for (uint32_t s = 0; s < SIGNAL_COUNT; s++)
        if (bus_signal_info[s].bus == b->bus)
            check_signal(w, p, &as, s);
}

static void check_registers(struct wrong *w, const struct ports *p)
{
    struct text list;
    bool streams = false;
    uint32_t n = 0;

    text_init(&list, w->a);
    for (uint32_t i = 0; i < p->n_bus; i++) {
        streams = streams || p->bus[i].bus == BUS_STREAM;
        if (!p->bus[i].manager && p->bus[i].bus != BUS_STREAM)
            text_printf(&list, "%s%s", n++ != 0 ? ", " : "", p->bus[i].name);
    }
    if (p->registers != PORT_NONE)
        return;
    if (n > 1)
        add(w, arena_printf(w->a,
                            "several buses could be its registers: %s; \"registers\" in "
                            "\"ports\" chooses one",
                            list.data));
    else if (!streams)
        add(w, "no bus for its registers found: expected AXI4-Lite, APB, Wishbone, OBI or "
               "reg_write_i, reg_addr_i, reg_wdata_i, reg_rdata_o");
}

/* --- other ports --- */

static const struct port *find(const struct ports *p, const char *name)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (strcmp(p->port[i].name, name) == 0)
            return &p->port[i];
    return NULL;
}

/* A port that is added up, cycle by cycle. */
static void check_counter(struct wrong *w, const struct sim_counter *want, const struct port *found)
{
    if (found == NULL)
        add(w, arena_printf(w->a, "counter %s: port %s missing (output, 1 to %d bits)", want->name,
                            want->port, COUNTER_BITS));
    else if (strcmp(found->direction, "output") != 0 || found->bits > COUNTER_BITS)
        add(w, arena_printf(w->a,
                            "counter %s: port %s: expected output of 1 to %d bits, found %s of %u",
                            want->name, want->port, COUNTER_BITS, found->direction, found->bits));
}

static void check_declared(struct wrong *w, const struct ports *p, const struct sim_declared *o)
{
    const struct port *const found = find(p, o->port);
    const bool out = o->kind >= SIM_IRQ_HIGH && o->kind <= SIM_IRQ_FALLING;
    bool bus = false;

    if (o->kind == SIM_REGISTERS) {
        for (uint32_t i = 0; i < p->n_bus; i++)
            bus = bus || i == p->registers;
        if (!bus)
            add(w, arena_printf(w->a, "\"registers\": no such bus: '%s'", o->port));
        return;
    }
    if (out && o->port[0] == '\0')
        return;
    if (found == NULL)
        add(w, arena_printf(w->a, "port %s missing: \"ports\" names it", o->port));
    else if (o->kind != SIM_NAME &&
             (strcmp(found->direction, out ? "output" : "input") != 0 ||
              (found->bits != 1 && o->kind < SIM_CONSTANT) || found->bits > 64))
        add(w, arena_printf(w->a, "port %s: expected %s of %s, found %s of %u", o->port,
                            out ? "output" : "input",
                            o->kind >= SIM_CONSTANT ? "1 to 64 bits" : "1 bit", found->direction,
                            found->bits));
}

static void check_single(struct wrong *w, const struct ports *p, const struct sim_core *core)
{
    const bool own = p->registers != PORT_NONE && p->bus[p->registers].bus == BUS_REG;
    bool none = false;

    for (uint32_t k = 0; k < core->n_declared; k++)
        none =
            none || (core->declared[k].kind == SIM_IRQ_HIGH && core->declared[k].port[0] == '\0');
    if (p->n_clock == 0)
        add(w,
            "no clock found (input, 1 bit, named clk or clock); \"clock\" in \"ports\" names it");
    if (p->irq == PORT_NONE && own && !none)
        add(w, find(p, "irq_o") == NULL
                   ? "port irq_o missing (output, 1 bit)"
                   : arena_printf(w->a, "port irq_o: expected output of 1 bit, found %s of %u",
                                  find(p, "irq_o")->direction, find(p, "irq_o")->bits));
    for (uint32_t i = 0; i < p->n; i++)
        if (!p->port[i].used && strcmp(p->port[i].direction, "output") != 0 &&
            (strcmp(p->port[i].name, "irq_o") != 0 || p->irq != PORT_NONE || !own))
            add(w, arena_printf(w->a, "port %s (%s, %s): nothing drives it", p->port[i].name,
                                p->port[i].direction, bits_text(w->a, p->port[i].bits)));
}

enum status ports_check(struct arena *a, const struct ports *p, const struct sim_core *core,
                        struct diag *d)
{
    struct wrong w = {.a = a, .d = d};

    check_registers(&w, p);
    for (uint32_t i = 0; i < p->n_bus; i++)
        check_bus(&w, p, &p->bus[i]);
    for (uint32_t i = 0; i < core->n_declared; i++)
        check_declared(&w, p, &core->declared[i]);
    for (uint32_t i = 0; i < core->n_counter; i++)
        check_counter(&w, &core->counter[i], find(p, core->counter[i].port));
    check_single(&w, p, core);
    if (w.n == 0)
        return ST_OK;
    if (w.n > SHOWN)
        diag_line(d, "and %u more", w.n - SHOWN);
    diag_line(d, "sim/core/README.md has the buses and their ports; \"names\" in \"ports\" states "
                 "what a port "
                 "of another name is");
    return d->status;
}

/* --- what sim/core binds --- */

void ports_header(struct text *t, const struct ports *p, const struct sim_core *core)
{
    text_add(t, "// hd_core_ports.h - written by sim/ports/ports_check.c.\n#define HD_CORE_BUS(X)");
    for (uint32_t i = 0; i < p->n_bus; i++)
        text_printf(t, " \\\n    X(%u, %s, %d, \"%s\", %u)", i, bus_info[p->bus[i].bus].id,
                    p->bus[i].manager, p->bus[i].name, p->bus[i].data_bits);
    text_add(t, "\n#define HD_CORE_WIRE(X)");
    for (uint32_t i = 0; i < p->n_bus; i++)
        for (uint32_t s = 0; s < SIGNAL_COUNT; s++)
            if (p->bus[i].signal[s] != PORT_NONE) {
                const struct port *const port = &p->port[p->bus[i].signal[s]];

                text_printf(t, " \\\n    X(%u, %s, %s, \"%s\", %u, %u)", i, bus_signal_info[s].id,
                            port->member, port->name, port->bits, port->lsb);
            }
    text_add(t, "\n#define HD_CORE_CLOCK(X)");
    for (uint32_t i = 0; i < p->n_clock; i++)
        text_printf(t, " X(%s, %u, %u)", p->port[p->clock[i].port].member, p->clock[i].ticks,
                    p->clock[i].of);
    text_add(t, "\n#define HD_CORE_RESET(X)");
    for (uint32_t i = 0; i < p->n_reset; i++)
        text_printf(t, " X(%s, %d)", p->port[p->reset[i].port].member, p->reset[i].high);
    text_add(t, "\n#define HD_CORE_CONSTANT(X)");
    for (uint32_t i = 0; i < core->n_declared; i++)
        if (core->declared[i].kind == SIM_CONSTANT)
            text_printf(t, " X(%s, %lluu)", find(p, core->declared[i].port)->member,
                        (unsigned long long)core->declared[i].a);
        else if (core->declared[i].kind == SIM_MUTANT)
            text_printf(t, " X(%s, core.options.mutant)", find(p, core->declared[i].port)->member);
    text_printf(
        t, "\n#define HD_CORE_BUSES %u\n#define HD_CORE_CLOCKS %u\n#define HD_CORE_REGISTERS %d\n",
        p->n_bus, p->n_clock, p->registers == PORT_NONE ? -1 : (int)p->registers);
    if (p->irq != PORT_NONE)
        text_printf(t, "#define HD_CORE_IRQ %s\n#define HD_CORE_IRQ_NAME \"%s\"\n",
                    p->port[p->irq].member, p->port[p->irq].name);
    text_printf(t, "#define HD_CORE_IRQ_KIND %d\n", p->irq_kind);
}

void ports_list(struct text *t, const struct ports *p)
{
    text_add(t, "");
    for (uint32_t i = 0; i < p->n; i++) {
        text_add(t, p->port[i].name);
        if (p->port[i].bits > 1)
            text_printf(t, "[%u:0]", p->port[i].bits - 1);
        text_add(t, "\n");
    }
}
