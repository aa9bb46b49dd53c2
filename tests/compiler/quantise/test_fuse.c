/* Nothing is quantised between operators that the compiler fuses; all tensors around them are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "compiler/quantise/quant_own.h"

/* y = x * sigmoid(x), and z = y + x of another tensor: the function ends with y. */
static const char product[] = "heddle-ir 1 graph name=\"net\"\n"
                              "row 0 name=\"00\" op=\"\" tensor=\"\" shape=\"\" macs=0\n"
                              "row 1 name=\"01\" op=\"\" tensor=\"\" shape=\"\" macs=0\n"
                              "row 2 name=\"02\" op=\"\" tensor=\"\" shape=\"\" macs=0\n"
                              "tensor 0 f32 [1,4] input name=\"x\"\n"
                              "tensor 1 f32 [1,4] input name=\"other\"\n"
                              "tensor 2 f32 [1,4] value name=\"sigmoid\"\n"
                              "tensor 3 f32 [1,4] value name=\"y\"\n"
                              "tensor 4 f32 [1,4] value name=\"z\"\n"
                              "op logistic row=0 in=(0) out=(2)\n"
                              "op mul row=1 in=(0,2) out=(3)\n"
                              "op add row=2 in=(3,1) out=(4)\n"
                              "border in=(0,1) out=(4%s)\n";

/* (x - mean) / sqrt(variance + 1e-5) * gamma + beta, 2 values per row. */
static const char norm[] = "heddle-ir 1 graph name=\"net\"\n"
                           "row 0 name=\"00\" op=\"\" tensor=\"\" shape=\"\" macs=0\n"
                           "tensor 0 f32 [3,2] input name=\"x\"\n"
                           "tensor 1 f32 [3,1] value name=\"mean\"\n"
                           "tensor 2 f32 [3,2] value name=\"part\"\n"
                           "tensor 3 f32 [3,2] value name=\"square\"\n"
                           "tensor 4 f32 [3,1] value name=\"variance\"\n"
                           "tensor 5 f32 [] const name=\"epsilon\" data=acc52737\n"
                           "tensor 6 f32 [3,1] value name=\"positive\"\n"
                           "tensor 7 f32 [3,1] value name=\"deviation\"\n"
                           "tensor 8 f32 [3,2] value name=\"normal\"\n"
                           "tensor 9 f32 [2] const name=\"gamma\" data=0000803f00000040\n"
                           "tensor 10 f32 [3,2] value name=\"scaled\"\n"
                           "tensor 11 f32 [2] const name=\"beta\" data=0000003f0000803f\n"
                           "tensor 12 f32 [3,2] value name=\"y\"\n"
                           "op mean row=0 in=(0) out=(1) axis=2 keep_dims=1\n"
                           "op sub row=0 in=(0,1) out=(2)\n"
                           "op mul row=0 in=(2,2) out=(3)\n"
                           "op mean row=0 in=(3) out=(4) axis=2 keep_dims=1\n"
                           "op add row=0 in=(4,5) out=(6)\n"
                           "op sqrt row=0 in=(6) out=(7)\n"
                           "op div row=0 in=(2,7) out=(8)\n"
                           "op mul row=0 in=(8,9) out=(10)\n"
                           "op add row=0 in=(10,11) out=(12)\n"
                           "border in=(0) out=(12%s)\n";

/* The graph, as chosen; `also`: more outputs. */
static struct quant chosen(struct arena *a, const char *format, const char *also, bool *keep)
{
    struct diag d = {0};
    struct ir_graph *g;
    struct quant q = {.arena = a, .keep = keep};
    const char *mark = strstr(format, "%s");
    struct text t;

    text_init(&t, a);
    text_add_n(&t, format, (size_t)(mark - format));
    text_add(&t, also);
    text_add(&t, mark + 2);
    assert_int_equal(ir_parse(a, t.data, &g, &d), ST_OK);
    q.g = g;
    quant_select(&q);
    return q;
}

static void a_function_of_one_tensor_is_quantised_at_its_end(void **state)
{
    struct arena *a = arena_new(0);
    bool keep[3] = {false, false, false};
    const struct quant q = chosen(a, product, "", keep);

    (void)state;
    assert_true(q.op[0] && q.op[1] && q.op[2]);
    assert_true(q.tensor[0] && !q.tensor[2] && q.tensor[3] && q.tensor[4]);
    arena_free(a);
}

static void a_result_that_others_read_is_quantised(void **state)
{
    struct arena *a = arena_new(0);
    bool keep[3] = {false, false, false};
    const struct quant q = chosen(a, product, ",2", keep); /* an output of the graph */

    (void)state;
    assert_true(q.tensor[2] && q.tensor[3]);
    keep[1] = true; /* the product in float32 */
    const struct quant r = chosen(a, product, "", keep);
    assert_true(r.op[0] && !r.op[1] && r.op[2] && r.tensor[2]);
    arena_free(a);
}

static void a_layer_normalisation_is_quantised_at_its_ends(void **state)
{
    struct arena *a = arena_new(0);
    bool keep[1] = {false};
    const struct quant q = chosen(a, norm, "", keep);

    (void)state;
    for (uint32_t i = 0; i < 13; i++)
        assert_int_equal(q.tensor[i], i == 0 || i == 12);
    for (uint32_t i = 0; i < 9; i++)
        assert_true(q.op[i]);
    const struct quant open = chosen(a, norm, ",8", keep); /* the normalised tensor is read
                                                            * elsewhere */
    assert_true(open.tensor[8] && open.tensor[2]);
    keep[0] = true;
    const struct quant kept = chosen(a, norm, "", keep);
    assert_true(!kept.op[0] && !kept.tensor[0] && !kept.tensor[12]);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_function_of_one_tensor_is_quantised_at_its_end),
        cmocka_unit_test(a_result_that_others_read_is_quantised),
        cmocka_unit_test(a_layer_normalisation_is_quantised_at_its_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
