/* Terms: ways to compute one function are one term, others are not, and what may wrap is unknown. */
#include "prove/terms/rules.h"
#include "tests/compiler/ir_files.h"

static struct prove *open_prove(void)
{
    return prove_new(arena_new(0), 7, 0);
}

static void close_prove(struct prove *p)
{
    arena_free(p->arena);
}

static prove_uwide element(const struct prove *p, uint32_t t)
{
    return p->term[t].element;
}

static void flipping_twice_is_nothing(void **state)
{
    struct prove *p = open_prove();
    const uint32_t x = prove_input(p, 0, 0), y = prove_flip(p, x);

    (void)state;
    assert_true(element(p, y) != element(p, x));
    assert_true(element(p, prove_flip(p, y)) == element(p, x));
    close_prove(p);
}

/* (2 x + 3 y) requantised, from x and y in either order; 2 x + 4 y is something else. */
static void sums_are_polynomials(void **state)
{
    struct prove *p = open_prove();
    const uint32_t x = prove_input(p, 0, 0), y = prove_input(p, 0, 1);
    struct prove_sum a = {0}, b = {0}, c = {0};

    (void)state;
    prove_add(&a, p, x, 0, 2);
    prove_add(&a, p, y, -5, 3);
    prove_add(&b, p, y, 0, 3);
    prove_add(&b, p, x, 0, 2);
    prove_shift(&b, -15);
    prove_add(&c, p, y, 0, 4);
    prove_add(&c, p, x, 0, 2);
    const uint32_t ra = prove_requantise(p, &a, 1 << 30, -3, 1, -128, 127);
    assert_true(element(p, ra) == element(p, prove_requantise(p, &b, 1 << 30, -3, 1, -128, 127)));
    assert_true(element(p, ra) != element(p, prove_requantise(p, &c, 1 << 30, -3, 1, -128, 127)));
    assert_true(element(p, ra) !=
                element(p, prove_requantise(p, &a, (1 << 30) + (1 << 22), -3, 1, -128, 127)));
    close_prove(p);
}

/* A multiplier that differs, but gives the same bytes for all that the sum can be. */
static void equal_functions_meet(void **state)
{
    struct prove *p = open_prove();
    const uint32_t x = prove_input(p, 0, 0);
    struct prove_sum s = {0};

    (void)state;
    prove_add(&s, p, x, 0, 1);
    assert_true(element(p, prove_requantise(p, &s, 1 << 30, 1, 0, -128, 127)) == element(p, x));
    assert_true(element(p, prove_requantise(p, &s, (1 << 30) + 1, 1, 0, -128, 127)) ==
                element(p, x));
    assert_true(prove_is_constant(prove_requantise(p, &s, 1 << 30, 1, 0, 9, 9)));
    close_prove(p);
}

static void a_sum_that_may_wrap_is_unknown(void **state)
{
    struct prove *p = open_prove();
    struct prove_sum s = {0};

    (void)state;
    prove_add(&s, p, prove_input(p, 0, 0), 0, 1 << 24);
    const uint32_t fits = prove_requantise(p, &s, 1 << 30, -20, 0, -128, 127);
    assert_int_equal(p->n_unknown, 1);
    assert_true(element(p, fits) !=
                element(p, prove_requantise(p, &s, 1 << 30, -20, 0, -128, 127)));
    close_prove(p);
}

static const int8_t *table_of(struct prove *p, int32_t a_factor, int32_t b_factor)
{
    int8_t *t = arena_alloc(p->arena, 65536);

    for (int32_t a = -128; a < 128; a++)
        for (int32_t b = -128; b < 128; b++)
            t[(a + 128) * 256 + b + 128] = (int8_t)((a * a_factor + b * b_factor) / 8);
    return t;
}

static void pairs_have_no_order(void **state)
{
    struct prove *p = open_prove();
    const uint32_t x = prove_input(p, 0, 0), y = prove_input(p, 0, 1);
    const int8_t *ab = table_of(p, 1, 3), *ba = table_of(p, 3, 1), *other = table_of(p, 1, 4);

    (void)state;
    assert_true(element(p, prove_pair(p, ab, x, y)) == element(p, prove_pair(p, ba, y, x)));
    assert_true(element(p, prove_pair(p, ab, x, y)) != element(p, prove_pair(p, ab, y, x)));
    assert_true(element(p, prove_pair(p, ab, x, y)) != element(p, prove_pair(p, other, x, y)));
    close_prove(p);
}

