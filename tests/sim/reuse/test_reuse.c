/* The store of submissions, in front of a toy: a functional model that counts its submissions, takes
 * 1,000 cycles for each, and can be wrong in several ways. Checked are the submissions that run on
 * the toy, the driver's bytes and cycles, and that a wrong toy is always detected. */
#define _GNU_SOURCE
#include "tests/sim/functional/func_bench.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "sim/load.h"
#include "sim/reuse/reuse.h"

enum { LAYER = 7, CYCLES = 1000, BYTES = 640 };

/* The state of the toy; there is one at a time. */
static struct toy {
    struct hd_func f;
    struct hd_port port;
    void *work;
    uint32_t submissions; /* without those that restore memories */
    uint32_t restored;    /* those */
    uint32_t cycles;
    bool wrong_memory, wrong_scratchpad, hangs;
    bool waves;     /* written */
    uint64_t first; /* of the window */
    struct hd_sim_command command;
    struct hd_sim_row row;
} toy;

static struct hd_sim *toy_open(const struct hd_sim_options *o, char *error, size_t n)
{
    (void)error;
    (void)n;
    struct arena *a = arena_new(0);
    struct hd_config config;
    const struct hd_func_memory memory = {o->memory, o->memory_base, o->memory_bytes};

    bench_config(a, "tiny", &config);
    toy.work = malloc(hd_func_bytes(&config));
    assert_int_equal(hd_func_init(&toy.f, &config, toy.work, hd_func_bytes(&config), memory), 0);
    hd_func_port(&toy.f, &toy.port);
    arena_free(a);
    return (struct hd_sim *)(void *)&toy;
}

static void toy_close(struct hd_sim *sim)
{
    (void)sim;
    free(toy.work);
}

static uint32_t toy_read32(struct hd_sim *sim, uint32_t offset)
{
    (void)sim;
    return toy.port.read32(toy.port.ctx, offset);
}

static void toy_write32(struct hd_sim *sim, uint32_t offset, uint32_t value)
{
    const uint32_t regions = BASE + MEMORY_BYTES;

    (void)sim;
    if (offset != HD_REG_CONTROL || !(value & HD_CONTROL_START_MASK)) {
        toy.port.write32(toy.port.ctx, offset, value);
        return;
    }
    if (toy.f.reg[HD_REG_REGION_BASE_LO(0) / 4] >= regions) { /* after the driver's memory */
        toy.port.write32(toy.port.ctx, offset, value);
        toy.restored++;
        return;
    }
    toy.submissions++;
    if (toy.hangs)
        return;
    toy.port.write32(toy.port.ctx, offset, value);
    toy.f.reg[HD_REG_CYCLES_LO / 4] = toy.cycles;
    toy.f.reg[HD_REG_COUNTER(3) / 4] = toy.cycles / 2;
    if (toy.wrong_memory)
        toy.f.memory.host[STREAM_BYTES + REGION1_BYTES + 5] ^= 1;
}

static enum hd_sim_stop toy_run(struct hd_sim *sim, uint64_t max_cycles)
{
    (void)sim;
    (void)max_cycles;
    return toy.hangs ? HD_SIM_STUCK : HD_SIM_IRQ;
}

static const char *toy_stuck(struct hd_sim *sim)
{
    (void)sim;
    return "the toy hangs";
}

static void toy_totals(struct hd_sim *sim, struct hd_sim_totals *t)
{
    (void)sim;
    *t = (struct hd_sim_totals){.cycles = toy.submissions * (uint64_t)toy.cycles};
}

static uint32_t toy_commands(struct hd_sim *sim, const struct hd_sim_command **c)
{
    (void)sim;
    toy.command = (struct hd_sim_command){.start = 1, .done = toy.cycles, .layer = LAYER};
    *c = &toy.command;
    return 1;
}

static uint32_t toy_rows(struct hd_sim *sim, const struct hd_sim_row **r)
{
    (void)sim;
    toy.row = (struct hd_sim_row){.cycles = toy.cycles, .read_bytes = 64, .layer = LAYER};
    *r = &toy.row;
    return 1;
}

static void (*followed)(void *, const struct hd_sim_commit *);

