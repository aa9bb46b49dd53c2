/* test_slow_sim_model.c - the simulator around a stub hd_top that copies memory (tests/sim/stub): memory
 * model, registers, commands, commits, watchdog, waves. The real accelerator's tests are in
 * tests/e2e. */
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

#include "base/home.h"
#include "driver/hd.h"
#include "hd_accel.h"
#include "hw/gen/accel.h"
#include "sim/build/build.h"
#include "sim/gtkw.h"
#include "sim/load.h"

enum {
    MEMORY = 1 << 18,
    FROM = 4096,
    TO = 131072,
    BURST = 256,
    BURSTS = 8,
    LENGTH = BURST * BURSTS
};
static const uint64_t base = 0x80000000u;

enum mode {
    MODE_COPY,
    MODE_HANG,
    MODE_AW_CHANGES,
    MODE_CROSS,
    MODE_UNUSED,
    MODE_EARLY_LAST,
    MODE_STOP
};

struct fixture {
    struct arena *arena;
    const struct hd_sim_api *api;
    struct sim_model model;
    struct sim_paths paths;
    struct hd_config config;
    uint8_t *memory;
};

static int set_up(void **state)
{
    struct arena *const a = arena_new(0);
    struct fixture *const f = ARENA_NEW(a, struct fixture);
    const struct accel *acc;
    struct diag d = {.status = ST_OK};

    *state = f;
    f->arena = a;
    f->memory = arena_alloc(a, MEMORY);
    if (home_find(a, &f->paths.home, &d) != ST_OK || home_cache(a, &f->paths.cache, &d) != ST_OK)
        goto failed;
    f->paths.rtl = arena_printf(a, "%s/tests/sim/stub", f->paths.home);
    f->paths.waves = true;
    if (accel_load(a, arena_printf(a, "%s/hw/accel.json", f->paths.home), &acc, &d) != ST_OK ||
        accel_config_by_name(acc, "sys16", &f->config, &d) != ST_OK ||
        sim_build(a, &f->paths, &f->config, &f->model, &d) != ST_OK ||
        sim_load(f->model.path, f->model.source_hash, f->config.hash, &f->api, &d) != ST_OK)
        goto failed;
    return 0;
failed:
    (void)fprintf(stderr, "%s\n", d.text);
    return -1;
}

static int tear_down(void **state)
{
    arena_free(((struct fixture *)*state)->arena);
    return 0;
}

static struct hd_sim_options options_of(struct fixture *f)
{
    return (struct hd_sim_options){.memory = f->memory,
                                   .memory_base = base,
                                   .memory_bytes = MEMORY,
                                   .latency = 10,
                                   .watchdog_cycles = 2000};
}

/* A stream of BURSTS - 1 STOREs, one for each burst but the last, and END; the rest is a pattern.
 */
static void fill_memory(struct fixture *f)
{
    uint8_t *const p = f->memory + FROM;
    uint32_t at = HD_HEADER_BYTES;

    for (uint32_t i = 0; i < MEMORY; i++)
        f->memory[i] = (uint8_t)(i * 7 + (i >> 8) * 13 + 1);
    for (uint32_t i = 0; i < BURSTS; i++) {
        const struct hd_cmd_store c = {.common = {.opcode = HD_OPCODE_STORE,
                                                  .length = HD_CMD_STORE_UNITS,
                                                  .layer = (uint16_t)(i / 4),
                                                  .wait_load = (uint16_t)i,
                                                  .wait_enable = 0}};

        memcpy(p + at, &c, sizeof c);
        at += HD_CMD_STORE_BYTES;
    }
    memcpy(p + at,
           &(struct hd_cmd_end){.common = {.opcode = HD_OPCODE_END, .length = HD_CMD_END_UNITS}},
           sizeof(struct hd_cmd_end));
}

static void submit_to(struct fixture *f, struct hd_sim *sim, enum mode mode, uint64_t to)
{
    const struct hd_sim_api *const api = f->api;

    api->write32(sim, HD_REG_REGION_BASE_LO(0), (uint32_t)base);
    api->write32(sim, HD_REG_REGION_BASE_HI(0), 0);
    api->write32(sim, HD_REG_REGION_BASE_LO(1), (uint32_t)to);
    api->write32(sim, HD_REG_REGION_BASE_HI(1), (uint32_t)(to >> 32));
    api->write32(sim, HD_REG_REGION_SIZE(15), mode);
    api->write32(sim, HD_REG_COMMAND_OFFSET, FROM);
    api->write32(sim, HD_REG_COMMAND_LENGTH, LENGTH);
    api->write32(sim, HD_REG_CONTROL, HD_CONTROL_START_MASK);
}