/* g(f(x, y), h(f(x, y))) is one function of x and y, however it is written; and one of a constant is a table. */
static void functions_of_the_same_are_one(void **state)
{
    struct prove *p = open_prove();
    const uint32_t x = prove_input(p, 0, 0), y = prove_input(p, 0, 1);
    const int8_t *ab = table_of(p, 1, 3), *g = table_of(p, 5, -2);
    int8_t half[256], straight[256], other[256], seven[256];

    (void)state;
    for (int32_t v = -128; v < 128; v++) {
        half[v + 128] = (int8_t)(v / 2);
        straight[v + 128] = g[(v + 128) * 256 + v / 2 + 128];
        other[v + 128] = g[(v + 128) * 256 + v / 3 + 128];
        seven[v + 128] = g[(7 + 128) * 256 + v + 128];
    }
    const uint32_t f = prove_pair(p, ab, x, y), both = prove_pair(p, g, f, prove_table(p, half, f));
    assert_true(element(p, both) == element(p, prove_table(p, straight, f)));
    assert_true(element(p, both) != element(p, prove_table(p, other, f)));
    assert_true(element(p, prove_pair(p, g, prove_constant(7), f)) ==
                element(p, prove_table(p, seven, f)));
    close_prove(p);
}

/* Pieces of both that do not fit in 256 are unknown; that of one, and others of the same places, are not. */
static void pieces_of_two_functions_are_counted(void **state)
{
    struct prove *p = open_prove();
    const int8_t *ab = table_of(p, 1, 3);
    struct prove_sum s = {0};
    int8_t half[256];

    (void)state;
    for (int32_t v = -128; v < 128; v++)
        half[v + 128] = (int8_t)(v / 2);
    prove_add(&s, p, prove_input(p, 0, 0), 0, 50);
    s.only = PROVE_NOTHING;
    const uint32_t a = prove_requantise(p, &s, 1 << 30, -5, 0, -128, 127),
                   b = prove_requantise(p, &s, (1 << 30) + (1 << 26), -5, 0, -128, 127);
    (void)prove_pair(p, ab, a, prove_table(p, half, a));
    assert_int_equal(p->n_unknown, 0);
    assert_true(element(p, prove_pair(p, ab, a, b)) != element(p, prove_pair(p, ab, a, b)));
    assert_int_equal(p->n_unknown, 1);
    close_prove(p);
}

static void the_largest_is_a_set(void **state)
{
    struct prove *p = open_prove();
    const uint32_t x = prove_input(p, 0, 0), y = prove_input(p, 0, 1), z = prove_input(p, 0, 2),
                   xyz[] = {x, y, z, prove_constant(-128)}, yz[] = {z, y, y};
    int8_t relu[256];

    (void)state;
    for (int32_t v = -128; v < 128; v++)
        relu[v + 128] = (int8_t)(v < 0 ? 0 : v);
    const uint32_t inner = prove_extremum(p, PROVE_GREATEST, yz, 3), both[] = {inner, x},
                   rx = prove_table(p, relu, x), ry = prove_table(p, relu, y), reluxy[] = {rx, ry},
                   xy[] = {x, y};
    const uint32_t all = prove_extremum(p, PROVE_GREATEST, xyz, 4);
    assert_true(element(p, all) == element(p, prove_extremum(p, PROVE_GREATEST, both, 2)));
    assert_true(element(p, all) != element(p, inner));
    assert_true(element(p, all) != element(p, prove_extremum(p, PROVE_LEAST, xyz, 3)));
    assert_true(element(p, prove_table(p, relu, prove_extremum(p, PROVE_GREATEST, xy, 2))) ==
                element(p, prove_extremum(p, PROVE_GREATEST, reluxy, 2)));
    close_prove(p);
}

/* A choice is a set of what each is where it is chosen: for numbers a table, for one that is -128 or 127 two members. A
 * table that falls makes the smallest from the largest; no member goes where another is always larger. */
