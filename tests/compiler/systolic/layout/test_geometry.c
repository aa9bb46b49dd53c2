/* geometry.c: kernel pieces cover every lane exactly once and keep their limits; input rows of a
 * tile are those that its windows read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "compiler/systolic/layout/geometry.h"

static uint32_t next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

static struct geo random_geo(uint64_t *seed, struct ir_op *op)
{
    struct geo g = {.op = op, .kind = next(seed) % 2 ? GEO_CONV : GEO_DEPTHWISE};

    g.c = 1 + next(seed) % 70;
    g.kh = 1 + next(seed) % 9;
    g.kw = 1 + next(seed) % 20;
    g.dx = 1 + next(seed) % 3;
    g.dy = 1 + next(seed) % 3;
    g.sy = 1 + next(seed) % 4;
    return g;
}

static void check_piece(const struct geo *g, const struct geo_piece *p, uint32_t n, uint32_t rows)
{
    uint32_t unit = g->kind == GEO_DEPTHWISE ? 1 : g->c;

    assert_true(p->n_ky > 0 && p->n_b > 0);
    assert_true(p->ky + p->n_ky <= g->kh && p->b + p->n_b <= g->kw * unit);
    assert_true(p->n_ky * p->n_b <= rows); /* words of weight memory */
    if (g->kind == GEO_DEPTHWISE)
        assert_true(p->n_b <= n);
    for (uint32_t b = p->b; b < p->b + p->n_b; b++) /* lanes are contiguous in the image */
        assert_int_equal(b / unit * g->dx * unit + b % unit, p->x_shift + (b - p->b));
}

static void pieces_cover_every_lane_once(void **state)
{
    uint64_t seed = 3;
    struct ir_op op = {0};
    uint32_t several = 0;

    (void)state;
    print_message("seed 3\n");
    for (uint32_t round = 0; round < 3000; round++) {
        struct arena *a = arena_new(0);
        struct geo g = random_geo(&seed, &op);
        struct hd_config hw = {.n = 4u << next(&seed) % 4};
        hw.rows = hw.columns = hw.n;
        hw.weight_bytes = hw.n * hw.n * (2 + next(&seed) % 60);
        uint32_t lanes = g.kw * (g.kind == GEO_DEPTHWISE ? 1 : g.c), limit = geo_word_limit(&hw);
        uint8_t *seen = arena_alloc(a, lanes * g.kh);
        struct geo_piece *piece;
        uint32_t n = geo_pieces(a, &g, hw.n, limit, &piece);
        for (uint32_t i = 0; i < n; i++) {
            check_piece(&g, &piece[i], hw.n, limit);
            for (uint32_t k = 0; k < piece[i].n_ky * piece[i].n_b; k++)
                seen[(piece[i].ky + k / piece[i].n_b) * lanes + piece[i].b + k % piece[i].n_b]++;
        }
        for (uint32_t k = 0; k < lanes * g.kh; k++)
            assert_int_equal(seen[k], 1);
        assert_int_equal(geo_parts(&g, &hw), n > 1);
        several += n > 1;
        arena_free(a);
    }
    assert_in_range(several, 500, 2900);
}

static void a_plain_kernel_is_one_piece(void **state)
{
    struct arena *a = arena_new(0);
    struct ir_op op = {0};
    struct geo_piece *piece;
    struct geo g = {.op = &op, .kind = GEO_CONV, .c = 16, .kh = 3, .kw = 3, .dx = 1, .dy = 2};

    (void)state;
    assert_int_equal(geo_pieces(a, &g, 16, 2048, &piece), 1);
    g.dx = 2; /* a dilated row is split by column */
    assert_int_equal(geo_pieces(a, &g, 16, 2048, &piece), 3);
    assert_int_equal(piece[2].x_shift, 2 * 2 * 16);
    g.kind = GEO_DEPTHWISE;
    assert_int_equal(geo_pieces(a, &g, 16, 2048, &piece), 3);
    assert_int_equal(piece[2].x_shift, 4); /* columns */
    arena_free(a);
}

/* Check one by one that the rows of the image are those that a window of output rows [y, y + n)
 * reads. */
static void rows_are_what_windows_touch(void **state)
{
    uint64_t seed = 5;
    struct ir_op op = {0};

    (void)state;
    for (uint32_t round = 0; round < 3000; round++) {
        struct geo g = random_geo(&seed, &op);
        g.h = 1 + next(&seed) % 30;
        g.pt = (int32_t)(next(&seed) % 8);
        uint32_t y = next(&seed) % 10, n = 1 + next(&seed) % 5, lo, hi;
        geo_rows(&g, y, n, &lo, &hi);
        assert_true(lo < hi && hi <= g.h);
        for (uint32_t oy = y; oy < y + n; oy++)
            for (uint32_t ky = 0; ky < g.kh; ky++) {
                int64_t row = (int64_t)oy * g.sy + ky * g.dy - g.pt;
                if (row >= 0 && row < g.h)
                    assert_in_range(row, lo, hi - 1);
            }
    }
}

