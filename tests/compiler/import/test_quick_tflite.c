/* test_quick_tflite.c - the importer on digits: the imported graph, and its refusals of damage.
 * Damage to the container changes the file's bytes; absurd contents are put into the plain structs
 * after the shim, where every value can be set. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "compiler/graph_passes.h"
#include "compiler/import/tflite/tfl_import.h"
#include "compiler/import/tflite/tflite.h"
#include "reference/ref.h"

static const char model_path[] = "tests/models/digits/model.tflite";

struct fixture {
    struct arena *a;
    uint8_t *data;
    size_t n;
    struct tfl_file *file;
    struct diag d;
};

static int open_model(void **state)
{
    struct arena *a = arena_new(0);
    struct fixture *f = ARENA_NEW(a, struct fixture);

    f->a = a;
    if (file_read(a, model_path, 1 << 24, &f->data, &f->n, &f->d) != ST_OK ||
        tfl_read(a, f->data, f->n, &f->file, &f->d) != ST_OK)
        return -1;
    *state = f;
    return 0;
}

static int close_model(void **state)
{
    arena_free(((struct fixture *)*state)->a);
    return 0;
}

/* Import the current `f->file`; it must fail with `st` and exactly `text`. */
static void refused(struct fixture *f, enum status st, const char *text)
{
    struct ir_graph *g;

    f->d = (struct diag){0};
    assert_int_equal(tfl_build(f->a, "digits", f->file, &g, &f->d), st);
    assert_string_equal(f->d.text, text);
}

static struct tfl_ints ints(struct fixture *f, uint32_t n, const int32_t *v)
{
    return (struct tfl_ints){n, arena_memdup(f->a, v, n * sizeof *v)};
}

static void test_rows(void **state)
{
    struct fixture *f = *state;
    const uint32_t last = f->file->n_operator - 1;
    struct ir_graph *g;

    assert_int_equal(tfl_import(f->a, "digits", f->data, f->n, &g, &f->d), ST_OK);
    assert_int_equal(ir_verify(g, "import", &f->d), ST_OK);
    assert_int_equal(g->n_row, f->file->n_operator);
    assert_string_equal(g->row[0].name, "00_conv2d");
    assert_string_equal(g->row[0].op, "CONV_2D");
    assert_int_equal(g->row[0].macs, ir_elements(ir_out(g, g->op[0], 0)) * 9);
    assert_string_equal(g->row[last].name, arena_printf(f->a, "%02u_softmax", last));
    assert_string_equal(g->row[last].shape, "1x10");
}

static void test_text_round_trip(void **state)
{
    struct fixture *f = *state;
    const struct lgl_options o = {.fc_scale = LGL_FC_CLASSIC};
    struct ir_graph *g, *again;
    struct text first, second;

    assert_int_equal(tfl_import(f->a, "digits", f->data, f->n, &g, &f->d), ST_OK);
    assert_int_equal(passes_run(g, &o, &f->d), ST_OK);
    text_init(&first, f->a);
    ir_print(g, &first);
    assert_int_equal(ir_parse(f->a, first.data, &again, &f->d), ST_OK);
    assert_int_equal(ir_verify(again, "parse", &f->d), ST_OK);
    text_init(&second, f->a);
    ir_print(again, &second);
    assert_string_equal(first.data, second.data);
}

/* Import the bytes and, if that succeeds, run everything up to one inference; only crashes
 * count. */
static void try_bytes(const uint8_t *data, size_t n, struct diag *d)
{
    struct arena *a = arena_new((size_t)64 << 20);
    const struct lgl_options o = {.fc_scale = LGL_FC_CLASSIC};
    struct ir_graph *g = NULL;
    jmp_buf exhausted;

    *d = (struct diag){0};
    if (setjmp(exhausted) == 0) {
        arena_on_exhausted(a, &exhausted);
        if (tfl_import(a, "x", arena_memdup(a, data, n), n, &g, d) == ST_OK &&
            ir_verify(g, "import", d) == ST_OK && passes_run(ir_copy(a, g), &o, d) == ST_OK &&
            g->n_in == 1 && g->n_out == 1) {
            const uint8_t *in = arena_alloc(a, (size_t)ir_bytes(g->tensor[g->in[0]]));
            uint8_t *out = arena_alloc(a, (size_t)ir_bytes(g->tensor[g->out[0]]));

            (void)ref_run(ref_new(a, g, &(struct ref_options){0}), &in, &out, d);
        }
    }
    arena_free(a);
}