static void a_choice_is_a_set(void **state)
{
    struct prove *p = open_prove();
    const uint32_t c = prove_input(p, 0, 0), a = prove_input(p, 0, 1), b = prove_input(p, 0, 2),
                   ends[] = {prove_constant(-128), prove_constant(127)}, ab[] = {a, b},
                   a0[] = {a, prove_constant(0)};
    int8_t falls[256], truth[256], opposite[256], numbers[256], relu[256];

    (void)state;
    for (int32_t v = -128; v < 128; v++) {
        falls[v + 128] = (int8_t)(-1 - v);
        truth[v + 128] = v != 0 ? 127 : -128;
        opposite[v + 128] = v == 0;
        numbers[v + 128] = v != 0 ? 5 : 9;
        relu[v + 128] = (int8_t)(v < 0 ? 0 : v);
    }
    const uint32_t fa_fb[] = {prove_table(p, falls, a), prove_table(p, falls, b)},
                   a_c[] = {a, prove_table(p, truth, c)};
    assert_true(element(p, prove_table(p, falls, prove_extremum(p, PROVE_GREATEST, ab, 2))) ==
                element(p, prove_extremum(p, PROVE_LEAST, fa_fb, 2)));
    assert_true(element(p, prove_extremum(p, PROVE_GREATEST, a0, 2)) ==
                element(p, prove_table(p, relu, a)));
    assert_int_equal(prove_choice(p, prove_constant(0), a, b), b);
    assert_int_equal(prove_choice(p, prove_constant(1), a, b), a);
    assert_true(element(p, prove_choice(p, c, prove_constant(5), prove_constant(9))) ==
                element(p, prove_table(p, numbers, c)));
    assert_true(element(p, prove_choice(p, c, a, ends[0])) ==
                element(p, prove_extremum(p, PROVE_LEAST, a_c, 2)));
    for (uint32_t k = 0; k < 2; k++)
        assert_true(element(p, prove_choice(p, c, ends[k], b)) ==
                    element(p, prove_choice(p, prove_table(p, opposite, c), b, ends[k])));
    assert_true(element(p, prove_choice(p, c, a, b)) != element(p, prove_choice(p, c, b, a)));
    close_prove(p);
}

/* Functions that never fall go into a set; two of one set, or of what such a function gives, are one function of it. */
static void functions_of_one_set_are_one(void **state)
{
    struct prove *p = open_prove();
    const uint32_t x = prove_input(p, 0, 0), xy[] = {x, prove_input(p, 0, 1)},
                   xz[] = {x, prove_input(p, 0, 2)};
    const int8_t *g = table_of(p, 5, 2);
    int8_t half[256], fourth[256], straight[256], other[256], kept[256], end[256];

    (void)state;
    for (int32_t v = -128; v < 128; v++) {
        kept[v + 128] = (int8_t)(v < -64 ? -64 : v > 63 ? 63 : v); /* of v / 2 */
        end[v + 128] = (int8_t)(v > 62 ? 62 : kept[v + 128]);
        half[v + 128] = (int8_t)(v / 2);
        fourth[v + 128] = (int8_t)(v / 2 / 2);
        straight[v + 128] = g[(v / 2 + 128) * 256 + v / 2 / 2 + 128];
        other[v + 128] = g[(v + 128) * 256 + v / 2 + 128];
    }
    const uint32_t set = prove_extremum(p, PROVE_GREATEST, xy, 2), a = prove_table(p, half, set),
                   b = prove_table(p, half, a), both = prove_pair(p, g, a, b),
                   apart = prove_extremum(p, PROVE_GREATEST, xz, 2),
                   least = prove_extremum(p, PROVE_LEAST, xy, 2);
    assert_int_equal(prove_table(p, kept, a), a);
    assert_true(element(p, prove_table(p, end, a)) != element(p, a));
    assert_true(element(p, b) == element(p, prove_table(p, fourth, set)));
    assert_true(element(p, both) == element(p, prove_table(p, straight, set)));
    assert_true(element(p, both) != element(p, prove_table(p, other, set)));
    assert_true(element(p, prove_pair(p, g, set, a)) == element(p, prove_table(p, other, set)));
    assert_true(element(p, prove_pair(p, g, a, prove_table(p, fourth, apart))) != element(p, both));
    assert_true(element(p, prove_pair(p, g, a, prove_table(p, fourth, least))) != element(p, both));
    close_prove(p);
}

