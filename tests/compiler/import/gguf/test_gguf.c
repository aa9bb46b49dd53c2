/* GGUF files: the float graph against NumPy's logits (tests/oracle/gguf/tiny_gguf.py), those of int8 near them;
 * refusals with their texts; each truncation. */
// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "compiler/import/gguf/gguf.h"
#include "compiler/import/gguf/gguf_llama.h"
#include "reference/ref.h"

enum { STEPS = 10, TOKENS = 48 };

static const uint8_t *read_file(struct arena *a, const char *name, size_t *n)
{
    const char *home = getenv("HEDDLE_HOME");
    uint8_t *data;
    struct diag d = {0};

    assert_int_equal(file_read(a, arena_printf(a, "%s/tests/compiler/import/gguf/%s", home, name),
                               1 << 20, &data, n, &d),
                     ST_OK);
    return data;
}

static enum status import(struct arena *a, const uint8_t *data, size_t n,
                          const struct gguf_options *o, struct ir_graph **g, struct diag *d)
{
    struct onnx_options onnx = {0};

    *d = (struct diag){0};
    TRY(gguf_llama(a, data, n, o, &onnx, d));
    return onnx_import(a, "tiny", NULL, 0, &onnx, g, d);
}

/* Return the file with two settings more, the token 0 as the one that begins a text; 64 bytes keep the
 * tensors aligned. */
static const uint8_t *with_begin(struct arena *a, const uint8_t *data, size_t *n)
{
    static const char settings[] = "\33\0\0\0\0\0\0\0tokenizer.ggml.bos_token_id\4\0\0\0\0\0\0\0"
                                   "\1\0\0\0\0\0\0\0x\10\0\0\0\0\0\0\0\0\0\0";
    uint8_t *copy = arena_alloc(a, *n + sizeof settings);

    memcpy(copy, data, 24);
    copy[16] = (uint8_t)(copy[16] + 2);
    memcpy(copy + 24, settings, sizeof settings);
    memcpy(copy + 24 + sizeof settings, data + 24, *n - 24);
    *n += sizeof settings;
    return copy;
}

/* Return the noise of all steps' logits to their signal, from step `begin` on: the token of the step
 * before it is in the state. */
static double noise_of(struct arena *a, const struct gguf_options *o, int32_t begin)
{
    const struct ref_options plain = {0};
    size_t n, n_logits;
    const uint8_t *data = read_file(a, "tiny.gguf", &n);
    const float *want = (const float *)(const void *)read_file(a, "logits.bin", &n_logits);
    float logits[TOKENS];
    struct ir_graph *g;
    struct diag d;
    struct ref *r;
    double noise = 0, signal = 0;

    assert_int_equal(n_logits, sizeof logits * STEPS);
    data = begin ? with_begin(a, data, &n) : data;
    assert_int_equal(import(a, data, n, o, &g, &d), ST_OK);
    r = ref_new(a, g, &plain);
    for (int32_t i = begin; i < STEPS; i++) {
        const int32_t token = 5 * i % TOKENS;
        const uint8_t *in[2] = {(const uint8_t *)&token, (const uint8_t *)&i};
        uint8_t *out[1] = {(uint8_t *)logits};

        assert_int_equal(ref_run(r, in, out, &d), ST_OK);
        for (int k = 0; k < TOKENS; k++) {
            const double w = (double)want[i * TOKENS + k], error = (double)logits[k] - w;

            noise += error * error;
            signal += w * w;
        }
    }
    return noise / signal;
}

