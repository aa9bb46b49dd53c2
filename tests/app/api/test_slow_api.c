/* libheddle: every code with its text, buffers and files, reuse, several contexts in parallel, and
 * no output on the streams. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "include/heddle/heddle.h"

static char work[] = "/tmp/heddle-api-XXXXXX";

static const char *zoo(const char *file)
{
    static _Thread_local char path[4096];

    snprintf(path, sizeof path, "%s/tests/models/%s", getenv("HEDDLE_HOME"), file);
    return path;
}

static const char *below(const char *file)
{
    static char path[256];

    snprintf(path, sizeof path, "%s/%s", work, file);
    return path;
}

/* The caller frees it. */
static uint8_t *read_file(const char *path, size_t *n)
{
    struct stat st;
    FILE *f = fopen(path, "rb");

    assert_true(f && fstat(fileno(f), &st) == 0);
    uint8_t *data = malloc((size_t)st.st_size + 1);
    assert_non_null(data);
    *n = fread(data, 1, (size_t)st.st_size, f);
    assert_int_equal(*n, st.st_size);
    fclose(f);
    return data;
}

static void write_file(const char *path, const void *data, size_t n)
{
    FILE *f = fopen(path, "wb");

    assert_true(f && fwrite(data, 1, n, f) == n);
    assert_int_equal(fclose(f), 0);
}

static struct heddle *context(void)
{
    struct heddle *h = heddle_new();

    assert_non_null(h);
    assert_int_equal(heddle_set(h, "engine", "func"), HEDDLE_OK);
    assert_int_equal(heddle_set(h, "hw", "sys8"), HEDDLE_OK);
    assert_int_equal(heddle_set(h, "no-search", NULL), HEDDLE_OK);
    return h;
}

static void expect_code(struct heddle *h, enum heddle_code want, enum heddle_code got,
                        const char *words)
{
    if (got != want || !strstr(heddle_error(h), words))
        fail_msg("code %d, expected %d: '%s', expected '%s' in it", (int)got, (int)want,
                 heddle_error(h), words);
}

static void must(struct heddle *h, enum heddle_code got)
{
    if (got != HEDDLE_OK)
        fail_msg("code %d: %s", (int)got, heddle_error(h));
    assert_string_equal(heddle_error(h), "");
}

/* --- a run --- */

static void test_buffers(void **state)
{
    struct heddle *h = context();
    struct heddle_tensor x, y;
    const void *out;
    size_t n_in, n_want, n;

    (void)state;
    uint8_t *in = read_file(zoo("digits/in_0.bin"), &n_in);
    uint8_t *want = read_file(zoo("digits/out_0.bin"), &n_want);
    assert_null(heddle_report(h));
    assert_null(heddle_page(h));
    assert_int_equal(heddle_count(h, HEDDLE_INPUT), 0);
    must(h, heddle_load(h, "digits"));
    assert_int_equal(heddle_count(h, HEDDLE_INPUT), 1);
    assert_int_equal(heddle_count(h, HEDDLE_OUTPUT), 1);
    must(h, heddle_tensor(h, HEDDLE_INPUT, 0, &x));
    must(h, heddle_tensor(h, HEDDLE_OUTPUT, 0, &y));
    assert_string_equal(x.type, "i8");
    assert_int_equal(x.n_bytes, 64);
    assert_int_equal(y.n_bytes, 10);
    assert_int_equal(x.n_scale, 1);
    assert_true(x.scale > 0);
    must(h, heddle_input(h, 0, in, 3 * x.n_bytes)); /* three inferences */
    memset(in, 0, 3 * x.n_bytes);                   /* it was copied */
    must(h, heddle_run(h));
    must(h, heddle_output(h, 0, &out, &n));
    assert_int_equal(n, 3 * y.n_bytes);
    assert_memory_equal(out, want, n);
    assert_non_null(strstr(heddle_report(h), "\"heddle.stats.v2\""));
    assert_non_null(strstr(heddle_report(h), "\"match\""));
    assert_non_null(strstr(heddle_page(h), "<section id=\"timeline\">"));

    must(h, heddle_set(h, "engine", "ref")); /* the model is loaded again, the input is kept */
    must(h, heddle_run(h));
    must(h, heddle_output(h, 0, &out, &n));
    assert_memory_equal(out, want, n);

    must(h, heddle_input(h, 0, NULL, 0)); /* all of the zoo's own inputs, against its goldens */
    must(h, heddle_unset(h, "engine"));
    must(h, heddle_set(h, "engine", "func"));
    must(h, heddle_run(h));
    must(h, heddle_output(h, 0, &out, &n));
    assert_int_equal(n, n_want);
    assert_memory_equal(out, want, n);
    free(in);
    free(want);
    heddle_free(h);
}

