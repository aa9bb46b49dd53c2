/* test_onnx_damage.c - a distinct message for each kind of damage to a small QDQ model, within
 * 64 MiB and 100 ms (times ten under sanitizers). */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "compiler/graph_passes.h"
#include "onnx_small.h"
#include "reference/ref.h"

/* --- damage --- */

struct damage {
    const char *what;
    void (*make)(struct builder *b);
    enum status status;
    const char *text;
};

#define NODE(b, i) ((b)->node[i])

static void no_opset(struct builder *b)
{
    b->model.n_opset_import = 0;
}
static void old_opset(struct builder *b)
{
    b->opset[0].version = 6;
}
static void no_graph(struct builder *b)
{
    b->model.graph = NULL;
}
static void many_nodes(struct builder *b)
{
    b->graph.n_node = 100001;
    b->graph.node = ARENA_ARRAY(b->a, Onnx__NodeProto *, b->graph.n_node);
    for (size_t i = 0; i < b->graph.n_node; i++)
        b->graph.node[i] = NODE(b, 0);
}
static void no_inputs(struct builder *b)
{
    b->graph.n_input = 0;
}
static void no_outputs(struct builder *b)
{
    b->graph.n_output = 0;
}
static void sparse(struct builder *b)
{
    static Onnx__SparseTensorProto s = ONNX__SPARSE_TENSOR_PROTO__INIT, *list[1] = {&s};

    b->graph.sparse_initializer = list;
    b->graph.n_sparse_initializer = 1;
}
static void twice_made(struct builder *b)
{
    NODE(b, RELU)->output[0] = b_text(b, "c");
}
static void twice_initialised(struct builder *b)
{
    b->init[XZ]->name = b_text(b, "xs");
}
static void nameless(struct builder *b)
{
    b->init[XS]->name = b_text(b, "");
}
static void initialiser_made(struct builder *b)
{
    b->init[YS]->name = b_text(b, "c");
}
static void input_made(struct builder *b)
{
    b->in[0]->name = b_text(b, "c");
}
static void input_twice(struct builder *b)
{
    b_input(b, "x", 1, 4, DIM(1, 2, 4, 4));
}
static void cycle(struct builder *b)
{
    NODE(b, CONV)->input[0] = b_text(b, "r");
}
static void self_cycle(struct builder *b)
{
    NODE(b, CONV)->input[0] = b_text(b, "c");
}
static void unknown_name(struct builder *b)
{
    NODE(b, RELU)->input[0] = b_text(b, "nobody");
}
static void markup_name(struct builder *b)
{
    NODE(b, RELU)->input[0] = b_text(b, "*/<script>\n\"$(id)\"\x1b[31m");
}
static void unknown_operator(struct builder *b)
{
    NODE(b, RELU)->op_type = b_text(b, "Frobnicate");
}
static void unknown_domain(struct builder *b)
{
    NODE(b, RELU)->domain = b_text(b, "my.own");
}
static void not_imported(struct builder *b)
{
    b->model.n_opset_import = 1;
    NODE(b, RELU)->domain = b_text(b, "com.microsoft");
    NODE(b, RELU)->op_type = b_text(b, "QLinearSigmoid");
}
static void too_few(struct builder *b)
{
    NODE(b, CONV)->n_input = 1;
}
static void no_output(struct builder *b)
{
    NODE(b, RELU)->n_output = 0;
}
static void giant_dim(struct builder *b)
{
    b->init[W]->dims[0] = INT64_C(1) << 40;
}
static void giant_product(struct builder *b)
{
    b->init[W]->dims[0] = b->init[W]->dims[1] = b->init[W]->dims[2] = 65536;
}
static void negative_dim(struct builder *b)
{
    b->init[W]->dims[0] = -3;
}
static void short_data(struct builder *b)
{
    b->init[W]->raw_data.len--;
}
static void no_data(struct builder *b)
{
    b->init[W]->has_raw_data = 0;
}
static void bad_type(struct builder *b)
{
    b->init[W]->data_type = 8;
}
static void many_dims(struct builder *b)
{
    static int64_t one[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};

    b->init[XS]->dims = one;
    b->init[XS]->n_dims = 9;
}
static void scale_is(struct builder *b, int i, float v)
{
    memcpy(b->init[i]->raw_data.data, &v, 4);
}
static void nan_scale(struct builder *b)
{
    scale_is(b, XS, NAN);
}
static void zero_scale(struct builder *b)
{
    scale_is(b, XS, 0);
}
static void negative_scale(struct builder *b)
{
    scale_is(b, WS, -1);
}
static void infinite_scale(struct builder *b)
{
    scale_is(b, YS, INFINITY);
}
static void scale_type(struct builder *b)
{
    b->init[XS]->data_type = 6;
}
static void two_scales(struct builder *b)
{
    b->init[WS]->dims[0] = 2, b->init[WS]->raw_data.len = 8;
}
static void zero_count(struct builder *b)
{
    b->init[WZ]->dims[0] = 2, b->init[WZ]->raw_data.len = 2;
}
static void scale_computed(struct builder *b)
{
    NODE(b, Q_Y)->input[1] = b_text(b, "x");
}
static void zero_type(struct builder *b)
{
    b->init[WZ]->data_type = 2;
}
static void axis_range(struct builder *b)
{
    NODE(b, DQ_W)->attribute[0]->i = -5;
}
static void pads_count(struct builder *b)
{
    NODE(b, CONV)->attribute[0]->n_ints = 3;
}
static void pads_negative(struct builder *b)
{
    NODE(b, CONV)->attribute[0]->ints[0] = -1;
}
static void pads_giant(struct builder *b)
{
    NODE(b, CONV)->attribute[0]->ints[0] = INT64_MAX;
}
static void zero_stride(struct builder *b)
{
    b_ints(b, NODE(b, CONV), "strides", 2, DIM(0, 1));
}
static void big_kernel(struct builder *b)
{
    b_ints(b, NODE(b, CONV), "dilations", 2, DIM(9, 9));
}
static void kernel_shape(struct builder *b)
{
    b_ints(b, NODE(b, CONV), "kernel_shape", 2, DIM(5, 3));
}
static void group(struct builder *b)
{
    b_int(b, NODE(b, CONV), "group", 5);
}
static void group_zero(struct builder *b)
{
    b_int(b, NODE(b, CONV), "group", 0);
}
static void auto_pad(struct builder *b)
{
    Onnx__AttributeProto *t = b_attr(b, NODE(b, CONV), "auto_pad");

    t->has_s = 1;
    t->s.data = (uint8_t *)b_text(b, "SAME_ODD");
    t->s.len = 8;
}
static void weights_rank(struct builder *b)
{
    static int64_t dim[3] = {3, 2, 9};

    b->init[W]->n_dims = 3;
    b->init[W]->dims = dim;
}
static void float_result(struct builder *b)
{
    NODE(b, DQ_Y)->input[0] = b_text(b, "r");
}
static void unknown_output(struct builder *b)
{
    b->out[0]->name = b_text(b, "z");
}
static void declared_shape(struct builder *b)
{
    b->out[0]->type->tensor_type->shape->dim[1]->dim_value = 4;
}
static void declared_rank(struct builder *b)
{
    b->out[0]->type->tensor_type->shape->n_dim = 3;
}
static void declared_type(struct builder *b)
{
    b->out[0]->type->tensor_type->elem_type = 3;
}
static void symbolic(struct builder *b)
{
    b->in[0] = b_value(b, "x", 1, 4, DIM(-1, 2, -1, 4));
}
static void shapeless(struct builder *b)
{
    b->in[0]->type->tensor_type->shape = NULL;
}
static void batch(struct builder *b)
{
    b->in[0] = b_value(b, "x", 1, 4, DIM(2, 2, 4, 4));
}
static void input_type(struct builder *b)
{
    b->in[0]->type->tensor_type->elem_type = 17;
}
static void output_type(struct builder *b)
{
    b->out[0]->type->tensor_type->elem_type = 16;
}
static void empty_input(struct builder *b)
{
    b->in[0] = b_value(b, "x", 1, 4, DIM(1, 0, 4, 4));
}
static void not_a_tensor(struct builder *b)
{
    b->in[0]->type->value_case = 0;
}
static void code_range(struct builder *b)
{
    b->init[W]->has_raw_data = 0;
    b->init[W]->n_int32_data = 54;
    b->init[W]->int32_data = ARENA_ARRAY(b->a, int32_t, 54);
    b->init[W]->int32_data[53] = 128;
}
static void outside_at(struct builder *b, const char *path)
{
    Onnx__StringStringEntryProto *e = ARENA_NEW(b->a, Onnx__StringStringEntryProto);

    onnx__string_string_entry_proto__init(e);
    e->key = b_text(b, "location");
    e->value = b_text(b, path);
    b->init[W]->external_data = ARENA_ARRAY(b->a, Onnx__StringStringEntryProto *, 1);
    b->init[W]->external_data[0] = e;
    b->init[W]->n_external_data = 1;
    b->init[W]->has_data_location = 1;
    b->init[W]->data_location = 1;
    b->init[W]->has_raw_data = 0;
}
static void external(struct builder *b)
{
    outside_at(b, "../secret.bin");
}

