/* Vector instructions and plain C give the same bytes: heddle's kernels against a second build of
 * them with HDK_SIMD=0 (libkernels_plain), over random shapes and the sizes around vector lengths.
 * The right bytes are the business of the other tests here. */
#include <dlfcn.h>

#include "kernels/hdk.h"
#include "kernels/hdk_panel.h"
#include "kernels/hdk_tile.h"
#include "tests/driver/plain.h"

#define MAX (1u << 16)

static int8_t x[MAX], w[MAX], y[MAX], want[MAX];
static int32_t bias[256], multiplier[256];
static int8_t shift[256];
static _Alignas(16) uint8_t panels[1u << 18], scratch[1u << 16], guard[256];
static void *plain;

/* Sizes that straddle a panel, a vector, a tile of rows. */
static const uint32_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 23, 24, 25, 31, 32, 33, 40};

static uint32_t any_size(void)
{
    return sizes[random_u32() % (sizeof sizes / sizeof *sizes)];
}

static int open_plain(void **state)
{
    char path[4096];
    const char *build = getenv("HEDDLE_BUILD");

    snprintf(path, sizeof path, "%s/tests/libkernels_plain.so", build ? build : "build");
    plain = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!plain)
        fprintf(stderr, "%s\n", dlerror());
    return plain ? random_seed(state) : -1;
}

/* The plain build's function of that name. */
#define PLAIN(function, type) ((type)(uintptr_t)dlsym(plain, #function))

static void random_inputs(void)
{
    random_bytes(x, sizeof x);
    random_bytes(w, sizeof w);
    random_bytes(y, sizeof y);
    memcpy(want, y, sizeof y);
    for (uint32_t i = 0; i < 256; i++) {
        bias[i] = (int32_t)(random_u32() ^ random_u32() << 16) >> random_in(0, 20);
        multiplier[i] = random_u32() % 8 ? random_int(1 << 30, INT32_MAX) : 0;
        shift[i] = (int8_t)(random_u32() % 8 ? random_int(-14, -5) : random_int(-31, 3));
    }
}

static void pack(uint8_t *to, uint32_t channels, uint32_t k, int32_t z_in, int32_t z_w)
{
    const struct hdk_filter f = {
        channels,          k,    w,  k, 1, random_u32() % 4 ? bias : NULL, multiplier, shift,
        random_u32() % 2u, z_in, z_w};

    assert_true((size_t)(to - panels) + hdk_pack_bytes(channels, k) <= sizeof panels);
    hdk_pack(&f, to);
}

static int32_t sometimes_zero(void)
{
    return random_u32() % 2 ? 0 : random_int(-128, 127);
}

#if HDK_SIMD
/* The same lanes as words and as bytes. */
static int16_t wide[1u << 15];
static uint8_t narrow[1u << 15];

static void random_lanes(void)
{
    for (uint32_t i = 0; i < sizeof narrow; i++)
        wide[i] = narrow[i] = (uint8_t)random_u32();
}

static void tiles(void **state)
{
    (void)state;
    for (uint32_t count = 0; count < 500; count++) {
        const uint8_t *words[4], *bytes[4];
        struct hdk_tile t = {.x = words,
                             .pieces = random_u32() % 2 ? 1 : random_in(1, 4),
                             .piece = any_size(),
                             .panels = panels,
                             .channels = any_size(),
                             .z_w = sometimes_zero(),
                             .z_out = random_int(-128, 127),
                             .act_min = random_int(-128, 0),
                             .act_max = random_int(1, 127)};
        uint32_t n = random_in(1, hdk_tile_rows(HDK_FORM_PLAIN));

        t.piece += t.pieces > 1 && t.piece % 2;
        uint32_t pitch = hdk_row_lanes(t.piece) + random_in(0, 16);
        for (uint32_t i = 0; i < 4; i++) {
            uint32_t at = random_in(0, 1u << 14);
            words[i] = (const uint8_t *)(wide + at);
            bytes[i] = narrow + at;
        }
        random_lanes();
        random_inputs();
        pack(panels, t.channels, t.pieces * t.piece, 0, t.z_w);
        t.x_pitch = pitch * (uint32_t)sizeof *wide;
        hdk_tile_plain(&t, n, want, t.channels);
        if (hdk_has_avx2()) {
            hdk_tile_avx2(&t, n, y, t.channels);
            expect_bytes("tile, AVX2", y, want, sizeof y);
        }
        if (hdk_has_vnni()) {
            random_bytes(y, n * t.channels);
            t.x = bytes;
            t.x_pitch = pitch;
            hdk_tile_vnni(&t, n, y, t.channels);
            expect_bytes("tile, VNNI", y, want, sizeof y);
        }
    }
}
#endif

typedef void conv2d_function(const struct hdk_conv2d *p, const int8_t *in, const void *filter,
                             int8_t *out, void *room);

