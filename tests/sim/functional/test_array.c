/* ARRAY in the functional model against plain loops over [H][W][C] arrays: random convolutions,
 * depthwise ones, pixel pairs and split kernels on every configuration; every byte of the
 * scratchpad is compared, surroundings too. */
#include "func_bench.h"

static const char *const config_names[] = {"tiny", "sys8", "sys16", "sys32"};

/* One random layer in the model's terms, and where it is in the scratchpad. */
struct layer {
    uint32_t h, w, c, oc, kh, kw, sy, sx, dy, out_h, out_w;
    int32_t pad_top, pad_left, z_in, z_w, z_out, low, high;
    uint32_t in_pitch, out_pitch, in_at, out_at, p_base, w_base, block_rows;
    uint32_t common, bias_on, depthwise;
    int8_t weights[8192]; /* [oc][kh][kw][c], depthwise [kh][kw][c] */
    int32_t bias[256], multiplier[256];
    int8_t shift[256];
};

static uint32_t out_size(uint32_t in, uint32_t kernel, uint32_t stride, uint32_t dilation,
                         int32_t pad_before, int32_t pad_after)
{
    int32_t room = (int32_t)in + pad_before + pad_after - (int32_t)((kernel - 1) * dilation) - 1;

    return room < 0 ? 0 : (uint32_t)room / stride + 1;
}

static void random_scale(struct layer *l)
{
    random_bytes(l->weights, sizeof l->weights);
    for (uint32_t i = 0; i < 256; i++) {
        l->bias[i] = random_int(-20000, 20000);
        l->multiplier[i] = random_int(1 << 30, INT32_MAX);
        l->shift[i] = (int8_t)random_int(-12, -4);
    }
    l->common = random_u32() % 4 == 0;
    l->bias_on = random_u32() % 4 != 0;
    l->z_in = random_int(-128, 127);
    l->z_w = l->depthwise || random_u32() % 2 ? 0 : random_int(-128, 127);
    l->z_out = random_int(-128, 127);
    l->low = random_int(-128, 0);
    l->high = random_int(0, 127);
}

/* Draw a layer that fits the memories; 0 if the one drawn does not. */
static int random_layer(struct layer *l, const struct hd_config *k, uint32_t max_oc)
{
    uint32_t segments_room = k->acc_depth;

    l->kh = random_in(1, 5);
    l->kw = random_in(1, 5);
    l->sy = random_in(1, 3);
    l->sx = random_in(1, 3);
    l->dy = random_u32() % 4 ? 1 : random_in(2, 3);
    l->h = random_in(1, 12);
    l->w = random_in(1, 12);
    l->c = random_in(1, random_u32() % 2 ? 4 : 2 * k->n + 1);
    l->oc = l->depthwise ? l->c : random_in(1, max_oc);
    l->pad_top = random_int(0, (int32_t)l->kh - 1);
    l->pad_left = random_int(0, (int32_t)l->kw - 1);
    l->out_h = out_size(l->h, l->kh, l->sy, l->dy, l->pad_top, random_int(0, (int32_t)l->kh - 1));
    l->out_w = out_size(l->w, l->kw, l->sx, 1, l->pad_left, random_int(0, (int32_t)l->kw - 1));
    if (!l->out_h || !l->out_w || l->out_w > segments_room)
        return 0;
    l->in_pitch = l->w * l->c + random_in(0, 9);
    l->out_pitch = (l->out_w + 1) * l->oc * 2 + random_in(0, 9);
    l->in_at = random_in(0, 70);
    l->out_at = l->in_at + l->h * l->in_pitch + random_in(0, 40);
    l->block_rows = random_in(1, segments_room / l->out_w);
    if (l->block_rows > l->out_h)
        l->block_rows = l->out_h;
    l->p_base = random_in(0, 3);
    l->w_base = random_in(0, 5);
    random_scale(l);
    return l->out_at + l->out_h * l->out_pitch + 64 < k->scratchpad_bytes &&
           l->oc * l->kh * l->kw * (l->depthwise ? 1 : l->c) <= sizeof l->weights &&
           ((l->oc + k->n - 1) / k->n * l->kh * l->kw * (l->depthwise ? 1 : l->c) + l->w_base) *
                   k->n <=
               k->weight_bytes;
}