/* Strides make a depthwise row long: 40 rows of 2048 columns for 9 outputs each. */
static void a_block_fits_its_fields(void **state)
{
    const struct hd_config hw = {.n = 32, .rows = 32, .columns = 32, .acc_depth = 512};
    struct ir_op op = {0};
    struct geo g = {.op = &op, .kind = GEO_DEPTHWISE, .w = 2048, .ow = 9, .sx = 255};

    (void)state;
    assert_int_equal(geo_block_rows(&g, &hw), 31); /* 32 x 2048 does not fit 16 bits */
    g.kind = GEO_CONV;
    assert_int_equal(geo_block_rows(&g, &hw), 56);
    g.ow = 600;
    assert_int_equal(geo_block_rows(&g, &hw), 1);
}

/* geo_reciprocal against (s + n / 2) / n: around every tie, and all sums of small windows. */
static void reciprocals_round_ties_up(void **state)
{
    (void)state;
    for (uint32_t n = 2; n <= 2048; n++) {
        const int64_t m = geo_reciprocal(n);

        for (uint32_t s = 0; s <= 255 * n; s++) {
            if (n > 64 && s % n == n / 2 + 1)
                s += s + n - 2 <= 255 * n ? n - 2 : 1;
            assert_int_equal((s * m + (1 << 30)) >> 31, (s + n / 2) / n);
        }
    }
}

/* The sums of a transposed convolution, output by output, equal those of its phases. */
static void phases_are_the_transposed_convolution(void **state)
{
    (void)state;
    for (uint32_t k = 1; k < 8; k++)
        for (uint32_t s = 1; s < 5; s++)
            for (uint32_t pad = 0; pad < 9; pad++) {
                uint32_t h = 5, oh = 17, want[17][5] = {{0}}, got[17][5] = {{0}}, owner[17] = {0};
                struct geo g = {.kind = GEO_TRANSPOSED,
                                .h = h,
                                .w = 1,
                                .c = 1,
                                .oh = oh,
                                .ow = 1,
                                .oc = 1,
                                .kh = k,
                                .kw = 1,
                                .sy = s,
                                .sx = 1,
                                .dy = 1,
                                .dx = 1,
                                .pt = (int32_t)pad};
                for (uint32_t iy = 0; iy < h; iy++) /* weight of kernel row ky: ky + 1 */
                    for (uint32_t ky = 0; ky < k; ky++)
                        if (iy * s + ky >= pad && iy * s + ky - pad < oh)
                            want[iy * s + ky - pad][iy] += ky + 1;
                for (uint32_t tap = 0; tap < s; tap++) {
                    struct geo p;
                    if (!geo_phase(&g, tap, 0, &p))
                        continue;
                    for (uint32_t i = 0; i < p.oh; i++) {
                        uint32_t y = p.first_y + i * p.up_y, lo, hi, from;
                        owner[y]++;
                        assert_int_equal(geo_phase_rows(&p, y, 1, &from), 1);
                        assert_int_equal(from, i);
                        geo_rows(&g, y, 1, &lo, &hi);
                        for (uint32_t t = 0; t < p.kh; t++) {
                            int32_t iy = (int32_t)(i + t) - p.pt;
                            uint32_t ky = tap + s * (p.kh - 1 - t);
                            if (iy < 0 || iy >= (int32_t)h || ky >= k)
                                continue;
                            assert_in_range(iy, lo, hi - 1);
                            got[y][iy] += ky + 1;
                        }
                    }
                }
                for (uint32_t y = 0; y < oh; y++)
                    assert_int_equal(owner[y], 1);
                assert_memory_equal(want, got, sizeof want);
            }
}

/* A pixel with few outputs uses the sum of columns, as FULLY_CONNECTED or as a convolution. */
static void one_pixel_sums_columns(void **state)
{
    const struct hd_config hw = {.n = 16, .rows = 16, .columns = 16, .weight_bytes = 65536};
    struct ir_op op = {0};
    struct geo g = {.op = &op, .h = 1, .w = 1, .c = 256, .oh = 1, .ow = 1, .oc = 2};

    (void)state;
    g.kh = g.kw = g.sy = g.sx = g.dy = g.dx = 1;
    assert_true(geo_sums_columns(&g, &hw));
    g.oc = 5; /* one pass over all of them takes fewer steps */
    assert_false(geo_sums_columns(&g, &hw));
    g.oc = 2;
    g.w = 2; /* stride 2: adjacent pixels are not consecutive */
    assert_false(geo_sums_columns(&g, &hw));
    g.w = 1;
    g.kw = 3; /* with padding */
    assert_false(geo_sums_columns(&g, &hw));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(phases_are_the_transposed_convolution),
        cmocka_unit_test(pieces_cover_every_lane_once),
        cmocka_unit_test(one_pixel_sums_columns),
        cmocka_unit_test(reciprocals_round_ties_up),
        cmocka_unit_test(a_plain_kernel_is_one_piece),
        cmocka_unit_test(rows_are_what_windows_touch),
        cmocka_unit_test(a_block_fits_its_fields),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
