/* VECTOR in the functional model against NUMERICS.md: elementwise, pools with padding, sums,
 * tables; every byte of the scratchpad is compared. */
#include "func_bench.h"
#include "tests/hw/vector/vector_model.h"

static const char *const config_names[] = {"tiny", "sys8", "sys16", "sys32"};

/* A random geometry: image h x w x c at a_base, windows kh x kw, outputs after it. */
static void random_window(struct hd_cmd_vector *c, uint32_t size)
{
    uint32_t kh = random_in(1, 4), kw = random_in(1, 4), sy = random_in(1, 3), sx = random_in(1, 3);
    uint32_t h = random_in(1, 7), w = random_in(1, 7), ch = random_in(1, 35);
    int32_t top = random_int(0, (int32_t)kh - 1), left = random_int(0, (int32_t)kw - 1);
    uint32_t at = random_in(0, 40), pitch = w * ch + random_in(0, 5);
    uint32_t reach = hd_vop_facts[c->op].pair ? 2 : 0,
             out = at + (h + reach) * pitch + random_in(0, 40);

    c->kernel_h = kh & 0xfff;
    c->kernel_w = kw & 0xffff;
    c->rows = ((h + (uint32_t)top - 1) / sy + 1) & 0xffff;
    c->cols = ((w + (uint32_t)left - 1) / sx + 1) & 0xffff;
    c->channels = ch;
    c->a_base = (int32_t)at - top * (int32_t)pitch - left * (int32_t)ch;
    c->a_row = pitch * sy;
    c->a_col = ch * sx;
    c->a_win_row = pitch;
    c->a_win_col = ch;
    c->y_start = (int16_t)-top;
    c->x_start = (int16_t)-left;
    c->in_h = h & 0xffff;
    c->in_w = w & 0xffff;
    c->stride_y = sy & 0xffff;
    c->stride_x = sx & 0xffff;
    c->out_base = out;
    c->out_col = ch + random_in(0, 3);
    c->out_row = c->cols * c->out_col + random_in(0, 3);
    assert_true(out + c->rows * c->out_row + 64 < size);
    if (hd_vop_facts[c->op].pair) { /* no window without a cell */
        c->b_base = random_in(0, reach) * (random_u32() % 2 ? c->a_win_row : c->a_win_col);
        while (c->cols > 1 && c->x_start + (int32_t)((c->cols - 1) * c->stride_x) >= (int32_t)w)
            c->cols--;
        while (c->rows > 1 && c->y_start + (int32_t)((c->rows - 1) * c->stride_y) >= (int32_t)h)
            c->rows--;
    }
}

static void random_elementwise(struct hd_cmd_vector *c)
{
    c->kernel_h = 1;
    c->kernel_w = 1;
    c->y_start = 0;
    c->x_start = 0;
    c->in_h = 0xffff;
    c->in_w = 0xffff;
    c->stride_y = 0;
    c->stride_x = 0;
    c->rows = random_in(1, 5) & 0xffff;
    c->cols = random_in(1, 5) & 0xffff;
    c->channels = random_in(1, 35);
    c->a_base = random_int(0, 9);
    c->a_col = c->channels;
    c->a_row = c->cols * c->channels + 3;
    c->b_base = 1024 + random_in(0, 9);
    c->b_col = random_u32() % 2 ? c->channels : 0;
    c->b_row = random_u32() % 2 ? c->cols * c->channels : 0;
    c->out_base = random_u32() % 4 ? 2048 + random_in(0, 9) : (uint32_t)c->a_base;
    c->out_col = c->a_col;
    c->out_row = c->a_row;
}