static void test_not_a_model(void **state)
{
    static const uint8_t tiny[8] = {0x18, 0, 0, 0, 'T', 'F', 'L', '3'};
    struct diag d;

    (void)state;
    try_bytes((const uint8_t *)"", 0, &d);
    assert_string_equal(d.text, "the file is empty: expected a TFLite model");
    try_bytes((const uint8_t *)"hello, I am a text file\n", 24, &d);
    assert_string_equal(d.text, "not a TFLite file: expected the identifier 'TFL3' at byte 4 (24 "
                                "bytes read)");
    try_bytes((const uint8_t *)"abc", 3, &d);
    assert_int_equal(d.status, ST_MODEL);
    try_bytes(tiny, sizeof tiny, &d);
    assert_string_equal(d.text, "damaged or truncated TFLite file: its tables exceed "
                                "its 8 bytes");
}

static void test_truncated(void **state)
{
    struct fixture *f = *state;

    for (size_t i = 1; i < 16; i++) {
        try_bytes(f->data, f->n * i / 16, &f->d);
        assert_int_equal(f->d.status, ST_MODEL);
    }
}

/* Every fifth byte at both ends is flipped: an error message or another answer, never a crash. */
static void test_flipped_bytes(void **state)
{
    static const uint8_t mask[] = {0xff, 0x80, 0x01};
    struct fixture *f = *state;

    for (size_t i = 0; i < 8192 && i < f->n; i += 5) {
        const size_t at = i < 4096 ? i : f->n - 1 - (i - 4096);

        for (size_t k = 0; k < sizeof mask; k++) {
            f->data[at] ^= mask[k];
            try_bytes(f->data, f->n, &f->d);
            f->data[at] ^= mask[k];
        }
    }
}

static void test_header(void **state)
{
    struct fixture *f = *state;

    f->file->version = 2;
    refused(f, ST_UNSUPPORTED, "schema version: expected 3, found 2");
    f->file->version = 3;
    f->file->n_subgraph = 2;
    refused(f, ST_UNSUPPORTED, "expected 1 subgraph, found 2");
    f->file->n_subgraph = 1;
    f->file->n_operator = 100001;
    refused(f, ST_UNSUPPORTED, "expected at most 100000 operators, found 100001");
}

static void test_indices(void **state)
{
    struct fixture *f = *state;

    f->file->op[0].in = ints(f, 3, (const int32_t[]){9999, 1, 2});
    refused(f, ST_MODEL,
            arena_printf(f->a, "operator 0 CONV_2D: tensor index: expected 0 to %u, found 9999",
                         f->file->n_tensor - 1));
    f->file->op[0].in = ints(f, 3, (const int32_t[]){-2, 1, 2});
    refused(f, ST_MODEL,
            arena_printf(f->a, "operator 0 CONV_2D: tensor index: expected 0 to %u, found -2",
                         f->file->n_tensor - 1));
    f->file->op[0].in = ints(f, 3, (const int32_t[]){-1, 1, 2});
    refused(f, ST_MODEL, "operator 0 CONV_2D: input 0 is absent");
    f->file->op[0].in.n = 1;
    refused(f, ST_UNSUPPORTED, "operator 0 CONV_2D: expected 2 to 3 inputs, found 1");
    f->file->op[0].out.n = 0;
    f->file->op[0].in.n = 3;
    f->file->op[0].opcode_index = 77;
    refused(f, ST_MODEL,
            arena_printf(f->a, "operator 0: opcode index: expected below %u, found 77",
                         f->file->n_opcode));
}

static void test_unknown_operator(void **state)
{
    struct fixture *f = *state;

    f->file->opcode[f->file->op[4].opcode_index].name = "CUSTOM TFLite_Detection";
    refused(f, ST_UNSUPPORTED,
            "operator 4 CUSTOM TFLite_Detection: this operator is not supported ('heddle ops' "
            "lists those that are)");
}

