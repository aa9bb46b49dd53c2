/* add, sub, mul with broadcasting, pools, mean, lut, requantize, and the moves, against the
 * formulas of NUMERICS.md. */
#include <math.h>

#include "kernels/hdk.h"
#include "tests/driver/plain.h"

#define MAX 20000u

static int8_t a[MAX], b[MAX], y[MAX], want[MAX];

static void random_inputs(void)
{
    random_bytes(a, sizeof a);
    random_bytes(b, sizeof b);
    random_bytes(y, sizeof y);
    memcpy(want, y, sizeof y);
}

/* Random output shape, each operand whole or broadcast along some axes. Whole operands are dense.
 */
static void random_walk(struct hdk_walk2 *w)
{
    for (uint32_t side = 0; side < 2; side++) {
        uint32_t *stride = side ? w->b_stride : w->a_stride, distance = 1;

        for (uint32_t d = 4; d-- > 0;) {
            int broadcast = random_u32() % 4 == 0;

            if (side == 0)
                w->shape[d] = random_in(1, d == 3 ? 20 : 4);
            stride[d] = broadcast ? 0 : distance;
            distance *= broadcast ? 1 : w->shape[d];
        }
    }
}

static void locate(const struct hdk_walk2 *w, uint32_t n, uint32_t *ia, uint32_t *ib)
{
    *ia = *ib = 0;
    for (uint32_t d = 4; d-- > 0; n /= w->shape[d]) {
        *ia += n % w->shape[d] * w->a_stride[d];
        *ib += n % w->shape[d] * w->b_stride[d];
    }
}

static uint32_t elements(const struct hdk_walk2 *w)
{
    return w->shape[0] * w->shape[1] * w->shape[2] * w->shape[3];
}

static void add_and_sub(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < 400; k++) {
        struct hdk_add p = {.z_a = random_int(-128, 127),
                            .z_b = random_int(-128, 127),
                            .z_out = random_int(-128, 127),
                            .act_min = random_int(-128, 0),
                            .act_max = random_int(1, 127),
                            .multiplier_a = random_int(1 << 30, INT32_MAX),
                            .multiplier_b = random_int(1 << 30, INT32_MAX),
                            .multiplier_out = random_int(1 << 30, INT32_MAX),
                            .shift_a = random_int(-8, 0),
                            .shift_b = random_int(-8, 0),
                            .shift_out = random_int(-20, -15)};

        random_walk(&p.walk);
        random_inputs();
        for (uint32_t n = 0; n < elements(&p.walk); n++) {
            uint32_t ia, ib;
            int32_t u, v;

            locate(&p.walk, n, &ia, &ib);
            u = plain_mbqm((a[ia] - p.z_a) * 1048576, p.multiplier_a, p.shift_a);
            v = plain_mbqm((b[ib] - p.z_b) * 1048576, p.multiplier_b, p.shift_b);
            want[n] = plain_clamp(
                (int64_t)plain_mbqm(k % 2 ? u - v : u + v, p.multiplier_out, p.shift_out) + p.z_out,
                p.act_min, p.act_max);
        }
        (k % 2 ? hdk_sub : hdk_add)(&p, a, b, y);
        expect_bytes("add or sub", y, want, sizeof y);
    }
}

static void mul(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < 400; k++) {
        struct hdk_mul p = {.z_a = random_int(-128, 127),
                            .z_b = random_int(-128, 127),
                            .z_out = random_int(-128, 127),
                            .act_min = random_int(-128, 0),
                            .act_max = random_int(1, 127),
                            .multiplier = random_int(1 << 30, INT32_MAX),
                            .shift = random_int(-10, 1)};

        random_walk(&p.walk);
        random_inputs();
        for (uint32_t n = 0; n < elements(&p.walk); n++) {
            uint32_t ia, ib;

            locate(&p.walk, n, &ia, &ib);
            want[n] = plain_clamp(
                (int64_t)plain_mbqm((a[ia] - p.z_a) * (b[ib] - p.z_b), p.multiplier, p.shift) +
                    p.z_out,
                p.act_min, p.act_max);
        }
        hdk_mul(&p, a, b, y);
        expect_bytes("mul", y, want, sizeof y);
    }
}

