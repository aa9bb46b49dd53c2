/* Notes about biases whose scale is not that of the input times that of the weights. */
// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on

#include "compiler/import/onnx/onnx.h"
#include "onnx_builder.h"

/* A Conv of x (scale 0.5) by three weights of scales 0.5, 0.25, 0.125 with biases 1, 0, 2 of `scale`: the
 * number of notes. */
static uint32_t notes(struct arena *a, const float scale[3])
{
    const int64_t image[] = {1, 1, 2, 2}, result[] = {1, 3, 2, 2}, kernel[] = {3, 1, 1, 1},
                  three[] = {3};
    const float ws[] = {0.5f, 0.25f, 0.125f};
    const struct onnx_options o = {0};
    struct builder *b = b_new(a, 13);
    struct diag d = {0};
    struct ir_graph *g;
    size_t n;

    b_input(b, "x", 3, 4, image);
    b_output(b, "y", 3, 4, result);
    b_float(b, "xs", 0.5f);
    b_float(b, "ys", 2.0f);
    b_i8(b, "z", 0);
    b_const(b, "w", 3, 4, kernel, (const int8_t[]){1, 2, 3}, 3);
    b_const(b, "ws", 1, 1, three, ws, sizeof ws);
    b_const(b, "b", 6, 1, three, (const int32_t[]){1, 0, 2}, 12);
    b_const(b, "bs", 1, 1, three, scale, 12);
    b_node(b, "DequantizeLinear", "x xs z", "xd");
    b_int(b, b_node(b, "DequantizeLinear", "w ws", "wd"), "axis", 0);
    b_int(b, b_node(b, "DequantizeLinear", "b bs", "bd"), "axis", 0);
    b_node(b, "Conv", "xd wd bd", "c");
    b_node(b, "QuantizeLinear", "c ys z", "y");
    const uint8_t *data = b_pack(b, &n);
    assert_int_equal(onnx_import(a, "bias", data, n, &o, &g, &d), ST_OK);
    if (g->bias_note.n) {
        assert_string_equal(g->bias_note.name, "00_conv2d");
        assert_true(g->bias_note.found == 0.125 && g->bias_note.product == 0.0625);
    }
    return g->bias_note.n;
}

/* A bias of 0 is 0 in any scale. */
static void test_notes(void **state)
{
    struct arena *a = arena_new((size_t)64 << 20);

    (void)state;
    assert_int_equal(notes(a, (const float[]){0.25f, 0.125f, 0.0625f}), 0);
    assert_int_equal(notes(a, (const float[]){0.25f, 1, 0.0625f}), 0);
    assert_int_equal(notes(a, (const float[]){0.25f, 0.125f, 0.125f}), 1);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_notes)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