static void random_numbers(struct hd_cmd_vector *c)
{
    c->common.opcode = HD_OPCODE_VECTOR;
    c->common.length = HD_CMD_VECTOR_UNITS;
    c->z_a = (int8_t)random_u32();
    c->z_b = (int8_t)random_u32();
    c->z_out = (int8_t)random_u32();
    c->act_min = (int8_t)random_int(-128, 0);
    c->act_max = (int8_t)random_int(0, 127);
    c->multiplier_a = random_int(1 << 30, INT32_MAX);
    c->multiplier_b = random_int(1 << 30, INT32_MAX);
    c->multiplier_out = random_int(1 << 30, INT32_MAX);
    c->shift_a = (int8_t)random_int(-6, 0);
    c->shift_b = (int8_t)random_int(-6, 0);
    c->shift_out = (int8_t)(vector_scales(c->op) ? random_int(-20, -16) : random_int(-8, 2));
    if (vector_scales(c->op) && hd_vop_facts[c->op].pick)
        c->shift_a = c->shift_b = 0;
    if (c->op == HD_VOP_SQUARED) {
        c->shift_a = (int8_t)random_int(-19, -13);
        c->shift_b = (int8_t)random_int(-19, -13);
        c->shift_out = (int8_t)random_int(-26, -18);
    }
    if (c->op == HD_VOP_PRELU)
        c->shift_b = (int8_t)random_int(-8, 2);
    if (hd_vop_facts[c->op].pair) {
        c->z_b = 0;
        c->multiplier_a = c->multiplier_b = 1 << 11;
    }
    if (hd_vop_facts[c->op].operands == 2) {
        c->a_splat = c->out_base != (uint32_t)c->a_base && random_u32() % 5 == 0;
        c->b_splat = random_u32() % 5 == 0;
    }
}

/* Operands of two bytes, the result elsewhere. */
static void random_half(struct hd_cmd_vector *c)
{
    if (!hd_vop_facts[c->op].halves)
        return;
    vector_model_half(c, random_u32());
    c->out_base = 2048 + random_in(0, 9);
    c->a_win_row = 4096 + random_in(0, 9);
    c->a_win_col = 8192 + random_in(0, 9);
}

static int32_t exp_entry(const struct func_bench *t, uint32_t i)
{
    int32_t e;

    memcpy(&e, t->f.space[HD_SPACE_EXP] + (size_t)i * t->f.config.n, sizeof e);
    return e;
}

static int8_t plain_softmax(const struct func_bench *t, const struct hd_cmd_vector *c,
                            const int8_t *row, uint32_t ch)
{
    int32_t exp[256];
    struct softmax_row r;

    for (uint32_t i = 0; i < 256; i++)
        exp[i] = exp_entry(t, i);
    r = softmax_row_of(exp, row, c->channels);
    return plain_clamp(softmax_result(&r, exp, row[ch]) + c->z_out, c->act_min, c->act_max);
}

static int8_t plain_look_up(const struct func_bench *t, const struct hd_cmd_vector *c,
                            int64_t value, uint32_t ch)
{
    const uint32_t n = t->f.config.n, words = t->f.config.weight_bytes / n;
    const uint32_t tables = words < 2048 ? words / 256 : 8;
    const uint32_t number = (c->table_first + (c->table_step ? ch / n : 0)) % tables;

    const uint32_t entry = number * 256 + (uint32_t)(value + 128);

    return (int8_t)t->f.space[HD_SPACE_TABLE][(entry / 4 * n + ch % n) * 4 + entry % 4];
}

static int8_t plain_element(const struct func_bench *t, const struct hd_cmd_vector *c,
                            const int8_t *spad, uint32_t row, uint32_t col, uint32_t ch)
{
    int32_t exp[512];
    const struct vector_model model = {c, spad, t->f.n_bytes[HD_SPACE_SCRATCHPAD], t->f.config.n,
                                       exp};
    int8_t value;

    for (uint32_t i = 0; i < 512 && hd_vop_facts[c->op].curve; i++)
        exp[i] = exp_entry(t, i);
    if (hd_vop_facts[c->op].softmax)
        return plain_softmax(t, c, spad + (uint32_t)c->a_base + row * c->a_row + col * c->a_col,
                             ch);
    value = vector_element(&model, row, col, ch);
    return c->look_up ? plain_look_up(t, c, value, ch) : value;
}

static void check(struct func_bench *t, const struct hd_cmd_vector *c)
{
    uint32_t size = t->f.n_bytes[HD_SPACE_SCRATCHPAD];
    int8_t *before = malloc(size), *want = malloc(size);

    memcpy(before, bench_spad(t), size);
    memcpy(want, before, size);
    for (uint32_t row = 0; row < c->rows; row++)
        for (uint32_t col = 0; col < c->cols; col++)
            for (uint32_t ch = 0; ch < c->channels; ch++)
                want[c->out_base + row * c->out_row + col * c->out_col + ch] =
                    plain_element(t, c, before, row, col, ch);
    assert_int_equal(bench_run_one(t, c, sizeof *c), HD_OK);
    expect_bytes("scratchpad", bench_spad(t), want, size);
    free(before);
    free(want);
}