/* Digits' first weights: the second input of operator 0. */
static struct tfl_tensor *weights_of(struct fixture *f)
{
    return &f->file->tensor[f->file->op[0].in.v[1]];
}

static void test_scales(void **state)
{
    static const float bad[] = {-1, INFINITY, NAN}; /* 0: all elements are zero points */
    struct fixture *f = *state;
    struct tfl_tensor *w = weights_of(f);

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        float *scale = arena_memdup(f->a, w->scale, w->n_scale * sizeof *scale);
        struct ir_graph *g;

        scale[3] = bad[i];
        w->scale = scale;
        f->d = (struct diag){0};
        assert_int_equal(tfl_build(f->a, "digits", f->file, &g, &f->d), ST_MODEL);
        assert_non_null(strstr(f->d.text, "scale 3: expected a positive number, found"));
    }
    {
        float *scale = arena_memdup(f->a, w->scale, w->n_scale * sizeof *scale);
        struct ir_graph *g;

        scale[3] = 0;
        w->scale = scale;
        assert_int_equal(tfl_build(f->a, "digits", f->file, &g, &f->d), ST_OK);
        assert_true(ir_in(g, g->op[0], 1)->quant.scale[3] > 0);
    }
    w->n_scale = 2;
    w->name = "w";
    refused(f, ST_MODEL,
            arena_printf(f->a,
                         "operator 0 CONV_2D: tensor %d 'w': expected as many zero points as "
                         "scales (2), found %u",
                         f->file->op[0].in.v[1], w->n_zero_point));
}

static void test_shapes(void **state)
{
    struct fixture *f = *state;
    struct tfl_tensor *x = &f->file->tensor[f->file->in.v[0]];

    x->name = "x";
    x->shape = ints(f, 4, (const int32_t[]){1, 65536, 65536, 16});
    refused(f, ST_MODEL,
            "graph input 0: tensor 0 'x': shape 1x65536x65536x16 of i8: expected at most "
            "2147483647 bytes");
    x->shape = ints(f, 4, (const int32_t[]){1, -1, 8, 1});
    refused(f, ST_UNSUPPORTED,
            "graph input 0: tensor 0 'x': dimension 1: expected a fixed size of "
            "at least 1, found -1");
    x->shape = ints(f, 4, (const int32_t[]){2, 8, 8, 1});
    refused(f, ST_MODEL,
            "operator 0 CONV_2D: output 'model_1/model/re_lu/Relu;model_1/model/"
            "batch_normalization/FusedBatchNormV3;mode': expected shape 2x8x8x16, found 1x8x8x16");
    x->shape = ints(f, 7, (const int32_t[]){1, 1, 1, 1, 1, 1, 1});
    refused(f, ST_UNSUPPORTED,
            "graph input 0: tensor 0 'x': expected at most 6 dimensions, found 7");
}

static void test_float_arithmetic(void **state)
{
    struct fixture *f = *state;

    for (uint32_t i = 0; i < f->file->n_tensor; i++) {
        struct tfl_tensor *t = &f->file->tensor[i];

        struct tfl_buffer *b = &f->file->buffer[t->buffer];

        if (t->type != 9) /* INT8 becomes FLOAT32 */
            continue;
        t->type = 0;
        b->n_bytes *= 4;
        b->data = arena_alloc(f->a, b->n_bytes);
    }
    f->file->tensor[f->file->in.v[0]].name = "x";
    refused(f, ST_UNSUPPORTED,
            "operator 0 CONV_2D: bias 'model_1/model/batch_normalization/FusedBatchNormV3': "
            "expected type f32, found i32");
}

/* Weights of the first convolution as float16 and int4: as `type`, with the bytes of `data`. */
static void repack(struct fixture *f, int32_t type, const char *name, const void *data, size_t n)
{
    struct tfl_tensor *w = weights_of(f);

    w->type = type;
    w->type_name = name;
    f->file->buffer[w->buffer].data = arena_memdup(f->a, data, n);
    f->file->buffer[w->buffer].n_bytes = n;
}