static void spoil(void *ctx, const struct hd_sim_commit *commit)
{
    struct hd_sim_commit c = *commit;

    if (toy.wrong_scratchpad && c.space == 0)
        c.data[0] ^= 1;
    followed(ctx, &c);
}

static void toy_commits(struct hd_sim *sim, void (*sink)(void *, const struct hd_sim_commit *),
                        void *ctx)
{
    (void)sim;
    followed = sink;
    hd_func_commits(&toy.f, sink ? spoil : NULL, ctx);
}

static int toy_trace_start(struct hd_sim *sim, const char *path, uint64_t limit)
{
    (void)sim;
    (void)limit;
    toy.waves = path != NULL;
    return 0;
}

static void toy_trace_stop(struct hd_sim *sim)
{
    (void)sim;
    toy.waves = false;
}

static void toy_trace_window(struct hd_sim *sim, int by_command, uint64_t first, uint64_t last)
{
    (void)sim;
    (void)by_command;
    (void)last;
    toy.first = first;
}

static const struct hd_sim_api toy_api = {.abi = HD_SIM_ABI,
                                          .name = "toy",
                                          .source_hash = "toy",
                                          .open = toy_open,
                                          .close = toy_close,
                                          .read32 = toy_read32,
                                          .write32 = toy_write32,
                                          .run = toy_run,
                                          .stuck_text = toy_stuck,
                                          .totals = toy_totals,
                                          .commands = toy_commands,
                                          .rows = toy_rows,
                                          .trace_start = toy_trace_start,
                                          .trace_stop = toy_trace_stop,
                                          .trace_window = toy_trace_window,
                                          .commits = toy_commits};

/* --- a driver in front --- */

struct bench {
    struct func_bench t; /* its memory, stream and driver; f has the configuration only */
    struct reuse *reuse;
    struct sim_port sim;
};

static char store[] = "/tmp/test_reuse_XXXXXX";

static void empty_store(void)
{
    DIR *dir = opendir(store);

    for (const struct dirent *e; dir && (e = readdir(dir));)
        if (e->d_name[0] != '.') {
            char path[512];
            snprintf(path, sizeof path, "%s/%s", store, e->d_name);
            assert_int_equal(unlink(path), 0);
        }
    if (dir)
        closedir(dir);
}

static uint32_t damage_store(void)
{
    DIR *dir = opendir(store);
    uint32_t n = 0;

    for (const struct dirent *e; (e = readdir(dir));)
        if (e->d_name[0] != '.') {
            char path[512];
            snprintf(path, sizeof path, "%s/%s", store, e->d_name);
            assert_int_equal(truncate(path, 100), 0);
            n++;
        }
    closedir(dir);
    return n;
}

static void open_filling(struct bench *b, enum reuse_mode mode, bool fill)
{
    struct diag d = {0};

    bench_open(&b->t, "tiny");
    toy = (struct toy){.cycles = CYCLES};
    const struct hd_sim_options o = {
        .memory = b->t.memory, .memory_base = BASE, .memory_bytes = MEMORY_BYTES, .latency = 64};
    const struct reuse_setup s = {.mode = mode,
                                  .fill = fill,
                                  .store = mode == REUSE_WAVES ? NULL : store,
                                  .hw = &b->t.f.config,
                                  .api = &toy_api,
                                  .source_hash = "toy",
                                  .options = &o};
    assert_int_equal(reuse_open(b->t.arena, &s, &b->reuse, &d), ST_OK);
    b->sim = (struct sim_port){.api = reuse_api(b->reuse),
                               .sim = reuse_sim(b->reuse),
                               .memory = b->t.memory,
                               .memory_base = BASE,
                               .memory_bytes = MEMORY_BYTES};
    sim_port(&b->sim, true, &b->t.port);
    assert_int_equal(hd_open(&b->t.dev, &b->t.port, b->t.f.config.hash), HD_OK);
    bench_bind(&b->t);
}

static void open_bench(struct bench *b, enum reuse_mode mode)
{
    open_filling(b, mode, false);
}

static void close_bench(struct bench *b)
{
    b->sim.api->close(b->sim.sim);
    bench_close(&b->t);
}

static uint8_t *source(const struct bench *b)
{
    return b->t.memory + STREAM_BYTES;
}