/* Exponentials of any fall; all of them at most the first. */
static void random_exponentials(struct func_bench *t)
{
    const uint32_t fall = random_in(0, 20);

    for (uint32_t i = 0; i < 256; i++) {
        int32_t e = i == 0 ? INT32_MAX : INT32_MAX >> ((256 - i) * fall / 256 % 31);
        memcpy(t->f.space[HD_SPACE_EXP] + (size_t)i * t->f.config.n, &e, sizeof e);
    }
}

static void every_operation(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        struct func_bench t;

        bench_open(&t, config_names[i]);
        for (uint32_t k = 0; k < 60 * HD_VOP_COUNT; k++) {
            struct hd_cmd_vector c = {.op = k % HD_VOP_COUNT & 15};

            if (vector_has_window(c.op))
                random_window(&c, t.f.n_bytes[HD_SPACE_SCRATCHPAD]);
            else
                random_elementwise(&c);
            random_numbers(&c);
            random_bytes(bench_spad(&t), t.f.n_bytes[HD_SPACE_SCRATCHPAD]);
            random_bytes(t.f.space[HD_SPACE_TABLE], t.f.n_bytes[HD_SPACE_TABLE]);
            vector_model_flags(&c, random_u32());
            if ((hd_vop_facts[c.op].softmax && t.f.config.softmax_rows == 0) ||
                (hd_vop_facts[c.op].curve && !t.f.config.lstm) || hd_vop_facts[c.op].lstm)
                continue;
            if (hd_vop_facts[c.op].softmax)
                random_exponentials(&t);
            if (hd_vop_facts[c.op].curve)
                random_bytes(t.f.space[HD_SPACE_EXP], t.f.n_bytes[HD_SPACE_EXP]);
            if (t.f.config.lstm && (hd_vop_facts[c.op].curve || random_u32() % 2))
                random_half(&c);
            check(&t, &c);
        }
        bench_close(&t);
    }
}

/* The reciprocal is exact for every count of cells and the sums that can occur. */
static void averages_of_every_count(void **state)
{
    struct func_bench t;

    (void)state;
    bench_open(&t, "sys16");
    for (uint32_t n = 1; n <= 2048; n++) {
        struct hd_cmd_vector c = {
            .common = {.opcode = HD_OPCODE_VECTOR, .length = HD_CMD_VECTOR_UNITS},
            .op = HD_VOP_AVG_POOL,
            .kernel_h = 1,
            .kernel_w = n & 0xffff,
            .rows = 1,
            .cols = 1,
            .channels = 16,
            .a_win_col = 16,
            .in_h = 1,
            .in_w = n & 0xffff,
            .out_base = 65536,
            .act_min = -128,
            .act_max = 127};
        int32_t bias = random_int(-128, 127);

        for (uint32_t k = 0; k < n * 16; k++)
            bench_spad(&t)[k] = plain_clamp(bias + random_int(-3, 3), -128, 127);
        check(&t, &c);
    }
    bench_close(&t);
}

static struct hd_cmd_vector softmax_command(uint32_t channels)
{
    return (struct hd_cmd_vector){
        .common = {.opcode = HD_OPCODE_VECTOR, .length = HD_CMD_VECTOR_UNITS},
        .op = HD_VOP_SOFTMAX,
        .kernel_h = 1,
        .kernel_w = 1,
        .rows = 1,
        .cols = 1,
        .channels = channels,
        .in_h = 1,
        .in_w = 1,
        .out_base = 16384,
        .z_out = -128,
        .act_min = -128,
        .act_max = 127};
}

