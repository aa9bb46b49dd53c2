/* test_islands.c - islands/<case>.ir, an ONNX file node by node, gives islands/<case>.out in
 * TFLite's rounding and <case>.exact in ONNX's; and the random networks next to the importer's
 * tests give the same bytes as the graph that the importer makes. UPDATE=1 in the environment
 * rewrites .out and .exact. */
#include "compiler/import/onnx/onnx.h"
#include "reference/islands/ref_islands.h"
#include "reference/ref.h"
#include "tests/compiler/ir_files.h"

static void check_file(struct arena *a, const char *path)
{
    struct ir_graph *file, *g;
    struct diag d = {0};
    struct text t;

    for (int exact = 0; exact < 2; exact++) {
        if (ir_parse(a, ir_text(a, path), &file, &d) != ST_OK || ir_link(file, &d) != ST_OK ||
            ref_islands(a, file, exact != 0, &g, &d) != ST_OK)
            fail_msg("%s: %s", path, d.text);
        text_init(&t, a);
        ir_print(g, &t);
        ir_same_as_sibling(a, path, exact ? ".exact" : ".out", t.data);
    }
}

static void test_every_file(void **state)
{
    (void)state;
    ir_each("tests/reference/islands/*.ir", check_file);
}

/* Outputs of `g`, one after another. */
static uint8_t *answer(struct arena *a, const struct ir_graph *g, bool onnx_rounding,
                       const uint8_t *in, size_t *n)
{
    const struct ref_options o = {.onnx_rounding = onnx_rounding};
    uint8_t **out = ARENA_ARRAY(a, uint8_t *, g->n_out), *all;
    struct diag d = {0};

    *n = 0;
    for (uint32_t i = 0; i < g->n_out; i++)
        *n += (size_t)ir_bytes(g->tensor[g->out[i]]);
    all = arena_alloc(a, *n);
    *n = 0;
    for (uint32_t i = 0; i < g->n_out; i++) {
        out[i] = all + *n;
        *n += (size_t)ir_bytes(g->tensor[g->out[i]]);
    }
    if (ref_run(ref_new(a, g, &o), &in, out, &d) != ST_OK)
        fail_msg("%s", d.text);
    return all;
}

/* The operator that makes a row's last tensor is of that row in both graphs. */
static void check_rows(const char *path, const struct ir_graph *fused, const struct ir_graph *g)
{
    for (uint32_t row = 0; row < fused->n_row; row++) {
        uint32_t n = 0;

        for (uint32_t i = 0; i < g->n_op; i++)
            n += g->op[i]->row == row &&
                 strcmp(ir_out(g, g->op[i], 0)->name, fused->row[row].tensor) == 0;
        if (n == 0)
            fail_msg("%s: row %u, '%s', is in no operator of the reference", path, row,
                     fused->row[row].tensor);
    }
}

static void check_model(struct arena *a, const char *path)
{
    const char *input = arena_printf(a, "%.*s/in_0_0.bin", (int)(strlen(path) - 11), path);
    struct diag d = {0};
    struct ir_graph *fused, *file, *g;
    uint8_t *data, *in, *want, *found;
    size_t n, n_in, n_want, n_found;

    if (file_read(a, path, 1 << 26, &data, &n, &d) != ST_OK ||
        file_read(a, input, 1 << 26, &in, &n_in, &d) != ST_OK)
        fail_msg("%s", d.text);
    for (int exact = 0; exact < 2; exact++) {
        const struct onnx_options o = {.exact = exact != 0};
        const struct onnx_options literal = {.exact = exact != 0, .literal = true};

        if (onnx_import(a, "net", data, n, &o, &fused, &d) != ST_OK ||
            onnx_import(a, "net", data, n, &literal, &file, &d) != ST_OK ||
            ref_islands(a, file, exact != 0, &g, &d) != ST_OK)
            fail_msg("%s: %s", path, d.text);
        ref_islands_rows(g, fused);
        check_rows(path, fused, g);
        want = answer(a, fused, exact != 0, in, &n_want);
        found = answer(a, g, exact != 0, in, &n_found);
        assert_int_equal(n_want, n_found);
        if (memcmp(want, found, n_want) != 0)
            fail_msg("%s, exact %d: other bytes", path, exact);
    }
}

static void test_same_as_importer(void **state)
{
    (void)state;
    ir_each("tests/compiler/import/onnx/*/model.onnx", check_model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_file),
        cmocka_unit_test(test_same_as_importer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
