/* Terms of different functions stay apart: each check is what one planted mistake of tests/prove/mutants.txt would
 * take for equal. */
#include <string.h>

#include "prove/terms/rules.h"
#include "tests/compiler/ir_files.h"

struct bench {
    struct prove *p;
    uint32_t x, y, z, narrow; /* inputs; a value in 0 .. 10 */
};

static struct bench open_bench(void)
{
    struct prove *p = prove_new(arena_new(0), 11, 0);
    const prove_uwide word = 77;

    return (struct bench){p, prove_input(p, 0, 0), prove_input(p, 0, 1), prove_input(p, 0, 2),
                          prove_leaf(p, prove_hash(p, &word, 1), 0, 10)};
}

static void close_bench(struct bench *b)
{
    arena_free(b->p->arena);
}

static void apart(const struct bench *b, uint32_t s, uint32_t t)
{
    assert_true(b->p->term[s].element != b->p->term[t].element);
}

typedef int32_t of_byte(int32_t v);
typedef int32_t of_bytes(int32_t a, int32_t b);

static uint32_t table(const struct bench *b, of_byte *f, uint32_t t)
{
    int8_t y[256];

    for (int32_t v = -128; v < 128; v++)
        y[v + 128] = (int8_t)f(v);
    return prove_table(b->p, y, t);
}

static uint32_t pair(const struct bench *b, of_bytes *f, uint32_t s, uint32_t t)
{
    int8_t *y = arena_alloc(b->p->arena, 65536);

    for (int32_t i = 0; i < 65536; i++)
        y[i] = (int8_t)f(i / 256 - 128, i % 256 - 128);
    return prove_pair(b->p, y, s, t);
}

static int32_t steps(int32_t v)
{
    return (v > -50) + (v > 20);
}
static int32_t late_steps(int32_t v)
{
    return (v > -50) + (v > 21);
}
static int32_t half(int32_t v)
{
    return v / 2;
}
static int32_t twice(int32_t v)
{
    return v >= 0 && v < 60 ? 2 * v : 0;
}
static int32_t next(int32_t v)
{
    return v < 127 ? v + 1 : v;
}
static int32_t same(int32_t v)
{
    return v;
}
static int32_t bit(int32_t v)
{
    return v > 3;
}
static int32_t other_bit(int32_t v)
{
    return v > 4;
}
static int32_t hat(int32_t v)
{
    return v < 0 ? v : -v;
}
static int32_t blocks(int32_t v)
{
    return (v + 128) * 37;
}
static int32_t exchanged(int32_t v)
{
    return ((v + 128) ^ 8) * 37;
}

static void tables_differ(void **state)
{
    struct bench b = open_bench();

    (void)state;
    apart(&b, table(&b, steps, b.x), table(&b, late_steps, b.x));
    apart(&b, table(&b, half, b.x), b.x);
    apart(&b, table(&b, half, b.x), table(&b, half, b.y));
    apart(&b, table(&b, twice, b.narrow), table(&b, same, b.narrow));
    apart(&b, table(&b, next, b.narrow), table(&b, same, b.narrow));
    apart(&b, table(&b, bit, b.x), table(&b, other_bit, b.x));
    apart(&b, table(&b, blocks, b.x), table(&b, exchanged, b.x));
    /* a table of few values first: of more, it is another function */
    assert_int_equal(b.p->term[table(&b, half, b.narrow)].high, 5);
    assert_int_equal(b.p->term[table(&b, half, b.x)].high, 63);
    close_bench(&b);
}

