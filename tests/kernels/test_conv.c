/* conv2d, depthwise_conv2d, fully_connected against their definitions: one loop per index, int64
 * sums. */
#include "kernels/hdk.h"
#include "kernels/hdk_panel.h"
#include "tests/driver/plain.h"

#define MAX_IN  20000u
#define MAX_OUT 40000u

static int8_t x[MAX_IN], w[MAX_IN], y[MAX_OUT], want[MAX_OUT];
static int32_t bias[512], multiplier[512];
static int8_t shift[512];
static uint32_t per_channel; /* of the case being tested */

#define MAX_PANELS (1u << 17)
#define GUARD      64u
static _Alignas(16) uint8_t panels[MAX_PANELS], scratch[1 << 16];

static void pack(uint8_t *to, uint32_t channels, uint32_t k, const int8_t *weights,
                 uint32_t channel_stride, uint32_t k_stride, const int32_t *b, uint32_t first,
                 int32_t z_in, int32_t z_w)
{
    const struct hdk_filter f = {channels,
                                 k,
                                 weights,
                                 channel_stride,
                                 k_stride,
                                 b ? b + first : NULL,
                                 multiplier + (per_channel ? first : 0),
                                 shift + (per_channel ? first : 0),
                                 per_channel,
                                 z_in,
                                 z_w};

    assert_true(to + hdk_pack_bytes(channels, k) <= panels + MAX_PANELS);
    hdk_pack(&f, to);
}

/* Fill what the kernel may not touch after its scratch, and look afterwards. */
static void guard_scratch(uint32_t n)
{
    assert_true(n + GUARD <= sizeof scratch);
    random_bytes(scratch, n);
    memset(scratch + n, 0x5a, GUARD);
}

static void check_scratch(uint32_t n)
{
    for (uint32_t i = 0; i < GUARD; i++)
        assert_int_equal(scratch[n + i], 0x5a);
}

static void random_inputs(void)
{
    random_bytes(x, sizeof x);
    random_bytes(w, sizeof w);
    random_bytes(y, sizeof y);
    memcpy(want, y, sizeof y);
    for (uint32_t i = 0; i < 512; i++) {
        bias[i] = random_int(-30000, 30000);
        multiplier[i] = random_int(1 << 30, INT32_MAX);
        shift[i] = (int8_t)random_int(-14, -5);
    }
}

static int8_t finish(int64_t sum, uint32_t channel, int32_t z_out, int32_t low, int32_t high)
{
    uint32_t i = per_channel ? channel : 0;

    return plain_clamp((int64_t)plain_mbqm((int32_t)sum, multiplier[i], shift[i]) + z_out, low,
                       high);
}

static uint32_t out_size(uint32_t in, uint32_t kernel, uint32_t stride, uint32_t dilation,
                         int32_t pad)
{
    int32_t room = (int32_t)in + 2 * pad - (int32_t)((kernel - 1) * dilation) - 1;

    return room < 0 ? 0 : (uint32_t)room / stride + 1;
}

static void plain_conv(const struct hdk_conv2d *p, const int32_t *b)
{
    uint32_t gc = p->in_c / p->groups, go = p->out_c / p->groups;

    for (uint32_t n = 0; n < p->batch * p->out_h * p->out_w * p->out_c; n++) {
        uint32_t o = n % p->out_c, ox = n / p->out_c % p->out_w;
        uint32_t oy = n / p->out_c / p->out_w % p->out_h, i = n / p->out_c / p->out_w / p->out_h;
        int64_t sum = b ? b[o] : 0;

        for (uint32_t ky = 0; ky < p->kernel_h; ky++)
            for (uint32_t kx = 0; kx < p->kernel_w; kx++)
                for (uint32_t c = 0; c < gc; c++) {
                    int32_t iy = (int32_t)(oy * p->stride_y + ky * p->dilation_y) - p->pad_top;
                    int32_t ix = (int32_t)(ox * p->stride_x + kx * p->dilation_x) - p->pad_left;
                    uint32_t at = ((i * p->in_h + (uint32_t)iy) * p->in_w + (uint32_t)ix) * p->in_c;

                    if (iy < 0 || ix < 0 || iy >= (int32_t)p->in_h || ix >= (int32_t)p->in_w)
                        continue;
                    sum += (int64_t)(x[at + o / go * gc + c] - p->z_in) *
                           (w[((o * p->kernel_h + ky) * p->kernel_w + kx) * gc + c] - p->z_w);
                }
        want[n] = finish(sum, o, p->z_out, p->act_min, p->act_max);
    }
}