/* Weight `lane` of the flat kernel for output channel o. */
static int8_t weight_of(const struct layer *l, uint32_t o, uint32_t lane)
{
    uint32_t k = l->kh * l->kw * l->c;

    return l->depthwise ? l->weights[lane * l->c + o] : l->weights[o * k + lane];
}

/* Weight and parameter memories; `copies` times the channels side by side (pixel pairs). */
static void fill_memories(struct func_bench *t, const struct layer *l, uint32_t copies)
{
    uint32_t n = t->f.config.n, channels = l->oc * copies;
    uint32_t k = l->kh * l->kw * (l->depthwise ? 1 : l->c);
    int32_t *bias = (int32_t *)(void *)t->f.space[HD_SPACE_BIAS] + l->p_base * n;
    int32_t *multiplier = (int32_t *)(void *)t->f.space[HD_SPACE_MULTIPLIER] + l->p_base * n;

    random_bytes(t->f.space[HD_SPACE_WEIGHTS], t->f.n_bytes[HD_SPACE_WEIGHTS]);
    for (uint32_t i = 0; i < channels; i++) {
        uint32_t o = i % l->oc;

        bias[i] = l->bias[o];
        multiplier[i] = l->multiplier[o];
        t->f.space[HD_SPACE_SHIFT][l->p_base * n + i] = (uint8_t)l->shift[o];
        for (uint32_t lane = 0; lane < k; lane++)
            t->f.space[HD_SPACE_WEIGHTS][(l->w_base + i / n * k + lane) * n + i % n] =
                (uint8_t)weight_of(l, o, lane);
    }
}

/* Depthwise: the last output is emitted at its own position; the last taps inside the image are
 * read. */
static uint32_t scan_positions(const struct layer *l)
{
    uint32_t last = (l->out_w - 1) * l->sx;
    int32_t taps = (int32_t)(last + l->kw) - l->pad_left;
    uint32_t need = taps < (int32_t)l->w ? (taps < 0 ? 0 : (uint32_t)taps) : l->w;

    return (need > last ? need : last + 1) + random_u32() % 3;
}

static struct hd_cmd_array command_of(const struct layer *l, const struct hd_config *k)
{
    uint32_t blocks = (l->out_h + l->block_rows - 1) / l->block_rows;
    uint32_t last = l->out_h - (blocks - 1) * l->block_rows;
    uint32_t scan = l->depthwise ? scan_positions(l) : l->out_w;
    uint32_t step_y = l->in_pitch * l->sy;

    return (struct hd_cmd_array){
        .common = {.opcode = HD_OPCODE_ARRAY, .length = HD_CMD_ARRAY_UNITS},
        .depthwise = l->depthwise & 1,
        .common_scale = l->common & 1,
        .has_bias = l->bias_on & 1,
        .streams = 1,
        .ports = random_in(1, k->ports) & 7,
        .kernel_h = l->kh & 0xff,
        .stride_x = l->depthwise ? l->sx & 0xff : 1,
        .z_in = (int8_t)l->z_in,
        .z_w = (int8_t)l->z_w,
        .z_out = (int8_t)l->z_out,
        .act_min = (int8_t)l->low,
        .act_max = (int8_t)l->high,
        .shift = l->shift[0],
        .multiplier = l->multiplier[0],
        .pad_left = l->depthwise ? (uint8_t)l->pad_left : 0,
        .kernel_row_bytes = (l->depthwise ? l->kw : l->kw * l->c) & 0xffff,
        .out_channels = l->oc & 0xffff,
        .in_row = (int32_t)l->in_at - l->pad_top * (int32_t)l->in_pitch,
        .in_pitch_dil = (int32_t)(l->in_pitch * l->dy),
        .in_pitch_step = (int32_t)step_y,
        .in_block_step = (int32_t)(step_y * l->block_rows),
        .y_start = (int16_t)-l->pad_top,
        .in_h = l->h & 0xffff,
        .dilation_y = l->dy & 0xff,
        .stride_y = l->sy & 0xff,
        .block_step_y = (l->sy * l->block_rows) & 0xffff,
        .x_start = l->depthwise ? 0 : -l->pad_left * (int32_t)l->c,
        .x_step = (l->depthwise ? l->c : l->sx * l->c) & 0xffff,
        .scan = scan & 0xffff,
        .in_wc = l->w * l->c,
        .out_w = l->out_w & 0xffff,
        .out_h = l->out_h & 0xffff,
        .block_rows = l->block_rows & 0xffff,
        .last_rows = last & 0xffff,
        .blocks = blocks & 0xffff,
        .out_step = l->oc & 0xffff,
        .block_scan = (scan * l->block_rows) & 0xffff,
        .last_scan = (scan * last) & 0xffff,
        .out_base = l->out_at,
        .out_pitch = l->out_pitch,
        .out_block_step = l->out_pitch * l->block_rows,
        .w_base = l->w_base & 0xffff,
        .p_base = l->p_base & 0xffff,
    };
}

