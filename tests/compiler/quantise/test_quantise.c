/* Scales, ranges, weights, biases and the file's bytes, against numbers computed by hand and plain
 * formulas. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "compiler/quantise/onnx_bytes.h"
#include "compiler/quantise/quant_own.h"

/* 3 inputs, 2 outputs, one pixel: y = w x + b. */
static const char text[] =
    "heddle-ir 1 graph name=\"net\"\n"
    "row 0 name=\"00_conv2d\" op=\"Conv\" tensor=\"y\" shape=\"1x1x1x2\" macs=6\n"
    "tensor 0 f32 [1,1,1,3] input name=\"x\"\n"
    "tensor 1 f32 [2,1,1,3] const name=\"w\" "
    "data=0000803fcdcccc3e9a9999bf000000000000403f0000003f\n"
    "tensor 2 f32 [2] const name=\"b\" data=0000803f00000000\n"
    "tensor 3 f32 [1,1,1,2] value name=\"y\"\n"
    "op conv2d row=0 in=(0,1,2) out=(3) stride_h=1 stride_w=1 dilation_h=1 dilation_w=1 kernel_h=1 "
    "kernel_w=1\n"
    "border in=(0) out=(3)\n";
static const float w[2][3] = {{1.0f, 0.4f, -1.2f}, {0, 0.75f, 0.5f}};
static const float x[2][3] = {{1, 2, 3}, {0.5f, -1, 2.5f}};

struct fixture {
    struct arena *arena;
    struct quant_job job;
    const uint8_t *in[1];
    struct quant_seen *seen;
    bool keep[2];
    struct diag d;
};

static struct fixture *open_fixture(struct arena *a, struct quant_options options)
{
    struct fixture *f = ARENA_NEW(a, struct fixture);
    struct ir_graph *g;

    assert_int_equal(ir_parse(a, text, &g, &f->d), ST_OK);
    f->arena = a;
    f->in[0] = (const uint8_t *)x;
    f->job = (struct quant_job){a, g, options, {2, f->in, "x"}, NULL, NULL};
    assert_int_equal(quant_see(&f->job, &f->seen, &f->d), ST_OK);
    return f;
}

static struct quant make(struct fixture *f)
{
    struct quant q = {.arena = f->arena,
                      .g = f->job.g,
                      .options = &f->job.options,
                      .seen = f->seen,
                      .keep = f->keep};

    assert_int_equal(quant_make(&q, &f->d), ST_OK);
    return q;
}

static void a_scale_spans_the_range_and_0(void **state)
{
    const struct quant_limits none = {0};
    const struct quant_scale s[] = {quant_scale_of(0, 6, none), quant_scale_of(-1, 1, none),
                                    quant_scale_of(2, 5.1, none), quant_scale_of(-3, -1, none),
                                    quant_scale_of(0, 0, none)};

    (void)state;
    assert_true(fabsf(s[0].scale - 6.0f / 255) < 1e-7f);
    assert_int_equal(s[0].zero, -128);
    assert_true(fabsf(s[1].scale - 2.0f / 255) < 1e-8f);
    assert_in_range(s[1].zero + 1, 0, 1); /* -0.5, to even */
    assert_true(fabsf(s[2].scale - 0.02f) < 1e-7f);
    assert_int_equal(s[2].zero, -128);
    assert_int_equal(s[3].zero, 127);
    assert_true(s[4].scale > 0);
    assert_true(quant_rounded(s[0], 7) <= 6.0001f && quant_rounded(s[0], 7) >= 5.9999f);
    assert_true(quant_rounded(s[0], -7) == 0);
}

/* Powers of two, upwards; without zero points from -127 to 127. */
static void a_scale_obeys_the_limits_of_a_target(void **state)
{
    const struct quant_limits shifts = {.power_of_two = true}, zero = {.no_zero = true},
                              both = {.power_of_two = true, .no_zero = true};
    const struct quant_scale s[] = {quant_scale_of(-1, 3, shifts), quant_scale_of(-1, 3, zero),
                                    quant_scale_of(-1, 3, both), quant_scale_of(0, 127, both),
                                    quant_scale_of(-127.5, 0, both)};

    (void)state;
    assert_true(s[0].scale == 0x1p-5f && s[0].zero == -96); /* 4 / 255 = 1.004 / 64 */
    assert_true(fabsf(s[1].scale - 3.0f / 127) < 1e-7f && s[1].zero == 0);
    assert_true(s[2].scale == 0x1p-5f && s[2].zero == 0); /* 3 / 127 is 1.51 / 64 */
    assert_true(s[3].scale == 1 && s[4].scale == 2);
}

/* Both channels have the scale of the greater weight, 1.2 / 127, rounded up to 1 / 64. */
static void weights_obey_the_limits_of_a_target(void **state)
{
    struct arena *a = arena_new(0);
    struct fixture *f = open_fixture(
        a, (struct quant_options){.ranges = QUANT_MINMAX, .limits = {true, true, true}});
    const struct quant q = make(f);
    const struct quant_weights *k = &q.weights[0];

    (void)state;
    assert_true(q.scale[0].scale == 0x1p-5f && q.scale[0].zero == 0 && q.scale[3].zero == 0);
    for (int c = 0; c < 2; c++) {
        assert_true(k->scale[c] == 0x1p-6f && k->bias_scale[c] == 0x1p-11f);
        for (int i = 0; i < 3; i++)
            assert_int_equal(k->code[3 * c + i], lrintf(w[c][i] * 64));
    }
    arena_free(a);
}

