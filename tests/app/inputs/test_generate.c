/* Inputs of a run without -i: four kinds, determined by seed and graph. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "app/inputs/generate.h"
#include "app/job/job.h"
#include "base/random.h"

enum { UNIFORM, SMOOTH, EXTREMES, SCALED, KINDS };

/* An image of each type, and indices into rows of 5 and, as a matrix, of 3. The product of `x` with itself
 * saturates unless x is small. */
static const char net[] =
    "heddle-ir 1 graph name=\"n\" row 0 name=\"00\" op=\"MUL\" tensor=\"\" shape=\"\" "
    "tensor 0 i8 [1,16,16,3] input name=\"x\" scale=(0.5) zero=(7) "
    "tensor 1 u8 [1,16,16,3] input name=\"u\" scale=(0.5) zero=(3) "
    "tensor 2 i16 [1,16,16,3] input name=\"s\" scale=(0.5) zero=(0) "
    "tensor 3 f32 [1,16,16,3] input name=\"f\" "
    "tensor 4 i32 [1,40] input name=\"ids\" "
    "tensor 5 i64 [1,40] input name=\"rows\" "
    "tensor 6 f32 [5,2] const name=\"table\" "
    "data=00000000000000000000000000000000000000000000000000000000000000000000000000000000 "
    "tensor 7 f32 [3] const name=\"few\" data=000000000000000000000000 "
    "tensor 8 i8 [1,16,16,3] value name=\"xx\" scale=(0.5) zero=(0) "
    "tensor 9 f32 [1,40,2] value name=\"e\" "
    "tensor 10 f32 [1,40] value name=\"r\" "
    "tensor 11 i8 [1,16,16,3] value name=\"q\" scale=(0.25) zero=(0) "
    "op mul row=0 in=(0,0) out=(8) op gather row=0 in=(6,4) out=(9) op gather row=0 in=(7,5) "
    "out=(10) "
    "op quantize row=0 in=(3) out=(11) "
    "border in=(0,1,2,3,4,5) out=(8,9,10,11)";

enum { X, U, S, F, IDS, ROWS, INPUTS, PIXELS = 16 * 16 * 3 };

struct fixture {
    struct arena *a;
    struct options o;
    struct pipeline p;
    struct job job;
};

static void make(struct fixture *f, uint64_t seed, uint32_t n)
{
    struct ir_graph *g;
    struct diag d = {0};

    *f = (struct fixture){.a = arena_new(0)};
    if (ir_parse(f->a, net, &g, &d) != ST_OK)
        fail_msg("%s", d.text);
    f->o = (struct options){.seed = seed, .inferences = n};
    f->p = (struct pipeline){.arena = f->a, .graph = g, .reference = g};
    f->job = (struct job){.arena = f->a, .options = &f->o, .p = &f->p};
    f->job.in = ARENA_ARRAY(f->a, struct run_data, g->n_in);
    for (uint32_t i = 0; i < g->n_in; i++)
        f->job.in[i].n_bytes = ir_bytes(g->tensor[g->in[i]]);
    f->job.n = generate_count(&f->job);
    if (generate_inputs(&f->job, &d) != ST_OK)
        fail_msg("%s", d.text);
}

static double value(const struct fixture *f, uint32_t input, uint32_t k, uint64_t i)
{
    const struct ir_graph *g = f->p.graph;
    const struct run_data *data = &f->job.in[input];

    return ir_element(g->tensor[g->in[input]], data->bytes + k * data->n_bytes, i);
}

static void four_unless_stated(void **state)
{
    struct fixture f;

    (void)state;
    make(&f, 1, 0);
    assert_int_equal(f.job.n, KINDS);
    f.o.command = COMMAND_BENCH;
    assert_int_equal(generate_count(&f.job), 1);
    f.o.inferences = 7;
    assert_int_equal(generate_count(&f.job), 7);
    f.o = (struct options){.fill = FILL_ONES}; /* all inferences would be equal */
    assert_int_equal(generate_count(&f.job), 1);
    arena_free(f.a);
}

/* A 1x1 convolution uses each weight once per pixel. */
static void more_where_weights_are_used_rarely(void **state)
{
    static const struct {
        int side;
        uint32_t n;
    } images[] = {{1, 16}, {2, 8}, {5, 8}, {6, 4}};

    (void)state;
    for (size_t i = 0; i < sizeof images / sizeof *images; i++) {
        struct arena *a = arena_new(0);
        const int side = images[i].side;
        const char *const text = arena_printf(
            a,
            "heddle-ir 1 graph name=\"n\" row 0 name=\"00\" op=\"CONV_2D\" tensor=\"\" shape=\"\" "
            "tensor 0 i8 [1,%d,%d,2] input name=\"x\" scale=(0.5) zero=(0) "
            "tensor 1 i8 [2,1,1,2] const name=\"w\" scale=(0.5) zero=(0) data=01020304 "
            "tensor 2 i8 [1,%d,%d,2] value name=\"y\" scale=(0.5) zero=(0) "
            "op conv2d row=0 in=(0,1) out=(2) stride_h=1 stride_w=1 dilation_h=1 dilation_w=1 "
            "kernel_h=1 kernel_w=1 border in=(0) out=(2)",
            side, side, side, side);
        struct options o = {.seed = 1};
        struct pipeline p = {.arena = a};
        struct job job = {.arena = a, .options = &o, .p = &p};
        struct ir_graph *g;
        struct diag d = {0};

        if (ir_parse(a, text, &g, &d) != ST_OK)
            fail_msg("%s", d.text);
        p.graph = p.reference = g;
        assert_int_equal(generate_count(&job), images[i].n);
        arena_free(a);
    }
}

