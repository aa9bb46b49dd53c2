/* Exposure of weights: none if all products are 0 or all results saturate, more if operands are
 * larger. Each further result adds less. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "app/inputs/coverage.h"

/* y = 127 / 16 * (x0 + x1), twice: a weight that is larger by 1 adds x / 16. */
static const char net[] =
    "heddle-ir 1 graph name=\"n\" row 0 name=\"00\" op=\"FULLY_CONNECTED\" tensor=\"\" shape=\"\" "
    "tensor 0 i8 [4,2] input name=\"x\" scale=(0.5) zero=(3) "
    "tensor 1 i8 [2,2] const name=\"w\" scale=(0.25) zero=(0) fill=127 "
    "tensor 2 i8 [4,2] value name=\"y\" scale=(2) zero=(0) "
    "op fully_connected row=0 in=(0,1) out=(2) border in=(0) out=(2)";

struct fixture {
    struct arena *a;
    struct ir_graph *g;
    struct ref *ref;
    struct coverage *c;
};

static void fixture(struct fixture *f)
{
    struct diag d = {0};

    f->a = arena_new(0);
    if (ir_parse(f->a, net, &f->g, &d) != ST_OK || ir_link(f->g, &d) != ST_OK)
        fail_msg("%s", d.text);
    f->ref = ref_new(f->a, f->g, &(struct ref_options){0});
    f->c = coverage_new(f->a, f->g);
}

/* Four rows of x0, x1 above the zero point, seen by `c`. */
static void see(const struct fixture *f, struct coverage *c, int8_t x0, int8_t x1)
{
    uint8_t x[8], y[8], *out[] = {y};
    const uint8_t *in[] = {x};
    struct diag d = {0};

    for (uint32_t i = 0; i < 8; i++)
        x[i] = (uint8_t)(3 + (i % 2 ? x1 : x0));
    coverage_watch(c, f->ref);
    if (ref_run(f->ref, in, out, &d) != ST_OK)
        fail_msg("%s", d.text);
}

static uint64_t score(int8_t x0, int8_t x1)
{
    struct fixture f;

    fixture(&f);
    see(&f, f.c, x0, x1);
    const uint64_t s = coverage_score(f.c, NULL);
    arena_free(f.a);
    return s;
}

static void products_that_are_0_show_nothing(void **state)
{
    (void)state;
    assert_int_equal(score(0, 0), 0);
    assert_int_equal(score(2, 0), 42); /* half a result for each of two weights: 64 * 0.5 / 1.5 */
    assert_int_equal(score(0, -2), 42);
    assert_int_equal(score(2, 2), 84);
}

static void results_that_saturate_show_nothing(void **state)
{
    (void)state;
    assert_true(score(8, 0) > score(4, 0) && score(4, 0) > score(2, 0));
    assert_int_equal(score(64, 0), 0);
    assert_int_equal(score(-64, -64), 0);
}

static void a_further_result_is_worth_less(void **state)
{
    struct fixture f;

    (void)state;
    fixture(&f);
    struct coverage *one = coverage_new(f.a, f.g);
    see(&f, f.c, 2, 0);
    see(&f, one, 2, 0);
    assert_int_equal(coverage_score(f.c, one), 64); /* a whole result for each: 64 * 1 / 2 */
    coverage_add(f.c, one);
    assert_int_equal(coverage_score(f.c, NULL), 64);
    coverage_clear(one);
    assert_int_equal(coverage_score(f.c, one), 64);
    see(&f, one, 0, 2);
    assert_true(coverage_score(f.c, one) >= 64 + 42); /* other weights */
    arena_free(f.a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_that_are_0_show_nothing),
        cmocka_unit_test(results_that_saturate_show_nothing),
        cmocka_unit_test(a_further_result_is_worth_less),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