static void test_logits(void **state)
{
    static const struct gguf_options plain = {.products = GGUF_FLOAT},
                                     bytes = {.products = GGUF_INT8};
    static const struct gguf_options fixed = {.products = GGUF_STATIC},
                                     wide = {.products = GGUF_STATIC16};
    struct arena *a = arena_new((size_t)64 << 20);

    (void)state;
    assert_true(noise_of(a, &plain, 0) < 1e-10);
    assert_true(noise_of(a, &bytes, 0) < 1e-3);
    assert_true(noise_of(a, &fixed, 0) < 0.05); /* an untrained network is sensitive */
    assert_true(noise_of(a, &fixed, 1) < 0.05);
    assert_true(noise_of(a, &wide, 0) < 0.035);
    assert_true(noise_of(a, &wide, 1) < 0.035);
    assert_true(noise_of(a, &(struct gguf_options){10, GGUF_FLOAT}, 0) < 1e-10);
    assert_true(noise_of(a, &(struct gguf_options){8, GGUF_FLOAT}, 0) > 1e-2); /* two too few */
    arena_free(a);
}

/* `at` bytes after the text `near` (before its end, if negative), or after the begin of the file,
 * `n` bytes become `bytes`. */
static const struct damage {
    const char *near;
    ptrdiff_t at;
    const char *bytes;
    size_t n;
    const char *message;
} damages[] = {
#define BYTES(text) text, sizeof(text) - 1
    {NULL, 0, BYTES("GGML"), "not a GGUF file: it does not begin with \"GGUF\""},
    {NULL, 4, BYTES("\4"), "GGUF version: expected 2 or 3, little endian, found 4"},
    {NULL, 15, BYTES("\1"), "number of tensors: expected at most 65536, found 72057594037927956"},
    {NULL, 23, BYTES("\1"), "number of settings: expected at most 65536, found 72057594037927946"},
    {NULL, 30, BYTES("\1"), "name of a setting: expected at most 65536, found 281474976710676"},
    {"general.architecture", 0, BYTES("\15"),
     "setting 0 'general.architecture': expected a type of 0 to 12, found 13"},
    {"general.architecture", 0, BYTES("\11\0\0\0\11\0\0\0"),
     "setting 0 'general.architecture': expected a type of 0 to 12 other than an array, found 9"},
    {"general.architecture", 4, BYTES("\0\1\0\0\0\0\0\1"),
     "setting 0 'general.architecture': string at byte 64: expected 72057594037928192 bytes, found "
     "29824"},
    {"general.architecture", 12, BYTES("gemma"),
     "general.architecture: expected llama, found 'gemma'"},
    {"llama.block_count", 4, BYTES("\3"), "no tensor is called 'blk.2.attn_norm.weight'"},
    {"llama.block_count", 4, BYTES("\0"),
     "setting 'llama.block_count': expected 1 to 1024, found 0"},
    {"llama.embedding_length", 4, BYTES("\x40"),
     "llama.rope.dimension_count: expected an even head's 16, found 8"},
    {"attention.head_count", 4, BYTES("\3"), "3 heads, 2 of keys: expected divisors of 32"},
    {"feed_forward_length", 4, BYTES("\x20"),
     "tensor 'blk.0.ffn_gate.weight': expected 32 x 32, found 32 x 64"},
    {"blk.1.attn_v.weight", 0, BYTES("\5"),
     "tensor 14 'blk.1.attn_v.weight': expected 1 to 4 dimensions, found 5"},
    {"blk.1.attn_v.weight", 4, BYTES("\0"),
     "tensor 14 'blk.1.attn_v.weight': dimension 0: expected 1 to 2147483647, found 0"},
    {"blk.1.attn_v.weight", 6, BYTES("\xff\0\0\0\0\0\0\xff"),
     "tensor 14 'blk.1.attn_v.weight': expected at most 2147483647 elements"},
    {"blk.1.attn_v.weight", 4, BYTES("\x21"),
     "tensor 14 'blk.1.attn_v.weight': dimension 0: expected a multiple of 32, found 33"},
    {"blk.1.attn_v.weight", 20, BYTES("\14"),
     "tensor 14 'blk.1.attn_v.weight': type 12: expected F32 (0), F16 (1), Q4_0 (2), Q4_1 (3), "
     "Q8_0 (8) or BF16 (30); llama-quantize converts others"},
    {"blk.1.attn_v.weight", 24, BYTES("\1"),
     "tensor 14 'blk.1.attn_v.weight': offset: expected a multiple of 32, found 15873"},
    {"blk.1.attn_v.weight", 31, BYTES("\1"),
     "tensor 14 'blk.1.attn_v.weight': offset 72057594037944000: expected 544 bytes from there, "
     "found 0"},
    {"llama.block_count", -17, BYTES("general.alignment\4\0\0\0\0"),
     "general.alignment: expected 1 to 65536"},
    {"llama.embedding_length", -30,
     BYTES("\22\0\0\0\0\0\0\0llama.expert_count\12\0\0\0\1\0\0\0\0\0\0"),
     "llama.expert_count: expected no experts"},
    {"token_embd.weight", -17, BYTES("rope_freqs"),
     "positions: expected no scaling, found 'rope_freqs.weight'"},
    {"token_embd.weight", -17, BYTES("other"),
     "expected a tensor 'token_embd.weight' of two dimensions"},
    {"output_nor", 0, BYTES("\0"), "name of a tensor at byte 501: has a byte of 0"},
    {"output_nor", 0, BYTES("s"), "no tensor is called 'output_norm.weight'"},
};

