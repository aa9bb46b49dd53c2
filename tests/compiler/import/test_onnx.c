/* test_onnx.c - the ONNX importer on a small QDQ model: the imported graph. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/file.h"
#include "compiler/graph_passes.h"
#include "onnx_small.h"
#include "reference/ref.h"

/* --- the imported graph --- */

static void test_import(void **state)
{
    struct arena *a = arena_new((size_t)64 << 20);
    const struct onnx_options o = {0};
    struct ir_graph *g;
    struct diag d;
    uint32_t n_conv = 0;

    (void)state;
    assert_int_equal(import(a, small(a), &o, &g, &d), ST_OK);
    assert_int_equal(ir_verify(g, "import", &d), ST_OK);
    assert_int_equal(g->n_row, 3);
    assert_string_equal(g->row[0].op, "QuantizeLinear");
    assert_string_equal(g->row[1].name, "01_conv2d");
    assert_string_equal(g->row[1].op, "Conv");
    assert_string_equal(g->row[1].tensor, "yq");
    assert_string_equal(g->row[1].shape, "1x3x4x4");
    assert_int_equal(g->row[1].macs, 3 * 4 * 4 * 18);
    for (uint32_t i = 0; i < g->n_op; i++)
        if (g->op[i]->opcode == IR_OP_CONV2D) {
            const struct ir_tensor *w = ir_in(g, g->op[i], 1);

            n_conv++;
            assert_int_equal(g->op[i]->attr[IR_ACTIVATION], IR_ACT_RELU);
            assert_int_equal(w->dim[0], 3);
            assert_int_equal(w->dim[3], 2);
            assert_int_equal((int8_t)w->data[0], -27);
            assert_int_equal((int8_t)w->data[1], -18); /* the next channel, NHWC */
            assert_true(w->quant.n == 3 && w->quant.scale[2] == 0.125f);
        }
    assert_int_equal(n_conv, 1);
    arena_free(a);
}

/* MACs are the file's: zeros between dilated taps do not count, nor does an average that became a
 * convolution. */
static void test_macs(void **state)
{
    struct arena *a = arena_new((size_t)64 << 20);
    const struct onnx_options o = {0};
    struct builder *b = b_new(a, 13);
    const float w[2 * 3 * 2 * 2] = {1};
    Onnx__NodeProto *conv, *pool;
    struct ir_graph *g;
    struct diag d;

    (void)state;
    b_input(b, "x", 1, 4, DIM(1, 2, 4, 4));
    b_input(b, "i", 3, 2, DIM(3, 11));
    b_input(b, "k", 3, 2, DIM(11, 5));
    b_output(b, "y", 1, 4, DIM(1, 3, 7, 7));
    b_output(b, "p", 3, 4, DIM(1, 2, 4, 4));
    b_output(b, "s", 6, 2, DIM(3, 5));
    b_const(b, "w", 1, 4, DIM(2, 3, 2, 2), w, sizeof w);
    b_float(b, "xs", 0.5f);
    b_i8(b, "xz", 3);
    b_float(b, "ps", 0.25f);
    conv = b_node(b, "ConvTranspose", "x w", "y");
    b_ints(b, conv, "dilations", 2, DIM(3, 3));
    b_node(b, "QuantizeLinear", "x xs xz", "xq");
    b_node(b, "DequantizeLinear", "xq xs xz", "xd");
    pool = b_node(b, "AveragePool", "xd", "pf");
    b_ints(b, pool, "kernel_shape", 2, DIM(3, 3));
    b_ints(b, pool, "pads", 4, DIM(1, 1, 1, 1));
    b_int(b, pool, "count_include_pad", 1);
    b_node(b, "QuantizeLinear", "pf ps xz", "p");
    b_node(b, "MatMulInteger", "i k", "s");
    if (import(a, b, &o, &g, &d) != ST_OK)
        fail_msg("%s", d.text);
    for (uint32_t i = 0; i < g->n_row; i++) {
        uint64_t macs = strcmp(g->row[i].op, "ConvTranspose") == 0   ? 4 * 4 * 2 * 3 * 2 * 2
                        : strcmp(g->row[i].op, "MatMulInteger") == 0 ? 3 * 5 * 11
                                                                     : 0;
        if (g->row[i].macs != macs)
            fail_msg("%s: expected %llu MACs, found %llu", g->row[i].op, (unsigned long long)macs,
                     (unsigned long long)g->row[i].macs);
    }
    arena_free(a);
}