static int8_t plain_pool(const struct hdk_pool *p, int is_max, uint32_t n)
{
    uint32_t c = n % p->channels, ox = n / p->channels % p->out_w;
    uint32_t oy = n / p->channels / p->out_w % p->out_h, i = n / p->channels / p->out_w / p->out_h;
    int64_t sum = 0, cells = 0, max = -128;

    for (int32_t ky = 0; ky < (int32_t)p->kernel_h; ky++)
        for (int32_t kx = 0; kx < (int32_t)p->kernel_w; kx++) {
            int32_t iy = (int32_t)(oy * p->stride_y) - p->pad_top + ky;
            int32_t ix = (int32_t)(ox * p->stride_x) - p->pad_left + kx;
            int8_t v;

            if (iy < 0 || ix < 0 || iy >= (int32_t)p->in_h || ix >= (int32_t)p->in_w)
                continue;
            v = a[((i * p->in_h + (uint32_t)iy) * p->in_w + (uint32_t)ix) * p->channels + c];
            sum += v;
            max = v > max ? v : max;
            cells++;
        }
    if (!is_max)
        max = (sum > 0 ? sum + cells / 2 : sum - cells / 2) / cells;
    return plain_clamp(max, p->act_min, p->act_max);
}

static void pools(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < 400; k++) {
        struct hdk_pool p = {.batch = random_in(1, 2),
                             .in_h = random_in(1, 8),
                             .in_w = random_in(1, 8),
                             .channels = random_in(1, 40),
                             .kernel_h = random_in(1, 5),
                             .kernel_w = random_in(1, 5),
                             .stride_y = random_in(1, 3),
                             .stride_x = random_in(1, 3),
                             .act_min = random_int(-128, -1),
                             .act_max = random_int(0, 127)};

        p.pad_top = random_int(0, (int32_t)p.kernel_h - 1);
        p.pad_left = random_int(0, (int32_t)p.kernel_w - 1);
        p.out_h = (p.in_h + (uint32_t)p.pad_top - 1) / p.stride_y + 1;
        p.out_w = (p.in_w + (uint32_t)p.pad_left - 1) / p.stride_x + 1;
        random_inputs();
        for (uint32_t n = 0; n < p.batch * p.out_h * p.out_w * p.channels; n++)
            want[n] = plain_pool(&p, k % 2 != 0, n);
        (k % 2 ? hdk_max_pool : hdk_avg_pool)(&p, a, y);
        expect_bytes("pool", y, want, sizeof y);
    }
}

static void mean(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < 400; k++) {
        struct hdk_mean p = {.z_in = random_int(-128, 127),
                             .z_out = random_int(-128, 127),
                             .act_min = -128,
                             .act_max = 127,
                             .multiplier = random_int(1 << 28, INT32_MAX),
                             .shift = random_int(-7, 0)};
        int32_t sums[2000] = {0};
        uint32_t kept = 1;

        for (uint32_t d = 0; d < 4; d++) {
            p.shape[d] = random_in(1, 6);
            p.reduce[d] = random_u32() & 1;
            kept *= p.reduce[d] ? 1 : p.shape[d];
        }
        random_inputs();
        for (uint32_t n = 0; n < p.shape[0] * p.shape[1] * p.shape[2] * p.shape[3]; n++) {
            uint32_t at = 0, rest = n, distance = 1;

            for (uint32_t d = 4; d-- > 0; rest /= p.shape[d])
                if (!p.reduce[d]) {
                    at += rest % p.shape[d] * distance;
                    distance *= p.shape[d];
                }
            sums[at] += a[n] - p.z_in;
        }
        for (uint32_t i = 0; i < kept; i++)
            want[i] = plain_clamp((int64_t)plain_mbqm(sums[i], p.multiplier, p.shift) + p.z_out,
                                  -128, 127);
        hdk_mean(&p, a, y);
        expect_bytes("mean", y, want, sizeof y);
    }
}