static void conv2d(void **state)
{
    (void)state;
    for (uint32_t count = 0; count < 500;) {
        uint32_t groups = random_u32() % 8 ? 1 : 2, k;
        struct hdk_conv2d p = {.batch = random_in(1, 2),
                               .in_h = random_in(1, 10),
                               .in_w = random_in(1, 10),
                               .in_c = any_size() * groups,
                               .out_c = any_size() * groups,
                               .groups = groups,
                               .kernel_h = random_in(1, 4),
                               .kernel_w = random_in(1, 4),
                               .stride_y = random_in(1, 2),
                               .stride_x = random_in(1, 3),
                               .dilation_y = random_u32() % 4 ? 1 : 2,
                               .dilation_x = random_u32() % 4 ? 1 : 2,
                               .pad_top = random_u32() % 2 ? 0 : random_int(-1, 3),
                               .pad_left = random_u32() % 2 ? 0 : random_int(-1, 3),
                               .z_in = random_int(-128, 127),
                               .z_w = sometimes_zero(),
                               .z_out = random_int(-128, 127),
                               .act_min = random_int(-128, 0),
                               .act_max = random_int(1, 127)};

        p.out_h = random_in(1, p.in_h);
        p.out_w = random_in(1, p.in_w);
        k = p.kernel_h * p.kernel_w * (p.in_c / groups);
        if (k * p.out_c > MAX || hdk_conv2d_scratch(&p) > sizeof scratch - sizeof guard)
            continue;
        random_inputs();
        for (uint32_t g = 0; g < groups; g++)
            pack(panels + g * hdk_pack_bytes(p.out_c / groups, k), p.out_c / groups, k, p.z_in,
                 p.z_w);
        random_bytes(scratch, sizeof scratch);
        memcpy(guard, scratch + hdk_conv2d_scratch(&p), sizeof guard);
        PLAIN(hdk_conv2d, conv2d_function *)(&p, x, panels, want, scratch);
        assert_memory_equal(scratch + hdk_conv2d_scratch(&p), guard, sizeof guard);
        random_bytes(scratch, sizeof scratch);
        memcpy(guard, scratch + hdk_conv2d_scratch(&p), sizeof guard);
        hdk_conv2d(&p, x, panels, y, scratch);
        expect_bytes("conv2d", y, want, sizeof y);
        assert_memory_equal(scratch + hdk_conv2d_scratch(&p), guard, sizeof guard);
        count++;
    }
}

typedef void depthwise_function(const struct hdk_depthwise_conv2d *p, const int8_t *in,
                                const void *filter, int8_t *out, void *room);

static void depthwise_conv2d(void **state)
{
    (void)state;
    for (uint32_t count = 0; count < 500; count++) {
        struct hdk_depthwise_conv2d p = {.batch = random_in(1, 2),
                                         .in_h = random_in(1, 10),
                                         .in_w = random_in(1, 10),
                                         .in_c = any_size(),
                                         .depth_multiplier = random_u32() % 4 ? 1 : random_in(2, 3),
                                         .kernel_h = random_in(1, 5),
                                         .kernel_w = random_in(1, 5),
                                         .stride_y = random_in(1, 2),
                                         .stride_x = random_in(1, 2),
                                         .dilation_y = random_in(1, 2),
                                         .dilation_x = random_in(1, 2),
                                         .pad_top = random_int(0, 3),
                                         .pad_left = random_int(0, 3),
                                         .z_in = random_int(-128, 127),
                                         .z_w = sometimes_zero(),
                                         .z_out = random_int(-128, 127),
                                         .act_min = random_int(-128, 0),
                                         .act_max = random_int(1, 127)};

        p.out_h = random_in(1, p.in_h);
        p.out_w = random_in(1, p.in_w);
        random_inputs();
        pack(panels, p.in_c * p.depth_multiplier, p.kernel_h * p.kernel_w, p.z_in, p.z_w);
        PLAIN(hdk_depthwise_conv2d, depthwise_function *)(&p, x, panels, want, scratch);
        random_bytes(scratch, hdk_depthwise_conv2d_scratch(&p));
        hdk_depthwise_conv2d(&p, x, panels, y, scratch);
        expect_bytes("depthwise_conv2d", y, want, sizeof y);
    }
}

typedef void dense_function(const struct hdk_fully_connected *p, const int8_t *in,
                            const void *filter, int8_t *out, void *room);

static void fully_connected(void **state)
{
    (void)state;
    for (uint32_t count = 0; count < 500; count++) {
        struct hdk_fully_connected p = {.batch = random_in(1, 9),
                                        .in_c = any_size() * any_size(),
                                        .out_c = any_size(),
                                        .z_in = random_int(-128, 127),
                                        .z_w = sometimes_zero(),
                                        .z_out = random_int(-128, 127),
                                        .act_min = random_int(-128, 0),
                                        .act_max = random_int(1, 127)};

        random_inputs();
        pack(panels, p.out_c, p.in_c, p.z_in, p.z_w);
        PLAIN(hdk_fully_connected, dense_function *)(&p, x, panels, want, scratch);
        random_bytes(scratch, hdk_fully_connected_scratch(&p));
        hdk_fully_connected(&p, x, panels, y, scratch);
        expect_bytes("fully_connected", y, want, sizeof y);
    }
}