/* The sum at one output element, as the operator's definition has it. */
static int64_t plain_sum(const struct layer *l, const int8_t *image, uint32_t oy, uint32_t ox,
                         uint32_t o, uint32_t dx)
{
    int64_t sum = 0;

    for (uint32_t ky = 0; ky < l->kh; ky++)
        for (uint32_t kx = 0; kx < l->kw; kx++) {
            int32_t y = (int32_t)(oy * l->sy + ky * l->dy) - l->pad_top;
            int32_t x = (int32_t)(ox * l->sx + kx * dx) - l->pad_left;

            if (y < 0 || x < 0 || y >= (int32_t)l->h || x >= (int32_t)l->w)
                continue;
            for (uint32_t c = 0; c < (l->depthwise ? 1 : l->c); c++) {
                uint32_t lane = (ky * l->kw + kx) * (l->depthwise ? 1 : l->c) + c;
                uint32_t channel = l->depthwise ? o : c;
                int8_t v = image[(uint32_t)y * l->in_pitch + (uint32_t)x * l->c + channel];
                sum += (int64_t)(v - l->z_in) * (weight_of(l, o, lane) - l->z_w);
            }
        }
    return sum;
}

/* Put the layer's output where the command puts it. dx: dilation in x. */
static void plain_layer(const struct layer *l, int8_t *spad, uint32_t dx)
{
    for (uint32_t oy = 0; oy < l->out_h; oy++)
        for (uint32_t ox = 0; ox < l->out_w; ox++)
            for (uint32_t o = 0; o < l->oc; o++) {
                uint32_t p = l->common ? 0 : o;
                int64_t acc =
                    plain_sum(l, spad + l->in_at, oy, ox, o, dx) + (l->bias_on ? l->bias[o] : 0);
                int64_t v = plain_mbqm((int32_t)acc, l->multiplier[p], l->shift[p]);
                spad[l->out_at + oy * l->out_pitch + ox * l->oc + o] =
                    plain_clamp(v + l->z_out, l->low, l->high);
            }
}

/* Run `n` commands; the whole scratchpad must equal the plain layer's. */
static void check(struct func_bench *t, const struct layer *l, const struct hd_cmd_array *commands,
                  uint32_t n, uint32_t dx)
{
    uint32_t size = t->f.n_bytes[HD_SPACE_SCRATCHPAD];
    int8_t *want = malloc(size);
    int rc;

    memcpy(want, bench_spad(t), size);
    plain_layer(l, want, dx);
    bench_begin(t);
    for (uint32_t i = 0; i < n; i++)
        bench_add(t, &commands[i], sizeof commands[i]);
    rc = bench_run(t);
    if (rc != HD_OK)
        fail_msg("%s: %s", hd_error_text(rc), t->f.why);
    expect_bytes("scratchpad", bench_spad(t), want, size);
    free(want);
}

