/* test_slow_build.c - models are built once, found by content, and never stale. */
#define _GNU_SOURCE
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/home.h"
#include "hd_accel.h"
#include "hw/gen/accel.h"
#include "sim/build/build.h"
#include "sim/load.h"

struct fixture {
    struct arena *arena;
    char folder[40];
    const char *top; /* the RTL under test */
    struct sim_paths paths;
    struct hd_config config;
};

static int set_up(void **state)
{
    struct arena *const a = arena_new(0);
    struct fixture *const f = ARENA_NEW(a, struct fixture);
    struct diag d = {.status = ST_OK};
    const struct accel *acc;
    uint8_t *data;
    size_t n;

    *state = f;
    f->arena = a;
    (void)strcpy(f->folder, "/tmp/heddle 'test' $X XXXXXX");
    if (mkdtemp(f->folder) == NULL)
        return -1;
    f->paths.cache = arena_printf(a, "%s/the cache", f->folder);
    f->paths.rtl = f->folder;
    f->top = arena_printf(a, "%s/hd_top.sv", f->folder);
    if (home_find(a, &f->paths.home, &d) != ST_OK ||
        file_read(a, arena_printf(a, "%s/tests/sim/stub/hd_top_stub.sv", f->paths.home), 1 << 20,
                  &data, &n, &d) != ST_OK ||
        file_write(f->top, data, n, &d) != ST_OK ||
        setenv("HEDDLE_CXX", arena_printf(a, "%s/tests/e2e/o0 g++", f->paths.home), 1) != 0 ||
        accel_load(a, arena_printf(a, "%s/hw/accel.json", f->paths.home), &acc, &d) != ST_OK ||
        accel_config_by_name(acc, "tiny", &f->config, &d) != ST_OK) {
        (void)fprintf(stderr, "%s\n", d.text);
        return -1;
    }
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *const f = *state;
    const char *const argv[] = {"rm", "-r", f->folder, NULL};
    const pid_t pid = fork();

    if (pid == 0) {
        execvp(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    (void)waitpid(pid, NULL, 0);
    arena_free(f->arena);
    return 0;
}

static struct sim_model build(struct fixture *f)
{
    struct diag d = {.status = ST_OK};
    struct sim_model model;

    if (sim_build(f->arena, &f->paths, &f->config, &model, &d) != ST_OK)
        fail_msg("%s", d.text);
    return model;
}

static double seconds(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void processes_at_once_build_one_model(void **state)
{
    struct fixture *const f = *state;
    int n_built = 0;
    pid_t child[3];

    for (int i = 0; i < 3; i++) {
        child[i] = fork();
        if (child[i] == 0)
            _exit(build(f).built ? 1 : 0);
    }
    for (int i = 0; i < 3; i++) {
        int info;

        assert_int_equal(waitpid(child[i], &info, 0), child[i]);
        assert_true(WIFEXITED(info) && WEXITSTATUS(info) <= 1);
        n_built += WEXITSTATUS(info);
    }
    assert_int_equal(n_built, 1);
}

static void a_model_is_found_in_milliseconds(void **state)
{
    struct fixture *const f = *state;
    const struct sim_model first = build(f);
    const double begin = seconds();
    const struct sim_model second = build(f);

    assert_true(seconds() - begin < 0.2);
    assert_false(second.built);
    assert_string_equal(first.path, second.path);
}

static void an_edit_gives_another_model(void **state)
{
    struct fixture *const f = *state;
    const struct sim_model before = build(f);
    const struct hd_sim_api *api;
    struct diag d = {.status = ST_OK};
    struct sim_model after;
    uint8_t *data;
    size_t n;

    assert_int_equal(file_read(f->arena, f->top, 1 << 20, &data, &n, &d), ST_OK);
    const char *const comment = arena_printf(f->arena, "// edited\n\n%s", data);
    const char *const module = arena_printf(f->arena, "%smodule edited;\nendmodule\n", data);
    assert_int_equal(file_write(f->top, comment, strlen(comment), &d), ST_OK);
    assert_string_equal(build(f).path, before.path);
    assert_int_equal(file_write(f->top, module, strlen(module), &d), ST_OK);
    after = build(f);
    assert_true(after.built);
    assert_string_not_equal(before.path, after.path);
    assert_int_equal(file_write(f->top, data, n, &d), ST_OK);
    assert_string_equal(build(f).path, before.path);
    assert_int_equal(sim_load(after.path, after.source_hash, f->config.hash, &api, &d), ST_OK);
    assert_string_equal(api->name, "tiny");
    assert_int_equal(sim_load(before.path, after.source_hash, f->config.hash, &api, &d),
                     ST_INTERNAL);
}

/* Return the number of objects that the cache keeps. */
static int objects_kept(struct fixture *f)
{
    DIR *const dir = opendir(f->paths.cache);
    const struct dirent *e;
    int n = 0;

    assert_non_null(dir);
    while ((e = readdir(dir)) != NULL)
        n += strlen(e->d_name) == 34 && strcmp(e->d_name + 32, ".o") == 0;
    (void)closedir(dir);
    return n;
}

static uint32_t register_id(struct fixture *f)
{
    static uint8_t memory[4096];
    const struct hd_sim_options options = {.memory = memory, .memory_bytes = sizeof memory};
    const struct sim_model model = build(f);
    const struct hd_sim_api *api;
    struct diag d = {.status = ST_OK};
    char error[256] = "";

    assert_int_equal(sim_load(model.path, model.source_hash, f->config.hash, &api, &d), ST_OK);
    struct hd_sim *const sim = api->open(&options, error, sizeof error);
    assert_non_null(sim);
    const uint32_t id = api->read32(sim, HD_REG_ID);
    api->close(sim);
    return id;
}

/* An edit within one function adds one object to those kept, and the model has the edit. */
static void an_edit_compiles_what_it_changed(void **state)
{
    static const char edited[] = "? ~HdId :";
    struct fixture *const f = *state;
    struct diag d = {.status = ST_OK};
    uint8_t *data;
    size_t n;

    const uint32_t id = register_id(f);
    const int kept = objects_kept(f);
    assert_true(kept >= 8);
    assert_int_equal(file_read(f->arena, f->top, 1 << 20, &data, &n, &d), ST_OK);
    const char *const text = (const char *)data, *const at = strstr(text, "? HdId :");
    assert_non_null(at);
    const char *const edit =
        arena_printf(f->arena, "%.*s%s%s", (int)(at - text), text, edited, at + strlen("? HdId :"));
    assert_int_equal(file_write(f->top, edit, strlen(edit), &d), ST_OK);
    assert_int_equal(register_id(f), ~id);
    assert_int_equal(objects_kept(f), kept + 1);
    assert_int_equal(file_write(f->top, data, n, &d), ST_OK);
}

/* A model truncated by a full disk is rebuilt completely. */
static void a_damaged_model_is_made_again(void **state)
{
    struct fixture *const f = *state;
    const struct sim_model model = build(f);
    const struct hd_sim_api *api;
    struct diag d = {.status = ST_OK};
    uint8_t *data;
    size_t n;

    /* a new file: this process has the old one loaded */
    assert_int_equal(file_read(f->arena, model.path, 1 << 28, &data, &n, &d), ST_OK);
    assert_int_equal(file_write(model.path, data, 5000, &d), ST_OK);
    assert_true(build(f).built);
    assert_false(build(f).built);
    assert_int_equal(sim_load(model.path, model.source_hash, f->config.hash, &api, &d), ST_OK);
    assert_int_equal(chmod(model.path, 0777), 0);
    assert_int_equal(sim_load(model.path, model.source_hash, f->config.hash, &api, &d), ST_USAGE);
    assert_non_null(strstr(d.text, "can be written by other users (mode 0777)"));
    assert_int_equal(chmod(model.path, 0700), 0);
}

/* The usual model has no waves and reports it; the one with waves is another. */
static void waves_are_a_model_of_their_own(void **state)
{
    struct fixture *const f = *state;
    static uint8_t memory[4096];
    const struct hd_sim_options options = {.memory = memory, .memory_bytes = sizeof memory};
    const char *const fst = arena_printf(f->arena, "%s/x.fst", f->folder);

    for (int waves = 0; waves <= 1; waves++) {
        const struct hd_sim_api *api;
        struct diag d = {.status = ST_OK};
        char error[256] = "";

        f->paths.waves = waves != 0;
        const struct sim_model model = build(f);
        assert_int_equal(sim_load(model.path, model.source_hash, f->config.hash, &api, &d), ST_OK);
        struct hd_sim *const sim = api->open(&options, error, sizeof error);
        assert_non_null(sim);
        assert_int_equal(api->trace_start(sim, fst, 0), waves != 0 ? 0 : -1);
        api->close(sim);
    }
    f->paths.waves = false;
}

static void a_missing_tool_is_named(void **state)
{
    struct fixture *const f = *state;
    struct diag d = {.status = ST_OK};
    struct sim_model model;

    assert_int_equal(setenv("HEDDLE_CXX", "no-such-compiler", 1), 0);
    assert_int_equal(sim_build(f->arena, &f->paths, &f->config, &model, &d), ST_INTERNAL);
    assert_non_null(strstr(d.text, "cannot find 'no-such-compiler'"));
    assert_int_equal(unsetenv("HEDDLE_CXX"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processes_at_once_build_one_model),
        cmocka_unit_test(a_model_is_found_in_milliseconds),
        cmocka_unit_test(an_edit_gives_another_model),
        cmocka_unit_test(an_edit_compiles_what_it_changed),
        cmocka_unit_test(a_damaged_model_is_made_again),
        cmocka_unit_test(waves_are_a_model_of_their_own),
        cmocka_unit_test(a_missing_tool_is_named),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
