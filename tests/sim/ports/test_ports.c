/* test_ports.c - the ports of a target's own core: what each of them is by its name or by what target.json declares, and
 * what is wrong with them. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "sim/ports/ports.h"

static const char file[] = "ports-test.h";
static const struct sim_core none = {.n_counter = 0};

static int set_up(void **state)
{
    *state = arena_new(0);
    return 0;
}

static int tear_down(void **state)
{
    (void)unlink(file);
    arena_free(*state);
    return 0;
}

/* Write `list`, "i clk 1, o m_axi_wdata 64, ...", as Verilator's header. A width as 31:2 has its bounds. */
static void write_header(struct arena *a, const char *list)
{
    char *rest = arena_strdup(a, list), *word;
    struct diag d = {.status = ST_OK};
    struct text t;

    text_init(&t, a);
    text_add(&t, "class Vhd_sim_top {\n");
    while ((word = strsep(&rest, ",")) != NULL) {
        char way, name[64], width[16];
        unsigned msb = 0, lsb = 0;

        if (sscanf(word, " %c %63s %15s", &way, name, width) != 3)
            continue;
        if (sscanf(width, "%u:%u", &msb, &lsb) != 2)
            msb = (unsigned)atoi(width) - 1;
        const char *const sizes = strchr(name, '['); /* of an array */
        if (sizes)
            memmove(name, arena_printf(a, "(&%.*s)%s", (int)(sizes - name), name, sizes),
                    strlen(name) + 4);
        text_printf(&t, sizes ? "    VL_%s%s(%s,%u,%u%s);\n" : "    VL_%s%s(&%s,%u,%u%s);\n",
                    way == 'i'   ? "IN"
                    : way == 'o' ? "OUT"
                                 : "INOUT",
                    msb < 8    ? "8"
                    : msb < 16 ? "16"
                    : msb < 32 ? ""
                    : msb < 64 ? "64"
                               : "W",
                    name, msb, lsb, msb < 64 ? "" : ",4");
    }
    assert_int_equal(file_write(file, t.data, t.length, &d), ST_OK);
}

static struct ports found(struct arena *a, const char *list, const struct sim_core *core)
{
    struct ports p;

    write_header(a, list);
    ports_find(a, file, core, &p);
    return p;
}

/* The message; NULL: nothing is wrong. */
static const char *wrong(struct arena *a, const char *list, const struct sim_core *core)
{
    const struct ports p = found(a, list, core);
    struct diag d = {.status = ST_OK};

    if (ports_check(a, &p, core, &d) == ST_OK)
        return NULL;
    assert_int_equal(d.status, ST_USAGE);
    return arena_strdup(a, d.text);
}

static void says(const char *text, const char *expected)
{
    assert_non_null(text);
    if (strncmp(text, expected, strlen(expected)) != 0 ||
        strchr("\n", text[strlen(expected)]) == NULL)
        fail_msg("expected '%s', found '%s'", expected, text);
}

/* A bus of the list is found with this prefix, and all ports are good. */
static void is_bus(struct arena *a, const char *list, enum bus bus, bool manager, const char *name,
                   uint32_t bits)
{
    const struct ports p = found(a, list, &none);
    const char *const bad = wrong(a, list, &none);

    if (bad != NULL)
        fail_msg("%s", bad);
    for (uint32_t i = 0; i < p.n_bus; i++)
        if (p.bus[i].bus == bus && p.bus[i].manager == manager &&
            strcmp(p.bus[i].name, name) == 0 && p.bus[i].data_bits == bits)
            return;
    fail_msg("no %s '%s' of %u bits among %u", bus_info[bus].name, name, bits, p.n_bus);
}

#define CLOCK "i clk 1, i rst_n 1, o irq 1, "
#define LITE(p)                                                                                    \
    "i " p "awvalid 1, o " p "awready 1, i " p "awaddr 12, i " p "wvalid 1, o " p "wready 1, i " p \
    "wdata 32, i " p "wstrb 4, o " p "bvalid 1, i " p "bready 1, o " p "bresp 2, i " p             \
    "arvalid 1, o " p "arready 1, i " p "araddr 12, o " p "rvalid 1, i " p "rready 1, o " p        \
    "rdata 32, o " p "rresp 2, "
