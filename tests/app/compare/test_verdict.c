/* The verdict on outputs and layers of three inferences given in this file: every output,
 * inference, process and layer counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "app/compare/compare_layers.h"
#include "app/compare/compare_parts.h"
#include "app/compare/difference.h"
#include "app/job/job.h"
#include "app/job/shared.h"

static const char network[] = "heddle-ir 1\n"
                              "graph name=\"two\"\n"
                              "row 0 name=\"00_relu\" op=\"RELU\" tensor=\"y\" shape=\"\"\n"
                              "row 1 name=\"01_relu\" op=\"RELU\" tensor=\"z\" shape=\"\"\n"
                              "row 2 name=\"02_relu\" op=\"RELU\" tensor=\"u\" shape=\"\"\n"
                              "tensor 0 i8 [4] input name=\"x\" scale=(0.5) zero=(0)\n"
                              "tensor 1 i8 [4] value name=\"y\" scale=(0.5) zero=(0)\n"
                              "tensor 2 i8 [4] value name=\"z\" scale=(0.5) zero=(0)\n"
                              "tensor 3 f32 [4] input name=\"v\"\n"
                              "tensor 4 f32 [4] value name=\"u\"\n"
                              "op relu row=0 in=(0) out=(1)\n"
                              "op relu row=1 in=(1) out=(2)\n"
                              "op relu row=2 in=(3) out=(4)\n"
                              "border in=(0,3) out=(1,2,4)\n";

enum { N = 3, OUTPUTS = 3, PROCESSES = 2 };

struct fixture {
    struct arena *a;
    struct pipeline p;
    struct options options;
    struct run run;
    uint8_t found[OUTPUTS][N * 16], expected[OUTPUTS][N * 16];
};

static struct fixture *fixture(void)
{
    struct arena *a = arena_new(0);
    struct fixture *f = ARENA_NEW(a, struct fixture);
    struct diag d = {0};

    *f = (struct fixture){.a = a, .p = {.arena = a}};
    if (ir_parse(a, network, &f->p.graph, &d) != ST_OK || ir_link(f->p.graph, &d) != ST_OK)
        fail_msg("%s", d.text);
    f->run.job = (struct job){.arena = a, .options = &f->options, .p = &f->p, .n = N};
    f->run.measured.out = ARENA_ARRAY(a, struct run_data, OUTPUTS);
    f->run.job.expected = ARENA_ARRAY(a, struct run_data, OUTPUTS);
    for (uint32_t i = 0; i < OUTPUTS; i++) {
        f->run.measured.out[i] = (struct run_data){f->found[i], i == 2 ? 16 : 4};
        f->run.job.expected[i] = (struct run_data){f->expected[i], i == 2 ? 16 : 4};
    }
    return f;
}

/* One value of int8 output `output` of inference k is `by` too large. */
static struct fixture *with(uint32_t output, uint32_t k, int8_t by)
{
    struct fixture *f = fixture();

    f->found[output][4 * k + 1] = (uint8_t)by;
    return f;
}

static void expect(struct fixture *f, enum run_verdict verdict, uint64_t n_wrong,
                   uint32_t first_wrong)
{
    difference_judge(&f->run.job, &f->run.measured, &f->run.results);
    assert_int_equal(f->run.results.verdict, verdict);
    assert_int_equal(f->run.results.n_wrong, n_wrong);
    if (n_wrong)
        assert_int_equal(f->run.results.first_wrong, first_wrong);
    arena_free(f->a);
}

static void every_output_of_every_inference_counts(void **state)
{
    (void)state;
    expect(fixture(), VERDICT_MATCH, 0, 0);
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t k = 0; k < N; k++)
            expect(with(i, k, 1), VERDICT_MISMATCH, 1, k);
    struct fixture *f = with(0, 0, 1);
    f->found[1][4] = f->found[1][8] = 1;
    expect(f, VERDICT_MISMATCH, 3, 0);
}

static void steps_are_allowed_up_to_the_tolerance(void **state)
{
    (void)state;
    for (int8_t by = 1; by <= 3; by++) {
        struct fixture *f = with(1, 1, by);
        f->options.tolerance = 2;
        expect(f, by <= 2 ? VERDICT_WITHIN : VERDICT_MISMATCH, by > 2, 1);
    }
}