/* To the sum's last bit: 4,096 equal values. From 512 of them on all results are 0. */
static void softmax_of_long_rows(void **state)
{
    static const uint32_t length[] = {1, 511, 512, 513, 4095, 4096};
    struct func_bench t;

    (void)state;
    bench_open(&t, "sys16");
    for (uint32_t k = 0; k < 4 * sizeof length / sizeof *length; k++) {
        const struct hd_cmd_vector c = softmax_command(length[k / 4]);

        random_bytes(bench_spad(&t), t.f.n_bytes[HD_SPACE_SCRATCHPAD]);
        random_exponentials(&t);
        if (k % 4 < 2)
            memset(bench_spad(&t), k % 4 ? 127 : -128, c.channels);
        check(&t, &c);
        if (k % 4 < 2 && c.channels >= 512)
            assert_int_equal(bench_spad(&t)[16384], -128);
    }
    bench_close(&t);
}

/* The pass of a row's results, each made wrong where the independent model keeps it. */
static void the_wrong_pass_of_softmax_is_named(void **state)
{
    struct hd_cmd_vector c = softmax_command(40);
    struct func_bench t;
    uint32_t named[3] = {0};

    (void)state;
    bench_open(&t, "sys16");
    for (uint32_t k = 0; k < 60; k++) {
        const int8_t *x = bench_spad(&t);
        int32_t exp[256], max, other;
        int8_t found[40];
        struct softmax_row r;

        random_bytes(bench_spad(&t), 40);
        bench_spad(&t)[k % 40] = 100;      /* the largest, or nearly */
        for (uint32_t i = 0; i < 256; i++) /* a falling curve, so that results differ */
            exp[i] = INT32_MAX >> ((256 - i) % 256 / 24);
        for (uint32_t i = 0; i < 256; i++)
            memcpy(t.f.space[HD_SPACE_EXP] + i * t.f.config.n, &exp[i], 4);
        r = softmax_row_of(exp, x, 40);
        const int right = r.max;
        if (k % 3 == 0)
            r = softmax_row_with(exp, x, 40, right - 1 - (int)(k / 3));
        else if (k % 3 == 1)
            r.scale -= r.scale / 3;
        for (uint32_t i = 0; i < 40; i++)
            found[i] = plain_clamp(softmax_result(&r, exp, x[i]) - 128, -128, 127);
        if (k % 3 == 2)
            found[(k + 1) % 40] = (int8_t)(found[(k + 1) % 40] + 90);
        named[hd_func_softmax_pass(&t.f, &c, x, found, &max, &other)]++;
        assert_int_equal(max, right);
    }
    bench_close(&t);
    assert_int_equal(named[HD_SOFTMAX_RESULT], 20);
    assert_int_equal(named[HD_SOFTMAX_SUM], 20);
    assert_int_equal(named[HD_SOFTMAX_MAXIMUM], 20);
}

static void refused(struct func_bench *t, struct hd_cmd_vector c, const char *why)
{
    assert_int_equal(bench_run_one(t, &c, sizeof c), HD_ERROR_FAULT);
    assert_int_equal(t->dev.fault.code, HD_FAULT_BAD_FIELD);
    assert_non_null(strstr(t->f.why, why));
}

static void softmax_beyond_the_unit_is_refused(void **state)
{
    struct hd_cmd_vector c = softmax_command(4096);
    struct func_bench t;

    (void)state;
    bench_open(&t, "tiny");
    refused(&t, c, "no softmax");
    bench_close(&t);
    bench_open(&t, "sys16");
    refused(&t, c, "e^0");
    random_exponentials(&t);
    assert_int_equal(bench_run_one(&t, &c, sizeof c), HD_OK);
    c.channels++;
    refused(&t, c, "4096 channels");
    c.channels = 1;
    c.rows = 16;
    c.cols = 17;
    refused(&t, c, "more rows");
    c.cols = 16;
    assert_int_equal(bench_run_one(&t, &c, sizeof c), HD_OK);
    c.kernel_w = 2;
    refused(&t, c, "1 x 1");
    c.kernel_w = 1;
    c.channels = 0;
    refused(&t, c, "empty");
    bench_close(&t);
}