static const struct damage damages[] = {
#include "onnx_damage.inc"
};

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* UPDATE=1 in the environment prints the table instead of comparing. */
static void print_damage(const char *what, enum status st, const char *text)
{
    printf("    {\"%s\", %s, %s, \"", what, what, st == ST_MODEL ? "ST_MODEL" : "ST_UNSUPPORTED");
    for (; *text; text++)
        printf(*text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    printf("\"},\n");
}

static void test_damage(void **state)
{
    const bool update = getenv("UPDATE") != NULL;
    int wrong = 0;

    (void)state;
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        struct arena *a = arena_new((size_t)64 << 20);
        struct builder *b = small(a);
        const struct onnx_options o = {0};
        const double start = seconds();
        struct ir_graph *g;
        struct diag d;
        enum status st;

        damages[i].make(b);
        st = import(a, b, &o, &g, &d);
        if (update)
            print_damage(damages[i].what, st, d.text);
        else if (st != damages[i].status || strcmp(d.text, damages[i].text) != 0) {
            print_error("%s: expected %d '%s', found %d '%s'\n", damages[i].what, damages[i].status,
                        damages[i].text, st, d.text);
            wrong++;
        }
        assert_int_equal(status_exit_code(st), 3);
        assert_true(seconds() - start < 1);
        for (size_t k = 0; k < i && !update; k++) /* each kind has a distinct message */
            if (strcmp(damages[k].text, damages[i].text) == 0)
                fail_msg("%s and %s say the same", damages[k].what, damages[i].what);
        arena_free(a);
    }
    assert_int_equal(wrong, 0);
}

