/* results.c: what is known of mutants is kept and read back, and counted by what found it. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "app/grade/grade_parts.h"
#include "base/file.h"

static char printed[4096];

static void take(void *ctx, enum output_kind kind, const char *text)
{
    (void)ctx;
    (void)kind;
    strncat(printed, text, sizeof printed - strlen(printed) - 1);
}

static const struct output output = {take, NULL, OUTPUT_RESULT};
static const struct options options = {.output = &output};
static const struct describe detail = {.core_top = "some_core"};
static const struct target_desc desc = {.name = "some", .detail = &detail};
static char folder[] = "/tmp/grade-XXXXXX";

static struct grade *with(struct arena *a, uint32_t n)
{
    struct grade *const g = ARENA_NEW(a, struct grade);

    *g = (struct grade){.arena = a, .o = &options, .folder = folder, .n = n};
    g->check.desc = &desc;
    g->mutant = ARENA_ARRAY(a, struct mutant, n);
    for (uint32_t i = 0; i < n; i++)
        g->mutant[i] = (struct mutant){
            .number = i + 1, .where = "c.v:7", .what = arena_printf(a, "x[%u]: inverted", i)};
    return g;
}

static void test_kept(void **state)
{
    struct arena *const a = arena_new(0);
    struct diag d = {0};

    (void)state;

    struct grade *const g = with(a, 6), *const again = with(a, 6);
    g->register_reads = 12;
    g->mutant[0].verdict = GRADE_KILLED; /* by the usual cases */
    g->mutant[0].text = "conv2d: in_h=3: byte 1";
    g->mutant[1] = g->mutant[0];
    g->mutant[1].number = 2;
    g->mutant[1].stage = GRADE_NETWORKS;
    g->mutant[2].verdict = GRADE_EQUAL;
    g->mutant[2].stage = GRADE_EQUALITY;
    g->mutant[3].stage = g->mutant[4].stage = GRADE_SEEDS;
    g->mutant[4].effect = true;
    g->mutant[4].text = "conv2d: in_h=5";
    assert_int_equal(grade_save(g, &d), ST_OK);
    assert_int_equal(grade_load(again, &d), ST_OK);
    assert_int_equal(again->register_reads, 12);
    for (uint32_t i = 0; i < 6; i++) {
        assert_int_equal(again->mutant[i].verdict, g->mutant[i].verdict);
        assert_int_equal(again->mutant[i].stage, g->mutant[i].stage);
        assert_int_equal(again->mutant[i].effect, g->mutant[i].effect);
    }
    assert_string_equal(again->mutant[0].text, "conv2d: in_h=3: byte 1");
    assert_null(again->mutant[5].text);
    printed[0] = '\0';
    assert_int_equal((int)grade_print(again), 66); /* two of three */
    assert_non_null(strstr(printed,
                           "6 mutants of some_core: check-target finds 1, networks 1, further "
                           "seeds 0; no output depends on 1, 1 never had an effect, 1 "
                           "survive, 1 not tried\n"));
    assert_non_null(strstr(
        printed,
        "survivors:\n  c.v:7: x[4]: inverted; another bit, the same answer in conv2d: in_h=5\n"));
    assert_non_null(strstr(printed, "  c.v:7: x[3]: inverted\n"));
    assert_non_null(strstr(printed, ": found by conv2d: in_h=3: byte 1\n"));
    assert_non_null(strstr(printed, "2 of 3 decided mutants found: 66.7 %\n"));
    arena_free(a);
}

/* A damaged file decides nothing that it does not state. */
static void test_damaged(void **state)
{
    static const char text[] = "0 0 0 0\n1 1 0 1 x\n99 1 0 1 y\n2 7 0 1 z\n-3\nrubbish\n";
    struct arena *const a = arena_new(0);
    struct diag d = {0};

    (void)state;

    struct grade *const g = with(a, 3);
    assert_int_equal(file_write(arena_printf(a, "%s/results", folder), text, strlen(text), &d),
                     ST_OK);
    assert_int_equal(grade_load(g, &d), ST_OK);
    assert_int_equal(g->mutant[0].verdict, GRADE_KILLED);
    assert_int_equal(g->mutant[1].verdict, GRADE_OPEN);
    assert_int_equal(g->mutant[2].verdict, GRADE_OPEN);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kept), cmocka_unit_test(test_damaged)};

    struct arena *const a = arena_new(0);

    if (!mkdtemp(folder))
        return 1;
    const int rc = cmocka_run_group_tests(tests, NULL, NULL);
    (void)unlink(arena_printf(a, "%s/results", folder));
    (void)rmdir(folder);
    arena_free(a);
    return rc;
}