static void lut_and_requantize(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < 100; k++) {
        static const uint32_t channels[] = {1, 2, 5, 40};
        struct hdk_lut l = {.n = 1000, .channels = channels[k % 4], .table = b};
        struct hdk_requantize p = {.n = 1000,
                                   .z_in = random_int(-128, 127),
                                   .z_out = random_int(-128, 127),
                                   .act_min = random_int(-128, 0),
                                   .act_max = random_int(1, 127),
                                   .multiplier = random_int(1 << 30, INT32_MAX),
                                   .shift = random_int(-4, 4)};

        random_inputs();
        for (uint32_t i = 0; i < l.n; i++)
            want[i] = b[i % l.channels * 256 + (uint32_t)(a[i] + 128)];
        hdk_lut(&l, a, y);
        expect_bytes("lut", y, want, sizeof y);
        for (uint32_t i = 0; i < p.n; i++)
            want[i] =
                plain_clamp((int64_t)plain_mbqm(a[i] - p.z_in, p.multiplier, p.shift) + p.z_out,
                            p.act_min, p.act_max);
        hdk_requantize(&p, a, y);
        expect_bytes("requantize", y, want, sizeof y);
    }
}

/* uint8 on either side: the formula on values 0..255 with its own zero points. */
static void requantize_of_uint8(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < 100; k++) {
        uint32_t in = k % 2, out = k / 2 % 2;
        int32_t z_in = random_int(in ? 0 : -128, in ? 255 : 127);
        int32_t z_out = random_int(out ? 0 : -128, out ? 255 : 127);
        struct hdk_requantize p = {.n = 1000,
                                   .z_in = z_in - (in ? 128 : 0),
                                   .z_out = z_out - (out ? 128 : 0),
                                   .act_min = -128,
                                   .act_max = 127,
                                   .multiplier = random_int(1 << 30, INT32_MAX),
                                   .shift = random_int(-3, 2),
                                   .flip_in = in ? 0x80 : 0,
                                   .flip_out = out ? 0x80 : 0};

        random_inputs();
        for (uint32_t i = 0; i < p.n; i++) {
            int32_t v = in ? (uint8_t)a[i] : a[i];
            int64_t q = (int64_t)plain_mbqm(v - z_in, p.multiplier, p.shift) + z_out;
            int64_t low = out ? 0 : -128, high = out ? 255 : 127;

            want[i] = (int8_t)(q < low ? low : q > high ? high : q);
        }
        hdk_requantize(&p, a, y);
        expect_bytes("requantize", y, want, sizeof y);
    }
}

/* Whole blocks and parts of blocks, at aligned and unaligned addresses. */
static void flip(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < 100; k++) {
        const uint32_t from = k % 5, to = k / 5 % 5;
        const struct hdk_flip p = {.n = (uint32_t)random_int(0, 100)};

        random_inputs();
        memset(y, 0, sizeof y);
        memset(want, 0, sizeof want);
        for (uint32_t i = 0; i < p.n; i++)
            want[to + i] = (int8_t)((uint8_t)a[from + i] - 128);
        hdk_flip(&p, a + from, y + to);
        expect_bytes("flip", y, want, sizeof y);
        memcpy(y, a, sizeof y);
        hdk_flip(&p, y, y);
        hdk_flip(&p, y, y);
        expect_bytes("flip in place", y, a, sizeof y);
    }
}

/* Near quotients of n / 2, where the rounding of the division decides, and of any bits. */
static void nearest_of_quotients(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < 200; k++) {
        const uint32_t bits =
            k < 100 ? random_u32() & 0x7fffffff : 0x3b000000 + (random_u32() >> 9);
        struct hdk_quantize p = {.n = 1000, .zero = random_int(-128, 127)};
        float x[1000];

        memcpy(&p.scale, &bits, sizeof p.scale);
        if (!(p.scale > 0) || isinf(p.scale))
            continue;
        for (uint32_t i = 0; i < p.n; i++) {
            uint32_t near = random_u32();

            x[i] = (float)((double)p.scale * random_int(-300, 300) / 2);
            memcpy(&near, &x[i], sizeof near);
            near = i % 8 == 0 ? random_u32() : near + (uint32_t)random_int(-40, 40);
            memcpy(&x[i], &near, sizeof near);
            const float quotient = x[i] / p.scale;
            const float whole = isnan(quotient) ? 0 : roundf(quotient) + (float)p.zero;
            want[i] = isnan(quotient) ? (int8_t)p.zero
                                      : (int8_t)(whole < -128  ? -128
                                                 : whole > 127 ? 127
                                                               : (int32_t)whole);
        }
        hdk_quantize(&p, x, y);
        expect_bytes("quantize", y, want, p.n);
        for (uint32_t i = 0; i < p.n; i++) {
            const float whole = rintf(x[i] / p.scale) + (float)p.zero;

            if (!isnan(whole))
                want[i] = (int8_t)(whole < -128 ? -128 : whole > 127 ? 127 : (int32_t)whole);
        }
        hdk_onnx_quantize(&p, x, b);
        for (uint32_t i = 0; i < p.n; i++)
            want[i] = isnan(x[i] / p.scale) ? b[i] : want[i];
        expect_bytes("onnx_quantize", b, want, p.n);
    }
}