static void random_walk(struct hdk_walk2 *walk)
{
    uint32_t n = any_size() * random_in(1, 3), broadcast = random_u32() % 6;

    *walk = (struct hdk_walk2){.shape = {1, 1, random_in(1, 3), n},
                               .a_stride = {0, 0, n, broadcast != 0},
                               .b_stride = {0, 0, random_u32() % 2 ? n : 0, broadcast != 1}};
}

typedef void add_function(const struct hdk_add *p, const int8_t *a, const int8_t *b, int8_t *out);
typedef void mul_function(const struct hdk_mul *p, const int8_t *a, const int8_t *b, int8_t *out);

static void add_sub_mul(void **state)
{
    (void)state;
    for (uint32_t count = 0; count < 1000; count++) {
        struct hdk_add p = {.z_a = random_int(-128, 127),
                            .z_b = random_int(-128, 127),
                            .z_out = random_int(-128, 127),
                            .act_min = random_int(-128, 0),
                            .act_max = random_int(1, 127),
                            .multiplier_a = random_int(1 << 30, INT32_MAX),
                            .multiplier_b = random_int(1 << 30, INT32_MAX),
                            .multiplier_out = random_int(1 << 30, INT32_MAX),
                            .shift_a = random_int(-20, 0),
                            .shift_b = random_int(-20, 0),
                            .shift_out = random_int(-24, 3)};
        struct hdk_mul q = {.z_a = p.z_a,
                            .z_b = p.z_b,
                            .z_out = p.z_out,
                            .act_min = p.act_min,
                            .act_max = p.act_max,
                            .multiplier = p.multiplier_out,
                            .shift = random_int(-20, 5)};

        random_walk(&p.walk);
        q.walk = p.walk;
        random_inputs();
        PLAIN(hdk_add, add_function *)(&p, x, w, want);
        hdk_add(&p, x, w, y);
        expect_bytes("add", y, want, sizeof y);
        PLAIN(hdk_sub, add_function *)(&p, x, w, want);
        hdk_sub(&p, x, w, y);
        expect_bytes("sub", y, want, sizeof y);
        PLAIN(hdk_mul, mul_function *)(&q, x, w, want);
        hdk_mul(&q, x, w, y);
        expect_bytes("mul", y, want, sizeof y);
    }
}

static void f32_conv2d(void **state)
{
    static float input[8192], weights[16384], ours[16384], plainly[16384];

    typedef void function(const struct hdk_f32_conv *, const float *, float *);

    (void)state;
    for (uint32_t i = 0; i < 16384; i++)
        weights[i] = (float)random_int(-1000, 1000) / 512;
    for (uint32_t i = 0; i < 8192; i++)
        input[i] = (float)random_int(-1000, 1000) / 300;
    for (int run = 0; run < 300; run++) {
        const uint32_t groups = random_in(1, 2), k = random_in(1, 3);
        struct hdk_f32_conv p = {.batch = random_in(1, 2),
                                 .in_h = random_in(1, 9),
                                 .in_w = random_in(1, 9),
                                 .in_c = groups * random_in(1, 9),
                                 .out_c = groups * any_size() % 40 / groups * groups + groups,
                                 .kernel_h = k,
                                 .kernel_w = k,
                                 .groups = groups,
                                 .stride_y = random_in(1, 2),
                                 .stride_x = random_in(1, 2),
                                 .dilation_y = random_in(1, 2),
                                 .dilation_x = random_in(1, 2),
                                 .pad_top = (int32_t)random_in(0, 2),
                                 .pad_left = (int32_t)random_in(0, 2),
                                 .low = -2,
                                 .high = HDK_F32_INFINITY,
                                 .w = weights,
                                 .bias = random_in(0, 1) ? weights : NULL};

        p.out_h = (p.in_h + 1) / p.stride_y + 1;
        p.out_w = (p.in_w + 1) / p.stride_x + 1;
        memset(ours, 0, sizeof ours);
        memset(plainly, 0, sizeof plainly);
        hdk_f32_conv2d(&p, input, ours);
        PLAIN(hdk_f32_conv2d, function *)(&p, input, plainly);
        assert_memory_equal(ours, plainly, sizeof ours);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#if HDK_SIMD
        cmocka_unit_test(tiles),
#endif
        cmocka_unit_test(f32_conv2d),
        cmocka_unit_test(conv2d),
        cmocka_unit_test(depthwise_conv2d),
        cmocka_unit_test(fully_connected),
        cmocka_unit_test(add_sub_mul),
    };

    return cmocka_run_group_tests(tests, open_plain, NULL);
}
