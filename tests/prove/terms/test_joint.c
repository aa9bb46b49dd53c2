/* Terms that are functions of one integer: their common pieces, and what is made of them. */
#include "prove/terms/rules.h"
#include "tests/compiler/ir_files.h"

struct bench {
    struct prove *p;
    uint32_t x, y;
};

static struct bench open_bench(void)
{
    struct prove *p = prove_new(arena_new(0), 5, 0);

    return (struct bench){p, prove_input(p, 0, 0), prove_input(p, 0, 1)};
}

/* 1 from `place` on, else 0. */
static uint32_t step(struct prove *p, int32_t place, uint32_t t)
{
    int8_t table[256];

    for (int32_t v = -128; v < 128; v++)
        table[v + 128] = v >= place;
    return prove_table(p, table, t);
}

static void pieces_are_common(void **state)
{
    struct bench b = open_bench();
    const uint32_t t[3] = {step(b.p, -8, b.x), prove_constant(7), step(b.p, 20, b.x)};
    const int32_t place[3] = {0, 120, 148};
    struct prove_joint j;

    (void)state;
    assert_true(prove_joint(b.p, t, 3, &j));
    assert_int_equal(j.n, 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(j.at[i], place[i]);
        assert_int_equal(j.value[0][i], i > 0);
        assert_int_equal(j.value[1][i], 7);
        assert_int_equal(j.value[2][i], i > 1);
    }
    arena_free(b.p->arena);
}

/* The sum of two steps: a table of the same byte, and not one with another place. */
static void a_function_of_pieces_is_a_table(void **state)
{
    struct bench b = open_bench();
    const uint32_t t[2] = {step(b.p, -8, b.x), step(b.p, 20, b.x)};
    struct prove_joint j;
    int8_t sum[256], table[2][256];

    (void)state;
    assert_true(prove_joint(b.p, t, 2, &j));
    for (uint32_t i = 0; i < j.n; i++)
        sum[i] = (int8_t)(j.value[0][i] + j.value[1][i]);
    for (int32_t v = -128; v < 128; v++)
        for (int32_t k = 0; k < 2; k++)
            table[k][v + 128] = (int8_t)((v >= -8) + (v >= 20 + k));
    const uint32_t made = prove_pieces(b.p, j.at, sum, j.n, j.arg, j.span);
    assert_true(b.p->term[made].element == b.p->term[prove_table(b.p, table[0], b.x)].element);
    assert_true(b.p->term[made].element != b.p->term[prove_table(b.p, table[1], b.x)].element);
    arena_free(b.p->arena);
}

static void others_are_not_joint(void **state)
{
    struct bench b = open_bench();
    struct prove_joint j;
    const uint32_t two[2] = {step(b.p, -8, b.x), step(b.p, -8, b.y)}, none[2] = {1, 2};
    struct prove_sum s[2] = {0};
    uint32_t fine[2];

    (void)state;
    assert_false(prove_joint(b.p, two, 2, &j));
    assert_true(prove_joint(b.p, none, 2, &j)); /* constants are functions of anything */
    assert_int_equal(prove_pieces(b.p, j.at, j.value[1], j.n, j.arg, j.span), 2);
    for (uint32_t k = 0; k < 2; k++) { /* of one integer, 200 pieces each, at other places */
        prove_add(&s[k], b.p, b.x, 128, 1000);
        s[k].only = PROVE_NOTHING;
        fine[k] = prove_requantise(b.p, &s[k], 1 << 30, -9, k ? -120 : -125, -128, 127);
    }
    assert_true(prove_joint(b.p, fine, 1, &j));
    assert_true(prove_joint(b.p, fine, 2, &j)); /* another zero point: the same places */
    fine[1] = prove_requantise(b.p, &s[1], (1 << 30) + (1 << 23), -9, -120, -128, 127);
    assert_false(prove_joint(b.p, fine, 2, &j));
    arena_free(b.p->arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pieces_are_common),
                                       cmocka_unit_test(a_function_of_pieces_is_a_table),
                                       cmocka_unit_test(others_are_not_joint)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
