/* verilated.c - see verilated.h. */
#define _GNU_SOURCE
#include "verilated.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"

enum { SHOWN = 8, MAX_FILE = 1 << 24, COUNTER_BITS = 32 };

/* A copy of the file as text; "" if it cannot be read. */
static char *read_text(struct arena *a, const char *path)
{
    struct diag ignored = {.status = ST_OK};
    uint8_t *data;
    size_t n;

    if (file_read(a, path, MAX_FILE, &data, &n, &ignored) != ST_OK)
        return arena_strdup(a, "");
    return (char *)data;
}

/* --- warnings --- */

/* "%Warning-WIDTH: rtl/a.sv:47:36: text" as "rtl/a.sv:47:36: WIDTH: text". */
static const char *warning_text(struct arena *a, const char *line)
{
    static const char mark[] = "%Warning-";
    const char *const code = line + sizeof mark - 1;
    const size_t n = strcspn(code, ":");
    const char *const place = code[n] != '\0' ? code + n + 1 + strspn(code + n + 1, " ") : "";
    const char *text = strstr(place, ": ");

    if (strncmp(line, mark, sizeof mark - 1) != 0)
        return NULL;
    if (text == NULL)
        return arena_printf(a, "%.*s: %.200s", (int)n, code, place);
    return arena_printf(a, "%.*s: %.*s: %.200s", (int)(text - place), place, (int)n, code,
                        text + 2);
}

void verilated_warnings(struct arena *a, const struct output *output, const char *log,
                        const char *kept)
{
    char *rest = read_text(a, log), *line;
    unsigned n = 0;

    while ((line = strsep(&rest, "\n")) != NULL) {
        const char *const text = warning_text(a, line);

        if (text != NULL && n == 0)
            output_text(output, OUTPUT_PROGRESS, ""); /* ends its line */
        if (text != NULL && n++ < SHOWN)
            output_printf(output, OUTPUT_NOTE, "Verilator warning: %s", text);
    }
    if (n != 0)
        output_printf(output, OUTPUT_NOTE, "%u warning%s of Verilator%s: '%s'", n,
                      n == 1 ? "" : "s", n > SHOWN ? ", the first are above" : "", kept);
}

unsigned verilated_count(struct arena *a, const char *log)
{
    char *rest = read_text(a, log), *line;
    unsigned n = 0;

    while ((line = strsep(&rest, "\n")) != NULL)
        n += warning_text(a, line) != NULL;
    return n;
}

/* --- ports of a core --- */

struct port {
    char name[64];
    const char *direction; /* "input", "output", "inout" */
    unsigned bits;
};

/* sim/core/README.md: what every core has, and one of two memory ports. */
static const struct port common[] = {
    {"clk_i", "input", 1},       {"rst_ni", "input", 1},       {"reg_write_i", "input", 1},
    {"reg_addr_i", "input", 16}, {"reg_wdata_i", "input", 32}, {"reg_rdata_o", "output", 32},
    {"irq_o", "output", 1},
};
static const struct port narrow[] = {
    {"mem_read_o", "output", 1},  {"mem_addr_o", "output", 32},  {"mem_rdata_i", "input", 64},
    {"mem_write_o", "output", 1}, {"mem_wdata_o", "output", 64}, {"mem_wstrb_o", "output", 8},
};
/* Bits 0: as wide as wr_data_o; 1/8 of it for wr_strb_o. */
static const struct port wide[] = {
    {"rd_valid_o", "output", 1}, {"rd_ready_i", "input", 1},   {"rd_addr_o", "output", 32},
    {"rsp_valid_i", "input", 1}, {"rsp_ready_o", "output", 1}, {"rsp_data_i", "input", 0},
    {"wr_valid_o", "output", 1}, {"wr_ready_i", "input", 1},   {"wr_addr_o", "output", 32},
    {"wr_data_o", "output", 0},  {"wr_strb_o", "output", 0},
};
enum {
    COMMON = sizeof common / sizeof common[0],
    NARROW = sizeof narrow / sizeof narrow[0],
    WIDE = sizeof wide / sizeof wide[0],
};

static unsigned distance(int a, int b)
{
    return (unsigned)(a > b ? a - b : b - a) + 1;
}

/* Read a line as " VL_IN16(&reg_addr_i,15,0);"; a wide port has its number of words after it. */
static bool read_port(const char *line, struct port *p)
{
    char kind[16];
    int msb, lsb;

    if (sscanf(line, " VL_%15[A-Z0-9](&%63[^,],%d,%d", kind, p->name, &msb, &lsb) != 4)
        return false;
    p->direction = strncmp(kind, "INOUT", 5) == 0 ? "inout"
                   : strncmp(kind, "IN", 2) == 0  ? "input"
                                                  : "output";
    p->bits = distance(msb, lsb);
    return true;
}