/* The same with 16 bits, and results beyond int16. */
static void nearest_of_quotients_16(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < 200; k++) {
        const uint32_t bits =
            k < 100 ? random_u32() & 0x7fffffff : 0x3b000000 + (random_u32() >> 9);
        struct hdk_quantize p = {.n = 1000};
        float x[1000];
        int16_t to[1000];

        memcpy(&p.scale, &bits, sizeof p.scale);
        if (!(p.scale > 0) || isinf(p.scale))
            continue;
        for (uint32_t i = 0; i < p.n; i++) {
            uint32_t near = random_u32();

            x[i] = (float)((double)p.scale * random_int(-70000, 70000) / (i % 3 ? 2 : 64));
            memcpy(&near, &x[i], sizeof near);
            near = i % 8 == 0 ? random_u32() : near + (uint32_t)random_int(-4, 4);
            memcpy(&x[i], &near, sizeof near);
        }
        hdk_i16_quantize(&p, x, to);
        for (uint32_t i = 0; i < p.n; i++) {
            const float whole = roundf(x[i] / p.scale);

            assert_int_equal(to[i], isnan(whole)     ? 0
                                    : whole < -32768 ? -32768
                                    : whole > 32767  ? 32767
                                                     : (int32_t)whole);
        }
    }
}

/* A table's values are taken as they are, for any number of elements. */
static void values_of_a_table(void **state)
{
    float value[256], f[13];
    int8_t codes[13];

    (void)state;
    for (uint32_t i = 0; i < 256; i++)
        value[i] = (float)i;
    for (uint32_t i = 0; i < 13; i++)
        codes[i] = (int8_t)(i * 20);
    hdk_dequantize(&(struct hdk_dequantize){.n = 13, .scale = 1, .value = value}, codes, f);
    for (uint32_t i = 0; i < 13; i++)
        assert_true(f[i] == (float)(i * 20));
}

static void to_and_from_float(void **state)
{
    static const float x[] = {0.0f,   0.25f,  -0.25f, 0.75f, 63.2f,    -64.1f,   1e30f,
                              -1e30f, 0.249f, 500.0f, NAN,   INFINITY, -INFINITY};
    static const int8_t signed_codes[] = {3, 4, 2, 5, 127, -125, 127, -128, 3, 127, 3, 127, -128};
    struct hdk_quantize p = {.n = 13, .scale = 0.5f, .zero = 3};
    int8_t q[13], back[256];
    float f[256];

    (void)state;
    hdk_quantize(&p, x, q);
    assert_memory_equal(q, signed_codes, sizeof q);
    p = (struct hdk_quantize){.n = 13, .scale = 0.5f, .zero = 131 - 128, .flip = 0x80};
    hdk_quantize(&p, x, q);
    for (uint32_t i = 0; i < 13; i++)
        assert_int_equal((uint8_t)q[i], signed_codes[i] + 128);
    for (uint32_t i = 0; i < 256; i++)
        back[i] = (int8_t)i;
    p = (struct hdk_quantize){.n = 256, .scale = 0.1f, .zero = -7};
    struct hdk_dequantize from = {.n = 256, .scale = 0.1f, .zero = -7};
    hdk_dequantize(&from, back, f);
    assert_true(f[(uint8_t)-7] == 0.0f && f[5] == (float)(0.1f * 12.0));
    hdk_quantize(&p, f, y);
    assert_memory_equal(y, back, 256);
}