static void test_bytes_and_texts(void **state)
{
    struct heddle *h = context();
    const char *inspect, *disasm;
    size_t n;

    (void)state;
    uint8_t *model = read_file(zoo("digits/model.tflite"), &n);
    must(h, heddle_load_bytes(h, "my digits.tflite", model, n));
    memset(model, 0, n);
    must(h, heddle_inspect(h, &inspect));
    assert_non_null(strstr(inspect, "13_fully_connected"));
    assert_non_null(strstr(inspect, "knobs (else by rule)"));
    must(h, heddle_disasm(h, &disasm));
    assert_non_null(strstr(disasm, "00_conv2d"));
    must(h, heddle_set(h, "keep-on-host", "13*")); /* the loaded model is compiled again */
    must(h, heddle_inspect(h, &inspect));
    assert_non_null(strstr(inspect, "--keep-on-host"));
    must(h, heddle_run(h));
    free(model);
    heddle_free(h);
}

static void test_package(void **state)
{
    struct heddle *h = context();
    char first[256];
    const void *out;
    size_t n, m;

    (void)state;
    snprintf(first, sizeof first, "%s", below("a.tar"));
    must(h, heddle_load(h, "digits"));
    must(h, heddle_compile(h, first));
    must(h, heddle_compile(h, below("b.tar")));
    uint8_t *x = read_file(first, &n), *y = read_file(below("b.tar"), &m);
    assert_int_equal(n, m);
    assert_memory_equal(x, y, n);
    expect_code(h, HEDDLE_USAGE, heddle_load(h, first), "--allow-native-targets");
    must(h, heddle_set(h, "allow-native-targets", "true"));
    must(h, heddle_load(h, first));
    assert_int_equal(heddle_count(h, HEDDLE_OUTPUT), 1);
    uint8_t *in = read_file(zoo("digits/in_0.bin"), &n);
    uint8_t *want = read_file(zoo("digits/out_0.bin"), &n);
    must(h, heddle_input(h, 0, in, 64));
    must(h, heddle_expect(h, 0, want, 10));
    for (int i = 0; i < 2; i++) {
        must(h, heddle_run(h));
        must(h, heddle_output(h, 0, &out, &n));
        assert_memory_equal(out, want, 10);
    }
    assert_null(heddle_report(h));
    expect_code(h, HEDDLE_USAGE, heddle_compile(h, below("c")), "a package has no graph");
    free(x);
    free(y);
    free(in);
    free(want);
    heddle_free(h);
}

/* --- every code --- */