/* 0.02 of 255 steps are 5.1. */
static void patterns_allow_a_part_of_the_range(void **state)
{
    (void)state;
    for (int8_t by = 5; by <= 6; by++) {
        struct fixture *f = with(0, 2, by);
        f->run.job.tolerance = 0.02;
        expect(f, by <= 5 ? VERDICT_WITHIN : VERDICT_MISMATCH, by > 5, 2);
    }
    struct fixture *f = fixture();
    const float nan = NAN, one = 1;
    memcpy(f->found[2], &nan, 4);
    memcpy(f->expected[2] + 4, &one, 4);
    memcpy(f->found[2] + 4, &one, 4);
    f->run.job.tolerance = 0.02;
    expect(f, VERDICT_MISMATCH, 1, 0);
}

/* --- layers --- */

static struct fixture *layers(void)
{
    struct fixture *f = fixture();
    struct compare *c = ARENA_NEW(f->a, struct compare);

    *c = (struct compare){.job = &f->run.job, .graph = f->p.graph};
    c->row = ARENA_ARRAY(f->a, struct compare_row, 3);
    f->run.results.compare = c;
    f->run.measured.n_process = PROCESSES;
    f->run.measured.shared = arena_alloc(f->a, 16384);
    memset(f->run.measured.shared, 0, 16384);
    for (uint32_t i = 0; i < 3; i++)
        f->run.measured.shared->row[i].compare.compared = 4;
    return f;
}

static void wrong(struct fixture *f, uint32_t process, uint32_t inference, uint32_t position)
{
    run_results(&f->run.job, &f->run.measured, process)->first =
        (struct compare_first){true, false, inference, position, position + 1, 4, 1, 0, {0}, {0}};
}

static void expect_layers(struct fixture *f, uint32_t n_equal, uint32_t inference, uint32_t row)
{
    f->run.results.verdict = VERDICT_MATCH;
    compare_judge(&f->run.job, &f->run.measured, &f->run.results);
    assert_int_equal(f->run.results.layers.n_layers, 3);
    assert_int_equal(f->run.results.layers.n_equal, n_equal);
    assert_int_equal(f->run.results.verdict, row == IR_NONE ? VERDICT_MATCH : VERDICT_MISMATCH);
    assert_int_equal(compare_first_row(&f->run.job, &f->run.results), row);
    if (row != IR_NONE)
        assert_int_equal(f->run.results.first_wrong, inference);
    arena_free(f->a);
}

static void the_first_wrong_layer_of_all_processes(void **state)
{
    (void)state;
    expect_layers(layers(), 3, 0, IR_NONE);
    for (uint32_t k = 0; k < PROCESSES; k++) {
        struct fixture *f = layers();
        f->run.measured.shared->row[1].compare.wrong = 1;
        wrong(f, k, 1, 1);
        expect_layers(f, 2, 1, 1);
    }
    struct fixture *f = layers();
    wrong(f, 0, 1, 0);
    wrong(f, 1, 0, 2);
    expect_layers(f, 3, 0, 2);
    f = layers();
    wrong(f, 0, 1, 2);
    wrong(f, 1, 1, 1);
    expect_layers(f, 3, 1, 1);
}

static void passes_are_layers_too(void **state)
{
    struct fixture *f = layers();

    (void)state;
    f->run.results.compare->row[2].wrong = 1;
    f->run.results.compare->first = (struct compare_first){true, true, 1, 2, 3, 4, 1, 0, {0}, {0}};
    f->run.results.n_wrong = 1;
    f->run.results.first_wrong = 2;
    wrong(f, 0, 1, 1);
    expect_layers(f, 2, 1, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_output_of_every_inference_counts),
        cmocka_unit_test(steps_are_allowed_up_to_the_tolerance),
        cmocka_unit_test(patterns_allow_a_part_of_the_range),
        cmocka_unit_test(the_first_wrong_layer_of_all_processes),
        cmocka_unit_test(passes_are_layers_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