/* Elements of 1, 2 and 4 bytes in six dimensions against element by element. */
static void pad(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < 200; k++) {
        struct hdk_pad p = {.value = random_u32(), .element_bytes = 1u << k % 3};
        uint32_t size[HDK_DIMS], total = 1;

        for (uint32_t d = 0; d < HDK_DIMS; d++) {
            p.shape[d] = random_in(1, d < 2 ? 2 : 3);
            p.before[d] = random_u32() % 3 ? 0 : random_in(1, 2);
            p.after[d] = random_u32() % 3 ? 0 : random_in(1, 2);
            size[d] = p.before[d] + p.shape[d] + p.after[d];
            total *= size[d];
        }
        if (total * p.element_bytes > sizeof y)
            continue;
        random_inputs();
        for (uint32_t n = 0; n < total; n++) {
            uint32_t rest = n, at = 0, distance = 1, inside = 1;

            for (uint32_t d = HDK_DIMS; d-- > 0; rest /= size[d]) {
                uint32_t i = rest % size[d] - p.before[d]; /* wraps above when outside */

                inside &= i < p.shape[d];
                at += i * distance;
                distance *= p.shape[d];
            }
            memcpy(want + n * p.element_bytes,
                   inside ? (const void *)(a + at * p.element_bytes) : (const void *)&p.value,
                   p.element_bytes);
        }
        hdk_pad(&p, a, y);
        expect_bytes("pad", y, want, total * p.element_bytes);
    }
}

static void gather(void **state)
{
    static const int32_t index[] = {4, 0, 0, 3};
    const struct hdk_gather p = {.outer = 3, .size = 5, .n = 4, .inner_bytes = 7, .batch = 1};

    (void)state;
    random_inputs();
    for (uint32_t i = 0; i < 12; i++)
        memcpy(want + i * 7, a + (i / 4 * 5 + (uint32_t)index[i % 4]) * 7, 7);
    hdk_gather(&p, a, index, y);
    expect_bytes("gather", y, want, 84);
}

/* One row of five, from index -6 to 6: below 0 from the end, else the nearest inside. */
static void one_row_is_at_its_index(void **state)
{
    static const uint32_t want_row[] = {0, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 4, 4};
    struct hdk_gather p = {.outer = 1, .size = 5, .n = 1, .inner_bytes = 7, .batch = 1};

    (void)state;
    for (int32_t i = -6; i <= 6; i++) {
        const int64_t wide = i;

        p.wide = 0;
        assert_int_equal(hdk_gather_at(&p, &i), want_row[i + 6] * 7);
        p.wide = 1;
        assert_int_equal(hdk_gather_at(&p, &wide), want_row[i + 6] * 7);
    }
}

/* In place, the numbers of one dimension alone: [4,5,6] of 2 bytes, a part of [4,3,6]. */
static void update_in_place(void **state)
{
    const struct hdk_update_slice p = {
        .rank = 3, .size = {4, 5, 6}, .part = {4, 3, 6}, .axis = 1, .n = 1, .element_bytes = 2};

    (void)state;
    for (int32_t start = -2; start < 5; start++) {
        const uint32_t row = start < 0 ? 0 : start > 2 ? 2 : (uint32_t)start;

        random_inputs();
        memcpy(want, a, 240);
        memcpy(y, a, 240);
        for (uint32_t i = 0; i < 4; i++)
            memcpy(want + (i * 5 + row) * 12, b + i * 36, 36);
        assert_int_equal(hdk_update_at(&p, &start), row * 12);
        hdk_update_slice(&p, y, b, &start, y);
        expect_bytes("update in place", y, want, 240);
    }
}

