/* A call of a kernel without a rule: it has the terms of an operator only if it gives the operator's bytes, for the
 * operator's operands, and changes the operator's variables alone. */
#include <math.h>

#include "compiler/import/ir_text.h"
#include "kernels/hdk.h"
#include "prove/compared.h"
#include "prove/graph/graph.h"
#include "reference/ref.h"
#include "tests/compiler/ir_files.h"

static const char text[] = "heddle-ir 1\n"
                           "graph name=\"g\"\n"
                           "row 0 name=\"0\" op=\"SUB\" tensor=\"c\" shape=\"4\" macs=0\n"
                           "tensor 0 f32 [1,4] input name=\"a\"\n"
                           "tensor 1 f32 [1,4] input name=\"b\"\n"
                           "tensor 2 f32 [1,4] value name=\"c\"\n"
                           "op sub row=0 in=(0,1) out=(2)\n"
                           "border in=(0,1) out=(2)\n";

enum { VALUES = 4, BYTES = 16, WINDOW = 1024, A = 0, B = 64, Y = 128 };

struct bench {
    struct prove_package k;
    struct prove_graph graph;
    struct hd_model model;
    struct hdk_f32_binary p;
};

static struct bench *open_bench(void)
{
    static uint32_t *in[2];
    struct arena *a = arena_new(0);
    struct bench *b = ARENA_NEW(a, struct bench);
    struct prove *p = prove_new(a, 7, 0);
    struct ref_options *options = ARENA_NEW(a, struct ref_options);
    struct ir_graph *g;
    struct diag d = {0};

    if (ir_text_import(a, (const uint8_t *)text, sizeof text - 1, &g, &d) != ST_OK)
        fail_msg("%s", d.text);
    for (uint32_t i = 0; i < 2; i++) {
        in[i] = ARENA_ARRAY(a, uint32_t, BYTES);
        for (uint32_t n = 0; n < BYTES; n++)
            in[i][n] = prove_input(p, i, n);
    }
    b->graph = (struct prove_graph){.g = g, .options = options, .in = (const uint32_t *const *)in};
    b->model.arena_bytes = WINDOW;
    b->k = (struct prove_package){.p = p, .model = &b->model, .graph = &b->graph};
    b->k.window = arena_alloc(a, WINDOW);
    b->k.memory = (struct prove_memory){ARENA_ARRAY(a, uint32_t, WINDOW), WINDOW};
    memset(b->k.memory.term, 0xff, WINDOW * sizeof(uint32_t));
    memcpy(b->k.memory.term + A, in[0], BYTES * sizeof(uint32_t));
    memcpy(b->k.memory.term + B, in[1], BYTES * sizeof(uint32_t));
    b->p = (struct hdk_f32_binary){
        {{1, 1, 1, VALUES}, {0, 0, 0, 1}, {0, 0, 0, 1}}, -INFINITY, INFINITY};
    return b;
}

static bool call(struct bench *b, const char *name, uint32_t x, uint32_t y, uint32_t to)
{
    uint8_t *w = b->k.window;
    void *const arg[4] = {w + x, w + y, w + to, NULL};

    return prove_compared(&b->k, name, &b->p, arg);
}

static void result_is_the_operators(void **state)
{
    struct bench *b = open_bench();

    (void)state;
    b->k.memory.term[Y + BYTES] = 300;
    assert_true(call(b, "f32_sub", A, B, Y));
    for (uint32_t i = 0; i < BYTES; i++)
        assert_true(b->k.p->term[b->k.memory.term[Y + i]].element ==
                    b->k.p->term[b->graph.terms[2][i]].element);
    assert_int_equal(b->k.memory.term[Y + BYTES], 300);
    assert_int_equal(b->k.n_compared, 1);
    assert_string_equal(b->k.compared, "f32_sub");
    for (uint32_t i = 0; i < WINDOW; i++)
        assert_int_equal(b->k.window[i], 0); /* as it was */
    arena_free(b->k.p->arena);
}

/* Another result, exchanged or other operands, one value in four other, another layer. */
static void anything_else_is_not(void **state)
{
    struct bench *b = open_bench();

    (void)state;
    assert_false(call(b, "f32_add", A, B, Y));
    assert_false(call(b, "f32_sub", B, A, Y));
    assert_false(call(b, "f32_sub", A, A, Y));
    b->p.high = 3.9f;
    assert_false(call(b, "f32_sub", A, B, Y));
    b->p.high = INFINITY;
    for (uint32_t i = 0; i < BYTES; i++)
        b->k.memory.term[B + i] = prove_fresh(b->k.p);
    assert_false(call(b, "f32_sub", A, B, Y));
    for (uint32_t i = 0; i < BYTES; i++)
        b->k.memory.term[B + i] = b->graph.in[1][i];
    b->k.p->layer = 1;
    assert_false(call(b, "f32_sub", A, B, Y));
    b->k.p->layer = 0;
    assert_false(call(b, "no kernel", A, B, Y));
    assert_int_equal(b->k.n_compared, 0);
    assert_true(call(b, "f32_sub", A, B, Y));
    arena_free(b->k.p->arena);
}

/* Operands without a value and in another order: so is the result. The value that is missing is not claimed. */
static void result_may_be_in_another_order(void **state)
{
    static const uint32_t order[] = {2, 0, 3};
    struct bench *b = open_bench();
    uint32_t *term = b->k.memory.term;

    (void)state;
    b->p.walk.shape[3] = 3;
    for (uint32_t i = 0; i < BYTES; i++) {
        term[A + i] = i < 12 ? b->graph.in[0][order[i / 4] * 4 + i % 4] : PROVE_NOTHING;
        term[B + i] = i < 12 ? b->graph.in[1][order[i / 4] * 4 + i % 4] : PROVE_NOTHING;
        term[Y + i] = 300;
    }
    assert_true(call(b, "f32_sub", A, B, Y));
    for (uint32_t i = 0; i < 12; i++)
        assert_true(b->k.p->term[term[Y + i]].element ==
                    b->k.p->term[b->graph.terms[2][order[i / 4] * 4 + i % 4]].element);
    for (uint32_t i = 12; i < BYTES; i++)
        assert_int_equal(term[Y + i], 300);
    term[B] = prove_fresh(b->k.p);
    assert_false(call(b, "f32_sub", A, B, Y));
    arena_free(b->k.p->arena);
}

/* Other bytes that a kernel writes are unknown from then on. */
static void other_bytes_are_fresh(void **state)
{
    struct bench *b = open_bench();

    (void)state;
    b->p.walk.shape[3] = VALUES + 1;
    for (uint32_t i = 0; i < 4; i++)
        b->k.memory.term[Y + BYTES + i] = 300;
    assert_true(call(b, "f32_sub", A, B, Y));
    for (uint32_t i = 0; i < 4; i++)
        assert_int_not_equal(b->k.memory.term[Y + BYTES + i], 300);
    arena_free(b->k.p->arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(result_is_the_operators), cmocka_unit_test(anything_else_is_not),
        cmocka_unit_test(result_may_be_in_another_order), cmocka_unit_test(other_bytes_are_fresh)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