static void submit(struct fixture *f, struct hd_sim *sim, enum mode mode)
{
    submit_to(f, sim, mode, base + TO);
}

static struct hd_sim *open_sim(struct fixture *f, const struct hd_sim_options *o)
{
    char error[200] = "";
    struct hd_sim *const sim = f->api->open(o, error, sizeof error);

    assert_string_equal(error, "");
    assert_non_null(sim);
    return sim;
}

/* Cycles of one copy that must succeed, its bytes checked. */
static uint64_t copy(struct fixture *f, const struct hd_sim_options *o)
{
    struct hd_sim *const sim = open_sim(f, o);
    const struct hd_sim_command *commands;
    struct hd_sim_totals totals;
    uint64_t cycles;

    fill_memory(f);
    submit(f, sim, MODE_COPY);
    assert_int_equal(f->api->run(sim, 100000), HD_SIM_IRQ);
    assert_memory_equal(f->memory + FROM, f->memory + TO, LENGTH);
    f->api->totals(sim, &totals);
    assert_int_equal(totals.read_bytes, LENGTH);
    assert_int_equal(totals.write_bytes, LENGTH);
    assert_int_equal(f->api->commands(sim, &commands), BURSTS + 1);
    assert_int_equal(f->api->read32(sim, HD_REG_ERR_CAUSE), 0);
    cycles = commands[BURSTS].done;
    f->api->close(sim);
    return cycles;
}

static void registers_answer_over_the_bus(void **state)
{
    struct fixture *const f = *state;
    const struct hd_sim_options o = options_of(f);
    struct hd_sim *const sim = open_sim(f, &o);

    assert_int_equal(f->api->read32(sim, HD_REG_ID), HD_ID);
    assert_int_equal(f->api->read32(sim, HD_REG_CONFIG_HASH), f->config.hash);
    f->api->write32(sim, HD_REG_REGION_BASE_LO(3), 0x12345678u);
    assert_int_equal(f->api->read32(sim, HD_REG_REGION_BASE_LO(3)), 0x12345678u);
    f->api->close(sim);
}

static void latency_and_bandwidth_are_exact(void **state)
{
    struct fixture *const f = *state;
    struct hd_sim_options o = options_of(f);
    const uint64_t ten = copy(f, &o);

    /* Each burst waits once for R and once for B. */
    o.latency = 74;
    assert_int_equal(copy(f, &o), ten + BURSTS * 2 * 64);
    /* 16 beats of 16 bytes at 4 bytes per cycle: 15 x 3 more cycles each way. */
    o.latency = 10;
    o.bytes_per_cycle = 4;
    assert_int_equal(copy(f, &o), ten + BURSTS * 2 * 15 * 3);
    o.bytes_per_cycle = 64;
    assert_int_equal(copy(f, &o), ten);
    /* 12 of 16 bytes: every fourth cycle rests. */
    o.bytes_per_cycle = 12;
    assert_int_equal(copy(f, &o), ten + BURSTS * 2 * 5);
}

static void stalls_follow_their_seed(void **state)
{
    struct fixture *const f = *state;
    struct hd_sim_options o = options_of(f);
    const uint64_t calm = copy(f, &o);
    uint64_t one;

    o.stall_seed = 1;
    one = copy(f, &o);
    assert_true(one > calm);
    assert_int_equal(copy(f, &o), one);
    for (o.stall_seed = 2; o.stall_seed < 40; o.stall_seed++)
        (void)copy(f, &o);
    o.stall_seed = 2;
    assert_int_not_equal(copy(f, &o), one);
}

/* The bus's answer that the stub saw. */
static uint32_t response(struct fixture *f, const struct hd_sim_options *o, uint64_t to)
{
    struct hd_sim *const sim = open_sim(f, o);
    uint32_t cause;

    fill_memory(f);
    submit_to(f, sim, MODE_COPY, to);
    assert_int_equal(f->api->run(sim, 100000), HD_SIM_IRQ);
    cause = f->api->read32(sim, HD_REG_ERR_CAUSE);
    f->api->close(sim);
    return cause;
}

