/* test_formula.c - formulas find the operators that make a tensor: operands in either order if they
 * may be exchanged, one tensor per letter, constants, further conditions. */
#include "compiler/ir/formula.h"
#include "tests/compiler/ir_files.h"

/* y = (x - m) * (x - m) + c, m the mean; d is read twice */
static const char NET[] = "heddle-ir 1\n"
                          "graph name=\"net\"\n"
                          "row 0 name=\"r\" op=\"r\" tensor=\"\" shape=\"\" macs=0\n"
                          "tensor 0 f32 [2,4] input name=\"x\"\n"
                          "tensor 1 f32 [2,1] value name=\"m\"\n"
                          "tensor 2 f32 [2,4] value name=\"d\"\n"
                          "tensor 3 f32 [2,4] value name=\"s\"\n"
                          "tensor 4 f32 [] const name=\"c\" data=0000803f\n"
                          "tensor 5 f32 [2,4] value name=\"y\"\n"
                          "op mean row=0 in=(0) out=(1) axis=2 keep_dims=1\n"
                          "op sub row=0 in=(0,1) out=(2)\n"
                          "op mul row=0 in=(2,2) out=(3)\n"
                          "op add row=0 in=(4,3) out=(5)\n"
                          "border in=(0) out=(5)\n";

static bool no_means(const struct ir_match *m, const struct ir_op *op)
{
    (void)m;
    return strcmp(ir_op_info(op->opcode)->name, "mean") != 0;
}

static bool nothing(const struct ir_match *m, uint32_t id)
{
    (void)m;
    (void)id;
    return false;
}

static void test_formulas(void **state)
{
    static const struct {
        const char *formula;
        bool found;
    } cases[] = {
        {"add(mul(d = sub(x, mean(x)), d), #c)", true},
        {"add(#c, mul(d = sub(x, mean(x)), d))", true},
        {"add(s, #c)", true},
        {"add(#s, c)", true},   /* #s names the constant s */
        {"add(#a, #b)", false}, /* one of them is computed */
        {"add(mul(d, d), #c)", true},
        {"add(mul(d, c), #c)", false},               /* c is two tensors */
        {"add(mul(sub(mean(x), x), d), #c)", false}, /* sub's operands stay in order */
        {"mul(d, d)", false},
        {"add(mul(sub(x, mean(x)), sub(x, mean(x))), #c)", true}, /* the same operator twice */
    };
    struct arena *a = arena_new(0);
    struct ir_graph *g;
    struct diag d = {0};

    (void)state;
    assert_int_equal(ir_parse(a, NET, &g, &d), ST_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ir_match m = {.g = g};

        if (ir_match(&m, 5, cases[i].formula) != cases[i].found)
            fail_msg("%s: expected %s", cases[i].formula, cases[i].found ? "a match" : "none");
    }
    arena_free(a);
}

static void test_what_is_found(void **state)
{
    static const char formula[] = "add(#c, mul(d = sub(x, mean(x)), d))";
    struct arena *a = arena_new(0);
    struct ir_graph *g;
    struct diag d = {0};

    (void)state;
    assert_int_equal(ir_parse(a, NET, &g, &d), ST_OK);
    struct ir_match m = {.g = g}, means = {.g = g, .takes = no_means},
                    constants = {.g = g, .is_constant = nothing};

    assert_true(ir_match(&m, 5, formula));
    assert_int_equal(ir_matched(&m, 'c'), 4);
    assert_int_equal(ir_matched(&m, 'd'), 2);
    assert_int_equal(ir_matched(&m, 'x'), 0);
    assert_int_equal(ir_matched(&m, 'z'), IR_NONE);
    assert_int_equal(m.n_op, 4); /* add, mul, sub, mean */
    for (uint32_t i = 0; i < m.n_op; i++)
        assert_int_equal(m.op[i]->id, 3 - i);
    assert_false(ir_match(&means, 5, formula));
    assert_false(ir_match(&constants, 5, formula));
    arena_free(a);
}

/* y = -x + -x by two operators, z = -x + -(-x). */
static const char TWICE[] = "heddle-ir 1\n"
                            "graph name=\"net\"\n"
                            "row 0 name=\"r\" op=\"r\" tensor=\"\" shape=\"\" macs=0\n"
                            "tensor 0 f32 [2] input name=\"x\"\n"
                            "tensor 1 f32 [2] value name=\"a\"\n"
                            "tensor 2 f32 [2] value name=\"b\"\n"
                            "tensor 3 f32 [2] value name=\"c\"\n"
                            "tensor 4 f32 [2] value name=\"y\"\n"
                            "tensor 5 f32 [2] value name=\"z\"\n"
                            "op neg row=0 in=(0) out=(1)\n"
                            "op neg row=0 in=(0) out=(2)\n"
                            "op neg row=0 in=(2) out=(3)\n"
                            "op add row=0 in=(1,2) out=(4)\n"
                            "op add row=0 in=(2,3) out=(5)\n"
                            "border in=(0) out=(4,5)\n";

static void test_alike(void **state)
{
    struct arena *a = arena_new(0);
    struct ir_graph *g;
    struct diag d = {0};

    (void)state;
    assert_int_equal(ir_parse(a, TWICE, &g, &d), ST_OK);
    struct ir_match m = {.g = g};
    assert_true(ir_match(&m, 4, "add(n, n)"));
    assert_int_equal(ir_matched(&m, 'n'), 1);
    assert_false(ir_match(&m, 5, "add(n, n)"));
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formulas),
        cmocka_unit_test(test_what_is_found),
        cmocka_unit_test(test_alike),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
