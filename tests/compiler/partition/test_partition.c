/* partition.c: regions are runs of accelerator operators, reasons name the rule that failed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "compiler/legalise/legalise.h"
#include "compiler/partition/partition.h"

static const struct hd_config hw = {.name = "sys16",
                                    .n = 16,
                                    .scratchpad_bytes = 131072,
                                    .banks = 8,
                                    .ports = 4,
                                    .weight_bytes = 65536,
                                    .acc_depth = 512,
                                    .param_entries = 64,
                                    .axi_bytes = 16};

/* relu, relu, softmax, relu: legalise joins the first two into one table */
static const char text[] = "heddle-ir 1 graph name=\"g\"\n"
                           "row 0 name=\"r0\" op=\"RELU\" tensor=\"\" shape=\"\"\n"
                           "row 1 name=\"r1\" op=\"RELU\" tensor=\"\" shape=\"\"\n"
                           "row 2 name=\"s2\" op=\"SOFTMAX\" tensor=\"\" shape=\"\"\n"
                           "row 3 name=\"r3\" op=\"RELU\" tensor=\"\" shape=\"\"\n"
                           "tensor 0 i8 [1,8] input name=\"x\" scale=(1) zero=(0)\n"
                           "tensor 1 i8 [1,8] value name=\"a\" scale=(1) zero=(0)\n"
                           "tensor 2 i8 [1,8] value name=\"b\" scale=(1) zero=(0)\n"
                           "tensor 3 i8 [1,8] value name=\"c\" scale=(0.00390625) zero=(-128)\n"
                           "tensor 4 i8 [1,8] value name=\"y\" scale=(1) zero=(0)\n"
                           "op relu row=0 in=(0) out=(1)\n"
                           "op relu row=1 in=(1) out=(2)\n"
                           "op softmax row=2 in=(2) out=(3) beta_bits=1065353216\n"
                           "op relu row=3 in=(3) out=(4)\n"
                           "border in=(0) out=(4)\n";

static struct ir_graph *parted(struct arena *a, const char *names)
{
    const struct lgl_options o = {LGL_FC_CLASSIC};
    struct target_list targets;
    struct ir_graph *g;
    struct diag d = {0};
    if (ir_parse(a, text, &g, &d) != ST_OK || lgl_all(g, &o, &d) != ST_OK ||
        target_parse(names, &targets, &d) != ST_OK || partition_run(g, &targets, &hw, &d) != ST_OK)
        fail_msg("%s", d.text);
    return g;
}

static void runs_of_accelerator_operators_are_regions(void **state)
{
    struct arena *a = arena_new(0);
    struct ir_graph *g = parted(a, "systolic,c");
    (void)state;
    assert_int_equal(g->n_op, 3);
    assert_int_equal(g->op[0]->region, 0);
    assert_int_equal(g->op[1]->region, IR_NONE);
    assert_int_equal(g->op[2]->region, 1);
    assert_int_equal(g->row[0].fused_into, 1);
    assert_string_equal(g->row[0].target, "none");
    assert_string_equal(g->row[1].target, "systolic");
    assert_null(g->row[1].reason);
    assert_string_equal(g->row[2].target, "c");
    assert_string_equal(g->row[2].reason, "systolic: softmax has no accelerator lowering");
    arena_free(a);
}

static void without_an_accelerator_all_is_the_hosts(void **state)
{
    struct arena *a = arena_new(0);
    struct ir_graph *g = parted(a, "c");
    (void)state;
    for (uint32_t i = 0; i < g->n_op; i++) {
        assert_int_equal(g->op[i]->region, IR_NONE);
        assert_string_equal(g->row[g->op[i]->row].target, "c");
        assert_string_equal(g->row[g->op[i]->row].reason, "no accelerator was named");
    }
    arena_free(a);
}

static void target_lists_are_checked(void **state)
{
    static const struct {
        const char *names, *message;
    } bad[] = {{"npu", "--target: no target 'npu'; there are: systolic, c"},
               {"systolic,", "--target: a name is missing or too long; expected a list like "
                             "systolic,c"},
               {"", "--target: a name is missing or too long; expected a list like systolic,c"}};
    struct target_list list;
    struct diag d;
    (void)state;
    for (uint32_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        d = (struct diag){0};
        assert_int_equal(target_parse(bad[i].names, &list, &d), ST_USAGE);
        assert_string_equal(d.text, bad[i].message);
    }
    d = (struct diag){0};
    assert_int_equal(target_parse("c,systolic,systolic", &list, &d), ST_OK);
    assert_int_equal(list.n, 2); /* each once, the host last */
    assert_ptr_equal(list.target[0], &target_systolic);
    assert_ptr_equal(list.target[1], &target_host_c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_of_accelerator_operators_are_regions),
        cmocka_unit_test(without_an_accelerator_all_is_the_hosts),
        cmocka_unit_test(target_lists_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