#define READER(p)                                                                                  \
    "o " p "ARVALID 1, i " p "ARREADY 1, o " p "ARADDR 64, o " p "ARLEN 8, o " p "ARID 4, i " p    \
    "RVALID 1, o " p "RREADY 1, i " p "RDATA 256, i " p "RLAST 1, i " p "RID 4, "
#define OWN "i reg_write_i 1, i reg_addr_i 16, i reg_wdata_i 32, o reg_rdata_o 32, "
#define NARROW                                                                                     \
    "o mem_read_o 1, o mem_addr_o 32, i mem_rdata_i 64, o mem_write_o 1, o mem_wdata_o 64, o "     \
    "mem_wstrb_o 8, "

static void buses_are_found_by_the_names_of_their_ports(void **state)
{
    struct arena *const a = *state;

    is_bus(a, CLOCK LITE("s_axi_"), BUS_AXI, false, "s_axi", 32);
    is_bus(a, CLOCK LITE("S_AXI_CONTROL_"), BUS_AXI, false, "S_AXI_CONTROL", 32);
    is_bus(a, CLOCK LITE(""), BUS_AXI, false, "AXI4", 32);
    is_bus(a, CLOCK LITE("s_axi_") READER("m_axi_gmem_"), BUS_AXI, true, "m_axi_gmem", 256);
    is_bus(a, CLOCK OWN NARROW, BUS_MEM, true, "heddle memory", 64);
    is_bus(a,
           CLOCK
           "i psel 1, i penable 1, i paddr 12, i pwrite 1, i pwdata 32, o prdata 32, o pready 1",
           BUS_APB, false, "APB", 32);
    is_bus(
        a,
        "i wb_clk_i 1, i wb_rst_i 1, i wbs_cyc_i 1, i wbs_stb_i 1, i wbs_we_i 1, i wbs_adr_i 31:2, "
        "i wbs_dat_i 32, i wbs_sel_i 4, o wbs_dat_o 32, o wbs_ack_o 1",
        BUS_WISHBONE, false, "wbs", 32);
    is_bus(a,
           CLOCK LITE("s_axi_") "o wbm_cyc_o 1, o wbm_stb_o 1, o wbm_we_o 1, o wbm_adr_o 32, o "
                                "wbm_dat_o 64, o wbm_sel_o 8, i wbm_dat_i 64, i wbm_ack_i 1, i "
                                "wbm_stall_i 1",
           BUS_WISHBONE, true, "wbm", 64);
    is_bus(a,
           CLOCK "i obi_req_i 1, o obi_gnt_o 1, i obi_addr_i 32, i obi_we_i 1, i obi_be_i 4, i "
                 "obi_wdata_i 32, o obi_rvalid_o 1, o obi_rdata_o 32",
           BUS_OBI, false, "obi", 32);
    is_bus(a,
           "i clk 1, i reset 1, i cmd_valid 1, o cmd_ready 1, i cmd_payload_function_id 10, i "
           "cmd_payload_inputs_0 32, i cmd_payload_inputs_1 32, o rsp_valid 1, i rsp_ready 1, o "
           "rsp_payload_outputs_0 32",
           BUS_CFU, false, "CFU", 32);
    is_bus(a,
           "i clk 1, i resetn 1, i pcpi_valid 1, i pcpi_insn 32, i pcpi_rs1 32, i pcpi_rs2 32, o "
           "pcpi_wr 1, o pcpi_rd 32, o pcpi_wait 1, o pcpi_ready 1",
           BUS_PCPI, false, "PCPI", 32);
    is_bus(a, "i aclk 1, i aresetn 1, i s_tvalid 1, o s_tready 1, i s_tdata 8, i s_tlast 1",
           BUS_STREAM, false, "s", 8);
    is_bus(a,
           "i aclk 1, i aresetn 1, o axis_out_tvalid 1, o axis_out_tdata 512, i axis_out_tready 1",
           BUS_STREAM, true, "axis_out", 512);
}

static void clocks_resets_and_interrupt_are_found_by_their_names(void **state)
{
    static const struct {
        const char *name;
        bool high;
    } reset[] = {{"rst", true},     {"rst_i", true},    {"reset", true},   {"rst_n", false},
                 {"rst_ni", false}, {"aresetn", false}, {"nreset", false}, {"PRESETn", false}};
    struct arena *const a = *state;
    const struct ports p = found(a, "i aclk 1, i clk2x 1, o intr 1, o other 1, " OWN, &none);

    assert_int_equal(p.n_clock, 2);
    assert_string_equal(p.port[p.clock[0].port].name, "aclk");
    assert_string_equal(p.port[p.irq].name, "intr");
    for (size_t i = 0; i < sizeof reset / sizeof reset[0]; i++) {
        const struct ports q = found(a, arena_printf(a, "i clk 1, i %s 1", reset[i].name), &none);

        assert_int_equal(q.n_reset, 1);
        if (q.reset[0].high != reset[i].high)
            fail_msg("%s: wrong level", reset[i].name);
    }
}