/* 9,990 values up to 1 and 10 of 100. */
static void an_outlier_is_left_out(void **state)
{
    struct arena *a = arena_new(0);
    struct fixture *f = open_fixture(a, (struct quant_options){.ranges = QUANT_PERCENTILE});
    struct quant_seen *s = &f->seen[0];

    (void)state;
    assert_non_null(s->bin);
    memset(s->bin, 0, QUANT_BINS * sizeof *s->bin);
    s->low = 0;
    s->high = 100;
    for (int i = 0; i < 20; i++)
        s->bin[i] = i < 10 ? 500 : 499;
    s->bin[QUANT_BINS - 1] = 10;
    f->job.options.percentile = 99.5; /* 25 at each end */
    assert_true(make(f).scale[0].scale * 255 < 1.1f);
    f->job.options.percentile = 99.9; /* 5 at each end */
    assert_true(make(f).scale[0].scale * 255 > 99);
    f->job.options.ranges = QUANT_MSE; /* clamping 10 values costs more than steps of 0.4 for all */
    const float all = make(f).scale[0].scale * 255;
    s->bin[QUANT_BINS - 1] = 0;
    s->bin[5] = 1000000;
    const float few = make(f).scale[0].scale * 255;
    assert_true(all > 50 && few < 4);
    arena_free(a);
}

static void weights_and_biases_are_the_formulas(void **state)
{
    struct arena *a = arena_new(0);
    struct fixture *f = open_fixture(a, (struct quant_options){.ranges = QUANT_MINMAX});
    const struct quant q = make(f);
    const struct quant_weights *k = &q.weights[0];
    const float largest[2] = {1.2f, 0.75f}, bias[2] = {1, 0};

    (void)state;
    assert_true(q.op[0] && q.tensor[0] && q.tensor[3] && k->n == 2);
    assert_true(fabsf(q.scale[0].scale - 4.0f / 255) < 1e-7f); /* -1 to 3 */
    for (int c = 0; c < 2; c++) {
        assert_true(fabsf(k->scale[c] - largest[c] / 127) < 1e-7f);
        for (int i = 0; i < 3; i++)
            assert_int_equal(k->code[3 * c + i], lrintf(w[c][i] * 127 / largest[c]));
        assert_int_equal(k->bias[c], lrintf(bias[c] / (k->scale[c] * q.scale[0].scale)));
    }
    arena_free(a);
}

/* The mean of each output over the samples equals that of the float network, up to a step of the
 * bias. */
static void corrected_biases_keep_the_mean(void **state)
{
    struct arena *a = arena_new(0);
    struct fixture *f =
        open_fixture(a, (struct quant_options){.ranges = QUANT_MINMAX, .bias_correction = true});
    const struct quant q = make(f);
    const struct quant_weights *k = &q.weights[0];

    (void)state;
    for (int c = 0; c < 2; c++) {
        double off = (c == 0 ? 1.0 : 0.0) - (double)k->bias[c] * (double)k->bias_scale[c];

        for (int i = 0; i < 3; i++)
            off += ((double)w[c][i] - (double)k->scale[c] * k->code[3 * c + i]) *
                   (double)(x[0][i] + x[1][i]) / 2;
        assert_true(fabs(off) <= 0.51 * (double)k->bias_scale[c]);
    }
    arena_free(a);
}

static void kept_layers_have_no_scales(void **state)
{
    struct arena *a = arena_new(0);
    struct fixture *f = open_fixture(a, (struct quant_options){.ranges = QUANT_MINMAX});

    (void)state;
    f->keep[0] = true;
    const struct quant q = make(f);
    assert_true(!q.op[0] && !q.tensor[0] && !q.tensor[3] && q.weights[0].n == 0);
    assert_string_equal(q.reason[0], "kept");
    arena_free(a);
}

static void messages_are_tagged_bytes(void **state)
{
    static const uint8_t node[] = {0x0a, 26,  0x0a, 1,    'a',  0x12, 1,    'b', 0x22, 4,
                                   'R',  'e', 'l',  'u',  0x2a, 12,   0x0a, 4,   'a',  'x',
                                   'i',  's', 0x18, 0xac, 2,    0xa0, 1,    2}; /* 300: 0xac 2 */
    struct arena *a = arena_new(0);
    struct text t, attributes;

    (void)state;
    text_init(&t, a);
    text_init(&attributes, a);
    onnx_attr_int(&attributes, "axis", 300);
    onnx_node(
        &t, &(struct onnx_node){.op = "Relu", .in = {"a"}, .out = "b", .attributes = &attributes});
    assert_int_equal(t.length, sizeof node);
    assert_memory_equal(t.data, node, sizeof node);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scale_spans_the_range_and_0),
        cmocka_unit_test(a_scale_obeys_the_limits_of_a_target),
        cmocka_unit_test(weights_obey_the_limits_of_a_target),
        cmocka_unit_test(an_outlier_is_left_out),
        cmocka_unit_test(weights_and_biases_are_the_formulas),
        cmocka_unit_test(corrected_biases_keep_the_mean),
        cmocka_unit_test(kept_layers_have_no_scales),
        cmocka_unit_test(messages_are_tagged_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