static void random_layers(const char *config, uint32_t depthwise, uint32_t count)
{
    static struct layer l;
    struct func_bench t;

    bench_open(&t, config);
    while (count > 0) {
        struct hd_cmd_array c;

        l.depthwise = depthwise;
        if (!random_layer(&l, &t.f.config, 3 * t.f.config.n) ||
            (depthwise && (l.kw > t.f.config.n || l.pad_left >= (int32_t)t.f.config.n)))
            continue;
        random_bytes(bench_spad(&t), t.f.n_bytes[HD_SPACE_SCRATCHPAD]);
        fill_memories(&t, &l, 1);
        c = command_of(&l, &t.f.config);
        check(&t, &l, &c, 1, 1);
        count--;
    }
    bench_close(&t);
}

static void convolutions(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++)
        random_layers(config_names[i], 0, 120);
}

static void depthwise_convolutions(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++)
        random_layers(config_names[i], 1, 120);
}

/* Two pixels at once: channels twice, weights and parameters stored twice. */
static void pixel_pairs(void **state)
{
    static struct layer l;

    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        struct func_bench t;

        bench_open(&t, config_names[i]);
        for (uint32_t count = 0; count < 100 && t.f.config.ports >= 2;) {
            struct hd_cmd_array c;

            l.depthwise = 0;
            if (!random_layer(&l, &t.f.config, t.f.config.n / 2))
                continue;
            random_bytes(bench_spad(&t), t.f.n_bytes[HD_SPACE_SCRATCHPAD]);
            fill_memories(&t, &l, 2);
            c = command_of(&l, &t.f.config);
            c.streams = 2;
            c.ports = random_in(1, t.f.config.ports / 2) & 7;
            c.scan = (l.out_w + 1) / 2 & 0xffff;
            c.block_scan = (uint32_t)c.scan * c.block_rows & 0xffff;
            c.last_scan = (uint32_t)c.scan * c.last_rows & 0xffff;
            c.pair_split = l.oc & 0xff;
            c.pair_step = c.x_step;
            c.x_step = 2u * c.x_step & 0xffff;
            c.out_step = c.out_channels = 2 * l.oc & 0xffff;
            c.pair_last = (l.out_w % 2 ? l.oc : 2 * l.oc) & 0xff;
            check(&t, &l, &c, 1, 1);
            count++;
        }
        bench_close(&t);
    }
}

/* Dilation in x: one command per kernel column, sums kept in the accumulators. */
static void split_kernels(void **state)
{
    static struct layer l;

    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        struct func_bench t;

        bench_open(&t, config_names[i]);
        for (uint32_t count = 0; count < 60;) {
            struct hd_cmd_array c[5], whole;
            uint32_t dx = random_in(1, 3), n = t.f.config.n;

            l.depthwise = 0;
            if (!random_layer(&l, &t.f.config, n) || l.out_h * l.out_w > t.f.config.acc_depth)
                continue;
            l.block_rows = l.out_h;
            random_bytes(bench_spad(&t), t.f.n_bytes[HD_SPACE_SCRATCHPAD]);
            fill_memories(&t, &l, 1);
            whole = command_of(&l, &t.f.config);
            for (uint32_t kx = 0; kx < l.kw; kx++) {
                uint8_t *w = t.f.space[HD_SPACE_WEIGHTS];
                uint32_t words = l.kh * l.c;

                c[kx] = whole;
                c[kx].acc_keep = kx > 0;
                c[kx].acc_hold = kx + 1 < l.kw;
                c[kx].kernel_row_bytes = l.c & 0xffff;
                c[kx].x_start += (int32_t)(kx * dx * l.c);
                c[kx].w_base = (l.w_base + kx * words) & 0xffff;
                for (uint32_t k = 0; k < words; k++)
                    for (uint32_t o = 0; o < l.oc; o++)
                        w[(c[kx].w_base + k) * n + o] =
                            (uint8_t)weight_of(&l, o, (k / l.c * l.kw + kx) * l.c + k % l.c);
            }
            check(&t, &l, c, l.kw, dx);
            count++;
        }
        bench_close(&t);
    }
}