static void faults_answer_slverr_and_decerr(void **state)
{
    struct fixture *const f = *state;
    struct hd_sim_options o = options_of(f);

    assert_int_equal(response(f, &o, base + TO), 0);
    assert_int_equal(response(f, &o, base + MEMORY), 3);
    assert_int_equal(response(f, &o, base - LENGTH), 3);
    o.fault_enable = 1;
    o.fault_address = base + FROM + 300; /* read */
    assert_int_equal(response(f, &o, base + TO), 2);
    o.fault_address = base + TO + LENGTH - 1; /* written */
    assert_int_equal(response(f, &o, base + TO), 2);
    assert_memory_not_equal(f->memory + FROM + LENGTH - 16, f->memory + TO + LENGTH - 16, 16);
    assert_memory_equal(f->memory + FROM, f->memory + TO, LENGTH - 16);
    o.fault_address = base + TO + LENGTH;
    assert_int_equal(response(f, &o, base + TO), 0);
}

static void expect_text(struct fixture *f, enum mode mode, uint64_t seed, enum hd_sim_stop stop,
                        const char *text)
{
    static const char *const names[] = {"00_conv2d", "01_add"};
    struct hd_sim_options o = options_of(f);
    struct hd_sim *sim;

    o.stall_seed = seed;
    o.layer_names = names;
    o.n_layers = 2;
    sim = open_sim(f, &o);
    fill_memory(f);
    submit(f, sim, mode);
    if (f->api->run(sim, 100000) != stop)
        fail_msg("mode %d did not stop: '%s'", (int)mode, f->api->stuck_text(sim));
    if (strstr(f->api->stuck_text(sim), text) == NULL)
        fail_msg("'%s' lacks '%s'", f->api->stuck_text(sim), text);
    f->api->close(sim);
}

static void a_hang_names_unit_and_command(void **state)
{
    expect_text(*state, MODE_HANG, 0, HD_SIM_STUCK,
                "store is in wait_bus with command 0 (00_conv2d)");
}

static void broken_axi_rules_are_told(void **state)
{
    expect_text(*state, MODE_AW_CHANGES, 3, HD_SIM_FAILED, "AW: address, ID or length changed");
    expect_text(*state, MODE_CROSS, 0, HD_SIM_FAILED, "crosses 4 KiB");
    expect_text(*state, MODE_EARLY_LAST, 0, HD_SIM_FAILED, "W: last is 1 at beat 14 of 16");
    expect_text(*state, MODE_STOP, 0, HD_SIM_FAILED, "$stop at rtl/hd_top_stub.sv");
}

struct seen {
    uint64_t bytes, last_cycle;
    uint8_t copy[LENGTH];
};

static void see(void *ctx, const struct hd_sim_commit *c)
{
    struct seen *const s = ctx;

    assert_int_equal(c->unit, HD_UNIT_STORE);
    assert_int_equal(c->space, 1);
    assert_int_equal(c->command, s->bytes / BURST);
    assert_true(c->cycle > s->last_cycle);
    s->last_cycle = c->cycle;
    for (uint32_t i = 0; i < c->n_bytes; i++) {
        assert_true(c->strobe >> i & 1);
        s->copy[c->address + i - base - TO] = c->data[i];
    }
    s->bytes += c->n_bytes;
}

static void commits_reach_the_sink(void **state)
{
    struct fixture *const f = *state;
    const struct hd_sim_options o = options_of(f);
    struct hd_sim *const sim = open_sim(f, &o);
    struct seen seen = {0};

    fill_memory(f);
    f->api->commits(sim, see, &seen);
    submit(f, sim, MODE_COPY);
    assert_int_equal(f->api->run(sim, 100000), HD_SIM_IRQ);
    assert_int_equal(seen.bytes, LENGTH);
    assert_memory_equal(seen.copy, f->memory + FROM, LENGTH);
    f->api->close(sim);
}

static void commands_have_start_and_end(void **state)
{
    struct fixture *const f = *state;
    const struct hd_sim_options o = options_of(f);
    struct hd_sim *const sim = open_sim(f, &o);
    const struct hd_sim_command *c;

    fill_memory(f);
    for (int repeat = 0; repeat < 2; repeat++) {
        submit(f, sim, MODE_COPY);
        assert_int_equal(f->api->run(sim, 100000), HD_SIM_IRQ);
        assert_int_equal(f->api->commands(sim, &c), BURSTS + 1);
        for (uint32_t i = 0; i < BURSTS; i++) {
            assert_int_equal(c[i].unit, HD_UNIT_STORE);
            assert_int_equal(c[i].layer, i / 4);
            assert_true(c[i].start < c[i].done && c[i].start > 0);
            assert_true(i == 0 || c[i].start > c[i - 1].start);
        }
        assert_int_equal(c[BURSTS].unit, HD_UNIT_FETCH);
        assert_true(c[BURSTS].done > c[BURSTS - 1].done);
    }
    f->api->close(sim);
}