static int32_t sum(int32_t a, int32_t b)
{
    return (a + b) / 2;
}
static int32_t product(int32_t a, int32_t b)
{
    return (a + 128) * (b + 128) / 512;
}
static int32_t other_product(int32_t a, int32_t b)
{
    return (a + 128) * (b + 127) / 512;
}
static int32_t first_steps(int32_t a, int32_t b)
{
    return 2 * steps(a) + steps(b);
}
static int32_t last_steps(int32_t a, int32_t b)
{
    return 2 * steps(a) + late_steps(b);
}
static int32_t front_steps(int32_t a, int32_t b)
{
    return 2 * late_steps(a) + steps(b);
}
static int32_t corner_steps(int32_t a, int32_t b)
{
    return 2 * steps(a) + steps(b) + (steps(a) > 0 && steps(b) > 0);
}
static int32_t lean(int32_t a, int32_t b)
{
    return (a + 2 * b) / 4;
}

static void check_pairs(bool deep)
{
    struct bench b = open_bench();
    const uint32_t both[] = {b.x, b.y}, xy = pair(&b, lean, b.x, b.y), xz = pair(&b, sum, b.x, b.z),
                   xy2 = pair(&b, sum, b.x, b.y);

    b.p->deep = deep;
    apart(&b, pair(&b, lean, b.x, b.y), pair(&b, lean, b.y, b.x));
    apart(&b, pair(&b, product, b.x, b.y), pair(&b, other_product, b.x, b.y));
    apart(&b, pair(&b, sum, table(&b, steps, b.x), b.y),
          pair(&b, sum, table(&b, late_steps, b.x), b.y));
    assert_false(prove_is_constant(pair(&b, product, b.x, b.y)));
    apart(&b, pair(&b, first_steps, b.x, b.y), pair(&b, last_steps, b.x, b.y));
    apart(&b, pair(&b, first_steps, b.x, b.y), pair(&b, front_steps, b.x, b.y));
    apart(&b, pair(&b, first_steps, b.x, b.y), pair(&b, corner_steps, b.x, b.y));
    apart(&b, pair(&b, product, xy, xz), pair(&b, product, xy, xy2));
    apart(&b, pair(&b, lean, b.x, prove_constant(5)), pair(&b, lean, b.x, prove_constant(60)));
    apart(&b, pair(&b, lean, prove_constant(5), b.x), pair(&b, lean, prove_constant(60), b.x));
    apart(&b, pair(&b, sum, b.x, b.y), prove_extremum(b.p, PROVE_GREATEST, both, 2));
    close_bench(&b);
}

static void pairs_differ(void **state)
{
    (void)state;
    check_pairs(false);
    check_pairs(true);
}

static void sets_differ(void **state)
{
    struct bench b = open_bench();
    const uint32_t xy[] = {b.x, b.y}, yz[] = {b.y, b.z}, xz[] = {b.x, b.z}, xyz[] = {b.x, b.y, b.z};
    const uint32_t most = prove_extremum(b.p, PROVE_GREATEST, xy, 2),
                   least = prove_extremum(b.p, PROVE_LEAST, xy, 2), mixed[] = {least, b.z},
                   hats[] = {table(&b, hat, b.x), table(&b, hat, b.y)}, few[] = {b.narrow, b.x},
                   bound[] = {prove_constant(0), b.x};

    (void)state;
    apart(&b, most, least);
    apart(&b, most, prove_extremum(b.p, PROVE_GREATEST, yz, 2));
    apart(&b, most, prove_extremum(b.p, PROVE_GREATEST, xz, 2));
    apart(&b, prove_extremum(b.p, PROVE_GREATEST, yz, 2),
          prove_extremum(b.p, PROVE_GREATEST, xz, 2));
    apart(&b, prove_extremum(b.p, PROVE_GREATEST, mixed, 2),
          prove_extremum(b.p, PROVE_GREATEST, xyz, 3));
    apart(&b, table(&b, hat, most), prove_extremum(b.p, PROVE_GREATEST, hats, 2));
    apart(&b, prove_extremum(b.p, PROVE_GREATEST, few, 2), b.x);
    apart(&b, prove_extremum(b.p, PROVE_GREATEST, few, 2),
          prove_extremum(b.p, PROVE_GREATEST, bound, 2));
    const uint32_t shifted[] = {table(&b, next, b.narrow), b.narrow};
    apart(&b, prove_extremum(b.p, PROVE_LEAST, shifted, 2), shifted[0]);
    close_bench(&b);
}