static uint8_t *result(const struct bench *b)
{
    return source(b) + REGION1_BYTES;
}

/* Run LOAD, STORE or both for `layer`. */
static int submit(struct bench *b, bool load, bool save, uint32_t layer)
{
    const struct hd_cmd_dma_read in = {.common = {.opcode = HD_OPCODE_LOAD,
                                                  .length = HD_CMD_DMA_READ_UNITS,
                                                  .layer = layer & 0xffff},
                                       .region = 1,
                                       .runs = 1,
                                       .rows = 1,
                                       .run_bytes = BYTES,
                                       .row_bytes = BYTES};
    const struct hd_cmd_store out = {.common = {.opcode = HD_OPCODE_STORE,
                                                .length = HD_CMD_STORE_UNITS,
                                                .layer = layer & 0xffff},
                                     .region = 2,
                                     .runs = 1,
                                     .rows = 1,
                                     .run_bytes = BYTES,
                                     .row_bytes = BYTES};

    memset(result(b), 0, BYTES);
    bench_begin(&b->t);
    if (load)
        bench_add(&b->t, &in, sizeof in);
    if (save)
        bench_add(&b->t, &out, sizeof out);
    return bench_run(&b->t);
}

static void fill(struct bench *b)
{
    for (uint32_t i = 0; i < BYTES; i++)
        source(b)[i] = (uint8_t)random_in(0, 255);
}

/* Run both with new data, and check bytes and cycles; return the toy's submissions. */
static uint32_t run_new(struct bench *b)
{
    fill(b);
    assert_int_equal(submit(b, true, true, LAYER), HD_OK);
    assert_memory_equal(result(b), source(b), BYTES);
    assert_int_equal(b->t.dev.cycles, CYCLES);
    return toy.submissions;
}

/* --- tests --- */

static void any_data_take_the_cycles_of_the_store(void **state)
{
    struct bench b;
    const struct hd_sim_row *row;
    const struct hd_sim_command *command;

    (void)state;
    empty_store();
    open_bench(&b, REUSE_CYCLES);
    assert_int_equal(run_new(&b), 1);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(run_new(&b), 1);
    assert_int_equal(b.t.port.read32(b.t.port.ctx, HD_REG_COUNTER(3)), CYCLES / 2);
    assert_int_equal(b.sim.api->rows(b.sim.sim, &row), 1);
    assert_int_equal(b.sim.api->commands(b.sim.sim, &command), 1);
    assert_int_equal(row->layer, LAYER);
    assert_int_equal(command->layer, LAYER);
    assert_int_equal(reuse_counts(b.reuse).submissions, 4);
    assert_int_equal(reuse_counts(b.reuse).stored, 3);
    close_bench(&b);
    open_bench(&b, REUSE_CYCLES); /* another process: nothing is simulated */
    assert_int_equal(run_new(&b), 0);
    close_bench(&b);
}

static void the_same_bytes_are_needed(void **state)
{
    struct bench b;

    (void)state;
    empty_store();
    for (uint32_t i = 0; i < 2; i++) {
        open_bench(&b, REUSE_SAME);
        random_state = 5;
        assert_int_equal(run_new(&b), i == 0 ? 1 : 0);
        assert_int_equal(run_new(&b), i == 0 ? 2 : 0);
        close_bench(&b);
    }
    open_bench(&b, REUSE_SAME);
    random_state = 6;
    assert_int_equal(run_new(&b), 1);
    close_bench(&b);
}

/* A layer's number is not what its cycles depend on; what it does is. */
static void other_commands_are_simulated(void **state)
{
    struct bench b;
    const struct hd_sim_row *row;

    (void)state;
    empty_store();
    open_bench(&b, REUSE_CYCLES);
    assert_int_equal(run_new(&b), 1);
    assert_int_equal(submit(&b, true, true, LAYER + 5), HD_OK);
    assert_int_equal(toy.submissions, 1);
    assert_int_equal(b.sim.api->rows(b.sim.sim, &row), 1);
    assert_int_equal(row->layer, LAYER + 5);
    assert_int_equal(submit(&b, true, false, LAYER), HD_OK);
    assert_int_equal(toy.submissions, 2);
    close_bench(&b);
}