/* --- damage to the bytes --- */

/* Import the bytes and, if that succeeds, run everything up to one inference; only crashes
 * count. */
static void try_bytes(const uint8_t *data, size_t n, struct diag *d)
{
    struct arena *a = arena_new((size_t)64 << 20);
    const struct lgl_options lgl = {.rounding = LGL_ROUND_ONNX};
    const struct onnx_options o = {0};
    struct ir_graph *g = NULL;
    jmp_buf exhausted;

    *d = (struct diag){0};
    if (setjmp(exhausted) == 0) {
        arena_on_exhausted(a, &exhausted);
        if (onnx_import(a, "x", data, n, &o, &g, d) == ST_OK &&
            ir_verify(g, "import", d) == ST_OK && passes_run(ir_copy(a, g), &lgl, d) == ST_OK &&
            g->n_in == 1 && g->n_out == 1) {
            const uint8_t *in = arena_alloc(a, (size_t)ir_bytes(g->tensor[g->in[0]]));
            uint8_t *out = arena_alloc(a, (size_t)ir_bytes(g->tensor[g->out[0]]));

            (void)ref_run(ref_new(a, g, &(struct ref_options){.onnx_rounding = true}), &in, &out,
                          d);
        }
    }
    arena_free(a);
}

static void test_truncations_and_flips(void **state)
{
    struct arena *a = arena_new(0);
    struct diag d;
    size_t n;
    uint8_t *data = b_pack(small(a), &n);

    (void)state;
    for (size_t i = 0; i < n; i++) {
        uint8_t *cut =
            malloc(i + 1); /* a separate copy, so that a read beyond its end is detected */

        memcpy(cut, data, i);
        try_bytes(cut, i, &d);
        free(cut);
    }
    for (size_t i = 0; i < n; i++)
        for (int bit = 0; bit < 8; bit += 3) {
            data[i] ^= (uint8_t)(1 << bit);
            try_bytes(data, n, &d);
            data[i] ^= (uint8_t)(1 << bit);
        }
    arena_free(a);
}