static const struct port *find(const struct port *list, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i].name, name) == 0)
            return &list[i];
    return NULL;
}

static size_t read_ports(struct arena *a, const char *header, struct port **ports)
{
    char *rest = read_text(a, header), *line;
    size_t n = 0, room = 1;

    for (const char *s = rest; *s != '\0'; s++)
        room += *s == '\n';
    *ports = ARENA_ARRAY(a, struct port, room);
    while ((line = strsep(&rest, "\n")) != NULL)
        n += read_port(line, &(*ports)[n]);
    return n;
}

static void add(struct text *t, const char *text)
{
    text_printf(t, "%s%s", t->length != 0 ? "; " : "", text);
}

/* Describe the mistake in the port that should be `want`. */
static void check_required(struct arena *a, const struct port *want, const struct port *found,
                           struct text *wrong)
{
    if (found == NULL)
        add(wrong, arena_printf(a, "port %s missing (%s, %u bit%s)", want->name, want->direction,
                                want->bits, want->bits == 1 ? "" : "s"));
    else if (strcmp(want->direction, found->direction) != 0 || want->bits != found->bits)
        add(wrong, arena_printf(a, "port %s: expected %s of %u bit%s, found %s of %u", want->name,
                                want->direction, want->bits, want->bits == 1 ? "" : "s",
                                found->direction, found->bits));
}

/* The ports that this core must have: with the wide memory port if it has one of its outputs. */
static size_t required_of(const struct port *ports, size_t n, struct port *required)
{
    const struct port *const data = find(ports, n, "wr_data_o");
    const bool is_wide = data != NULL || find(ports, n, "rd_valid_o") != NULL;
    const unsigned found = data != NULL ? data->bits : 0;
    const unsigned bits = found == 64 || found == 256 || found == 512 ? found : 128;
    size_t count = COMMON;

    memcpy(required, common, sizeof common);
    for (size_t i = 0; i < (is_wide ? WIDE : NARROW); i++, count++) {
        struct port *const p = &required[count];

        *p = is_wide ? wide[i] : narrow[i];
        if (p->bits == 0)
            p->bits = strcmp(p->name, "wr_strb_o") == 0 ? bits / 8 : bits;
    }
    return count;
}

/* A port that is added up, cycle by cycle. */
static void check_counter(struct arena *a, const struct sim_counter *want, const struct port *found,
                          struct text *wrong)
{
    if (found == NULL)
        add(wrong, arena_printf(a, "counter %s: port %s missing (output, 1 to %d bits)", want->name,
                                want->port, COUNTER_BITS));
    else if (strcmp(found->direction, "output") != 0 || found->bits > COUNTER_BITS)
        add(wrong,
            arena_printf(a, "counter %s: port %s: expected output of 1 to %d bits, found %s of %u",
                         want->name, want->port, COUNTER_BITS, found->direction, found->bits));
}

enum status verilated_ports(struct arena *a, const char *header, const struct sim_core *core,
                            struct diag *d)
{
    struct port *port;
    const size_t n = read_ports(a, header, &port);
    struct port required[COMMON + WIDE];
    const size_t n_required = required_of(port, n, required);
    struct text wrong, list;

    text_init(&wrong, a);
    text_init(&list, a);
    for (size_t i = 0; i < n_required; i++)
        check_required(a, &required[i], find(port, n, required[i].name), &wrong);
    for (uint32_t i = 0; i < core->n_counter; i++)
        check_counter(a, &core->counter[i], find(port, n, core->counter[i].port), &wrong);
    for (size_t i = 0; i < n; i++) {
        if (strcmp(port[i].direction, "output") != 0 &&
            find(required, n_required, port[i].name) == NULL)
            add(&wrong,
                arena_printf(a, "port %s (%s, %u bit%s): nothing drives it", port[i].name,
                             port[i].direction, port[i].bits, port[i].bits == 1 ? "" : "s"));
        text_printf(&list, "%s%s %s[%u]", i != 0 ? ", " : "", port[i].direction, port[i].name,
                    port[i].bits);
    }
    if (wrong.length == 0)
        return ST_OK;
    return FAIL(d, ST_USAGE, "%s; ports found: %s; see sim/core/README.md", wrong.data,
                n != 0 ? list.data : "none");
}