static void test_refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        const struct damage *k = &damages[i];
        struct arena *a = arena_new((size_t)64 << 20);
        const struct gguf_options o = {0};
        struct ir_graph *g;
        struct diag d;
        size_t n;
        uint8_t *data = (uint8_t *)(uintptr_t)read_file(a, "tiny.gguf", &n);
        uint8_t *at = data;

        if (k->near)
            for (at += strlen(k->near);
                 memcmp(at - strlen(k->near), k->near, strlen(k->near)) != 0;)
                at++;
        memcpy(at + k->at, k->bytes, k->n);
        assert_int_not_equal(import(a, data, n, &o, &g, &d), ST_OK);
        assert_string_equal(d.text, k->message);
        arena_free(a);
    }
}

static void test_strings(void **state)
{
    struct arena *a = arena_new((size_t)64 << 20);
    struct gguf_string *list;
    struct gguf f;
    struct diag d = {0};
    uint32_t count;
    size_t n;
    const uint8_t *data = read_file(a, "tiny.gguf", &n);

    (void)state;
    assert_int_equal(gguf_read(a, data, n, &f, &d), ST_OK);
    assert_int_equal(gguf_strings(&f, "llama.block_count", &list, &count, &d), ST_MODEL);
    assert_string_equal(d.text, "setting 'llama.block_count': expected a list of strings");
    arena_free(a);
}

static void test_options(void **state)
{
    struct arena *a = arena_new((size_t)64 << 20);
    const struct gguf_options o = {.context = 17}, least = {1, GGUF_STATIC};
    struct ir_graph *g;
    struct diag d;
    size_t n;
    const uint8_t *data = read_file(a, "tiny.gguf", &n);

    (void)state;
    assert_int_equal(import(a, data, n, &o, &g, &d), ST_USAGE);
    assert_string_equal(d.text, "--context: expected at most 16, found 17");
    data = with_begin(a, data, &n);
    assert_int_equal(import(a, data, n, &least, &g, &d), ST_USAGE);
    assert_string_equal(d.text, "--context: expected at least 2, since the token that begins has "
                                "the first position");
    arena_free(a);
}

static void test_truncations(void **state)
{
    struct arena *a = arena_new((size_t)64 << 20), *work = arena_new((size_t)64 << 20);
    const struct gguf_options o = {0};
    struct ir_graph *g;
    struct diag d;
    size_t n;
    const uint8_t *data = read_file(a, "tiny.gguf", &n);

    (void)state;
    for (size_t i = 0; i < n; i += i < 2000 ? 1 : 997) {
        uint8_t *cut = malloc(i + 1); /* of its own, for the sanitizer */

        assert_non_null(cut);
        memcpy(cut, data, i);
        assert_int_equal(import(work, cut, i, &o, &g, &d), ST_MODEL);
        free(cut);
        arena_reset(work);
    }
    arena_free(work);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_logits),      cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_strings),     cmocka_unit_test(test_options),
        cmocka_unit_test(test_truncations),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