/* Wrap a length-delimited field around `n` bytes; return the new length. */
static size_t wrap(uint8_t tag, const uint8_t *from, size_t n, uint8_t *to)
{
    size_t at = 0, rest = n;

    to[at++] = tag;
    for (; rest >= 0x80; rest >>= 7)
        to[at++] = (uint8_t)(rest | 0x80);
    to[at++] = (uint8_t)rest;
    memcpy(to + at, from, n);
    return at + n;
}

static void test_hostile_containers(void **state)
{
    const size_t most = (size_t)8 << 20;
    uint8_t *p = calloc(1, most), *q = calloc(1, most);
    size_t n = 0;
    struct diag d;
    double start;

    (void)state;
    try_bytes((const uint8_t *)"", 0, &d);
    assert_string_equal(d.text, "the file is empty; expected an ONNX model");
    try_bytes((const uint8_t *)"hello, I am a text file\n", 24, &d);
    assert_int_equal(d.status, ST_MODEL);
    assert_string_equal(d.text, "not an ONNX file: expected a field of ModelProto at byte 0, found "
                                "byte 0x68");
    try_bytes((const uint8_t *)"\x1c\0\0\0TFL3", 8, &d); /* a TFLite file */
    assert_string_equal(d.text, "not an ONNX file: expected a field of ModelProto at byte 0, found "
                                "byte 0x1c");
    try_bytes((const uint8_t *)"\x3a\x05\x0a", 3, &d);
    assert_string_equal(d.text, "byte 1 of the file: a field of 5 bytes in 1 that remain");
    try_bytes((const uint8_t *)"\x08\x07\x3b", 3, &d);
    assert_string_equal(d.text, "byte 3 of the file: wire type 3 does not exist in ONNX");
    try_bytes((const uint8_t *)"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12, &d);
    assert_string_equal(d.text, "byte 1 of the file: a number does not end");
    for (int i = 0; i < 3000; i++) { /* graph in attribute (6) of node (1), attribute (5) */
        n = wrap(0x32, p, n, q);
        n = wrap(0x2a, q, n, p);
        n = wrap(0x0a, p, n, q);
        memcpy(p, q, n);
    }
    n = wrap(0x3a, p, n, q);
    try_bytes(q, n, &d);
    assert_string_equal(d.text, "messages nest deeper than 16 levels");
    for (size_t i = 0; i + 16 < most; i += 2) /* millions of empty nodes */
        memcpy(p + i, "\x0a", 2);
    n = wrap(0x3a, p, most - 16, q);
    start = seconds();
    try_bytes(q, n, &d);
    assert_string_equal(d.text, "more than 1000000 fields");
    assert_true(seconds() - start < 1);
    free(p);
    free(q);
}

/* Truncated bytes. */
static void test_cut_bytes(void **state)
{
    static const struct {
        uint8_t byte[3];
        size_t n;
        const char *text;
    } cut[] = {
        {{0x3a, 0xff}, 2, "byte 1 of the file: a length does not end"},
        {{0x08, 0x07, 0xff}, 3, "byte 2 of the file: no field begins here"},
    };
    const struct onnx_options o = {0};
    struct arena *a = arena_new(0);
    struct ir_graph *g;

    (void)state;
    for (size_t i = 0; i < sizeof cut / sizeof *cut; i++) {
        struct diag d = {0};

        assert_int_equal(onnx_import(a, "cut", cut[i].byte, cut[i].n, &o, &g, &d), ST_MODEL);
        assert_string_equal(d.text, cut[i].text);
    }
    arena_free(a);
}

/* Location, offset and length of external data that do not fit the file. */
static void test_external_fields(void **state)
{
    static const struct {
        const char *key, *value, *text;
    } wrong[] = {
        {"offset", "12x", "external data: offset: expected a number, found '12x'"},
        {"offset", "7", "external data 'w.bin': 54 bytes from byte 7 exceed the file of 54 bytes"},
        {"length", "7", "external data 'w.bin': expected 54 bytes, found 7"},
        {"location", "", "external data: expected a location, found none"},
        {"location", ".", "external data '.': expected a regular file"},
    };
    char folder[] = "/tmp/heddle_onnx_XXXXXX";
    struct arena *a = arena_new(0);
    struct onnx_options o = {.folder = folder};
    struct ir_graph *g;
    uint8_t w[54] = {1};

    (void)state;
    assert_non_null(mkdtemp(folder));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        Onnx__StringStringEntryProto key = ONNX__STRING_STRING_ENTRY_PROTO__INIT, *both[2];
        struct builder *b = small(a);
        struct diag d = {0};

        assert_int_equal(file_write(arena_printf(a, "%s/w.bin", folder), w, sizeof w, &d), ST_OK);
        outside_at(b, "w.bin");
        both[0] = &key;
        both[1] = b->init[W]->external_data[0];
        key.key = b_text(b, wrong[i].key);
        key.value = b_text(b, wrong[i].value);
        b->init[W]->external_data = both;
        b->init[W]->n_external_data = 2;
        assert_int_equal(import(a, b, &o, &g, &d), ST_MODEL);
        assert_non_null(strstr(d.text, wrong[i].text));
    }
    assert_int_equal(system(arena_printf(a, "rm -r '%s'", folder)), 0);
    arena_free(a);
}