static uint64_t trace_bytes(struct fixture *f, const char *path, uint64_t limit, int by_command,
                            uint64_t first, uint64_t last, uint64_t *cycles)
{
    const struct hd_sim_options o = options_of(f);
    struct hd_sim *const sim = open_sim(f, &o);
    struct hd_sim_totals totals;
    struct stat info;

    fill_memory(f);
    f->api->trace_window(sim, by_command, first, last);
    assert_int_equal(f->api->trace_start(sim, path, limit), 0);
    submit(f, sim, MODE_COPY);
    assert_int_equal(f->api->run(sim, 100000), HD_SIM_IRQ);
    f->api->trace_stop(sim);
    f->api->totals(sim, &totals);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_size, totals.trace_bytes);
    assert_int_equal(totals.trace_limited, limit != 0);
    *cycles = totals.trace_cycles;
    f->api->close(sim);
    return totals.trace_bytes;
}

static void waves_keep_to_window_and_limit(void **state)
{
    struct fixture *const f = *state;
    char path[] = "/tmp/heddle-test-XXXXXX";
    const int fd = mkstemp(path);
    uint64_t cycles;

    assert_true(fd >= 0);
    (void)close(fd);
    assert_true(trace_bytes(f, path, 0, 0, 1, 0, &cycles) > 1000);
    assert_true(cycles > 300);
    (void)trace_bytes(f, path, 0, 0, 10, 29, &cycles);
    assert_int_equal(cycles, 20);
    (void)trace_bytes(f, path, 0, 1, 2, 3, &cycles);
    assert_in_range(cycles, 60, 200);
    (void)trace_bytes(f, path, 100, 0, 1, 0, &cycles);
    assert_in_range(cycles, 1, 200);
    (void)unlink(path);
    const struct hd_sim_options o = options_of(f);
    struct hd_sim *const sim = open_sim(f, &o);
    assert_int_equal(f->api->trace_start(sim, "/dev/null/x.fst", 0), -1);
    f->api->close(sim);
}

/* Write the files for test_gtkw.sh; in other runs only check that layers are in time order. */
static void save_files_mark_layers(void **state)
{
    static const char *const names[] = {"00_conv2d", "01_add"};
    struct fixture *const f = *state;
    const char *const folder = getenv("HEDDLE_TEST_WAVES");
    struct hd_sim_options o = options_of(f);
    const struct hd_sim_command *commands;
    struct gtkw_marker markers[2];
    uint32_t n = 0, n_commands;
    struct hd_sim_totals totals;
    struct diag d = {.status = ST_OK};
    struct hd_sim *sim;

    o.layer_names = names;
    o.n_layers = 2;
    sim = open_sim(f, &o);
    fill_memory(f);
    if (folder != NULL)
        assert_int_equal(
            f->api->trace_start(sim, arena_printf(f->arena, "%s/waves.fst", folder), 0), 0);
    submit(f, sim, MODE_COPY);
    assert_int_equal(f->api->run(sim, 100000), HD_SIM_IRQ);
    f->api->trace_stop(sim);
    n_commands = f->api->commands(sim, &commands);
    f->api->totals(sim, &totals);
    gtkw_layers(commands, n_commands, totals.doorbell, names, 2, markers, &n);
    assert_int_equal(n, 2);
    assert_string_equal(markers[0].name, names[0]);
    assert_true(markers[0].cycle > totals.doorbell && markers[1].cycle > markers[0].cycle);
    if (folder != NULL)
        assert_int_equal(gtkw_write(f->arena, arena_printf(f->arena, "%s/waves.gtkw", folder),
                                    arena_printf(f->arena, "%s/waves.fst", folder), false, markers,
                                    n, 0, totals.cycles, &d),
                         ST_OK);
    f->api->close(sim);
}

static void two_simulators_do_not_mix(void **state)
{
    struct fixture *const f = *state;
    struct hd_sim_options o = options_of(f);
    uint8_t *const other = arena_alloc(f->arena, MEMORY);
    struct hd_sim *const one = open_sim(f, &o);

    o.memory = other;
    o.stall_seed = 9;
    struct hd_sim *const two = open_sim(f, &o);

    fill_memory(f);
    memcpy(other, f->memory, MEMORY);
    submit(f, one, MODE_COPY);
    submit(f, two, MODE_COPY);
    assert_int_equal(f->api->run(one, 100), HD_SIM_CYCLES);
    assert_int_equal(f->api->run(two, 100000), HD_SIM_IRQ);
    assert_int_equal(f->api->run(one, 100000), HD_SIM_IRQ);
    assert_memory_equal(f->memory, other, MEMORY);
    f->api->close(one);
    f->api->close(two);
}