/* A constant that the others do not always reach stays in the set. */
static void a_bound_of_a_set_counts(void **state)
{
    struct prove *p = open_prove();
    const uint32_t x = prove_input(p, 0, 0), five[] = {x, prove_constant(5)},
                   six[] = {x, prove_constant(6)};

    (void)state;
    assert_true(element(p, prove_extremum(p, PROVE_GREATEST, five, 2)) !=
                element(p, prove_extremum(p, PROVE_GREATEST, six, 2)));
    assert_true(element(p, prove_extremum(p, PROVE_GREATEST, five, 2)) != element(p, x));
    close_prove(p);
}

static uint32_t of_sum(struct prove *p, const struct prove_sum *s)
{
    return prove_requantise(p, s, 1 << 29, 0, 3, -100, 100);
}

/* 2 * (t + 5), or with factor -2, a fourth of it + 3: the same by the bytes of t. */
static uint32_t by_bytes(struct prove *p, uint32_t t, int32_t factor)
{
    int8_t y[256];

    for (int32_t v = -128; v < 128; v++) {
        struct prove_sum s = {0};

        prove_add(&s, p, prove_constant((int8_t)v), 5, factor);
        y[v + 128] = (int8_t)(of_sum(p, &s) - 128);
    }
    return prove_table(p, y, t);
}

/* The term may be an input or a function. */
static void a_sum_of_one_term_is_a_function_of_it(void **state)
{
    struct prove *p = open_prove();
    const uint32_t x = prove_input(p, 0, 0), of[] = {x, prove_flip(p, x), by_bytes(p, x, 2)};

    (void)state;
    for (uint32_t i = 0; i < 6; i++) {
        const int32_t factor = i % 2 ? -2 : 2;
        struct prove_sum s = {0}, product = s;

        prove_add(&s, p, prove_constant(7), 0, 1);
        prove_shift(&s, -7);
        prove_add(&s, p, of[i / 2], 5, factor);
        prove_add_product(&product, p, prove_constant(7), 0, prove_constant(0), 0);
        prove_add_product(&product, p, prove_constant((int8_t)factor), 0, of[i / 2], 5);
        assert_true(element(p, of_sum(p, &s)) == element(p, by_bytes(p, of[i / 2], factor)));
        assert_true(element(p, of_sum(p, &product)) == element(p, of_sum(p, &s)));
    }
    close_prove(p);
}

/* A sum is its digits times powers of 128, with as many digits as it needs; a digit of another sum is another. */
static void digits_make_the_sum(void **state)
{
    struct prove *p = open_prove();

    (void)state;
    for (int64_t factor = 1; factor < 1 << 19; factor *= 5) {
        struct prove_sum s = {0}, joined = {0}, other;

        prove_add(&s, p, prove_input(p, 0, 0), 128, factor);
        prove_add(&s, p, prove_input(p, 0, 1), 0, -3);
        other = s;
        prove_shift(&other, 1);
        for (int32_t i = 0; i < 4; i++) {
            const uint32_t t = prove_requantise(p, &s, 64, 25 - 7 * i, 0, -128, 127);

            prove_add(&joined, p, t, 0, INT64_C(1) << 7 * i);
            assert_true(prove_is_constant(t) ||
                        element(p, t) !=
                            element(p, prove_requantise(p, &other, 64, 25 - 7 * i, 0, -128, 127)));
        }
        assert_true(prove_value(&joined) == prove_value(&s));
    }
    close_prove(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(flipping_twice_is_nothing),
                                       cmocka_unit_test(sums_are_polynomials),
                                       cmocka_unit_test(digits_make_the_sum),
                                       cmocka_unit_test(equal_functions_meet),
                                       cmocka_unit_test(a_sum_that_may_wrap_is_unknown),
                                       cmocka_unit_test(pairs_have_no_order),
                                       cmocka_unit_test(functions_of_the_same_are_one),
                                       cmocka_unit_test(pieces_of_two_functions_are_counted),
                                       cmocka_unit_test(the_largest_is_a_set),
                                       cmocka_unit_test(a_choice_is_a_set),
                                       cmocka_unit_test(functions_of_one_set_are_one),
                                       cmocka_unit_test(a_bound_of_a_set_counts),
                                       cmocka_unit_test(a_sum_of_one_term_is_a_function_of_it)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
