/* rewrites.c: the driver visits operators that a rewrite adds, stops one that adds for ever, and
 * does nothing without an accelerator. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compiler/legalise/new_ops.h"
#include "compiler/systolic/rewrites/rewrites.h"

static const char text[] = "heddle-ir 1\n"
                           "graph name=\"g\"\n"
                           "row 0 name=\"00_neg\" op=\"NEG\" tensor=\"y\" shape=\"\" macs=0\n"
                           "tensor 0 f32 [2,3] input name=\"x\"\n"
                           "tensor 1 f32 [2,3] value name=\"y\"\n"
                           "op neg row=0 in=(0) out=(1)\n"
                           "border in=(0) out=(1)\n";

static uint32_t visits, most;

static void again(struct ir_graph *g, struct ir_op *op, const struct lgl_options *o)
{
    struct ir_tensor *y;

    (void)o;
    if (visits++ == most)
        return;
    y = ir_tensor_new(g, "", IR_F32, 2, ir_out(g, op, 0)->dim);
    (void)lgl_new_op(g, IR_OP_NEG, op->row, 1, op->out, y);
}

static enum status run(uint32_t adds, enum ir_opcode code, uint32_t rows, uint32_t *n_op,
                       struct diag *d)
{
    struct arena *a = arena_new(0);
    const struct lgl_options o = {.array_rows = rows};
    struct ir_graph *g;

    visits = 0;
    most = adds;
    *d = (struct diag){0};
    assert_int_equal(ir_parse(a, text, &g, d), ST_OK);
    const enum status st = sys_rewrite_all(g, again, code, 0, &o, d);
    *n_op = g->n_op;
    arena_free(a);
    return st;
}

static void added_operators_are_visited(void **state)
{
    struct diag d;
    uint32_t n;

    (void)state;
    assert_int_equal(run(2, IR_OP_NEG, 16, &n, &d), ST_OK);
    assert_int_equal(n, 3);
    assert_int_equal(visits, 3);
    assert_int_equal(run(2, IR_OP_ANY, 16, &n, &d), ST_OK);
    assert_int_equal(n, 3);
}

static void other_operators_are_not(void **state)
{
    struct diag d;
    uint32_t n;

    (void)state;
    assert_int_equal(run(2, IR_OP_ADD, 16, &n, &d), ST_OK);
    assert_int_equal(visits, 0);
    assert_int_equal(n, 1);
}

static void without_an_accelerator_the_graph_stays(void **state)
{
    struct diag d;
    uint32_t n;

    (void)state;
    assert_int_equal(run(2, IR_OP_NEG, 0, &n, &d), ST_OK);
    assert_int_equal(visits, 0);
}

static void one_without_an_end_is_a_fault(void **state)
{
    struct diag d;
    uint32_t n;

    (void)state;
    assert_int_equal(run(UINT32_MAX, IR_OP_NEG, 16, &n, &d), ST_INTERNAL);
    assert_string_equal(d.text, "a rewrite added operators in 16 rounds, expected an end");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(added_operators_are_visited),
        cmocka_unit_test(other_operators_are_not),
        cmocka_unit_test(without_an_accelerator_the_graph_stays),
        cmocka_unit_test(one_without_an_end_is_a_fault),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