/* By hand: y = relu(sum) with both roundings, through every pass. */
static void test_arithmetic(void **state)
{
    static const enum lgl_rounding both[2] = {LGL_ROUND_TFLITE, LGL_ROUND_ONNX};

    (void)state;
    for (int k = 0; k < 2; k++) {
        struct arena *a = arena_new((size_t)64 << 20);
        const struct lgl_options lgl = {.rounding = both[k]};
        const struct onnx_options o = {0};
        float x[32], y[48], want = 0;
        const uint8_t *in = (const uint8_t *)x;
        uint8_t *out = (uint8_t *)y;
        struct ir_graph *g;
        struct diag d;

        for (int i = 0; i < 32; i++)
            x[i] = (float)(i % 7) - 2;
        assert_int_equal(import(a, small(a), &o, &g, &d), ST_OK);
        assert_int_equal(passes_run(g, &lgl, &d), ST_OK);
        for (uint32_t i = 0; i < g->n_op; i++)
            assert_int_not_equal(g->op[i]->opcode == IR_OP_TRANSPOSE && i > 2 && i + 3 < g->n_op,
                                 1);
        assert_int_equal(
            ref_run(ref_new(a, g, &(struct ref_options){.legalised = true}), &in, &out, &d), ST_OK);
        for (int c = 0; c < 2; c++) /* output channel 2, pixel (1, 1): weights 9 to 26, 1/8 each */
            for (int i = 0; i < 9; i++)
                want += x[c * 16 + i / 3 * 4 + i % 3] * (float)(9 + c * 9 + i) / 8;
        assert_true(fabsf(y[2 * 16 + 5] - want) <= 1);
        assert_true(y[2 * 16 + 5] > 0);
        arena_free(a);
    }
}

/* A result without a following QuantizeLinear is float32: the sums of quantised values times their scales, and the bias;
 * so are the operators that read it. */
static void test_float(void **state)
{
    static const char *const output[] = {"c", "y", "x"};

    (void)state;
    for (int k = 0; k < 3; k++) {
        struct arena *a = arena_new((size_t)64 << 20);
        struct builder *b = small(a);
        const struct onnx_options o = {0};
        struct ir_graph *g;
        struct diag d;
        int n_float = 0, n_sums = 0;

        b->out[0]->name = b_text(b, output[k]);
        if (k == 2)
            b->out[0]->type = NULL;
        if (k == 1)
            b->node[CONV]->input[0] = b_text(b, "x");
        assert_int_equal(import(a, b, &o, &g, &d), ST_OK);
        assert_int_equal(ir_verify(g, "import", &d), ST_OK);
        for (uint32_t i = 0; i < g->n_op; i++)
            n_float += g->op[i]->opcode == IR_OP_CONV2D && ir_in(g, g->op[i], 0)->type == IR_F32;
        for (uint32_t i = 0; i < g->n_op; i++)
            n_sums += g->op[i]->opcode == IR_OP_CONV_INTEGER;
        assert_int_equal(n_float, k == 1);
        assert_int_equal(n_sums, k == 0);
        assert_int_equal(ir_in(g, g->op[g->n_op - 1], 0)->role == IR_INPUT, k == 2);
        arena_free(a);
    }
}

