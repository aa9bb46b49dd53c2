/* VECTOR's lstm in the functional model against gemmlowp's own form: every gate, every state, every
 * scale of the state; what the unit does not compute is refused. */
#include "func_bench.h"
#include "tests/hw/vector/vector_model.h"

enum { CELLS = 1024, PLANE = 4 * CELLS, X = 0, H = 3 * PLANE, OLD = 6 * PLANE };
enum { OUT = OLD + 2 * CELLS, STATE = OUT + CELLS };

static void open_with_lstm(struct func_bench *t, const char *config)
{
    bench_open(t, config);
    t->f.config.lstm = 1;
}

static struct hd_cmd_vector command(uint32_t bits)
{
    struct hd_cmd_vector c = {.common = {.opcode = HD_OPCODE_VECTOR, .length = HD_CMD_VECTOR_UNITS},
                              .op = HD_VOP_LSTM,
                              .a_base = X,
                              .a_col = 4,
                              .a_win_col = PLANE,
                              .a_win_row = H - X,
                              .b_base = OLD,
                              .b_col = 2,
                              .out_base = OUT,
                              .out_row = STATE - OUT,
                              .z_out = -3,
                              .multiplier_out = 3 << 29};

    vector_model_lstm(&c, CELLS, bits);
    return c;
}

/* Put n bytes of a number, `apart` bytes apart. */
static void put(struct func_bench *t, uint32_t at, uint32_t apart, uint32_t n, int32_t value)
{
    for (uint32_t k = 0; k < n; k++)
        bench_spad(t)[at + k * apart] = (int8_t)(uint8_t)(value >> 8 * k);
}

static void check(struct func_bench *t, const struct hd_cmd_vector *c)
{
    const uint32_t size = t->f.n_bytes[HD_SPACE_SCRATCHPAD];
    int8_t *before = malloc(size), *want = malloc(size);
    const struct vector_model model = {c, before, size, t->f.config.n, NULL};

    memcpy(before, bench_spad(t), size);
    memcpy(want, before, size);
    for (uint32_t i = 0; i < c->cols; i++) {
        int64_t state;

        want[c->out_base + i] = vector_cell(&model, i, &state);
        want[c->out_base + c->out_row + 2 * i] = (int8_t)(uint8_t)state;
        want[c->out_base + c->out_row + 2 * i + 1] = (int8_t)(state >> 8);
    }
    assert_int_equal(bench_run_one(t, c, sizeof *c), HD_OK);
    expect_bytes("scratchpad", bench_spad(t), want, size);
    free(before);
    free(want);
}

/* A number is a cell's four gates, split between x and h, or a state that its gates keep. */
static void every_gate_and_state(void **state)
{
    struct func_bench t;

    (void)state;
    open_with_lstm(&t, "sys16");
    for (uint32_t k = 0; k < 2 * 65536 / CELLS; k++) {
        struct hd_cmd_vector c = command(random_u32());

        c.shift_a = (int8_t)(k & 7);
        random_bytes(bench_spad(&t), t.f.n_bytes[HD_SPACE_SCRATCHPAD]);
        for (uint32_t i = 0; i < CELLS; i++) {
            const int32_t v = (int32_t)(k / 2 * CELLS + i) - 32768;

            for (uint32_t g = 0; g < 4; g++) {
                const int32_t x = random_int(-300, 300);

                put(&t, X + 4 * i + g, PLANE, 2, k % 2 == 0 ? x : g == 0 ? -32768 : 32767);
                put(&t, H + 4 * i + g, PLANE, 3, k % 2 == 0 ? v - x : 0);
            }
            if (k % 2)
                put(&t, OLD + 2 * i, 1, 2, v);
        }
        check(&t, &c);
    }
    bench_close(&t);
}

static void random_cells(void **state)
{
    static const char *const config[] = {"sys8", "sys16", "sys32"};

    (void)state;
    for (uint32_t k = 0; k < 60; k++) {
        struct func_bench t;
        struct hd_cmd_vector c = command(random_u32());

        open_with_lstm(&t, config[k % 3]);
        c.cols = random_in(1, CELLS) & 0xffff;
        random_bytes(bench_spad(&t), t.f.n_bytes[HD_SPACE_SCRATCHPAD]);
        check(&t, &c);
        bench_close(&t);
    }
}

static void refused(struct func_bench *t, struct hd_cmd_vector c, const char *why)
{
    assert_int_equal(bench_run_one(t, &c, sizeof c), HD_ERROR_FAULT);
    assert_int_equal(t->dev.fault.code, HD_FAULT_BAD_FIELD);
    assert_non_null(strstr(t->f.why, why));
}

#define REFUSED(change, why)                                                                       \
    do {                                                                                           \
        struct hd_cmd_vector c = command(1);                                                       \
        change;                                                                                    \
        refused(&t, c, why);                                                                       \
    } while (0)

static void what_the_unit_does_not_compute_is_refused(void **state)
{
    struct func_bench t;

    (void)state;
    bench_open(&t, "sys16");
    t.f.config.lstm = 0;
    REFUSED((void)c, "this configuration has no lstm");
    t.f.config.lstm = 1;
    REFUSED(c.rows = 2, "one row of cells of 4 gates");
    REFUSED(c.channels = 16, "one row of cells of 4 gates");
    REFUSED(c.kernel_h = 1, "2 x 3 window inside the image");
    REFUSED(c.in_w = CELLS + 1, "2 x 3 window inside the image");
    REFUSED(c.look_up = 1, "looks up nothing");
    REFUSED(c.b_splat = 1, "splats nothing");
    REFUSED(c.z_b = 1, "z_a or z_b not 0");
    REFUSED(c.multiplier_b--, "multiplier_b other than 2^11");
    REFUSED(c.act_max--, "act_min or act_max");
    REFUSED(c.shift_a = 8, "shift_a outside 0..7");
    REFUSED(c.multiplier_a = 0, "multiplier_a outside 1..32768");
    REFUSED(c.multiplier_a = 32769, "multiplier_a outside 1..32768");
    REFUSED(c.shift_out = 31, "shift_out outside -31..30");
    REFUSED(c.b_base = t.f.n_bytes[HD_SPACE_SCRATCHPAD] - 1, "outside the scratchpad");
    REFUSED(c.out_row = t.f.n_bytes[HD_SPACE_SCRATCHPAD] - OUT - 1, "outside the scratchpad");
    bench_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_gate_and_state),
        cmocka_unit_test(random_cells),
        cmocka_unit_test(what_the_unit_does_not_compute_is_refused),
    };

    return cmocka_run_group_tests(tests, random_seed, NULL);
}