static struct prove_sum linear(const struct bench *b, uint32_t t, int64_t offset, int64_t factor,
                               int64_t bias)
{
    struct prove_sum s = {0};

    prove_add(&s, b->p, t, offset, factor);
    prove_shift(&s, bias);
    s.only = PROVE_NOTHING; /* a sum as of several */
    return s;
}

static uint32_t rounded(const struct bench *b, struct prove_sum s, int32_t multiplier, int32_t z,
                        int32_t low)
{
    return prove_requantise(b->p, &s, multiplier, -2, z, low, 127);
}

static void sums_differ(void **state)
{
    struct bench b = open_bench();
    const int32_t m = 1 << 30;
    const uint32_t plain = rounded(&b, linear(&b, b.x, -5, 3, 0), m, 0, -128);
    struct prove_sum s = {0}, t = {0}, u = {0};

    (void)state;
    apart(&b, plain, rounded(&b, linear(&b, b.x, -6, 3, 0), m, 0, -128));
    apart(&b, plain, rounded(&b, linear(&b, b.x, -5, 4, 0), m, 0, -128));
    apart(&b, plain, rounded(&b, linear(&b, b.x, -5, 3, 7), m, 0, -128));
    apart(&b, plain, rounded(&b, linear(&b, b.x, -5, 3, 0), m, 1, -128));
    apart(&b, plain, rounded(&b, linear(&b, b.x, -5, 3, 0), m, 0, 0));
    apart(&b, plain, rounded(&b, linear(&b, b.x, -5, 3, 0), m + (1 << 27), 0, -128));
    assert_int_equal(b.p->term[rounded(&b, linear(&b, b.narrow, 128, 8, 0), m, 0, -128)].low, 127);
    assert_int_equal(b.p->term[rounded(&b, linear(&b, b.narrow, 0, 80, 0), m, 0, -128)].high, 100);
    struct prove_sum wide = linear(&b, b.x, 0, 1, 0);
    wide.low = 0;
    wide.high = 1000;
    assert_int_equal(b.p->term[rounded(&b, wide, m, 0, -128)].high, 125);
    prove_add_product(&s, b.p, b.x, -3, b.y, 1);
    prove_add_product(&t, b.p, b.x, -4, b.y, 1);
    prove_add_product(&u, b.p, b.x, -3, b.y, 2);
    apart(&b, rounded(&b, s, m, 0, -128), rounded(&b, t, m, 0, -128));
    apart(&b, rounded(&b, s, m, 0, -128), rounded(&b, u, m, 0, -128));
    assert_int_equal(s.low, -131 * 128);
    assert_int_equal(s.high, 131 * 127);
    s = (struct prove_sum){0};
    prove_add_product(&s, b.p, b.x, 3, b.y, -1);
    assert_int_equal(s.low, -130 * 129);
    assert_int_equal(s.high, 130 * 126);
    apart(&b, b.x, prove_input(b.p, 1, 0));
    close_bench(&b);
}

static int8_t above(const void *ctx, int64_t x)
{
    return x > *(const int64_t *)ctx;
}

/* Where a function changes is known exactly. */
static void places_are_exact(void **state)
{
    struct bench b = open_bench();
    const struct prove_sum s = linear(&b, b.x, 128, 40, 0);
    const int64_t place[2] = {500, 501};

    (void)state;
    apart(&b, prove_apply(b.p, above, &place[0], (struct prove_key){{99, 0}}, &s, 20000),
          prove_apply(b.p, above, &place[1], (struct prove_key){{99, 1}}, &s, 20000));
    close_bench(&b);
}