/* Return output 0 as floats of the graph in `b`. */
static void floats_of(struct arena *a, struct builder *b, const void *x, float *y)
{
    const struct onnx_options o = {0};
    const struct ref_options r = {0};
    const uint8_t *in = x;
    uint8_t *out = (uint8_t *)y;
    struct ir_graph *g;
    struct diag d;

    if (import(a, b, &o, &g, &d) != ST_OK || ref_run(ref_new(a, g, &r), &in, &out, &d) != ST_OK)
        fail_msg("%s", d.text);
}

/* A constant that no scale can represent, as in masks of attention. */
static void test_infinite_constant(void **state)
{
    struct arena *a = arena_new((size_t)64 << 20);
    struct builder *b = b_new(a, 13);
    const float x[2] = {-1, 2};
    float y[2];

    (void)state;
    b_input(b, "x", 1, 1, DIM(2));
    b_output(b, "y", 1, 1, DIM(2));
    b_float(b, "zero", 0);
    b_float(b, "mask", -INFINITY);
    b_node(b, "Less", "x zero", "c");
    b_node(b, "Where", "c mask x", "y");
    floats_of(a, b, x, y);
    assert_true(y[0] == -INFINITY && y[1] == 2);
    arena_free(a);
}

/* A Resize that changes no size leaves quantised values unchanged; the literal graph keeps it
 * nevertheless, as a reader of its input. */
static void test_resize_to_the_same(void **state)
{
    struct arena *a = arena_new((size_t)64 << 20);
    struct builder *b = b_new(a, 13);
    const float ones[4] = {1, 1, 1, 1};
    const struct onnx_options o = {0}, literal = {.literal = true};
    Onnx__NodeProto *resize;
    struct ir_graph *g;
    struct diag d;

    (void)state;
    b_input(b, "x", 3, 4, DIM(1, 2, 3, 3));
    b_output(b, "y", 3, 4, DIM(1, 2, 3, 3));
    b_float(b, "xs", 0.5f);
    b_float(b, "ys", 0.75f);
    b_i8(b, "z", 3);
    b_const(b, "ones", 1, 1, DIM(4), ones, sizeof ones);
    b_node(b, "DequantizeLinear", "x xs z", "r");
    resize = b_node(b, "Resize", "r - ones", "s");
    b_attr(b, resize, "mode")->has_s = 1;
    resize->attribute[0]->s = (ProtobufCBinaryData){6, (uint8_t *)b_text(b, "linear")};
    b_node(b, "QuantizeLinear", "s ys z", "y");
    if (import(a, b, &o, &g, &d) != ST_OK)
        fail_msg("%s", d.text);
    assert_int_equal(g->n_op, 1);
    assert_int_equal(g->op[0]->opcode, IR_OP_QUANTIZE);
    assert_int_equal(ir_in(g, g->op[0], 0)->type, IR_I8);
    assert_int_equal(import(a, b, &literal, &g, &d), ST_OK);
    assert_int_equal(g->n_op, 3);
    assert_int_equal(g->op[1]->opcode, IR_OP_RESHAPE);
    arena_free(a);
}

/* A product with an integer bias, followed by an Add: (4 * 3 + 10) / 2 + 1000. */
static void test_add_behind_qgemm(void **state)
{
    struct arena *a = arena_new((size_t)64 << 20);
    struct builder *b = b_new(a, 13);
    const int32_t bias = 10;
    const float more = 1000;
    const int8_t x = 4;
    float y;

    (void)state;
    b_input(b, "x", 3, 2, DIM(1, 1));
    b_output(b, "y", 1, 2, DIM(1, 1));
    b_float(b, "xs", 0.5f);
    b_float(b, "ws", 1);
    b_i8(b, "z", 0);
    b_const(b, "w", 3, 2, DIM(1, 1), (const int8_t[]){3}, 1);
    b_const(b, "b", 6, 1, DIM(1), &bias, sizeof bias);
    b_const(b, "more", 1, 1, DIM(1), &more, sizeof more);
    b_node(b, "QGemm", "x xs z w ws z b", "g")->domain = b_text(b, "com.microsoft");
    b_node(b, "Add", "g more", "y");
    floats_of(a, b, &x, &y);
    assert_true(y == 1011);
    arena_free(a);
}