/* Starts before, inside of and beyond [4,5,6] for a part of [2,3,1] of 2 bytes, in both types. */
static void update_slice(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < 2 * 125; k++) {
        const struct hdk_update_slice p = {.rank = 3,
                                           .size = {4, 5, 6},
                                           .part = {2, 3, 1},
                                           .n = 3,
                                           .element_bytes = 2,
                                           .wide = k % 2};
        const int64_t at[] = {(int64_t)(k / 2 % 5) - 1, (int64_t)(k / 10 % 5) - 1,
                              (int64_t)(k / 50 % 5) * 2 - 1};
        const int32_t narrow[] = {(int32_t)at[0], (int32_t)at[1], (int32_t)at[2]};

        random_inputs();
        memcpy(want, a, 240);
        for (int64_t i = 0; i < 6; i++) {
            const int64_t row = (at[0] < 0   ? 0
                                 : at[0] > 2 ? 2
                                             : at[0]) +
                                i / 3,
                          column = (at[1] < 0   ? 0
                                    : at[1] > 2 ? 2
                                                : at[1]) +
                                   i % 3,
                          last = at[2] < 0   ? 0
                                 : at[2] > 5 ? 5
                                             : at[2];

            memcpy(want + ((row * 5 + column) * 6 + last) * 2, b + i * 2, 2);
        }
        hdk_update_slice(&p, a, b, p.wide ? (const void *)at : narrow, y);
        expect_bytes("update_slice", y, want, 240);
    }
}

static void concat(void **state)
{
    static const uint32_t bytes[] = {3, 1, 7};
    struct hdk_concat p = {.n_inputs = 3, .outer = 5, .bytes = bytes};
    const void *inputs[] = {a, b, a + 500};

    (void)state;
    random_inputs();
    for (uint32_t o = 0; o < 5; o++) {
        memcpy(want + o * 11, a + o * 3, 3);
        memcpy(want + o * 11 + 3, b + o, 1);
        memcpy(want + o * 11 + 4, a + 500 + o * 7, 7);
    }
    hdk_concat(&p, inputs, y);
    expect_bytes("concat", y, want, sizeof y);
}

/* NHWC to NCHW of 1, 2 and 4 bytes, and a slice with step -1. */
static void transpose_and_slice(void **state)
{
    (void)state;
    for (uint32_t e = 1; e <= 4; e *= 2) {
        uint32_t h = 5, w = 4, c = 3;
        struct hdk_transpose p = {
            .shape = {1, 1, 1, c, h, w},
            .stride = {0, 0, 0, (int32_t)e, (int32_t)(w * c * e), (int32_t)(c * e)},
            .element_bytes = e};

        random_inputs();
        for (uint32_t n = 0; n < h * w * c; n++)
            memcpy(want + n * e, a + ((n / w % h * w + n % w) * c + n / w / h) * e, e);
        hdk_transpose(&p, a, y);
        expect_bytes("transpose", y, want, sizeof y);
    }
    random_inputs();
    for (uint32_t i = 0; i < 6; i++)
        want[i] = a[100 - i];
    hdk_transpose(&(struct hdk_transpose){.shape = {1, 1, 1, 1, 1, 6},
                                          .stride = {0, 0, 0, 0, 0, -1},
                                          .offset = 100,
                                          .element_bytes = 1},
                  a, y);
    expect_bytes("slice", y, want, sizeof y);
}

static void copy(void **state)
{
    (void)state;
    random_inputs();
    memcpy(want, a, 777);
    hdk_copy(&(struct hdk_copy){777}, a, y);
    expect_bytes("copy", y, want, sizeof y);
    hdk_copy(&(struct hdk_copy){777}, y, y);
    expect_bytes("copy", y, want, sizeof y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(add_and_sub),
        cmocka_unit_test(mul),
        cmocka_unit_test(pools),
        cmocka_unit_test(mean),
        cmocka_unit_test(lut_and_requantize),
        cmocka_unit_test(requantize_of_uint8),
        cmocka_unit_test(flip),
        cmocka_unit_test(nearest_of_quotients),
        cmocka_unit_test(nearest_of_quotients_16),
        cmocka_unit_test(values_of_a_table),
        cmocka_unit_test(to_and_from_float),
        cmocka_unit_test(pad),
        cmocka_unit_test(gather),
        cmocka_unit_test(update_slice),
        cmocka_unit_test(update_in_place),
        cmocka_unit_test(one_row_is_at_its_index),
        cmocka_unit_test(concat),
        cmocka_unit_test(transpose_and_slice),
        cmocka_unit_test(copy),
    };

    return cmocka_run_group_tests(tests, random_seed, NULL);
}