/* A command for one output row of two columns, of one input byte and one row. */
static struct hd_cmd_array two_columns(uint32_t positions)
{
    return (struct hd_cmd_array){
        .common = {.opcode = HD_OPCODE_ARRAY, .length = HD_CMD_ARRAY_UNITS},
        .common_scale = 1,
        .has_bias = 1,
        .streams = 1,
        .ports = 1,
        .kernel_h = 1,
        .multiplier = 1 << 30,
        .kernel_row_bytes = 1,
        .out_channels = 2,
        .in_h = 1,
        .stride_y = 1,
        .dilation_y = 1,
        .scan = positions & 0xffff,
        .in_wc = 1,
        .out_w = positions & 0xffff,
        .out_h = 1,
        .block_rows = 1,
        .last_rows = 1,
        .blocks = 1,
        .block_scan = positions & 0xffff,
        .last_scan = positions & 0xffff,
        .out_base = 64};
}

/* The sum may leave int32: it wraps, in the accumulator and in the left shift. */
static void sums_wrap(void **state)
{
    struct func_bench t;
    struct hd_cmd_array c = two_columns(1);
    int32_t *bias;

    (void)state;
    c.act_min = -128;
    c.act_max = 127;
    c.shift = 4;
    c.out_step = 2;
    bench_open(&t, "sys8");
    bias = (int32_t *)(void *)t.f.space[HD_SPACE_BIAS];
    bench_spad(&t)[0] = 1;
    t.f.space[HD_SPACE_WEIGHTS][0] = 1;
    t.f.space[HD_SPACE_WEIGHTS][1] = 1;
    bias[0] = INT32_MAX;  /* + 1 = INT32_MIN, << 4 = 0 */
    bias[1] = 0x10000001; /* + 1, << 4 = 0x20, times 1/2 = 16 */
    assert_int_equal(bench_run_one(&t, &c, sizeof c), HD_OK);
    assert_int_equal(bench_spad(&t)[64], 0);
    assert_int_equal(bench_spad(&t)[65], 16);
    bench_close(&t);
}

/* One output of the sum of all columns: 2 taps x 8 channels, inputs 1, weights 1 to 8. */
static void columns_are_summed(void **state)
{
    struct func_bench t;
    struct hd_cmd_array c = {.common = {.opcode = HD_OPCODE_ARRAY, .length = HD_CMD_ARRAY_UNITS},
                             .depthwise = 1,
                             .common_scale = 1,
                             .streams = 1,
                             .ports = 1,
                             .sum_columns = 1,
                             .kernel_h = 1,
                             .stride_x = 1,
                             .act_min = -128,
                             .act_max = 127,
                             .shift = 0,
                             .multiplier = 1 << 30,
                             .kernel_row_bytes = 2,
                             .out_channels = 8,
                             .in_h = 1,
                             .stride_y = 1,
                             .dilation_y = 1,
                             .x_step = 8,
                             .scan = 2,
                             .in_wc = 16,
                             .out_w = 1,
                             .out_h = 1,
                             .block_rows = 1,
                             .last_rows = 1,
                             .blocks = 1,
                             .out_step = 1,
                             .block_scan = 2,
                             .last_scan = 2,
                             .out_base = 64};

    (void)state;
    bench_open(&t, "sys8");
    for (uint32_t i = 0; i < 16; i++) {
        bench_spad(&t)[i] = 1;
        t.f.space[HD_SPACE_WEIGHTS][i] = (uint8_t)(i % 8 + 1);
    }
    bench_spad(&t)[65] = 99;
    assert_int_equal(bench_run_one(&t, &c, sizeof c), HD_OK);
    assert_int_equal(bench_spad(&t)[64], 36); /* 2 * 36 / 2 */
    assert_int_equal(bench_spad(&t)[65], 99);
    c.out_channels = 7;
    assert_int_not_equal(bench_run_one(&t, &c, sizeof c), HD_OK);
    bench_close(&t);
}

/* One output of two columns, at four positions: byte a at address 4 k + a. 300 is 0x12c; -70,000 is
 * 0xfffeee90, in two bytes -32,768. */