static void test_usage(void **state)
{
    struct heddle *h = context();
    struct heddle_tensor t;
    const void *out = h;
    const char *text;
    size_t n = 1;

    (void)state;
    expect_code(h, HEDDLE_USAGE, heddle_set(h, "engin", "func"), "did you mean --engine?");
    expect_code(h, HEDDLE_USAGE, heddle_set(h, "", ""), "unknown option");
    expect_code(h, HEDDLE_USAGE, heddle_set(h, NULL, ""), "without a name");
    expect_code(h, HEDDLE_USAGE, heddle_set(h, "engine", "gpu"), "expected ref, func, rtl or qemu");
    expect_code(h, HEDDLE_USAGE, heddle_set(h, "seed", NULL), "expected a value");
    expect_code(h, HEDDLE_USAGE, heddle_set(h, "checked", "maybe"), "true or false");
    expect_code(h, HEDDLE_USAGE, heddle_unset(h, "nothing"), "unknown option");
    expect_code(h, HEDDLE_USAGE, heddle_set(h, "target-dir", work), "found no target.json");
    expect_code(h, HEDDLE_USAGE, heddle_run(h), "no model is loaded");
    expect_code(h, HEDDLE_USAGE, heddle_inspect(h, &text), "no model is loaded");
    expect_code(h, HEDDLE_USAGE, heddle_tensor(h, HEDDLE_INPUT, 0, &t), "no model is loaded");
    expect_code(h, HEDDLE_USAGE, heddle_output(h, 0, &out, &n), "nothing has run");
    assert_null(out);
    assert_int_equal(n, 0);
    expect_code(h, HEDDLE_USAGE, heddle_load(h, ""), "no model");
    expect_code(h, HEDDLE_USAGE, heddle_load(h, NULL), "no model");
    expect_code(h, HEDDLE_USAGE, heddle_load(h, "no-such-network"),
                "nor a network of tests/models");
    expect_code(h, HEDDLE_USAGE, heddle_load(h, "/nowhere/x.tflite"), "/nowhere/x.tflite");
    must(h, heddle_load(h, "digits"));
    expect_code(h, HEDDLE_USAGE, heddle_tensor(h, HEDDLE_OUTPUT, 1, &t), "the model has 1");
    expect_code(h, HEDDLE_USAGE, heddle_input(h, 1, "x", 1), "the model has 1");
    must(h, heddle_input(h, 0, "x", 1));
    expect_code(h, HEDDLE_USAGE, heddle_run(h), "has 1 bytes, expected a multiple of 64");
    expect_code(h, HEDDLE_USAGE, heddle_compile(h, NULL), "no place for the package");
    must(h, heddle_set(h, "prog", "x.c"));
    expect_code(h, HEDDLE_USAGE, heddle_run(h), "--prog is of heddle_command");
    expect_code(h, HEDDLE_USAGE, heddle_command(h, NULL, NULL, 0), "no command");
    expect_code(h, HEDDLE_USAGE, heddle_command(h, "fly", NULL, 0), "found 'fly'");
    must(h, heddle_unset(h, "prog"));
    expect_code(h, HEDDLE_USAGE, heddle_command(h, "inspect", NULL, 0), "no model");
    const char *const two[] = {"digits", "digits"};
    expect_code(h, HEDDLE_USAGE, heddle_command(h, "inspect", two, 2), "one model only");
    heddle_free(h);
}

static void test_differs(void **state)
{
    struct heddle *h = context();
    static const uint8_t wrong[10] = {1, 2, 3};
    static const uint8_t zero[64];
    const void *out;
    size_t n;

    (void)state;
    must(h, heddle_load(h, "digits"));
    must(h, heddle_input(h, 0, zero, sizeof zero));
    must(h, heddle_expect(h, 0, wrong, sizeof wrong));
    expect_code(h, HEDDLE_DIFFERS, heddle_run(h), "1 of 1 inferences differ");
    must(h, heddle_output(h, 0, &out, &n)); /* available nevertheless */
    assert_int_equal(n, 10);
    assert_non_null(strstr(heddle_report(h), "\"mismatch\""));
    heddle_free(h);
}

static void test_model_refused(void **state)
{
    struct heddle *h = context();

    (void)state;
    expect_code(h, HEDDLE_MODEL, heddle_load_bytes(h, "x.tflite", "not a model", 11), "x.tflite");
    expect_code(h, HEDDLE_USAGE, heddle_run(h), "no model is loaded");
    expect_code(h, HEDDLE_MODEL, heddle_load_bytes(h, "x.onnx", NULL, 0), "x.onnx");
    must(h, heddle_load(h, "digits"));
    heddle_free(h);
}

static void test_device_fault(void **state)
{
    static const char c[] =
        "#include \"driver/hd.h\"\n"
        "int hd_program(struct hd_device *dev, uint8_t *memory, uint64_t base, uint64_t bytes)\n"
        "{ (void)dev; (void)memory; (void)base; (void)bytes; return HD_ERROR_FAULT; }\n";
    struct heddle *h = context();

    (void)state;
    write_file(below("fault.c"), c, sizeof c - 1);
    must(h, heddle_unset(h, "no-search")); /* has no effect in a program */
    must(h, heddle_set(h, "prog", below("fault.c")));
    expect_code(h, HEDDLE_DEVICE, heddle_command(h, "run", NULL, 0), "fault.c: ");
    heddle_free(h);
}