/* Data in the model's folder is read; data outside it is not, by any path. */
static void test_external_data(void **state)
{
    static const char *const outside[] = {"../w.bin", "/etc/passwd", "link", "sub/../../w.bin"};
    char folder[] = "/tmp/heddle_onnx_XXXXXX";
    struct arena *a = arena_new(0);
    struct ir_graph *g;
    uint8_t w[54] = {1};
    struct onnx_options o = {0};
    struct builder *b = small(a);
    struct diag d = {0};
    char *inner;

    (void)state;
    assert_non_null(mkdtemp(folder));
    inner = arena_printf(a, "%s/model", folder);
    assert_int_equal(file_make_dirs(inner, &d), ST_OK);
    assert_int_equal(file_write(arena_printf(a, "%s/w.bin", folder), w, sizeof w, &d), ST_OK);
    assert_int_equal(file_write(arena_printf(a, "%s/w.bin", inner), w, sizeof w, &d), ST_OK);
    assert_int_equal(symlink("../w.bin", arena_printf(a, "%s/link", inner)), 0);
    o.folder = inner;
    outside_at(b, "w.bin");
    assert_int_equal(import(a, b, &o, &g, &d), ST_OK);
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
        b = small(a);
        outside_at(b, outside[i]);
        assert_int_equal(import(a, b, &o, &g, &d), ST_MODEL);
        assert_non_null(strstr(d.text, "only files beneath the model's folder are opened"));
    }
    assert_int_equal(system(arena_printf(a, "rm -r '%s'", folder)), 0);
    arena_free(a);
}

