/* test_quick_quotient.c - functions of two int8 tensors give the same bytes as operators of int8, for all 65,536
 * pairs of values: quotients in float32 and in int8, with ties, zero points at both ends, divisors of 0, what
 * saturates everywhere and nowhere; what is linear in the second tensor. A function that is linear in none stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "compiler/legalise/legalise.h"
#include "reference/ref.h"

enum { VALUES = 256, PAIRS = VALUES * VALUES };

struct scales {
    double a, b, y;
    int32_t zero_a, zero_b, zero_y;
};

static const struct scales drawn[] = {
    {1, 1, 1, 0, 0, 0}, /* ties */
    {0.5, 0.5, 0.0078125, 127, -128, 0},
    {0.0235, 0.0117, 0.0078, -128, -128, -128},
    {0.0235, 0.0117, 3.1, 127, 127, 127}, /* 0 nearly everywhere */
    {0.3, 0.001, 0.0002, -128, 3, 5},     /* an end nearly everywhere */
    {0.071, 0.0456, 0.0313, 17, -101, -37},
    {0.6, 0.37, 0.25, -5, 60, 4},
};

/* Operators between the two DEQUANTIZE, to tensors 2 and 3, and QUANTIZE, of 4. */
static const char quotient[] = "op div row=0 in=(2,3) out=(4)\n",
                  clipped[] = "tensor 6 f32 [256,256] value name=\"q\"\n"
                              "tensor 7 f32 [1] const name=\"two\" data=00000040\n"
                              "op div row=0 in=(2,3) out=(6)\n"
                              "op minimum row=0 in=(6,7) out=(4)\n",
                  second[] = "tensor 6 f32 [256,1] value name=\"e\"\n"
                             "op exp row=0 in=(2) out=(6)\n"
                             "op mul row=0 in=(3,6) out=(4)\n",
                  twice[] = "tensor 6 f32 [256,256] value name=\"p\"\n"
                            "op mul row=0 in=(2,3) out=(6)\n"
                            "op mul row=0 in=(6,3) out=(4)\n",
                  squares[] = "tensor 6 f32 [256,256] value name=\"p\"\n"
                              "op mul row=0 in=(2,3) out=(6)\n"
                              "op mul row=0 in=(6,6) out=(4)\n";

static const char *real_text(struct arena *a, const struct scales *s, const char *body)
{
    return arena_printf(a,
                        "heddle-ir 1 graph name=\"g\"\n"
                        "row 0 name=\"c\" op=\"c\" tensor=\"\" shape=\"\"\n"
                        "tensor 0 i8 [256,1] input name=\"a\" scale=(%.9g) zero=(%d)\n"
                        "tensor 1 i8 [1,256] input name=\"b\" scale=(%.9g) zero=(%d)\n"
                        "tensor 2 f32 [256,1] value name=\"ra\"\n"
                        "tensor 3 f32 [1,256] value name=\"rb\"\n"
                        "tensor 4 f32 [256,256] value name=\"ry\"\n"
                        "tensor 5 i8 [256,256] value name=\"y\" scale=(%.9g) zero=(%d)\n"
                        "op dequantize row=0 in=(0) out=(2)\n"
                        "op dequantize row=0 in=(1) out=(3)\n"
                        "%s"
                        "op quantize row=0 in=(4) out=(5)\n"
                        "border in=(0,1) out=(5)\n",
                        s->a, s->zero_a, s->b, s->zero_b, s->y, s->zero_y, body);
}

static const char *byte_text(struct arena *a, const struct scales *s)
{
    return arena_printf(a,
                        "heddle-ir 1 graph name=\"g\"\n"
                        "row 0 name=\"c\" op=\"c\" tensor=\"\" shape=\"\"\n"
                        "tensor 0 i8 [256,1] input name=\"a\" scale=(%.9g) zero=(%d)\n"
                        "tensor 1 i8 [1,256] input name=\"b\" scale=(%.9g) zero=(%d)\n"
                        "tensor 2 i8 [256,256] value name=\"y\" scale=(%.9g) zero=(%d)\n"
                        "op div row=0 in=(0,1) out=(2)\n"
                        "border in=(0,1) out=(2)\n",
                        s->a, s->zero_a, s->b, s->zero_b, s->y, s->zero_y);
}

static const uint8_t *run(struct arena *a, const struct ir_graph *g, bool legalised)
{
    const struct ref_options o = {.legalised = legalised};
    uint8_t code[VALUES], *out = arena_alloc(a, PAIRS);
    struct diag d = {0};

    for (uint32_t i = 0; i < VALUES; i++)
        code[i] = (uint8_t)(i ^ 128);
    if (ref_run(ref_new(a, g, &o), (const uint8_t *const[]){code, code}, (uint8_t *[]){out}, &d) !=
        ST_OK)
        fail_msg("%s", d.text);
    return out;
}

/* Check that the bytes remain, and whether operators of float32, or DIV, do. */
static void check(struct arena *a, const char *text, bool rewritten)
{
    const struct lgl_options o = {.fc_scale = LGL_FC_CLASSIC, .array_rows = 16};
    struct ir_graph *g = NULL;
    struct diag d = {0};
    bool all = true;

    if (ir_parse(a, text, &g, &d) != ST_OK || ir_verify(g, "parse", &d) != ST_OK)
        fail_msg("%s", d.text);
    const uint8_t *want = run(a, g, false);
    if (lgl_requant(g, &o, &d) != ST_OK || lgl_float_table(g, &o, &d) != ST_OK ||
        ir_verify(g, "float_table", &d) != ST_OK)
        fail_msg("%s", d.text);
    for (uint32_t i = 0; i < g->n_op; i++)
        all = all && (g->op[i]->dead || (ir_out(g, g->op[i], 0)->type == IR_I8 &&
                                         strcmp(ir_op_info(g->op[i]->opcode)->name, "div") != 0));
    const uint8_t *found = run(a, g, true);
    for (uint32_t i = 0; i < PAIRS; i++)
        if (want[i] != found[i])
            fail_msg("%s\n%d and %d: expected %d, found %d", text, (int)(i / VALUES) - 128,
                     (int)(i % VALUES) - 128, (int8_t)want[i], (int8_t)found[i]);
    if (all != rewritten)
        fail_msg("%s\n%s", text, all ? "rewritten" : "not rewritten");
}

static void all_pairs_are_equal(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof drawn / sizeof *drawn; i++) {
        struct arena *a = arena_new(0);

        check(a, real_text(a, &drawn[i], quotient), true);
        check(a, byte_text(a, &drawn[i]), i > 0); /* DIV rounds ties up, of either sign */
        arena_free(a);
    }
}

static void other_functions(void **state)
{
    const struct scales s = drawn[5];
    struct arena *a = arena_new(0);

    (void)state;
    check(a, real_text(a, &s, clipped), true);
    check(a, real_text(a, &s, second), true);
    check(a, real_text(a, &s, twice), true);
    check(a, real_text(a, &s, squares), false);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_pairs_are_equal),
                                       cmocka_unit_test(other_functions)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