static int random_conv(struct hdk_conv2d *p)
{
    uint32_t groups = random_u32() % 4 ? 1 : random_in(2, 3);

    per_channel = random_u32() % 2;
    *p = (struct hdk_conv2d){.batch = random_in(1, 2),
                             .in_h = random_in(1, 9),
                             .in_w = random_in(1, 9),
                             .in_c = random_in(1, 40) * groups,
                             .out_c = random_in(1, 20) * groups,
                             .groups = groups,
                             .kernel_h = random_in(1, 6),
                             .kernel_w = random_in(1, 6),
                             .stride_y = random_in(1, 3),
                             .stride_x = random_in(1, 3),
                             .dilation_y = random_in(1, 2),
                             .dilation_x = random_in(1, 2),
                             .pad_top = random_int(0, 3),
                             .pad_left = random_int(0, 3),
                             .z_in = random_int(-128, 127),
                             .z_w = random_u32() % 2 ? 0 : random_int(-128, 127),
                             .z_out = random_int(-128, 127),
                             .act_min = random_int(-128, 0),
                             .act_max = random_int(1, 127)};
    p->out_h = out_size(p->in_h, p->kernel_h, p->stride_y, p->dilation_y, p->pad_top);
    p->out_w = out_size(p->in_w, p->kernel_w, p->stride_x, p->dilation_x, p->pad_left);
    return p->out_h && p->out_w &&
           p->out_c * p->kernel_h * p->kernel_w * (p->in_c / groups) <= MAX_IN &&
           p->batch * p->in_h * p->in_w * p->in_c <= MAX_IN &&
           p->batch * p->out_h * p->out_w * p->out_c <= MAX_OUT;
}

static void run_conv(const struct hdk_conv2d *p, const int32_t *b)
{
    uint32_t k = p->kernel_h * p->kernel_w * (p->in_c / p->groups), o = p->out_c / p->groups;
    uint32_t n = hdk_conv2d_scratch(p);

    for (uint32_t g = 0; g < p->groups; g++)
        pack(panels + g * hdk_pack_bytes(o, k), o, k, w + g * o * k, k, 1, b, g * o,
             p->z_in + HDK_LANE_ZERO, p->z_w);
    guard_scratch(n);
    hdk_conv2d(p, x, panels, y, scratch);
    check_scratch(n);
}

static void conv2d_is_its_definition(void **state)
{
    struct hdk_conv2d p;

    (void)state;
    for (uint32_t count = 0; count < 300;) {
        const int32_t *b = random_u32() % 4 ? bias : NULL;

        if (!random_conv(&p))
            continue;
        random_inputs();
        plain_conv(&p, b);
        run_conv(&p, b);
        expect_bytes("conv2d", y, want, sizeof y);
        count++;
    }
}

static void plain_depthwise(const struct hdk_depthwise_conv2d *p, const int32_t *b)
{
    uint32_t out_c = p->in_c * p->depth_multiplier;

    for (uint32_t n = 0; n < p->batch * p->out_h * p->out_w * out_c; n++) {
        uint32_t o = n % out_c, ox = n / out_c % p->out_w;
        uint32_t oy = n / out_c / p->out_w % p->out_h, i = n / out_c / p->out_w / p->out_h;
        int64_t sum = b ? b[o] : 0;

        for (uint32_t ky = 0; ky < p->kernel_h; ky++)
            for (uint32_t kx = 0; kx < p->kernel_w; kx++) {
                int32_t iy = (int32_t)(oy * p->stride_y + ky * p->dilation_y) - p->pad_top;
                int32_t ix = (int32_t)(ox * p->stride_x + kx * p->dilation_x) - p->pad_left;
                uint32_t at = ((i * p->in_h + (uint32_t)iy) * p->in_w + (uint32_t)ix) * p->in_c;

                if (iy < 0 || ix < 0 || iy >= (int32_t)p->in_h || ix >= (int32_t)p->in_w)
                    continue;
                sum += (int64_t)(x[at + o / p->depth_multiplier] - p->z_in) *
                       (w[(ky * p->kernel_w + kx) * out_c + o] - p->z_w);
            }
        want[n] = finish(sum, o, p->z_out, p->act_min, p->act_max);
    }
}

