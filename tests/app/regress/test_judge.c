/* Verdicts of regress on bytes, cycles and estimates of runs and layers, against limits and
 * exceptions given in this file; results are as a run leaves them. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/regress/judge.h"
#include "app/regress/suite/result.h"
#include "base/file.h"

struct fixture {
    struct arena *a;
    struct suite s;
    struct suite_run run;
    struct suite_exception exception;
    struct judge j;
};

/* A run of 1,000 cycles, equal to its estimate and its baseline. */
static struct fixture *fixture(void)
{
    struct arena *a = arena_new(0);
    struct fixture *f = ARENA_NEW(a, struct fixture);

    *f = (struct fixture){.a = a};
    f->run = (struct suite_run){.network = "n", .configuration = "c", .baseline = 1000};
    f->run.result = result_none;
    f->run.result.verdict = "match";
    f->run.result.exit = 0;
    f->run.result.number.cycles = f->run.result.number.estimated_cycles = 1000;
    f->s = (struct suite){.arena = a, .run = &f->run, .n = 1};
    f->s.limits = (struct suite_limits){2, 5, 10, 100};
    return f;
}

/* The kind of the only finding, "" for none; whether it counts. */
static void expect(struct fixture *f, const char *kind, bool counts)
{
    judge_suite(&f->s, &f->j);
    assert_int_equal(f->j.n, *kind != '\0');
    if (f->j.n)
        assert_string_equal(f->j.finding[0].kind, kind);
    assert_int_equal(f->j.n_count, counts);
    assert_int_equal(f->j.n_bad_runs, counts);
    arena_free(f->a);
}

static struct fixture *cycles(double found, double estimate)
{
    struct fixture *f = fixture();

    f->run.result.number.cycles = found;
    f->run.result.number.estimated_cycles = estimate;
    return f;
}

static void limits_hold_on_both_sides(void **state)
{
    (void)state;
    expect(fixture(), "", false);
    expect(cycles(1019, 1019), "", false);
    expect(cycles(1021, 1021), "cycles", true);
    expect(cycles(900, 900), "", false);
    expect(cycles(1000, 1049), "", false);
    expect(cycles(1000, 1051), "estimate", true);
    expect(cycles(1000, 949), "estimate", true);
    struct fixture *f = fixture();
    f->run.result.verdict = "mismatch";
    f->run.result.message = "m";
    expect(f, "bytes", true);
}

static struct fixture *excepted(double found, const char *kind, double percent)
{
    struct fixture *f = cycles(found, found);

    f->exception = (struct suite_exception){kind, "n", NULL, NULL, "known", percent, false};
    f->s.exception = &f->exception;
    f->s.n_exception = 1;
    return f;
}

static void an_exception_has_a_limit(void **state)
{
    (void)state;
    expect(excepted(1040, "cycles", 5), "cycles", false);
    expect(excepted(1060, "cycles", 5), "cycles", true);
    expect(excepted(1060, "cycles", -1), "cycles", false);
    expect(excepted(1040, "estimate", 5), "cycles", true);
}

static struct fixture *layer(double cycles, double estimate, const char *but)
{
    struct fixture *f = excepted(1000, "layer", -1);

    f->s.n_exception = but != NULL;
    f->exception.layer = but;
    f->run.result.detail =
        arena_printf(f->a, "[{\"name\":\"00_a\",\"cycles\":%g,\"estimate\":%g}]", cycles, estimate);
    return f;
}

static void layers_are_judged_by_name(void **state)
{
    (void)state;
    expect(layer(500, 540, NULL), "", false);
    expect(layer(500, 560, NULL), "layer", true);
    expect(layer(500, 440, NULL), "layer", true);
    expect(layer(90, 10, NULL), "", false);
    expect(layer(500, 560, "00_a"), "layer", false);
    expect(layer(500, 560, "01_b"), "layer", true);
}

/* A mismatch leaves a stats file and does not count as a failed run. */
static void results_of_both_exits_are_read(void **state)
{
    static const char stats[] =
        "{\"schema\":\"heddle.stats.v2\",\"verdict\":\"mismatch\",\"inferences\":2,"
        "\"cycles\":7,\"estimated_cycles\":8,\"host_cycles\":9,\"dram_read_bytes\":10,"
        "\"dram_write_bytes\":11,\"layers\":[],\"groups\":[]}";
    struct arena *a = arena_new(0);
    char stem[] = "/tmp/heddle-judge-XXXXXX";
    const int fd = mkstemp(stem);
    struct suite_run r = {0};
    struct diag d = {0};

    (void)state;
    assert_true(fd >= 0);
    (void)close(fd);
    const char *json = arena_printf(a, "%s.json", stem);
    assert_int_equal(file_write(json, stats, strlen(stats), &d), ST_OK);
    for (int code = 0; code < 3; code++) {
        result_read(a, stem, code, 1, &r);
        assert_string_equal(r.result.verdict, code < 2 ? "mismatch" : "failed");
        assert_true(code == 2 || (r.result.number.cycles > 6.5 && r.result.number.cycles < 7.5));
        assert_true(code == 2 ||
                    (r.result.number.host_cycles > 8.5 && r.result.number.dram_write_bytes > 10.5));
    }
    (void)unlink(json);
    (void)unlink(stem);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_hold_on_both_sides),
        cmocka_unit_test(an_exception_has_a_limit),
        cmocka_unit_test(layers_are_judged_by_name),
        cmocka_unit_test(results_of_both_exits_are_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