/* Weights with scales along the summed dimension are float32; alpha is applied once: (3 + 2 * 4) /
 * 2. */
static void test_gemm_alpha(void **state)
{
    struct arena *a = arena_new((size_t)64 << 20);
    struct builder *b = b_new(a, 13);
    const float x[2] = {1, 1}, scale[2] = {1, 2};
    Onnx__NodeProto *gemm;
    float y;

    (void)state;
    b_input(b, "x", 1, 2, DIM(1, 2));
    b_output(b, "y", 1, 2, DIM(1, 1));
    b_const(b, "w", 3, 2, DIM(2, 1), (const int8_t[]){3, 4}, 2);
    b_const(b, "ws", 1, 1, DIM(2), scale, sizeof scale);
    b_const(b, "wz", 3, 1, DIM(2), (const int8_t[2]){0}, 2);
    b_int(b, b_node(b, "DequantizeLinear", "w ws wz", "wd"), "axis", 0);
    gemm = b_node(b, "Gemm", "x wd", "y");
    b_attr(b, gemm, "alpha")->has_f = 1;
    gemm->attribute[0]->f = 0.5f;
    floats_of(a, b, x, &y);
    assert_true(y == 5.5f);
    arena_free(a);
}

/* A mean that only a reshaped and reordered copy quantises is computed in its scale; with a second reader
 * of the copy in float32. */
static void test_moved_result(void **state)
{
    const struct onnx_options o = {0};

    (void)state;
    for (int readers = 1; readers <= 2; readers++) {
        struct arena *a = arena_new((size_t)64 << 20);
        struct builder *b = b_new(a, 13);
        struct ir_graph *g;
        struct diag d;

        b_input(b, "x", 3, 4, DIM(1, 2, 4, 4));
        b_output(b, "y", 3, 2, DIM(2, 1));
        b_float(b, "xs", 0.5f);
        b_i8(b, "xz", 3);
        b_float(b, "ys", 0.25f);
        b_i8(b, "yz", -5);
        b_const(b, "shape", 7, 1, DIM(2), (const int64_t[]){1, 2}, 2 * sizeof(int64_t));
        b_node(b, "DequantizeLinear", "x xs xz", "xd");
        b_ints(b, b_node(b, "ReduceMean", "xd", "m"), "axes", 2, DIM(2, 3));
        b_node(b, "Reshape", "m shape", "r");
        b_ints(b, b_node(b, "Transpose", "r", "t"), "perm", 2, DIM(1, 0));
        b_node(b, "QuantizeLinear", "t ys yz", "y");
        if (readers > 1)
            b_output(b, "t", 1, 2, DIM(2, 1));
        assert_int_equal(import(a, b, &o, &g, &d), ST_OK);
        assert_int_equal(ir_verify(g, "import", &d), ST_OK);
        for (uint32_t i = 0; i < g->n_op; i++)
            if (g->op[i]->opcode == IR_OP_MEAN) {
                const struct ir_tensor *mean = ir_out(g, g->op[i], 0);

                assert_int_equal(mean->type, readers > 1 ? IR_F32 : IR_I8);
                assert_true(readers > 1 || mean->quant.scale[0] == 0.25f);
            }
        assert_int_equal(ir_out(g, g->op[g->n_op - 1], 0)->dim[0], 2);
        arena_free(a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_import),
        cmocka_unit_test(test_macs),
        cmocka_unit_test(test_arithmetic),
        cmocka_unit_test(test_float),
        cmocka_unit_test(test_infinite_constant),
        cmocka_unit_test(test_resize_to_the_same),
        cmocka_unit_test(test_add_behind_qgemm),
        cmocka_unit_test(test_gemm_alpha),
        cmocka_unit_test(test_moved_result),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