static void the_seed_decides(void **state)
{
    struct fixture a, b, c;

    (void)state;
    make(&a, 5, 8);
    make(&b, 5, 8);
    make(&c, 6, 8);
    for (uint32_t i = 0; i < INPUTS; i++) {
        const size_t n = a.job.in[i].n_bytes;
        assert_memory_equal(a.job.in[i].bytes, b.job.in[i].bytes, 8 * n);
        for (uint32_t k = 0; k < 8; k++)
            assert_memory_not_equal(a.job.in[i].bytes + k * n, c.job.in[i].bytes + k * n, n);
        for (uint32_t k = KINDS; k < 8; k++) /* the next inference of a kind differs */
            assert_memory_not_equal(a.job.in[i].bytes + k * n, a.job.in[i].bytes + (k - KINDS) * n,
                                    n);
    }
    arena_free(a.a);
    arena_free(b.a);
    arena_free(c.a);
}

/* Recorded seeds of earlier versions give the same inputs. */
static void the_first_is_splitmix(void **state)
{
    struct fixture f;
    uint64_t s = 1;

    (void)state;
    make(&f, 1, 4);
    for (uint64_t i = 0; i < PIXELS; i++)
        assert_int_equal(f.job.in[X].bytes[i], (uint8_t)(random_next(&s) >> 24));
    arena_free(f.a);
}

static void indices_are_valid(void **state)
{
    struct fixture f;
    bool seen[2][5] = {{0}};

    (void)state;
    make(&f, 1, 4);
    for (uint32_t k = 0; k < KINDS; k++)
        for (uint64_t i = 0; i < 40; i++) {
            const double id = value(&f, IDS, k, i), row = value(&f, ROWS, k, i);
            if (id < 0 || id > 4 || row < 0 || row > 2)
                fail_msg("inference %u: index %g of 5, %g of 3", k, id, row);
            seen[0][(int)id] = seen[1][(int)row] = true;
        }
    assert_true(seen[0][0] && seen[0][1] && seen[0][2] && seen[0][3] && seen[0][4]);
    assert_true(seen[1][0] && seen[1][1] && seen[1][2]);
    arena_free(f.a);
}

/* Return the mean distance of neighbouring pixels of a channel, as a fraction of the range. */
static double roughness(const struct fixture *f, uint32_t input, uint32_t k, double range)
{
    double sum = 0;

    for (uint64_t i = 3; i < PIXELS; i++)
        if (i / 3 % 16)
            sum += fabs(value(f, input, k, i) - value(f, input, k, i - 3));
    return sum / PIXELS / range;
}

static void smooth_is_smooth(void **state)
{
    static const double range[] = {256, 256, 65536, 128};
    struct fixture f;

    (void)state;
    make(&f, 3, 4);
    for (uint32_t i = X; i <= F; i++) {
        assert_true(roughness(&f, i, SMOOTH, range[i]) > 0.01);
        assert_true(roughness(&f, i, SMOOTH, range[i]) < 0.2);
        assert_true(roughness(&f, i, UNIFORM, range[i]) > (i == F ? 0 : 0.25));
    }
    arena_free(f.a);
}

static void extremes_are_ends_and_zero(void **state)
{
    static const double of[][3] = {{-128, 7, 127}, {0, 3, 255}, {-32768, 0, 32767}};
    struct fixture f;

    (void)state;
    make(&f, 1, 4);
    for (uint32_t input = X; input <= S; input++) {
        uint32_t n[3] = {0};
        for (uint64_t i = 0; i < PIXELS; i++)
            for (uint32_t v = 0; v < 3; v++)
                n[v] += value(&f, input, EXTREMES, i) == of[input][v];
        assert_int_equal(n[0] + n[1] + n[2], PIXELS);
        assert_true(n[0] > 0 && n[2] > 0);
    }
    arena_free(f.a);
}

/* Pixels of x * x that are clamped. */
static uint32_t saturated(const struct fixture *f, uint32_t k)
{
    uint32_t n = 0;

    for (uint64_t i = 0; i < PIXELS; i++) {
        const double x = 0.5 * (value(f, X, k, i) - 7);
        n += x * x / 0.5 > 127;
    }
    return n;
}

static void scaled_does_not_saturate(void **state)
{
    struct fixture f;

    (void)state;
    for (uint64_t seed = 1; seed < 9; seed++) {
        make(&f, seed, 4);
        assert_true(saturated(&f, UNIFORM) > PIXELS / 2);
        assert_true(saturated(&f, SCALED) < saturated(&f, UNIFORM) / 2);
        arena_free(f.a);
    }
}

/* A float32 input that is quantised covers the quantised range instead of only [-1, 1). */
static void float_has_the_range_of_its_quantize(void **state)
{
    struct fixture f;
    double most = 0;

    (void)state;
    make(&f, 1, 4);
    for (uint64_t i = 0; i < PIXELS; i++)
        most = fmax(most, fabs(value(&f, F, EXTREMES, i)));
    assert_true(most >= 0.25 * 128);
    arena_free(f.a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(four_unless_stated),
        cmocka_unit_test(more_where_weights_are_used_rarely),
        cmocka_unit_test(the_seed_decides),
        cmocka_unit_test(the_first_is_splitmix),
        cmocka_unit_test(indices_are_valid),
        cmocka_unit_test(smooth_is_smooth),
        cmocka_unit_test(extremes_are_ends_and_zero),
        cmocka_unit_test(scaled_does_not_saturate),
        cmocka_unit_test(float_has_the_range_of_its_quantize),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
