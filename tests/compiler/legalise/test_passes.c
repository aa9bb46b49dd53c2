/* test_passes.c - <pass>/<case>.ir through one pass or rewrite gives <pass>/<case>.out; <case>_bad.ir is
 * refused with the text of <case>_bad.err. UPDATE=1 in the environment rewrites .out and .err
 * files. */
#include "compiler/pipeline.h"
#include "compiler/systolic/rewrites/rewrites.h"
#include "tests/compiler/ir_files.h"

static const struct {
    const char *folder;
    lgl_pass *run;
} pass_table[] = {
#define PASS(name)                {"/legalise/" #name "/", lgl_##name},
#define REWRITE(name, code, gain) {"/rewrites/" #name "/", sys_pass_##name},
#include "compiler/passes.def"
};

static enum status run_named(const char *path, struct ir_graph *g, struct diag *d)
{
    struct lgl_options o = {.fc_scale = LGL_FC_CLASSIC};
    struct hd_config hw;

    if (pipeline_config(g->arena, "sys16", &hw, d) != ST_OK)
        return d->status;
    hw.lstm = strstr(path, "/lstm_input/whole") != NULL; /* else its host has the gates */
    sys_for_accelerator(&o, &hw);
    o.accumulators = 8;
    for (size_t i = 0; i < sizeof pass_table / sizeof *pass_table; i++)
        if (strstr(path, pass_table[i].folder) != NULL)
            return pass_table[i].run(g, &o, d);
    fail_msg("%s: no pass has that folder's name", path);
    return ST_INTERNAL;
}

static void check_file(struct arena *a, const char *path)
{
    struct diag d = {0};
    struct ir_graph *g;
    struct text t;
    enum status st;

    if (ir_parse(a, ir_text(a, path), &g, &d) != ST_OK || ir_verify(g, "parse", &d) != ST_OK)
        fail_msg("%s: %s", path, d.text);
    st = run_named(path, g, &d);
    if (ir_ends(path, "_bad.ir")) {
        assert_int_not_equal(st, ST_OK);
        ir_same_as_sibling(a, path, ".err", arena_printf(a, "%s\n", d.text));
        return;
    }
    if (st != ST_OK || ir_verify(g, "the pass", &d) != ST_OK)
        fail_msg("%s: %s", path, d.text);
    text_init(&t, a);
    ir_print(g, &t);
    ir_same_as_sibling(a, path, ".out", t.data);
}

static void test_every_file(void **state)
{
    (void)state;
    ir_each("tests/compiler/legalise/*/*.ir", check_file);
    ir_each("tests/compiler/systolic/rewrites/*/*.ir", check_file);
}

/* QuantizeMultiplier at its edges. */
static void test_fixed_scale(void **state)
{
    static const struct {
        double real;
        int32_t multiplier, shift;
    } row[] = {
        {0, 0, 0},
        {1, 1 << 30, 1},
        {0.5, 1 << 30, 0},
        {0.25, 1 << 30, -1},
        {0.99999999999, 1 << 30, 1}, /* rounds up to 2^31 */
        {0.75, 1610612736, 0},
        {3, 1610612736, 2},
        {2.3283064365386963e-10, 1 << 30, -31}, /* 2^-32 */
        {1.1641532182693481e-10, 0, 0},         /* 2^-33 */
    };

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const struct lgl_fixed_scale s = lgl_fixed_scale(row[i].real);

        assert_int_equal(s.multiplier, row[i].multiplier);
        assert_int_equal(s.shift, row[i].shift);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_file),
        cmocka_unit_test(test_fixed_scale),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
