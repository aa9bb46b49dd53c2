/* test_shared.c - results of processes in shared memory, and sums of the costs of submissions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "app/job/shared.h"
#include "app/job/times.h"
#include "compiler/systolic/program/sched_program.h"

enum { ROWS = 3, OUT_BYTES = 5 };

static void results_do_not_overlap(void **state)
{
    struct options o = {.engine = ENGINE_FUNC};
    struct ir_graph g = {.n_row = ROWS, .n_out = 1};
    struct pipeline p = {.graph = &g};
    struct run_data out = {.n_bytes = OUT_BYTES};
    struct run run = {.job = {.options = &o, .p = &p, .n = 4},
                      .measured = {.n_process = 2, .out = &out}};
    struct run_measured *m = &run.measured;
    struct diag d = {0};

    (void)state;
    assert_int_equal(run_share(&run.job, m, &d), ST_OK);
    assert_ptr_equal(run_results(&run.job, m, 0), m->shared);
    const uint8_t *const end = (const uint8_t *)&run_results(&run.job, m, 0)->row[ROWS];
    const uint8_t *const next = (const uint8_t *)run_results(&run.job, m, 1);
    assert_true(next >= end);
    assert_int_equal((uintptr_t)next % 64, 0);
    out.bytes[run.job.n * OUT_BYTES - 1] = 1; /* all of them are there */
    run_release(&run);
    assert_null(m->shared);
}

/* A layer that the network lacks (of a foreign stream) is ignored. */
static void rows_add_up(void **state)
{
    struct ir_graph g = {.n_row = 2};
    struct pipeline p = {.graph = &g};
    const struct job job = {.p = &p};
    struct run_shared *to = test_calloc(1, sizeof *to + 2 * sizeof to->row[0]);
    struct hd_sim_row from[] = {{.layer = 1, .cycles = 10, .read_bytes = 3, .array_cycles = 4},
                                {.layer = 1, .cycles = 5, .write_bytes = 7, .vector_cycles = 2},
                                {.layer = 2, .cycles = 100}};

    (void)state;
    from[0].counter[HD_SIM_UNITS - 1][0] = from[1].counter[HD_SIM_UNITS - 1][0] = 6;
    run_add_rows(&job, to, from, 3);
    assert_int_equal(to->row[0].cycles, 0);
    assert_int_equal(to->row[1].cycles, 15);
    assert_int_equal(to->row[1].read_bytes, 3);
    assert_int_equal(to->row[1].write_bytes, 7);
    assert_int_equal(to->row[1].array_cycles, 4);
    assert_int_equal(to->row[1].vector_cycles, 2);
    assert_int_equal(to->row[1].counter[HD_SIM_UNITS - 1][0], 12);
    test_free(to);
}

static void times_of_streams_follow(void **state)
{
    struct sched_stream stream[] = {{.n = 3}, {.n = 0}, {.n = 5}};
    const struct sched_program p = {.n_stream = 3, .stream = stream};

    (void)state;
    assert_int_equal(times_first(&p, 0), 0);
    assert_int_equal(times_first(&p, 1), 3);
    assert_int_equal(times_first(&p, 2), 3);
    assert_int_equal(times_first(&p, 3), 8);
}

static void what_is_traced(void **state)
{
    struct options o = {.engine = ENGINE_RTL};
    struct run_package package = {0};
    struct job job = {.options = &o, .out_dir = "out"};

    (void)state;
    assert_true(run_traced(&job));
    job.package = &package;
    assert_false(run_traced(&job));
    job.package = NULL;
    o.no_report = true;
    assert_false(run_traced(&job));
    o = (struct options){.engine = ENGINE_FUNC};
    assert_false(run_traced(&job));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_do_not_overlap), cmocka_unit_test(rows_add_up),
        cmocka_unit_test(times_of_streams_follow), cmocka_unit_test(what_is_traced)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