static void bytes_of_wide_results(void **state)
{
    struct func_bench t;
    struct hd_cmd_array c = two_columns(4);
    int32_t *bias;

    (void)state;
    c.wide = 3;
    c.stride_x = 1;
    c.act_min = -1;
    c.act_max = 1;
    c.shift = 1;
    c.out_step = 5;
    bench_open(&t, "sys8");
    bias = (int32_t *)(void *)t.f.space[HD_SPACE_BIAS];
    bias[0] = 300;
    bias[1] = -70000;
    assert_int_not_equal(bench_run_one(&t, &c, sizeof c), HD_OK);
    t.f.config.lstm = 1;
    assert_int_equal(bench_run_one(&t, &c, sizeof c), HD_OK);
    for (uint32_t k = 0; k < 4; k++) {
        assert_int_equal((uint8_t)bench_spad(&t)[64 + 5 * k], 0x12cu >> 8 * k & 255u);
        assert_int_equal((uint8_t)bench_spad(&t)[65 + 5 * k], 0xfffeee90u >> 8 * k & 255u);
    }
    c.wide = 1;
    assert_int_equal(bench_run_one(&t, &c, sizeof c), HD_OK);
    assert_int_equal((uint8_t)bench_spad(&t)[70], 0x80);
    c.look_up = 1;
    assert_int_not_equal(bench_run_one(&t, &c, sizeof c), HD_OK);
    bench_close(&t);
}

/* One output of two columns, its sums held: upper bytes, lower ones on 256 times these, each byte of the results. 300 is
 * 0x012c, -2 0xfffe; 0x12c7f beyond 0x7fff, or 0x01ff with an upper bound of 1. */
static void halves_of_int16(void **state)
{
    struct func_bench t;
    struct hd_cmd_array c = two_columns(1), write;
    int32_t *bias;

    (void)state;
    c.stride_x = 1;
    c.shift = 1;
    c.act_min = -128;
    c.act_max = 127;
    write = c;
    c.has_bias = 0;
    c.acc_hold = 1;
    write.acc_keep = 1;
    write.in_h = 0;
    bench_open(&t, "sys8");
    bias = (int32_t *)(void *)t.f.space[HD_SPACE_BIAS];
    bias[0] = 300;
    bias[1] = -2;
    write.half = 1;
    assert_int_not_equal(bench_run_one(&t, &write, sizeof write), HD_OK);
    t.f.config.lstm = 1;
    write.wide = 1;
    assert_int_not_equal(bench_run_one(&t, &write, sizeof write), HD_OK);
    write.wide = 0;
    c.acc_upper = 1;
    assert_int_not_equal(bench_run_one(&t, &c, sizeof c), HD_OK);
    c.acc_upper = 0;
    for (uint32_t i = 0; i < 8; i++) {
        bench_spad(&t)[i] = i == 0;
        t.f.space[HD_SPACE_WEIGHTS][i] = i == 0;
    }
    assert_int_equal(bench_run_one(&t, &c, sizeof c), HD_OK); /* 1, 0 */
    c.acc_keep = c.acc_upper = 1;
    assert_int_equal(bench_run_one(&t, &c, sizeof c), HD_OK); /* 257, 0 */
    assert_int_equal(bench_run_one(&t, &write, sizeof write), HD_OK);
    assert_int_equal(bench_spad(&t)[64], (257 + 300) >> 8);
    assert_int_equal((int8_t)bench_spad(&t)[65], -1);
    write.half = 2;
    assert_int_equal(bench_run_one(&t, &write, sizeof write), HD_OK);
    assert_int_equal((int8_t)bench_spad(&t)[64], (557 & 255) - 128);
    assert_int_equal((int8_t)bench_spad(&t)[65], 0xfe - 128);
    write.act_max = 1;
    assert_int_equal(bench_run_one(&t, &write, sizeof write), HD_OK);
    assert_int_equal((int8_t)bench_spad(&t)[64], 127);
    write.act_min = 0;
    assert_int_equal(bench_run_one(&t, &write, sizeof write), HD_OK);
    assert_int_equal((int8_t)bench_spad(&t)[65], -128);
    bench_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_summed),     cmocka_unit_test(convolutions),
        cmocka_unit_test(depthwise_convolutions), cmocka_unit_test(pixel_pairs),
        cmocka_unit_test(split_kernels),          cmocka_unit_test(sums_wrap),
        cmocka_unit_test(bytes_of_wide_results),  cmocka_unit_test(halves_of_int16),
    };

    return cmocka_run_group_tests(tests, random_seed, NULL);
}