static void test_internal_and_interrupted(void **state)
{
    static const char script[] = "#!/bin/sh\n"
                                 "[ \"$1\" = --version ] && exec gcc --version\n"
                                 "kill -INT $$\n";
    struct heddle *h = context();
    const char *before = getenv("CC");
    char *cc = before ? strdup(before) : NULL;
    char *cache = getenv("XDG_CACHE_HOME") ? strdup(getenv("XDG_CACHE_HOME")) : NULL;

    (void)state;
    setenv("XDG_CACHE_HOME", work, 1);
    must(h, heddle_load(h, "digits"));
    setenv("CC", "/nowhere/cc", 1);
    expect_code(h, HEDDLE_INTERNAL, heddle_run(h), "/nowhere/cc");
    write_file(below("cc.sh"), script, sizeof script - 1);
    assert_int_equal(chmod(below("cc.sh"), 0755), 0);
    setenv("CC", below("cc.sh"), 1);
    expect_code(h, HEDDLE_INTERRUPTED, heddle_run(h), "interrupted");
    cc ? setenv("CC", cc, 1) : unsetenv("CC");
    cache ? setenv("XDG_CACHE_HOME", cache, 1) : unsetenv("XDG_CACHE_HOME");
    must(h, heddle_run(h));
    free(cc);
    free(cache);
    heddle_free(h);
}

/* --- options --- */

static const struct heddle_option *find(struct heddle *h, const char *name)
{
    size_t n;
    const struct heddle_option *o = heddle_options(h, &n);

    for (size_t i = 0; i < n; i++)
        if (strcmp(o[i].name, name) == 0)
            return &o[i];
    return NULL;
}

static void test_options(void **state)
{
    struct heddle *h = context();
    const char *text;

    (void)state;
    assert_string_equal(find(h, "hw")->value, "NAME|FILE");
    assert_int_equal(find(h, "input")->letter, 'i');
    assert_null(find(h, "checked")->value);
    assert_null(find(h, "target-a-hw"));
    must(h, heddle_set(h, "--target", "systolic:a,c"));
    assert_int_equal(find(h, "target-a-hw")->group, HEDDLE_GROUP_TARGETS);
    must(h, heddle_set(h, "target-a-hw", "tiny"));
    must(h, heddle_load(h, "digits"));
    must(h, heddle_inspect(h, &text));
    assert_non_null(strstr(text, " a "));
    /* Without its instance the option would be unknown: the call is refused, and nothing changes. */
    expect_code(h, HEDDLE_USAGE, heddle_unset(h, "target"), "target-a-hw");
    assert_non_null(find(h, "target-a-hw"));
    must(h, heddle_unset(h, "target-a-hw"));
    must(h, heddle_unset(h, "target"));
    assert_null(find(h, "target-a-hw"));
    must(h, heddle_set(h, "target", "nonsense"));
    expect_code(h, HEDDLE_USAGE, heddle_inspect(h, &text), "no target 'nonsense'");
    must(h, heddle_reset(h));
    expect_code(h, HEDDLE_USAGE, heddle_inspect(h, &text), "no model is loaded");
    for (int i = 0; i < 600; i++) /* repeated settings count once */
        must(h, heddle_set(h, "seed", i % 2 ? "1" : "2"));
    for (int i = 0; i < 64; i++)
        must(h, heddle_set(h, "i", "x"));
    expect_code(h, HEDDLE_USAGE, heddle_set(h, "i", "y"), "at most 64 files");
    must(h, heddle_unset(h, "i"));
    heddle_free(h);
}

/* --- texts --- */

struct heard {
    size_t n[5];
    char last[4096];
};

static void hear(void *ctx, enum heddle_text kind, const char *text)
{
    struct heard *to = ctx;

    to->n[kind]++;
    snprintf(to->last, sizeof to->last, "%s", text);
}