static void target_json_overrules_names(void **state)
{
    static const struct sim_declared declared[] = {
        {SIM_CLOCK, "tick", NULL, 1, 1},         {SIM_CLOCK, "fast", NULL, 3, 2},
        {SIM_RESET_HIGH, "clear_n", NULL, 0, 0}, {SIM_IRQ_FALLING, "busy", NULL, 0, 0},
        {SIM_REGISTERS, "cfg_", NULL, 0, 0},     {SIM_NAME, "cfg_go", "cfg_awvalid", 0, 0},
        {SIM_CONSTANT, "scan", NULL, 5, 0}};
    const struct sim_core core = {.n_declared = 7, .declared = declared};
    struct arena *const a = *state;
    char *const cfg = arena_strdup(a, LITE("cfg_"));
    struct text t;
    char *at = strstr(cfg, "cfg_awvalid");

    text_init(&t, a);
    text_printf(&t, "i tick 1, i fast 1, i clear_n 1, o busy 1, o irq 1, i scan 3, %.*scfg_go%s%s",
                (int)(at - cfg), cfg, at + strlen("cfg_awvalid"), LITE("other_"));
    assert_null(wrong(a, t.data, &core));
    const struct ports p = found(a, t.data, &core);
    assert_string_equal(p.bus[p.registers].name, "cfg");
    assert_int_equal(p.clock[1].ticks, 3);
    assert_int_equal(p.clock[1].of, 2);
    assert_true(p.reset[0].high);
    assert_int_equal(p.irq_kind, IRQ_FALLING);
    struct text h;
    text_init(&h, a);
    ports_header(&h, &p, &core);
    assert_non_null(strstr(h.data, "#define HD_CORE_CONSTANT(X) X(scan, 5u)"));
    assert_non_null(strstr(h.data, "#define HD_CORE_CLOCK(X) X(tick, 1, 1) X(fast, 3, 2)"));
    assert_non_null(strstr(h.data, "X(0, AWVALID, cfg_go, \"cfg_go\", 1, 0)"));
}

static const char *without(struct arena *a, const char *list, const char *port)
{
    const char *const at = strstr(list, port);
    const char *const begin = memrchr(list, ',', (size_t)(at - list));
    const char *const end = strchr(at, ',');

    return arena_printf(a, "%.*s%s", (int)(begin - list), list, end);
}

static void what_is_missing_is_a_line_each(void **state)
{
    static const char lite[] = CLOCK LITE("s_axi_"),
                      gmem[] = CLOCK LITE("s_axi_") READER("m_axi_gmem_"), own[] = CLOCK OWN NARROW;
    struct arena *const a = *state;

    says(wrong(a, without(a, lite, "s_axi_wstrb"), &none),
         "port s_axi_wstrb missing (input, 4 bits)");
    says(wrong(a, without(a, lite, "s_axi_awaddr"), &none),
         "port s_axi_awaddr missing (input, 1 to 64 bits)");
    says(wrong(a, without(a, gmem, "m_axi_gmem_RREADY"), &none),
         "port m_axi_gmem_RREADY missing (output, 1 bit)");
    /* The other half is complete: without its key, a half is not left out in silence. */
    says(wrong(a, without(a, lite, "s_axi_arvalid"), &none),
         "port s_axi_arvalid missing (input, 1 bit)");
    says(wrong(a, without(a, lite, "s_axi_awvalid"), &none),
         "port s_axi_awvalid missing (input, 1 bit)");
    says(wrong(a, without(a, own, "mem_wstrb_o"), &none),
         "port mem_wstrb_o missing (output, 8 bits)");
    says(wrong(a, without(a, own, "mem_write_o"), &none),
         "port mem_write_o missing (output, 1 bit)");
    says(wrong(a, without(a, own, "o irq"), &none), "port irq_o missing (output, 1 bit)");
    says(wrong(a, "i clk 1, i rst 1, o irq 1", &none),
         "no bus for its registers found: expected AXI4-Lite, APB, Wishbone, OBI or reg_write_i, "
         "reg_addr_i, reg_wdata_i, reg_rdata_o");
    says(wrong(a, "i rst 1, o irq 1, " OWN, &none),
         "no clock found (input, 1 bit, named clk or clock); \"clock\" in \"ports\" names it");
    const char *const two =
        wrong(a, without(a, without(a, lite, "s_axi_wstrb"), "s_axi_bvalid"), &none);
    assert_non_null(strstr(two, "\n  port s_axi_bvalid missing (output, 1 bit)"));
    assert_non_null(strstr(two,
                           "\n  sim/core/README.md has the buses and their ports; \"names\" in "
                           "\"ports\" states what a port of another name is"));
    assert_true(strlen(two) < 300);
}

