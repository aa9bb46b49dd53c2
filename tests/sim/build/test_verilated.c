/* test_verilated.c - Verilator's warnings as notes. */
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
#include "sim/build/verilated.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(warnings_are_place_code_and_text, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_warnings_are_counted_and_none_is_silence, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