/* The next submission finds the scratchpad as the one before left it, though the toy did not run that
 * one. */
static void memories_are_restored(void **state)
{
    struct bench b;

    (void)state;
    empty_store();
    open_bench(&b, REUSE_CYCLES);
    assert_int_equal(run_new(&b), 1);
    assert_int_equal(run_new(&b), 1);
    assert_int_equal(submit(&b, false, true, LAYER), HD_OK);
    assert_int_equal(toy.submissions, 2);
    assert_int_equal(toy.restored, 1);
    assert_memory_equal(result(&b), source(&b), BYTES);
    close_bench(&b);
    open_bench(&b, REUSE_CYCLES); /* the toy is opened after the first */
    assert_int_equal(run_new(&b), 0);
    b.t.memory[STREAM_BYTES + REGION1_BYTES + 4096] ^= 1;
    assert_int_equal(submit(&b, false, true, LAYER), HD_OK);
    assert_memory_equal(result(&b), source(&b), BYTES);
    close_bench(&b);
}

static void wrong_bytes_in_memory_are_seen(void **state)
{
    struct bench b;

    (void)state;
    empty_store();
    open_bench(&b, REUSE_CYCLES);
    toy.wrong_memory = true;
    for (uint32_t i = 1; i < 4; i++) { /* no record is kept: each is the toy's alone */
        fill(&b);
        assert_int_equal(submit(&b, true, true, LAYER), HD_OK);
        assert_int_equal(toy.submissions, i);
        assert_int_equal(result(&b)[5], source(&b)[5] ^ 1);
    }
    assert_int_equal(reuse_counts(b.reuse).stored, 0);
    close_bench(&b);
}

static void wrong_bytes_in_the_scratchpad_are_seen(void **state)
{
    struct bench b;

    (void)state;
    empty_store();
    open_bench(&b, REUSE_CYCLES);
    toy.wrong_scratchpad = true;
    fill(&b);
    assert_int_equal(submit(&b, true, false, LAYER), HD_OK);
    assert_int_equal(submit(&b, true, false, LAYER), HD_OK);
    assert_int_equal(toy.submissions, 2);
    close_bench(&b);
}

static void a_hang_is_reported(void **state)
{
    struct bench b;

    (void)state;
    empty_store();
    open_bench(&b, REUSE_CYCLES);
    toy.hangs = true;
    fill(&b);
    assert_int_equal(submit(&b, true, true, LAYER), HD_ERROR_STUCK);
    assert_string_equal(b.sim.api->stuck_text(b.sim.sim), "the toy hangs");
    close_bench(&b);
}

static void other_cycles_than_stored_are_counted(void **state)
{
    struct bench b;

    (void)state;
    empty_store();
    open_bench(&b, REUSE_CHECK);
    assert_int_equal(run_new(&b), 1);
    for (uint32_t i = 0; i < 20; i++) /* the first that is found */
        assert_int_equal(run_new(&b), 2);
    assert_int_equal(reuse_counts(b.reuse).off, 0);
    assert_int_equal(run_new(&b), 3);
    for (uint32_t i = 1; i < 20; i++)
        assert_int_equal(run_new(&b), 3);
    toy.cycles++;
    assert_int_equal(submit(&b, true, true, LAYER), HD_OK);
    assert_int_equal(reuse_counts(b.reuse).off, 1);
    close_bench(&b);
}

static void a_damaged_record_is_made_again(void **state)
{
    struct bench b;

    (void)state;
    empty_store();
    open_bench(&b, REUSE_CYCLES);
    assert_int_equal(run_new(&b), 1);
    assert_int_equal(damage_store(), 1);
    assert_int_equal(run_new(&b), 2);
    assert_int_equal(run_new(&b), 2);
    close_bench(&b);
}

