/* test_verilated.c - Verilator's warnings as notes, and the ports of a target's own core. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/text.h"
#include "sim/verilated.h"

static const struct sim_core none = {.n_counter = 0};
static const struct sim_counter moved = {"moved", "moved_o"};
static const struct sim_core counts = {.n_counter = 1, .counter = &moved};
static const char file[] = "verilated-test.txt";

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

static void write_file(const char *text)
{
    struct diag d = {.status = ST_OK};

    assert_int_equal(file_write(file, text, strlen(text), &d), ST_OK);
}

static void hear(void *ctx, enum output_kind kind, const char *text)
{
    if (kind == OUTPUT_NOTE)
        text_printf(ctx, "%s\n", text);
}

static const char *notes(struct arena *a, const char *log)
{
    struct text t;
    const struct output output = {hear, &t, OUTPUT_NOTE};
    unsigned n = 0;

    text_init(&t, a);
    text_add(&t, "");
    write_file(log);
    verilated_warnings(a, &output, file, "kept/build.log");
    for (const char *s = log; (s = strstr(s, "%Warning-")) != NULL; s++)
        n++;
    assert_int_equal(verilated_count(a, file), n);
    return t.data;
}

static void warnings_are_place_code_and_text(void **state)
{
    assert_string_equal(
        notes(*state,
              "%Warning-WIDTH: rtl/hd_pe.sv:47:36: Operator ASSIGN expects 32 bits: generates 31.\n"
              "                                  : ... In instance hd_sim_top.u_top\n"
              "   47 |   assign a = b;\n"
              "%Warning-MULTIDRIVEN: rtl/a b.sv:1:2: 'x' has two drivers\n"),
        "Verilator warning: rtl/hd_pe.sv:47:36: WIDTH: Operator ASSIGN expects 32 bits: generates "
        "31.\n"
        "Verilator warning: rtl/a b.sv:1:2: MULTIDRIVEN: 'x' has two drivers\n"
        "2 warnings of Verilator: 'kept/build.log'\n");
    assert_string_equal(notes(*state, "%Warning-STMTDLY: no place\n"),
                        "Verilator warning: STMTDLY: no place\n"
                        "1 warning of Verilator: 'kept/build.log'\n");
}

static void many_warnings_are_counted_and_none_is_silence(void **state)
{
    struct text log;
    const char *text;
    unsigned lines = 0;

    text_init(&log, *state);
    for (int i = 0; i < 20; i++)
        text_printf(&log, "%%Warning-WIDTH: rtl/x.sv:%d:1: y\n", i);
    text = notes(*state, log.data);
    for (const char *s = text; *s != '\0'; s++)
        lines += *s == '\n';
    assert_int_equal(lines, 9);
    assert_non_null(
        strstr(text, "20 warnings of Verilator, the first are above: 'kept/build.log'"));
    assert_string_equal(notes(*state, "%Error: rtl/x.sv:1:1: not a warning\ng++: warning: x\n"),
                        "");
}

static const char good[] = "    VL_IN8(&clk_i,0,0);\n"
                           "    VL_IN8(&rst_ni,0,0);\n"
                           "    VL_IN8(&reg_write_i,0,0);\n"
                           "    VL_OUT8(&mem_read_o,0,0);\n"
                           "    VL_OUT8(&mem_write_o,0,0);\n"
                           "    VL_OUT8(&mem_wstrb_o,7,0);\n"
                           "    VL_OUT8(&irq_o,0,0);\n"
                           "    VL_IN16(&reg_addr_i,15,0);\n"
                           "    VL_IN(&reg_wdata_i,31,0);\n"
                           "    VL_OUT(&reg_rdata_o,31,0);\n"
                           "    VL_OUT(&mem_addr_o,31,0);\n"
                           "    VL_OUT64(&mem_wdata_o,63,0);\n"
                           "    VL_IN64(&mem_rdata_i,63,0);\n";

/* The message for `good` with `from` in place of... `to`; NULL: accepted. */
static const char *ports_of(struct arena *a, const struct sim_core *core, const char *from,
                            const char *to)
{
    struct diag d = {.status = ST_OK};
    const char *const at = strstr(good, from);

    assert_non_null(at);
    write_file(arena_printf(a, "class Vhd_sim_top {\n%.*s%s%s};\n", (int)(at - good), good, to,
                            at + strlen(from)));
    if (verilated_ports(a, file, core, &d) == ST_OK)
        return NULL;
    assert_int_equal(d.status, ST_USAGE);
    return arena_strdup(a, d.text);
}

static const char *ports(struct arena *a, const char *from, const char *to)
{
    return ports_of(a, &none, from, to);
}

static void says(const char *text, const char *start)
{
    assert_non_null(text);
    assert_memory_equal(text, start, strlen(start));
    assert_non_null(strstr(text, "; ports found: input clk_i[1], "));
    assert_non_null(strstr(text, "; see sim/core/README.md"));
}