static void depthwise_is_its_definition(void **state)
{
    (void)state;
    for (uint32_t count = 0; count < 300;) {
        const int32_t *b = random_u32() % 4 ? bias : NULL;
        struct hdk_depthwise_conv2d p = {.batch = random_in(1, 2),
                                         .in_h = random_in(1, 9),
                                         .in_w = random_in(1, 9),
                                         .in_c = random_in(1, 40),
                                         .depth_multiplier = random_u32() % 2 ? 1 : random_in(2, 4),
                                         .kernel_h = random_in(1, 6),
                                         .kernel_w = random_in(1, 6),
                                         .stride_y = random_in(1, 3),
                                         .stride_x = random_in(1, 3),
                                         .dilation_y = random_in(1, 2),
                                         .dilation_x = random_in(1, 2),
                                         .pad_top = random_int(0, 3),
                                         .pad_left = random_int(0, 3),
                                         .z_in = random_int(-128, 127),
                                         .z_w = random_u32() % 2 ? 0 : random_int(-128, 127),
                                         .z_out = random_int(-128, 127),
                                         .act_min = random_int(-128, 0),
                                         .act_max = random_int(1, 127)};
        uint32_t out_c = p.in_c * p.depth_multiplier, n = hdk_depthwise_conv2d_scratch(&p);

        per_channel = random_u32() % 2;
        p.out_h = out_size(p.in_h, p.kernel_h, p.stride_y, p.dilation_y, p.pad_top);
        p.out_w = out_size(p.in_w, p.kernel_w, p.stride_x, p.dilation_x, p.pad_left);
        if (!p.out_h || !p.out_w ||
            p.batch * p.out_h * p.out_w * p.in_c * p.depth_multiplier > MAX_OUT)
            continue;
        random_inputs();
        plain_depthwise(&p, b);
        pack(panels, out_c, p.kernel_h * p.kernel_w, w, 1, out_c, b, 0, p.z_in, p.z_w);
        guard_scratch(n);
        hdk_depthwise_conv2d(&p, x, panels, y, scratch);
        check_scratch(n);
        expect_bytes("depthwise_conv2d", y, want, sizeof y);
        count++;
    }
}

static void fully_connected_is_its_definition(void **state)
{
    static const uint32_t sizes[] = {1, 7, 8, 9, 640, 1023, 1024, 1025, 2500};

    (void)state;
    for (uint32_t k = 0; k < 9 * 20; k++) {
        const int32_t *b = random_u32() % 4 ? bias : NULL;
        struct hdk_fully_connected p = {.batch = random_in(1, 8),
                                        .in_c = sizes[k % 9],
                                        .z_in = random_int(-128, 127),
                                        .z_w = random_u32() % 2 ? 0 : random_int(-128, 127),
                                        .z_out = random_int(-128, 127),
                                        .act_min = -128,
                                        .act_max = 127};
        uint32_t n_scratch = hdk_fully_connected_scratch(&p);

        per_channel = random_u32() % 2;
        p.out_c = random_in(1, MAX_IN / p.in_c < 40 ? MAX_IN / p.in_c : 40);
        random_inputs();
        for (uint32_t n = 0; n < p.batch * p.out_c; n++) {
            int64_t sum = b ? b[n % p.out_c] : 0;

            for (uint32_t c = 0; c < p.in_c; c++)
                sum += (int64_t)(x[n / p.out_c * p.in_c + c] - p.z_in) *
                       (w[n % p.out_c * p.in_c + c] - p.z_w);
            want[n] = finish(sum, n % p.out_c, p.z_out, -128, 127);
        }
        pack(panels, p.out_c, p.in_c, w, p.in_c, 1, b, 0, p.z_in + HDK_LANE_ZERO, p.z_w);
        guard_scratch(n_scratch);
        hdk_fully_connected(&p, x, panels, y, scratch);
        check_scratch(n_scratch);
        expect_bytes("fully_connected", y, want, sizeof y);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conv2d_is_its_definition),
        cmocka_unit_test(depthwise_is_its_definition),
        cmocka_unit_test(fully_connected_is_its_definition),
    };

    return cmocka_run_group_tests(tests, random_seed, NULL);
}