static void widths_directions_and_what_nothing_drives(void **state)
{
    struct arena *const a = *state;

    says(wrong(a,
               CLOCK OWN "o mem_read_o 1, o mem_addr_o 32, i mem_rdata_i 64, o mem_write_o 1, o "
                         "mem_wdata_o 128, o mem_wstrb_o 8",
               &none),
         "port mem_wdata_o: expected output of 64 bits, found output of 128");
    says(wrong(a, CLOCK OWN NARROW "i fast_enable 1", &none),
         "port fast_enable (input, 1 bit): nothing drives it");
    says(wrong(a, CLOCK OWN NARROW "i lanes_i[4] 8, o seen_o[2] 32", &none),
         "port lanes_i[4] (input, 8 bits): nothing drives it");
    says(wrong(a, CLOCK OWN NARROW "i lanes_i[4][2] 32", &none),
         "port lanes_i[4][2] (input, 32 bits): nothing drives it");
    says(wrong(a, CLOCK OWN NARROW "x bus_io 8", &none),
         "port bus_io (inout, 8 bits): nothing drives it");
    says(wrong(a, CLOCK LITE("a_") LITE("b_"), &none),
         "several buses could be its registers: a, b; \"registers\" in \"ports\" chooses one");
    says(wrong(a,
               CLOCK OWN "o rd_valid_o 1, i rd_ready_i 1, o rd_addr_o 32, i rsp_valid_i 1, o "
                         "rsp_ready_o 1, i rsp_data_i 96, o wr_valid_o 1, i wr_ready_i 1, o "
                         "wr_addr_o 32, o wr_data_o 96, o wr_strb_o 12",
               &none),
         "heddle wide memory heddle wide memory: expected data of 64 to 512 bits, a power of two, "
         "found 96");
}

static void declarations_and_counters_name_ports(void **state)
{
    static const struct sim_counter moved = {"moved", "moved_o"};
    static const struct sim_core counts = {.n_counter = 1, .counter = &moved};
    static const struct sim_declared gone = {SIM_CLOCK, "gone", NULL, 1, 1},
                                     wide = {SIM_RESET_LOW, "level", NULL, 0, 0},
                                     bus = {SIM_REGISTERS, "x_", NULL, 0, 0};
    struct arena *const a = *state;

    says(wrong(a, CLOCK OWN NARROW, &(struct sim_core){.n_declared = 1, .declared = &gone}),
         "port gone missing: \"ports\" names it");
    says(wrong(a, CLOCK OWN NARROW "i level 2",
               &(struct sim_core){.n_declared = 1, .declared = &wide}),
         "port level: expected input of 1 bit, found input of 2");
    says(wrong(a, CLOCK LITE("a_") LITE("b_"),
               &(struct sim_core){.n_declared = 1, .declared = &bus}),
         "several buses could be its registers: a, b; \"registers\" in \"ports\" chooses one");
    assert_null(wrong(a, CLOCK OWN NARROW "o moved_o 32", &counts));
    says(wrong(a, CLOCK OWN NARROW, &counts),
         "counter moved: port moved_o missing (output, 1 to 32 bits)");
    says(wrong(a, CLOCK OWN NARROW "o moved_o 33", &counts),
         "counter moved: port moved_o: expected output of 1 to 32 bits, found output of 33");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(buses_are_found_by_the_names_of_their_ports, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(clocks_resets_and_interrupt_are_found_by_their_names,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(target_json_overrules_names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_missing_is_a_line_each, set_up, tear_down),
        cmocka_unit_test_setup_teardown(widths_directions_and_what_nothing_drives, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(declarations_and_counters_name_ports, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