static void a_port_copies_or_shares(void **state)
{
    struct fixture *const f = *state;
    const struct hd_sim_options o = options_of(f);
    struct sim_port context = {.api = f->api,
                               .sim = open_sim(f, &o),
                               .memory = f->memory,
                               .memory_base = base,
                               .memory_bytes = MEMORY};
    struct hd_port port;
    uint8_t bytes[4] = {1, 2, 3, 4};

    sim_port(&context, true, &port);
    assert_ptr_equal(port.window, f->memory);
    assert_int_equal(port.read32(port.ctx, HD_REG_ID), HD_ID);
    sim_port(&context, false, &port);
    assert_null(port.window);
    assert_int_equal(port.to_device(port.ctx, base + 8, bytes, 4), HD_OK);
    assert_memory_equal(f->memory + 8, bytes, 4);
    assert_int_equal(port.from_device(port.ctx, bytes, base + MEMORY - 4, 4), HD_OK);
    assert_int_equal(port.from_device(port.ctx, bytes, base + MEMORY - 3, 4), HD_ERROR_BUS);
    assert_int_equal(port.from_device(port.ctx, bytes, base - 1, 1), HD_ERROR_BUS);
    assert_int_equal(port.wait_irq(port.ctx, 50), HD_ERROR_TIMEOUT);
    f->api->close(context.sim);
}

static void a_wrong_object_is_refused(void **state)
{
    struct fixture *const f = *state;
    const struct hd_sim_api *api;
    struct diag d = {.status = ST_OK};

    assert_int_equal(sim_load(f->model.path, "0123", f->config.hash, &api, &d), ST_INTERNAL);
    assert_non_null(strstr(d.text, "expected 0123"));
    d.status = ST_OK;
    assert_int_equal(sim_load(f->model.path, NULL, f->config.hash ^ 1, &api, &d), ST_INTERNAL);
    assert_non_null(strstr(d.text, "CONFIG_HASH"));
    d.status = ST_OK;
    assert_int_equal(sim_load("/dev/null/x.so", NULL, 0, &api, &d), ST_USAGE);
    assert_non_null(strstr(d.text, "/dev/null/x.so"));
}

static void a_broken_rtl_is_told_with_its_error(void **state)
{
    struct fixture *const f = *state;
    char folder[] = "/tmp/heddle rtl XXXXXX";
    struct sim_paths paths = f->paths;
    struct sim_model model;
    struct diag d = {.status = ST_OK};
    FILE *file;

    assert_non_null(mkdtemp(folder));
    paths.rtl = folder;
    paths.cache = arena_printf(f->arena, "%s/cache", folder);
    file = fopen(arena_printf(f->arena, "%s/hd_top.sv", folder), "w");
    assert_non_null(file);
    assert_true(fputs("module hd_top(input logic clk_i; endmodule\n", file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(sim_build(f->arena, &paths, &f->config, &model, &d), ST_INTERNAL);
    assert_non_null(strstr(d.text, "rtl/hd_top.sv:1"));
    assert_non_null(strstr(d.text, "--trace-fst"));
    assert_int_equal(system(arena_printf(f->arena, "rm -r '%s'", folder)), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registers_answer_over_the_bus),
        cmocka_unit_test(latency_and_bandwidth_are_exact),
        cmocka_unit_test(stalls_follow_their_seed),
        cmocka_unit_test(faults_answer_slverr_and_decerr),
        cmocka_unit_test(a_hang_names_unit_and_command),
        cmocka_unit_test(broken_axi_rules_are_told),
        cmocka_unit_test(commits_reach_the_sink),
        cmocka_unit_test(commands_have_start_and_end),
        cmocka_unit_test(waves_keep_to_window_and_limit),
        cmocka_unit_test(save_files_mark_layers),
        cmocka_unit_test(two_simulators_do_not_mix),
        cmocka_unit_test(a_port_copies_or_shares),
        cmocka_unit_test(a_wrong_object_is_refused),
        cmocka_unit_test(a_broken_rtl_is_told_with_its_error),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