static void test_packed_constants(void **state)
{
    static const uint16_t half[9] = {0x0001, 0x83ff, 0x0400, 0x3c00, 0xc100,
                                     0x7bff, 0xfc00, 0x0000, 0x3555};
    static const float single[9] = {0x1p-24f, -0x1.ff8p-15f, 0x1p-14f, 1,          -2.5f,
                                    65504,    -INFINITY,     0,        0x1.554p-2f};
    static const uint8_t nibbles[5] = {0x80, 0x7f, 0x21, 0xfe, 0x03};
    static const int8_t values[9] = {0, -8, -1, 7, 1, 2, -2, -1, 3};
    struct fixture *f = *state;
    struct tfl_tensor *w = weights_of(f);
    struct tfl_importer m = {.arena = f->a, .file = f->file, .d = &f->d};
    const int32_t index = (int32_t)(w - f->file->tensor);
    uint32_t id;

    for (uint32_t k = 0; k < 2; k++) {
        m.g = ir_graph_new(f->a, "packed");
        m.copy = ARENA_ARRAY(f->a, const uint8_t *, f->file->n_buffer);
        m.tensor_id = ARENA_ARRAY(f->a, uint32_t, f->file->n_tensor);
        memset(m.tensor_id, 0xff, f->file->n_tensor * sizeof *m.tensor_id);
        w->n_scale = w->n_zero_point = 0;
        w->shape = ints(f, 2, (const int32_t[]){3, 3});
        repack(f, k ? 17 : 1, k ? "INT4" : "FLOAT16", k ? (const void *)nibbles : half,
               k ? sizeof nibbles : sizeof half);
        assert_int_equal(tfl_tensor(&m, index, &id), ST_OK);
        assert_int_equal(m.g->tensor[id]->type, k ? IR_I8 : IR_F32);
        assert_int_equal(m.g->tensor[id]->role, IR_CONST);
        if (k)
            assert_memory_equal(m.g->tensor[id]->data, values, sizeof values);
        else
            assert_memory_equal(m.g->tensor[id]->data, single, sizeof single);
    }
}

static void test_packed_refusals(void **state)
{
    static const uint8_t bytes[72] = {0};
    struct fixture *f = *state;

    repack(f, 17, "INT4", bytes, 7);
    refused(f, ST_MODEL,
            "operator 0 CONV_2D: tensor 21 'model_1/model/conv2d/Conv2D': buffer 22: expected 72 "
            "bytes for 16x3x3x1 of INT4, found 7");
    repack(f, 1, "FLOAT16", bytes, 0);
    refused(f, ST_UNSUPPORTED,
            "operator 0 CONV_2D: tensor 21 'model_1/model/conv2d/Conv2D': type FLOAT16 (1) of "
            "values that are not constant: expected it of constants");
}

static void test_buffers(void **state)
{
    struct fixture *f = *state;
    struct tfl_tensor *w = weights_of(f);

    w->name = "w";
    f->file->buffer[w->buffer].n_bytes--;
    refused(f, ST_MODEL,
            arena_printf(f->a,
                         "operator 0 CONV_2D: tensor %d 'w': buffer %u: expected %zu bytes for %s "
                         "of i8, found %zu",
                         f->file->op[0].in.v[1], w->buffer, f->file->buffer[w->buffer].n_bytes + 1,
                         ir_shape_text(f->a, w->shape.n, w->shape.v),
                         f->file->buffer[w->buffer].n_bytes));
    w->buffer = 12345;
    f->d = (struct diag){0};
    assert_int_equal(f->file->n_buffer < 12345, 1);
    refused(f, ST_MODEL,
            arena_printf(f->a,
                         "operator 0 CONV_2D: tensor %d 'w': buffer index: expected below %u, "
                         "found 12345",
                         f->file->op[0].in.v[1], f->file->n_buffer));
}

static void test_options(void **state)
{
    struct fixture *f = *state;
    struct tfl_options *o = &f->file->op[0].options;

    o->stride_h = 0;
    refused(f, ST_MODEL,
            "operator 0 CONV_2D: expected kernel, stride and dilation of at least 1, "
            "found 3x3, 0x1, 1x1");
    o->stride_h = 1;
    o->padding = 2;
    refused(f, ST_MODEL, "operator 0 CONV_2D: padding: expected SAME (0) or VALID (1), found 2");
    o->padding = 0;
    o->activation = 4;
    refused(f, ST_UNSUPPORTED,
            "operator 0 CONV_2D: fused activation: expected NONE, RELU, "
            "RELU_N1_TO_1 or RELU6, found 4");
    o->present = false;
    refused(f, ST_MODEL, "operator 0 CONV_2D: options: expected Conv2DOptions, found NONE");
}

