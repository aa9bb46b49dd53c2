/* test_core_ports.c - "core" of a target.json: declarations of "ports", parameters by attributes,
 * files below $NAME/. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "compiler/target/describe.h"
#include "compiler/target/target.h"

static char folder[] = "core-ports-XXXXXX";

static int set_up(void **state)
{
    *state = arena_new(0);
    strcpy(folder, "core-ports-XXXXXX");
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)unlink(arena_printf(*state, "%s/target.json", folder));
    (void)rmdir(folder);
    arena_free(*state);
    return 0;
}

/* A target.json with `core` and two attributes; NULL: *message has what is wrong. */
static const struct describe *read_core(struct arena *a, const char *core, const char **message)
{
    const char *const text = arena_printf(a,
                                          "{\"heddle_target\": 1, \"name\": \"mine\", \"version\": "
                                          "\"1.0\", \"requires_heddle\": \"0.1\", "
                                          "\"help\": \"x\", \"attributes\": [{\"name\": \"lanes\", "
                                          "\"type\": \"int\", \"default\": 4, "
                                          "\"help\": \"x\"}, {\"name\": \"kind\", \"type\": "
                                          "\"string\", \"default\": \"fast\", \"help\": "
                                          "\"x\"}], \"core\": {\"top\": \"t\", \"memory_bytes\": "
                                          "64, %s}, \"operators\": [{\"op\": \"add\", "
                                          "\"cost\": {}, \"call\": \"f($x, $y)\"}]}",
                                          core);
    const struct target_desc *desc = NULL;
    struct diag d = {.status = ST_OK};

    assert_int_equal(file_write(arena_printf(a, "%s/target.json", folder), text, strlen(text), &d),
                     ST_OK);
    if (describe_read(a, folder, &desc, &d) == ST_OK)
        return desc->detail;
    *message = arena_strdup(a, d.text);
    return NULL;
}

static void ports_are_read_in_order(void **state)
{
    static const struct describe_port expected[] = {
        {PORT_IS_CLOCK, "clk", NULL, 1, 1},         {PORT_IS_CLOCK, "fast", NULL, 3, 2},
        {PORT_IS_RESET_HIGH, "rst", NULL, 0, 0},    {PORT_IS_RESET_LOW, "rst2", NULL, 0, 0},
        {PORT_IS_IRQ_FALLING, "busy", NULL, 0, 0},  {PORT_IS_REGISTERS, "cfg_", NULL, 0, 0},
        {PORT_IS_NAMED, "go", "cfg_awvalid", 0, 0}, {PORT_IS_CONSTANT, "scan", NULL, 5, 0}};
    const char *message = NULL;
    const struct describe *const t = read_core(
        *state,
        "\"verilog\": [\"$ELSEWHERE/t.v\"], \"ports\": {\"clock\": \"clk\", \"clocks\": "
        "[{\"port\": "
        "\"fast\", \"ticks\": 3, \"of\": 2}], \"resets\": [{\"port\": \"rst\", \"active\": "
        "\"high\"}, "
        "{\"port\": \"rst2\", \"active\": \"low\"}], \"interrupt\": {\"port\": \"busy\", \"kind\": "
        "\"falling\"}, \"registers\": \"cfg_\", \"names\": {\"go\": \"cfg_awvalid\"}, "
        "\"constants\": "
        "{\"scan\": 5}}",
        &message);

    if (t == NULL)
        fail_msg("%s", message);
    assert_int_equal(t->ports.n, 8);
    for (uint32_t i = 0; i < 8; i++) {
        assert_int_equal(t->ports.port[i].kind, expected[i].kind);
        assert_string_equal(t->ports.port[i].port, expected[i].port);
        assert_true((t->ports.port[i].as == NULL) == (expected[i].as == NULL));
        assert_int_equal(t->ports.port[i].a, expected[i].a);
        assert_int_equal(t->ports.port[i].b, expected[i].b);
    }
}

static void no_interrupt_is_a_port_without_a_name(void **state)
{
    const char *message = NULL;
    const struct describe *const t = read_core(
        *state, "\"verilog\": [\"$X/t.v\"], \"ports\": {\"interrupt\": {\"kind\": \"none\"}}",
        &message);

    assert_non_null(t);
    assert_int_equal(t->ports.port[0].kind, PORT_IS_IRQ_HIGH);
    assert_string_equal(t->ports.port[0].port, "");
}

static void parameters_are_numbers_or_attributes(void **state)
{
    const char *message = NULL;
    const struct describe *const t = read_core(*state,
                                               "\"verilog\": [\"$X/t.v\"], \"parameters\": "
                                               "{\"WIDTH\": 64, \"LANES\": \"lanes\", \"KIND\": "
                                               "\"kind\"}",
                                               &message);
    const struct target_attr attr[] = {{.type = TARGET_INT}, {.type = TARGET_STRING}};
    const struct target_desc desc = {.attr = attr, .n_attr = 2};
    const struct target_setting setting[] = {{"8", 8}, {"slow", 0}};
    const struct target target = {.desc = &desc, .setting = setting};

    assert_non_null(t);
    assert_int_equal(t->n_parameter, 3);
    assert_string_equal(describe_parameter_text(*state, &target, &t->parameter[0]), "WIDTH=64");
    assert_string_equal(describe_parameter_text(*state, &target, &t->parameter[1]), "LANES=8");
    assert_string_equal(describe_parameter_text(*state, &target, &t->parameter[2]),
                        "KIND=\"slow\"");
}

static void mistakes_name_the_member(void **state)
{
    const char *message = NULL;

    assert_null(read_core(*state, "\"verilog\": [\"$X/t.v\"], \"parameters\": {\"N\": \"lane\"}",
                          &message));
    assert_non_null(
        strstr(message, "parameters.N: unknown attribute 'lane'; did you mean \"lanes\"?"));
    assert_null(read_core(*state, "\"verilog\": [\"gone.v\"]", &message));
    assert_non_null(strstr(message, "verilog[0]: file '"));
    assert_null(read_core(*state, "\"macs_per_cycle\": 1", &message));
    assert_non_null(strstr(message, "member \"verilog\" or \"file_lists\" is missing"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(ports_are_read_in_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_interrupt_is_a_port_without_a_name, set_up, tear_down),
        cmocka_unit_test_setup_teardown(parameters_are_numbers_or_attributes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(mistakes_name_the_member, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