static void halves_are_checked(void **state)
{
    struct hd_cmd_vector c = {.common = {.opcode = HD_OPCODE_VECTOR, .length = HD_CMD_VECTOR_UNITS},
                              .op = HD_VOP_MUL,
                              .kernel_h = 2,
                              .kernel_w = 2,
                              .rows = 1,
                              .cols = 1,
                              .channels = 5,
                              .in_h = 2,
                              .in_w = 2,
                              .a_win_row = 16,
                              .a_win_col = 16,
                              .b_base = 64,
                              .out_base = 128,
                              .half = 1};
    struct func_bench t;

    (void)state;
    bench_open(&t, "tiny");
    refused(&t, c, "option lstm");
    bench_close(&t);
    bench_open(&t, "sys16");
    assert_int_equal(bench_run_one(&t, &c, sizeof c), HD_OK);
    c.half = 3;
    refused(&t, c, "option lstm");
    c.half = 2;
    c.op = HD_VOP_PRELU;
    refused(&t, c, "an operation of two bytes");
    c.op = HD_VOP_ADD;
    refused(&t, c, "1 x 2");
    c.kernel_h = 1;
    assert_int_equal(bench_run_one(&t, &c, sizeof c), HD_OK);
    c.cols = 2;
    c.stride_x = 1;
    refused(&t, c, "1 x 2");
    c.stride_x = 0;
    c.look_up = 1;
    refused(&t, c, "no look_up");
    c.look_up = 0;
    c.z_out = 1;
    refused(&t, c, "zero points");
    c.z_out = 0;
    c.op = HD_VOP_MAX;
    refused(&t, c, "2^16");
    c.multiplier_a = c.multiplier_b = 1 << 16;
    assert_int_equal(bench_run_one(&t, &c, sizeof c), HD_OK);
    c.op = HD_VOP_CURVE;
    refused(&t, c, "shift_a -9 or -8");
    c.shift_a = -8;
    assert_int_equal(bench_run_one(&t, &c, sizeof c), HD_OK);
    c.half = 0;
    refused(&t, c, "curve has half");
    bench_close(&t);
}

static void half_windows_are_checked(void **state)
{
    struct hd_cmd_vector c = {.common = {.opcode = HD_OPCODE_VECTOR, .length = HD_CMD_VECTOR_UNITS},
                              .op = HD_VOP_MAX_POOL_TWO,
                              .kernel_h = 1,
                              .kernel_w = 2,
                              .rows = 1,
                              .cols = 1,
                              .channels = 5,
                              .in_h = 1,
                              .in_w = 2,
                              .multiplier_a = 1 << 11,
                              .multiplier_b = 1 << 11};
    struct func_bench t;

    (void)state;
    bench_open(&t, "tiny");
    assert_int_equal(bench_run_one(&t, &c, sizeof c), HD_OK);
    c.x_start = -2;
    refused(&t, c, "without a cell");
    c.x_start = 0;
    c.multiplier_b++;
    refused(&t, c, "2^11");
    c.multiplier_b--;
    c.z_b = 1;
    refused(&t, c, "z_b");
    bench_close(&t);
}

static void operands_outside_are_refused(void **state)
{
    struct hd_cmd_vector c = {.common = {.opcode = HD_OPCODE_VECTOR, .length = HD_CMD_VECTOR_UNITS},
                              .op = HD_VOP_MAX_POOL,
                              .kernel_h = 1,
                              .kernel_w = 1,
                              .rows = 1,
                              .cols = 1,
                              .channels = 5,
                              .in_h = 1,
                              .in_w = 1,
                              .out_base = 8192 - 4};
    struct func_bench t;

    (void)state;
    bench_open(&t, "tiny");
    assert_int_equal(bench_run_one(&t, &c, sizeof c), HD_ERROR_FAULT);
    assert_int_equal(t.dev.fault.code, HD_FAULT_BAD_FIELD);
    assert_int_equal(t.dev.fault.unit, HD_UNIT_VECTOR);
    c.out_base = 0;
    c.a_base = 8192 - 4;
    assert_int_equal(bench_run_one(&t, &c, sizeof c), HD_ERROR_FAULT);
    c.a_base = 8192 - 5;
    assert_int_equal(bench_run_one(&t, &c, sizeof c), HD_OK);
    bench_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operation),
        cmocka_unit_test(softmax_of_long_rows),
        cmocka_unit_test(the_wrong_pass_of_softmax_is_named),
        cmocka_unit_test(softmax_beyond_the_unit_is_refused),
        cmocka_unit_test(averages_of_every_count),
        cmocka_unit_test(half_windows_are_checked),
        cmocka_unit_test(halves_are_checked),
        cmocka_unit_test(operands_outside_are_refused),
    };

    return cmocka_run_group_tests(tests, random_seed, NULL);
}
