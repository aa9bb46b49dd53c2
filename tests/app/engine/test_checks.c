/* test_checks.c - options that an engine or a simulated host does not support, windows of --waves,
 * and a bus fault that did not happen: each with its text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "app/engine/device.h"
#include "app/engine/host_core.h"
#include "app/engine/host_iss.h"
#include "app/engine/qemu.h"
#include "app/engine/waves.h"
#include "sim/iss/iss.h"

static const struct options usual = {
    .engine = ENGINE_RTL, .host = HOST_ISS, .host_memory = 1, .host_clock = {1, 1}, .jobs = 1};

static void is(const char *text, enum status st, struct diag *d)
{
    assert_int_equal(st, *text ? ST_USAGE : ST_OK);
    assert_string_equal(d->text, text);
    *d = (struct diag){0};
}

static void a_simulated_host(void **state)
{
    static const struct {
        const char *text;
        struct options o;
        bool program;
    } cases[] = {
        {"",
         {.engine = ENGINE_RTL, .host = HOST_RTL, .host_clock = {2, 1}, .host_memory = 8},
         false},
        {"", {.engine = ENGINE_FUNC, .host_memory = 1, .host_clock = {1, 1}}, false},
        {"--host-core: only with --host=iss",
         {.host = HOST_RTL, .host_core = CORE_PICORV32},
         false},
        {"--host-memory: only with --host=iss or rtl", {.host_memory = 2}, false},
        {"--host-bus: only with --host=iss or rtl", {.host_memory = 1, .host_bus = 4}, false},
        {"--host-clock: only with --host=iss or rtl",
         {.host_memory = 1, .host_clock = {1, 2}},
         false},
        {"--host=iss: only the RTL has cycles; expected --engine=rtl, found func",
         {.engine = ENGINE_FUNC, .host = HOST_ISS},
         false},
        {"--host=rtl: not with --reset-state",
         {.engine = ENGINE_RTL, .host = HOST_RTL, .reset_state = true},
         false},
        {"--host=iss: not with --memory=separate",
         {.engine = ENGINE_RTL, .host = HOST_ISS, .separate_memory = true},
         false},
        {"--host=iss: not with --waves and --prog",
         {.engine = ENGINE_RTL, .host = HOST_ISS, .waves = "all"},
         true},
        {"", {.engine = ENGINE_RTL, .host = HOST_ISS, .waves = "all"}, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct job job = {.options = &cases[i].o, .program = cases[i].program};
        struct diag d = {0};
        const enum status st = run_iss_check(&job, &d);
        is(cases[i].text, st, &d);
    }
}

static void its_core(void **state)
{
    struct options o = usual;

    (void)state;
    assert_string_equal(run_iss_name(&o), "iss");
    assert_ptr_equal(run_iss_core(&o), &iss_five_stages);
    o.host_core = CORE_PICORV32;
    assert_ptr_equal(run_iss_core(&o), &iss_picorv32);
    o = usual;
    o.host = HOST_RTL;
    assert_string_equal(run_iss_name(&o), "rtl");
    assert_ptr_equal(run_iss_core(&o), &iss_picorv32);
}

static void qemu(void **state)
{
    struct run_package package = {0};
    struct options o = usual;
    struct job job = {.options = &o};
    struct diag d = {0};

    (void)state;
    is("", run_qemu_check(&job, &d), &d);
    o.seconds = 5;
    is("--seconds: only with --engine=qemu, --prog or an external target", run_qemu_check(&job, &d),
       &d);
    o.engine = ENGINE_QEMU;
    is("--engine=qemu: it runs packages; heddle compile MODEL --target=c "
       "--target-c-mcpu=cortex-m55 -o net.tar makes one",
       run_qemu_check(&job, &d), &d);
    job.package = &package;
    o.reset_state = true;
    is("--engine=qemu: not with --reset-state", run_qemu_check(&job, &d), &d);
    o.jobs = 2;
    is("--engine=qemu: not with --jobs", run_qemu_check(&job, &d), &d);
}

/* A network of two layers, not compiled. */
static void windows(void **state)
{
    struct ir_row row[] = {{.name = "00_conv2d"}, {.name = "01_relu"}};
    struct ir_graph g = {.n_row = 2, .row = row};
    struct pipeline p = {.graph = &g};
    struct options o = usual;
    const struct job job = {.options = &o, .p = &p};
    struct waves w;
    static const struct {
        const char *waves, *text;
        enum waves_what what;
        uint64_t first, last;
    } cases[] = {
        {NULL, "", WAVES_OFF, 0, 0},
        {"1", "", WAVES_FIRST, 0, 0},
        {"all", "", WAVES_ALL, 0, 0},
        {"layer:01_relu", "", WAVES_LAYER, 0, 0},
        {"cycles:10-20", "", WAVES_CYCLES, 10, 20},
        {"commands:3-3", "", WAVES_COMMANDS, 3, 3},
        {"layer:relu",
         "--waves: no layer 'relu'; the first is 00_conv2d, heddle inspect lists them all",
         WAVES_OFF, 0, 0},
        {"cycles:20-10", "--waves: found '20-10', expected A-B with A at most B", WAVES_OFF, 0, 0},
        {"cycles:1", "--waves: found '1', expected A-B, two whole numbers", WAVES_OFF, 0, 0},
        {"some",
         "--waves: found 'some', expected first, all, layer:NAME, cycles:A-B or commands:A-B",
         WAVES_OFF, 0, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct diag d = {0};
        o.waves = cases[i].waves;
        is(cases[i].text, waves_parse(&w, &job, &d), &d);
        if (*cases[i].text)
            continue;
        assert_int_equal(w.what, cases[i].what);
        assert_int_equal(w.first, cases[i].first);
        assert_int_equal(w.last, cases[i].last);
        assert_int_equal(w.layer, w.what == WAVES_LAYER);
    }
    struct diag d = {0};
    o.engine = ENGINE_FUNC;
    o.waves = "all";
    is("--waves needs --engine=rtl: nothing else has signals", waves_parse(&w, &job, &d), &d);
}

static void a_fault_that_did_not_happen(void **state)
{
    struct options o = usual;
    struct run_shared *r = calloc(1, sizeof *r);
    struct diag d = {0};

    (void)state;
    assert_int_equal(device_want_fault(&o, r, &d), ST_OK); /* none was wanted */
    o.bus_fault = HD_SIM_BUS_WRITE_SLVERR;
    o.bus_fault_beat = 8;
    r->fault_beats = 8;
    is("--bus-fault did not occur: --bus-fault-beat is 8, and 8 beats were written",
       device_want_fault(&o, r, &d), &d);
    r->fault_beats = 9;
    is("--bus-fault did not occur: --bus-fault-beat is 8, and 9 beats were written; this kind "
       "cannot occur there",
       device_want_fault(&o, r, &d), &d);
    r->fault_happened = true;
    assert_int_equal(device_want_fault(&o, r, &d), ST_OK);
    free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_simulated_host), cmocka_unit_test(its_core), cmocka_unit_test(qemu),
        cmocka_unit_test(windows), cmocka_unit_test(a_fault_that_did_not_happen)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
