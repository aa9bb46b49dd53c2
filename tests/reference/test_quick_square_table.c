/* test_quick_square_table.c - quantised functions of sums of squares give the same bytes as operators of int8: of one
 * value (all 256), of two, of sixty-four; functions that rise and fall; zero points at both ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "compiler/legalise/legalise.h"
#include "reference/ref.h"

struct function {
    int32_t rows, n, zero;
    double y;
    int32_t zero_y;
    const char *body; /* from tensor 6 to 7 */
};

static const char root[] = "op sqrt row=0 in=(6) out=(7)\n",
                  inverse[] = "tensor 10 f32 [1] const name=\"e\" data=0ad7233c\n" /* 0.01 */
                              "tensor 11 f32 [%d,1,1] value name=\"m\"\n"
                              "op add row=0 in=(6,10) out=(11)\n"
                              "op rsqrt row=0 in=(11) out=(7)\n",
                  bounded[] = "tensor 10 f32 [1] const name=\"e\" data=0000803f\n" /* 1 */
                              "tensor 11 f32 [%d,1,1] value name=\"r\"\n"
                              "tensor 12 f32 [%d,1,1] value name=\"m\"\n"
                              "op sqrt row=0 in=(6) out=(11)\n"
                              "op maximum row=0 in=(11,10) out=(12)\n"
                              "op div row=0 in=(10,12) out=(7)\n";

static const struct function drawn[] = {
    {256, 1, -128, 0.05, -128, root},     {256, 1, 127, 0.0731, -100, root},
    {256, 1, 5, 0.031, -128, inverse},    {4096, 2, -128, 0.071, -128, root},
    {4096, 2, 11, 0.0039, -128, bounded}, {500, 64, -3, 0.21, -128, root},
    {500, 64, 127, 0.9, 40, root},        {500, 64, 3, 0.0013, -128, inverse},
};

static const char *text_of(struct arena *a, const struct function *f)
{
    const char *body = arena_printf(a, f->body, f->rows, f->rows);

    return arena_printf(a,
                        "heddle-ir 1 graph name=\"g\"\n"
                        "row 0 name=\"c\" op=\"c\" tensor=\"\" shape=\"\"\n"
                        "tensor 0 i8 [%d,%d] input name=\"x\" scale=(0.05) zero=(%d)\n"
                        "tensor 1 i8 [%d,1,%d] value name=\"rows\" scale=(0.05) zero=(%d)\n"
                        "tensor 2 i8 [%d,%d,1] value name=\"columns\" scale=(0.05) zero=(%d)\n"
                        "tensor 3 i8 [] const name=\"zero\" scale=(0.05) zero=(%d) data=%02x\n"
                        "tensor 4 i32 [%d,1,1] value name=\"sum\"\n"
                        "tensor 5 f32 [%d,1,1] value name=\"units\"\n"
                        "tensor 6 f32 [%d,1,1] value name=\"real\"\n"
                        "tensor 7 f32 [%d,1,1] value name=\"f\"\n"
                        "tensor 8 i8 [%d,1,1] value name=\"y\" scale=(%.9g) zero=(%d)\n"
                        "tensor 9 f32 [1] const name=\"unit\" data=0ad7233b\n" /* 0.0025 */
                        "op reshape row=0 in=(0) out=(1)\n"
                        "op reshape row=0 in=(0) out=(2)\n"
                        "op matmul_integer row=0 in=(1,2,3,3) out=(4)\n"
                        "op cast row=0 in=(4) out=(5)\n"
                        "op mul row=0 in=(5,9) out=(6)\n"
                        "%s"
                        "op quantize row=0 in=(7) out=(8)\n"
                        "border in=(0) out=(8)\n",
                        f->rows, f->n, f->zero, f->rows, f->n, f->zero, f->rows, f->n, f->zero,
                        f->zero, (unsigned)(uint8_t)f->zero, f->rows, f->rows, f->rows, f->rows,
                        f->rows, f->y, f->zero_y, body);
}

/* Rows of one value have all of them. */
static const uint8_t *run(struct arena *a, const struct function *f, const struct ir_graph *g,
                          bool legalised)
{
    const struct ref_options o = {.legalised = legalised};
    const size_t n = (size_t)f->rows * (size_t)f->n;
    uint8_t *in = arena_alloc(a, n), *out = arena_alloc(a, (size_t)f->rows);
    uint32_t random = 1;
    struct diag d = {0};

    for (size_t i = 0; i < n; i++) {
        random = random * 1664525 + 1013904223;
        in[i] = (uint8_t)(f->n == 1 ? i : (random >> 24) / (1 + i / (size_t)f->n % 9));
    }
    if (ref_run(ref_new(a, g, &o), (const uint8_t *const[]){in}, (uint8_t *[]){out}, &d) != ST_OK)
        fail_msg("%s", d.text);
    return out;
}

static void check(struct arena *a, const struct function *f)
{
    const struct lgl_options o = {.fc_scale = LGL_FC_CLASSIC, .array_rows = 16};
    const char *text = text_of(a, f);
    struct ir_graph *g = NULL;
    struct diag d = {0};
    int least = 127, most = -128;

    if (ir_parse(a, text, &g, &d) != ST_OK || ir_verify(g, "parse", &d) != ST_OK)
        fail_msg("%s\n%s", text, d.text);
    const uint8_t *want = run(a, f, g, false);
    if (lgl_requant(g, &o, &d) != ST_OK || lgl_square_table(g, &o, &d) != ST_OK ||
        ir_verify(g, "square_table", &d) != ST_OK)
        fail_msg("%s", d.text);
    for (uint32_t i = 0; i < g->n_op; i++)
        if (!g->op[i]->dead && ir_out(g, g->op[i], 0)->type != IR_I8)
            fail_msg("%s\nnot rewritten", text);
    const uint8_t *found = run(a, f, g, true);
    for (int32_t i = 0; i < f->rows; i++) {
        const int w = (int8_t)want[i];

        if (w != (int8_t)found[i])
            fail_msg("%s\nrow %d: expected %d, found %d", text, i, w, (int8_t)found[i]);
        least = w < least ? w : least;
        most = w > most ? w : most;
    }
    assert_true(most - least > 20);
}

static void sums_are_equal(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof drawn / sizeof *drawn; i++) {
        struct arena *a = arena_new(0);

        check(a, &drawn[i]);
        arena_free(a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums_are_equal)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