static void test_texts(void **state)
{
    struct heddle *h = context();
    struct heard heard = {{0}, ""};
    const char *digits = "digits";

    (void)state;
    heddle_on_text(h, HEDDLE_TEXT_RESULT, hear, &heard);
    assert_true(heddle_uses("run", "engine") && !heddle_uses("inspect", "engine"));
    assert_true(heddle_uses("inspect", "target-a-hw") && !heddle_uses("fly", "engine"));
    expect_code(h, HEDDLE_USAGE, heddle_command(h, "inspect", &digits, 1),
                "--engine: heddle inspect does not use it; run, bench and tune do");
    must(h, heddle_unset(h, "engine"));
    must(h, heddle_command(h, "inspect", &digits, 1));
    assert_int_equal(heard.n[HEDDLE_TEXT_RESULT], 1);
    must(h, heddle_set(h, "engine", "func"));
    must(h, heddle_command(h, "run", &digits, 1));
    assert_non_null(strstr(heard.last, "verdict: match"));
    assert_int_equal(heddle_count(h, HEDDLE_OUTPUT), 1);
    assert_int_equal(heard.n[HEDDLE_TEXT_PROGRESS], 0);
    const char *const gemm[] = {"gemm", "8", "8", "8"};
    must(h, heddle_command(h, "bench", gemm, 4));
    must(h, heddle_load(h, "digits")); /* as a model, not as a layer of bench */
    must(h, heddle_set(h, "seed", "3"));
    must(h, heddle_run(h));
    must(h, heddle_reset(h));
    must(h, heddle_command(h, "ops", NULL, 0));
    must(h, heddle_command(h, "targets", NULL, 0));
    assert_non_null(strstr(heard.last, "systolic"));
    heddle_on_text(h, 0, NULL, NULL);
    must(h, heddle_command(h, "ops", NULL, 0));
    heddle_free(h);
}

/* --- threads: contexts side by side, each with its own network ---
 * Not under AddressSanitizer: GCC 12's does not hold its allocator's locks over fork, so the child
 * of a run may wait forever for one that another thread had (glibc's malloc does hold them). */

struct job {
    const char *model, *hw;
    int failed;
};

static void *work_of(void *arg)
{
    struct job *j = arg;

    for (int i = 0; i < 3; i++) {
        struct heddle *h = heddle_new();
        j->failed |= !h || heddle_set(h, "engine", "func") || heddle_set(h, "hw", j->hw) ||
                     heddle_set(h, "no-search", NULL) || heddle_load(h, j->model) || heddle_run(h);
        if (h && *heddle_error(h))
            fprintf(stderr, "%s\n", heddle_error(h));
        heddle_free(h);
    }
    return NULL;
}

static void test_threads(void **state)
{
    struct job job[] = {{"digits", "tiny", 0},
                        {"digits", "sys8", 0},
                        {"digits", "tiny", 0},
                        {"autoencoder_own", "sys16", 0}};

    pthread_t thread[4];
    (void)state;
#ifdef __SANITIZE_ADDRESS__
    skip();
#endif
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, work_of, &job[i]), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_join(thread[i], NULL), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(job[i].failed, 0);
}

/* --- nothing on the streams --- */

static int to_file(int fd, const char *path)
{
    int saved = dup(fd), file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);

    fflush(NULL);
    assert_true(saved >= 0 && file >= 0 && dup2(file, fd) == fd);
    close(file);
    return saved;
}

static off_t back(int fd, int saved, const char *path)
{
    struct stat st;

    fflush(NULL);
    assert_int_equal(dup2(saved, fd), fd);
    close(saved);
    assert_int_equal(stat(path, &st), 0);
    return st.st_size;
}

static void test_quiet(void **state)
{
    const char *digits = "digits";
    struct heddle *h = context();
    char path[256];

    (void)state;
    snprintf(path, sizeof path, "%s", below("words"));
    for (int fd = 1; fd <= 2; fd++) {
        int saved = to_file(fd, path);
        enum heddle_code good = heddle_command(h, "run", &digits, 1),
                         bad = heddle_set(h, "nonsense", "1"), missing = heddle_load(h, "nowhere");
        off_t n = back(fd, saved, path);
        assert_int_equal(good, HEDDLE_OK);
        assert_int_equal(bad, HEDDLE_USAGE);
        assert_int_equal(missing, HEDDLE_USAGE);
        assert_int_equal(n, 0);
    }
    heddle_free(h);
    heddle_free(NULL);
}

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(work) ? 0 : -1;
}

static int tear_down(void **state)
{
    char command[300];

    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", work);
    return system(command) != 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_buffers),      cmocka_unit_test(test_bytes_and_texts),
        cmocka_unit_test(test_package),      cmocka_unit_test(test_usage),
        cmocka_unit_test(test_differs),      cmocka_unit_test(test_model_refused),
        cmocka_unit_test(test_device_fault), cmocka_unit_test(test_internal_and_interrupted),
        cmocka_unit_test(test_options),      cmocka_unit_test(test_texts),
        cmocka_unit_test(test_threads),      cmocka_unit_test(test_quiet),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