/* n unknown reasons so far; the value of any is its own. */
static void what_may_wrap_is_unknown(void **state)
{
    struct bench b = open_bench();
    struct prove_sum s = linear(&b, b.x, 0, 1 << 20, 0);

    (void)state;
    const uint32_t fits = prove_requantise(b.p, &s, 1 << 30, 0, 0, -128, 127);
    assert_int_equal(b.p->n_unknown, 0);
    s = linear(&b, b.x, 0, 1 << 25, 0);
    const uint32_t wraps = prove_requantise(b.p, &s, 1 << 30, 8, 0, -128, 127);
    assert_int_equal(b.p->n_unknown, 1);
    apart(&b, wraps, prove_requantise(b.p, &s, 1 << 30, 8, 0, -128, 127));
    apart(&b, wraps, fits);
    s = linear(&b, b.narrow, 0, 1 << 30, 0);
    (void)prove_average(b.p, &s, 4, false, -128, 127);
    assert_int_equal(b.p->n_unknown, 2);
    close_bench(&b);
}

/* A shift left that drops bits of the sum: equal only of the same sum, by the same numbers. */
static void dropped_bits_are_a_function(void **state)
{
    struct bench b = open_bench();
    struct prove_sum s = linear(&b, b.x, 0, 1 << 20, 0), other = linear(&b, b.x, 0, 1 << 20, 1);

    (void)state;
    const uint32_t t = prove_requantise(b.p, &s, 64, 25, 0, -128, 127);
    assert_true(b.p->term[t].element ==
                b.p->term[prove_requantise(b.p, &s, 64, 25, 0, -128, 127)].element);
    assert_int_equal(b.p->n_unknown, 0);
    apart(&b, t, prove_requantise(b.p, &s, 65, 25, 0, -128, 127));
    apart(&b, t, prove_requantise(b.p, &s, 64, 24, 0, -128, 127));
    apart(&b, t, prove_requantise(b.p, &s, 64, 25, 1, -128, 127));
    apart(&b, t, prove_requantise(b.p, &s, 64, 25, 0, -127, 127));
    apart(&b, t, prove_requantise(b.p, &s, 64, 25, 0, -128, 126));
    apart(&b, t, prove_requantise(b.p, &other, 64, 25, 0, -128, 127));
    close_bench(&b);
}

static void means_differ(void **state)
{
    struct bench b = open_bench();
    const struct prove_sum s = linear(&b, b.x, 0, 3, 0), three = {{-3, 0}, -3, -3, 0};

    (void)state;
    apart(&b, prove_average(b.p, &s, 2, false, -128, 127),
          prove_average(b.p, &s, 2, true, -128, 127));
    apart(&b, prove_average(b.p, &s, 5, false, -128, 127),
          prove_average(b.p, &s, 6, false, -128, 127));
    apart(&b, prove_average(b.p, &s, 5, false, -128, 127),
          prove_average(b.p, &s, 5, false, 0, 127));
    assert_int_equal(prove_average(b.p, &three, 2, false, -128, 127), prove_constant(-2));
    assert_int_equal(prove_average(b.p, &three, 2, true, -128, 127), prove_constant(-1));
    close_bench(&b);
}

static void opaque_functions_have_their_parameters(void **state)
{
    struct bench b = open_bench();
    const uint32_t xy[] = {b.x, b.y}, xz[] = {b.x, b.z}, bytes[] = {b.x, b.y, b.z, b.narrow},
                   others[] = {b.y, b.x, b.z, b.narrow};
    int32_t e[256] = {5, 4}, f[256] = {5, 3};
    uint32_t p[2], q[2], r[2];

    (void)state;
    prove_softmax(b.p, e, xy, 2, p);
    prove_softmax(b.p, e, xz, 2, q);
    prove_softmax(b.p, f, xy, 2, r);
    apart(&b, p[0], p[1]);
    apart(&b, p[0], q[0]);
    apart(&b, p[0], r[0]);
    const uint32_t t = prove_quantize(b.p, bytes, 0.5f, 3);
    apart(&b, t, prove_quantize(b.p, bytes, 0.25f, 3));
    apart(&b, t, prove_quantize(b.p, bytes, 0.5f, 4));
    /* One scale, another zero point than just before. */
    apart(&b, prove_quantize(b.p, bytes, 0.5f, 4), prove_quantize(b.p, bytes, 0.5f, 2));
    apart(&b, t, prove_quantize(b.p, others, 0.5f, 3));
    close_bench(&b);
}