/* --- options --- */

static void test_input_shapes(void **state)
{
    static const struct {
        const char *list, *text;
    } bad[] = {
        {"x:[1,2,4]", "graph input 0 'x': --input-shapes: expected 4 numbers, found 3"},
        {"x:[1,3,4,4]", "graph input 0 'x': --input-shapes: dimension 1 is fixed to 2, found 3"},
        {"x:[1,2,a,4]", "graph input 0 'x': --input-shapes: 'x': expected name:[1,3,224,224] with "
                        "at most 6 numbers"},
        {"x:[1,2;4,4]",
         "graph input 0 'x': --input-shapes: 'x': expected a ',' or ']', found ';4,4]'"},
        {"", "graph input 0 'x': dimension 2 is not fixed ('N'); give the shape: --input-shapes "
             "\"x:[1,...]\""},
        {"y:[1,2,4,4]", "--input-shapes: no input 'y'; expected one of: 'x'"},
        {"x:[1,2,4,4],xx:[7]", "--input-shapes: no input 'xx'; expected one of: 'x'"},
        {"x:[1,2,4,4] y", "--input-shapes: found 'x:[1,2,4,4] y', expected name:[1,3,224,224],..."},
        {"x=1", "--input-shapes: found 'x=1', expected name:[1,3,224,224],..."},
    };
    struct arena *a = arena_new(0);
    struct onnx_options o = {.input_shapes = " x:[1,2,4,4]"};
    struct ir_graph *g;
    struct diag d;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const struct onnx_options wrong = {.input_shapes = bad[i].list};
        struct builder *b = small(a);

        symbolic(b);
        assert_int_not_equal(import(a, b, &wrong, &g, &d), ST_OK);
        assert_string_equal(d.text, bad[i].text);
    }
    {
        struct builder *b = small(a);

        symbolic(b);
        assert_int_equal(import(a, b, &o, &g, &d), ST_OK);
        assert_int_equal(g->tensor[g->in[0]]->dim[0], 1);
        assert_null(g->open_note);
    }
    arena_free(a);
}

/* A batch that the file leaves open is 1, which a note says; no other dimension is chosen. */
static void test_open_batch(void **state)
{
    struct arena *a = arena_new(0);
    struct builder *b = small(a);
    const struct onnx_options o = {0};
    struct ir_graph *g, *none;
    struct diag d;

    (void)state;
    b->in[0] = b_value(b, "x", 1, 4, DIM(-1, 2, 4, 4));
    assert_int_equal(import(a, b, &o, &g, &d), ST_OK);
    assert_int_equal(g->tensor[g->in[0]]->dim[0], 1);
    assert_string_equal(g->open_note, "dimension 0 of input 'x' as 1");
    b->in[0] = b_value(b, "x", 1, 1, DIM(-1, 0, 0, 0));
    assert_int_equal(import(a, b, &o, &none, &d), ST_UNSUPPORTED);
    assert_string_equal(d.text, "graph input 0 'x': dimension 0 is not fixed ('N'); give the "
                                "shape: --input-shapes \"x:[1,...]\"");
    for (uint32_t i = 0; i < 1000; i++)
        ir_note_open(g, "y", i, 7);
    assert_true(strlen(g->open_note) < 600);
    assert_non_null(strstr(g->open_note, "as 1, dimension 0 of input 'y' as 7, "));
    assert_string_equal(g->open_note + strlen(g->open_note) - 5, ", ...");
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_truncations_and_flips),
        cmocka_unit_test(test_hostile_containers),
        cmocka_unit_test(test_cut_bytes),
        cmocka_unit_test(test_external_fields),
        cmocka_unit_test(test_external_data),
        cmocka_unit_test(test_input_shapes),
        cmocka_unit_test(test_open_batch),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