static void ports_are_compared_by_name_direction_and_width(void **state)
{
    assert_null(ports(*state, "    VL_IN8(&clk_i,0,0);\n", "    VL_IN8(&clk_i,0,0);\n"));
    says(ports(*state, "    VL_OUT8(&irq_o,0,0);\n", ""), "port irq_o missing (output, 1 bit); ");
    says(ports(*state, "VL_OUT8(&irq_o,0,0)", "VL_IN8(&irq_o,0,0)"),
         "port irq_o: expected output of 1 bit, found input of 1; ");
    says(ports(*state, "VL_IN16(&reg_addr_i,15,0)", "VL_IN8(&reg_addr_i,7,0)"),
         "port reg_addr_i: expected input of 16 bits, found input of 8; ");
    says(ports(*state, "VL_OUT64(&mem_wdata_o,63,0)", "VL_OUTW(&mem_wdata_o,127,0,4)"),
         "port mem_wdata_o: expected output of 64 bits, found output of 128; ");
    says(ports(*state, "    VL_OUT8(&irq_o,0,0);\n", "    VL_OUT8(&irqo,0,0);\n"),
         "port irq_o missing (output, 1 bit); ports found: ");
}

/* The wide port in place of the narrow one. */
static const char *wide(struct arena *a, const char *data, const char *strobe)
{
    struct diag d = {.status = ST_OK};
    const char *const memory = strstr(good, "    VL_OUT(&mem_addr_o");
    const char *const common = arena_printf(a, "%.*s", (int)(memory - good), good);
    struct text t;
    char *rest = arena_strdup(a, common), *line;

    text_init(&t, a);
    while ((line = strsep(&rest, "\n")) != NULL)
        if (strstr(line, "mem_") == NULL)
            text_printf(&t, "%s\n", line);
    text_printf(&t,
                "    VL_OUT8(&rd_valid_o,0,0);\n    VL_IN8(&rd_ready_i,0,0);\n"
                "    VL_OUT(&rd_addr_o,31,0);\n    VL_IN8(&rsp_valid_i,0,0);\n"
                "    VL_OUT8(&rsp_ready_o,0,0);\n    VL_INW(&rsp_data_i,127,0,4);\n"
                "    VL_OUT8(&wr_valid_o,0,0);\n    VL_IN8(&wr_ready_i,0,0);\n"
                "    VL_OUT(&wr_addr_o,31,0);\n%s%s",
                data, strobe);
    write_file(t.data);
    return verilated_ports(a, file, &none, &d) == ST_OK ? NULL : arena_strdup(a, d.text);
}

static void wide_port_is_as_wide_as_its_data(void **state)
{
    static const char data[] = "    VL_OUTW(&wr_data_o,127,0,4);\n",
                      strobe[] = "    VL_OUT16(&wr_strb_o,15,0);\n";

    assert_null(wide(*state, data, strobe));
    says(wide(*state, data, ""), "port wr_strb_o missing (output, 16 bits); ");
    says(wide(*state, data, "    VL_OUT8(&wr_strb_o,7,0);\n"),
         "port wr_strb_o: expected output of 16 bits, found output of 8; ");
    says(wide(*state, "    VL_OUTW(&wr_data_o,255,0,8);\n", "    VL_OUT(&wr_strb_o,31,0);\n"),
         "port rsp_data_i: expected input of 256 bits, found input of 128; ");
    says(wide(*state, "    VL_OUTW(&wr_data_o,95,0,3);\n", strobe),
         "port wr_data_o: expected output of 128 bits, found output of 96; ");
    says(wide(*state, "", strobe), "port wr_data_o missing (output, 128 bits); ");
    says(wide(*state, data, arena_printf(*state, "%s    VL_IN64(&mem_rdata_i,63,0);\n", strobe)),
         "port mem_rdata_i (input, 64 bits): nothing drives it; ");
}

static void further_ports_may_be_outputs(void **state)
{
    static const char irq[] = "    VL_OUT8(&irq_o,0,0);\n";

    assert_null(ports(*state, irq, "    VL_OUT8(&irq_o,0,0);\n    VL_OUT(&debug_o,31,0);\n"));
    says(ports(*state, irq, "    VL_OUT8(&irq_o,0,0);\n    VL_IN8(&fast_clk_i,0,0);\n"),
         "port fast_clk_i (input, 1 bit): nothing drives it; ");
    says(ports(*state, irq, "    VL_INOUT8(&bus_io,7,0);\n"),
         "port irq_o missing (output, 1 bit); port bus_io (inout, 8 bits): nothing drives it; ");
}

static void counters_are_outputs_of_at_most_32_bits(void **state)
{
    static const char irq[] = "    VL_OUT8(&irq_o,0,0);\n";

    assert_null(
        ports_of(*state, &counts, irq, "    VL_OUT8(&irq_o,0,0);\n    VL_OUT(&moved_o,31,0);\n"));
    says(ports_of(*state, &counts, irq, irq),
         "counter moved: port moved_o missing (output, 1 to 32 bits); ");
    says(ports_of(*state, &counts, irq, "    VL_OUT8(&irq_o,0,0);\n    VL_OUT64(&moved_o,32,0);\n"),
         "counter moved: port moved_o: expected output of 1 to 32 bits, found output of 33; ");
    says(ports_of(*state, &counts, irq, "    VL_OUT8(&irq_o,0,0);\n    VL_IN8(&moved_o,0,0);\n"),
         "counter moved: port moved_o: expected output of 1 to 32 bits, found input of 1; ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(warnings_are_place_code_and_text, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_warnings_are_counted_and_none_is_silence, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(ports_are_compared_by_name_direction_and_width, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(further_ports_may_be_outputs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wide_port_is_as_wide_as_its_data, set_up, tear_down),
        cmocka_unit_test_setup_teardown(counters_are_outputs_of_at_most_32_bits, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