/* Bias scales are compared with those that LiteRT's kernels assume. */
static void test_bias_scale(void **state)
{
    struct fixture *f = *state;
    const struct tfl_operator *op = &f->file->op[0];
    struct tfl_tensor *b = &f->file->tensor[op->in.v[2]], *y = &f->file->tensor[op->out.v[0]];
    struct tfl_buffer *values = &f->file->buffer[b->buffer];
    float *scale = arena_memdup(f->a, b->scale, b->n_scale * sizeof *scale);
    struct ir_graph *g;

    assert_int_equal(tfl_build(f->a, "digits", f->file, &g, &f->d), ST_OK);
    assert_int_equal(g->bias_note.n, 0);
    b->scale = scale;
    values->data = arena_memdup(f->a, values->data, values->n_bytes);
    for (uint32_t k = 0; k < 3; k++) {
        /* 1.9 % of the output's scale, 2.1 %, the same for a value that is 0. */
        scale[3] = f->file->tensor[op->in.v[0]].scale[0] * weights_of(f)->scale[3] +
                   y->scale[0] * (k ? 0.021f : 0.019f);
        memcpy((uint8_t *)(uintptr_t)values->data + 12, &(int32_t){k < 2}, 4);
        assert_int_equal(tfl_build(f->a, "digits", f->file, &g, &f->d), ST_OK);
        assert_int_equal(g->bias_note.n, k == 1);
    }
}

static void test_wrong_shape(void **state)
{
    struct fixture *f = *state;
    struct tfl_tensor *y = &f->file->tensor[f->file->op[0].out.v[0]];

    y->name = "y";
    y->shape = ints(f, 4, (const int32_t[]){1, 5, 7, 3});
    f->d = (struct diag){0};
    struct ir_graph *g;
    assert_int_equal(tfl_build(f->a, "digits", f->file, &g, &f->d), ST_MODEL);
    assert_non_null(strstr(f->d.text, "operator 0 CONV_2D: output 'y': expected shape"));
    assert_non_null(strstr(f->d.text, "found 1x5x7x3"));
}

/* Names are kept unchanged, whatever they contain. */
static void test_hostile_names(void **state)
{
    struct fixture *f = *state;
    char *name = arena_alloc(f->a, 65537);
    struct ir_graph *g, *again;
    struct text t;

    for (size_t i = 0; i < 65535; i += 3)
        memcpy(name + i, "\xe2\x82\xac", 3);
    f->file->tensor[f->file->op[0].out.v[0]].name = "*/ <script>\n\"\\ ?";
    f->file->tensor[f->file->op[1].out.v[0]].name = name;
    assert_int_equal(tfl_build(f->a, "digits", f->file, &g, &f->d), ST_OK);
    assert_string_equal(g->row[0].tensor, "*/ <script>\n\"\\ ?");
    text_init(&t, f->a);
    ir_print(g, &t);
    assert_int_equal(ir_parse(f->a, t.data, &again, &f->d), ST_OK);
    assert_string_equal(again->row[0].tensor, g->row[0].tensor);
    assert_string_equal(again->row[1].tensor, name);
}

#define WITH_MODEL(test) cmocka_unit_test_setup_teardown(test, open_model, close_model)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MODEL(test_rows),
        WITH_MODEL(test_text_round_trip),
        cmocka_unit_test(test_not_a_model),
        WITH_MODEL(test_truncated),
        WITH_MODEL(test_flipped_bytes),
        WITH_MODEL(test_header),
        WITH_MODEL(test_indices),
        WITH_MODEL(test_unknown_operator),
        WITH_MODEL(test_scales),
        WITH_MODEL(test_shapes),
        WITH_MODEL(test_float_arithmetic),
        WITH_MODEL(test_packed_constants),
        WITH_MODEL(test_packed_refusals),
        WITH_MODEL(test_buffers),
        WITH_MODEL(test_options),
        WITH_MODEL(test_bias_scale),
        WITH_MODEL(test_wrong_shape),
        WITH_MODEL(test_hostile_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