/* A submission that another process has claimed is left to it; its bytes are there nevertheless. */
static void a_claimed_submission_is_left_out(void **state)
{
    struct bench b;
    char path[512] = "";

    (void)state;
    empty_store();
    open_bench(&b, REUSE_CYCLES);
    assert_int_equal(run_new(&b), 1);
    close_bench(&b);
    DIR *dir = opendir(store);
    for (const struct dirent *e; (e = readdir(dir));)
        if (e->d_name[0] != '.')
            snprintf(path, sizeof path, "%s/%s.lock", store, e->d_name);
    closedir(dir);
    empty_store();
    const int fd = open(path, O_RDWR | O_CREAT, 0600);
    assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
    open_filling(&b, REUSE_CYCLES, true);
    fill(&b);
    assert_int_equal(submit(&b, true, true, LAYER), HD_OK);
    assert_memory_equal(result(&b), source(&b), BYTES);
    assert_int_equal(toy.submissions, 0);
    close(fd); /* that process has died */
    assert_int_equal(run_new(&b), 1);
    assert_int_not_equal(access(path, F_OK), 0);
    close_bench(&b);
}

static void waves_are_simulated(void **state)
{
    struct bench b;

    (void)state;
    empty_store();
    open_bench(&b, REUSE_CYCLES);
    assert_int_equal(run_new(&b), 1);
    close_bench(&b);
    open_bench(&b, REUSE_CYCLES);
    const struct hd_sim_api *const api = b.sim.api;
    api->trace_window(b.sim.sim, 0, UINT64_MAX, UINT64_MAX);
    assert_int_equal(api->trace_start(b.sim.sim, "waves", 0), 0);
    assert_int_equal(run_new(&b), 0); /* nothing of it is wanted */
    api->trace_window(b.sim.sim, 1, 3, 4);
    assert_int_equal(run_new(&b), 1);
    assert_int_equal(toy.restored, 1);
    assert_true(toy.first == UINT64_MAX); /* between submissions nothing is written */
    api->trace_stop(b.sim.sim);
    assert_false(toy.waves);
    assert_int_equal(run_new(&b), 1);
    close_bench(&b);
}

/* Without a store the toy runs submissions with waves, with the memories of those before them. */
static void only_waves_are_simulated(void **state)
{
    struct bench b;

    (void)state;
    empty_store();
    open_bench(&b, REUSE_WAVES);
    const struct hd_sim_api *const api = b.sim.api;
    fill(&b);
    assert_int_equal(submit(&b, true, true, LAYER), HD_OK);
    assert_memory_equal(result(&b), source(&b), BYTES);
    assert_int_equal(b.t.dev.cycles, 0);
    assert_int_equal(toy.submissions, 0);
    api->trace_window(b.sim.sim, 1, 3, 4);
    assert_int_equal(api->trace_start(b.sim.sim, "waves", 0), 0);
    assert_int_equal(submit(&b, false, true, LAYER), HD_OK);
    assert_memory_equal(result(&b), source(&b), BYTES);
    assert_int_equal(b.t.dev.cycles, CYCLES);
    assert_int_equal(toy.submissions, 1);
    assert_int_equal(toy.restored, 1);
    api->trace_stop(b.sim.sim);
    fill(&b);
    assert_int_equal(submit(&b, true, true, LAYER), HD_OK);
    assert_int_equal(toy.submissions, 1);
    assert_int_equal(reuse_counts(b.reuse).submissions, 3);
    assert_int_equal(reuse_counts(b.reuse).skipped, 2);
    assert_int_equal(reuse_counts(b.reuse).stored, 0);
    close_bench(&b);
    assert_int_equal(damage_store(), 0); /* no record was written */
}

static int make_store(void **state)
{
    random_seed(state);
    return mkdtemp(store) ? 0 : -1;
}

static int remove_store(void **state)
{
    (void)state;
    empty_store();
    return rmdir(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_data_take_the_cycles_of_the_store),
        cmocka_unit_test(the_same_bytes_are_needed),
        cmocka_unit_test(other_commands_are_simulated),
        cmocka_unit_test(memories_are_restored),
        cmocka_unit_test(wrong_bytes_in_memory_are_seen),
        cmocka_unit_test(wrong_bytes_in_the_scratchpad_are_seen),
        cmocka_unit_test(a_hang_is_reported),
        cmocka_unit_test(other_cycles_than_stored_are_counted),
        cmocka_unit_test(a_damaged_record_is_made_again),
        cmocka_unit_test(a_claimed_submission_is_left_out),
        cmocka_unit_test(waves_are_simulated),
        cmocka_unit_test(only_waves_are_simulated),
    };

    return cmocka_run_group_tests(tests, make_store, remove_store);
}