static void apart_bytes(const struct bench *b, const struct prove_opaque *q, uint32_t t)
{
    uint32_t y[2];

    prove_opaque(b->p, q, y, 2);
    apart(b, t, y[0]);
    apart(b, y[0], y[1]);
}

static void int16_has_two_bytes_and_parameters(void **state)
{
    struct bench b = open_bench();
    const uint32_t xy[] = {b.x, b.y}, xz[] = {b.x, b.z}, zy[] = {b.z, b.y},
                   minus[] = {prove_constant(-2), prove_constant(-1)};
    const prove_uwide e = prove_i16(b.p, xy), f = prove_i16(b.p, xz);
    const struct prove_opaque q = {PROVE_ADD_16, {1, 2, 3, 4, 5, 6, 7, 8}, {e, f}};
    struct prove_opaque other = q;
    struct prove_sum s = {0}, t = s;
    uint32_t y[2], same[2];

    (void)state;
    assert_true(e != f && e != prove_i16(b.p, zy));
    assert_true(prove_i16(b.p, minus) == prove_element(-2));
    prove_add_i16(&s, e, 3);
    prove_add_i16(&s, f, -5);
    prove_add_i16(&t, f, -5);
    prove_add_i16(&t, e, 2);
    assert_true(prove_value(&s) != prove_value(&t));
    prove_add_i16(&t, e, 1);
    assert_true(prove_value(&s) == prove_value(&t));
    prove_opaque(b.p, &q, y, 2);
    prove_opaque(b.p, &q, same, 2);
    assert_memory_equal(&b.p->term[y[0]].element, &b.p->term[same[0]].element, sizeof e);
    other.rule = PROVE_SUB_16;
    apart_bytes(&b, &other, y[0]);
    for (uint32_t i = 0; i < PROVE_PARAMETERS; i++) {
        other = q;
        other.parameter[i]++;
        apart_bytes(&b, &other, y[0]);
    }
    apart_bytes(&b, &(struct prove_opaque){q.rule, {1, 2, 3, 4, 5, 6, 7, 8}, {f, e}}, y[0]);
    apart_bytes(&b, &(struct prove_opaque){q.rule, {1, 2, 3, 4, 5, 6, 7, 8}, {e, e}}, y[0]);
    close_bench(&b);
}

/* A sum that notes a wrong term: its element decides. */
static void sums_of_one_term(void **state)
{
    struct bench b = open_bench();
    const int32_t factor[] = {2, -2, 6, 2};
    uint32_t t[4];

    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        struct prove_sum s = {0};

        prove_add(&s, b.p, b.x, i == 1, i < 3 ? factor[i] : 1); /* -2 (x + 1): the bounds of 2 x */
        if (i == 3)
            prove_add(&s, b.p, b.y, 0, 1);
        s.only = b.x;
        t[i] = prove_requantise(b.p, &s, 1 << 29, 0, 0, -100, 100);
        for (uint32_t k = 0; k < i; k++)
            apart(&b, t[i], t[k]);
    }
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tables_differ),
                                       cmocka_unit_test(pairs_differ),
                                       cmocka_unit_test(sets_differ),
                                       cmocka_unit_test(sums_differ),
                                       cmocka_unit_test(places_are_exact),
                                       cmocka_unit_test(what_may_wrap_is_unknown),
                                       cmocka_unit_test(dropped_bits_are_a_function),
                                       cmocka_unit_test(means_differ),
                                       cmocka_unit_test(opaque_functions_have_their_parameters),
                                       cmocka_unit_test(int16_has_two_bytes_and_parameters),
                                       cmocka_unit_test(sums_of_one_term)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
