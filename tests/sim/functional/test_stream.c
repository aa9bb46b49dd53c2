/* Streams, DMA and faults of the functional model: what is copied where, what a sink sees, and
 * every named fault. */
#include "func_bench.h"

#define REGION1 (BASE + STREAM_BYTES)
#define REGION2 (REGION1 + REGION1_BYTES)

static struct hd_cmd_dma_read read_command(uint32_t opcode, uint32_t space, uint32_t n_bytes)
{
    return (struct hd_cmd_dma_read){
        .common = {.opcode = opcode & 0xff, .length = HD_CMD_DMA_READ_UNITS},
        .region = 1,
        .space = space & 7,
        .runs = 1,
        .rows = 1,
        .run_bytes = n_bytes,
        .row_bytes = n_bytes};
}

static struct hd_cmd_store store_command(uint32_t n_bytes)
{
    return (struct hd_cmd_store){
        .common = {.opcode = HD_OPCODE_STORE, .length = HD_CMD_STORE_UNITS},
        .region = 2,
        .runs = 1,
        .rows = 1,
        .run_bytes = n_bytes,
        .row_bytes = n_bytes};
}

/* Divide `total` into equal parts. */
static uint32_t random_divisor(uint32_t total)
{
    uint32_t d;

    do
        d = random_in(1, total < 40 ? total : 40);
    while (total % d);
    return d;
}

static void load_scatters_runs_to_rows(void **state)
{
    struct func_bench t;
    uint32_t n, size;

    (void)state;
    bench_open(&t, "sys8");
    n = t.f.config.n;
    size = t.f.n_bytes[HD_SPACE_SCRATCHPAD];
    for (uint32_t k = 0; k < 200; k++) {
        uint32_t total = random_in(1, 600), runs = random_divisor(total);
        uint32_t rows = random_divisor(total);
        struct hd_cmd_dma_read c = read_command(HD_OPCODE_LOAD, HD_SPACE_SCRATCHPAD, 0);
        uint8_t *want = malloc(size);
        const uint8_t *source = t.memory + STREAM_BYTES;

        c.offset = random_in(0, 100);
        c.runs = runs & 0xffff;
        c.rows = rows & 0xffff;
        c.run_bytes = total / runs;
        c.run_pitch = c.run_bytes + random_in(0, 20);
        c.row_bytes = total / rows;
        c.dest = random_in(0, 9);
        c.dest_pitch = (c.row_bytes + n - 1) / n + random_in(0, 3);
        random_bytes(t.memory + STREAM_BYTES, REGION1_BYTES);
        random_bytes(bench_spad(&t), size);
        memcpy(want, bench_spad(&t), size);
        for (uint32_t i = 0; i < total; i++)
            want[(c.dest + i / c.row_bytes * c.dest_pitch) * n + i % c.row_bytes] =
                source[c.offset + i / c.run_bytes * c.run_pitch + i % c.run_bytes];
        assert_int_equal(bench_run_one(&t, &c, sizeof c), HD_OK);
        expect_bytes("scratchpad", bench_spad(&t), want, size);
        free(want);
    }
    bench_close(&t);
}

static void store_gathers_rows_to_runs(void **state)
{
    struct func_bench t;
    uint32_t n;

    (void)state;
    bench_open(&t, "sys16");
    n = t.f.config.n;
    for (uint32_t k = 0; k < 100; k++) {
        uint32_t total = random_in(1, 600), runs = random_divisor(total);
        uint32_t rows = random_divisor(total);
        struct hd_cmd_store c = store_command(0);
        uint8_t *memory = t.memory + STREAM_BYTES + REGION1_BYTES, *want = malloc(REGION2_BYTES);

        c.offset = random_in(0, 100);
        c.runs = runs & 0xffff;
        c.rows = rows & 0xffff;
        c.run_bytes = total / runs;
        c.run_pitch = c.run_bytes + random_in(0, 20);
        c.row_bytes = total / rows;
        c.src = random_in(0, 9);
        c.src_pitch = (c.row_bytes + n - 1) / n + random_in(0, 3);
        random_bytes(memory, REGION2_BYTES);
        random_bytes(bench_spad(&t), t.f.n_bytes[HD_SPACE_SCRATCHPAD]);
        memcpy(want, memory, REGION2_BYTES);
        for (uint32_t i = 0; i < total; i++)
            want[c.offset + i / c.run_bytes * c.run_pitch + i % c.run_bytes] = (uint8_t)bench_spad(
                &t)[(c.src + i / c.row_bytes * c.src_pitch) * n + i % c.row_bytes];
        assert_int_equal(bench_run_one(&t, &c, sizeof c), HD_OK);
        expect_bytes("memory", memory, want, REGION2_BYTES);
        free(want);
    }
    bench_close(&t);
}

/* Weight memories take whole words: what the row leaves is 0. */
static void weight_fills_words_with_zeros(void **state)
{
    static const uint32_t spaces[] = {HD_SPACE_WEIGHTS, HD_SPACE_BIAS, HD_SPACE_MULTIPLIER,
                                      HD_SPACE_SHIFT};
    struct func_bench t;

    (void)state;
    bench_open(&t, "sys16");
    random_bytes(t.memory + STREAM_BYTES, REGION1_BYTES);
    for (uint32_t i = 0; i < 4; i++) {
        struct hd_cmd_dma_read c = read_command(HD_OPCODE_WEIGHT, spaces[i], 20);
        uint8_t want[64];

        memset(want, 0xee, sizeof want);
        memset(t.f.space[spaces[i]], 0xee, 64);
        memcpy(want + 16, t.memory + STREAM_BYTES, 20);
        memset(want + 36, 0, 12);
        c.dest = 1;
        assert_int_equal(bench_run_one(&t, &c, sizeof c), HD_OK);
        expect_bytes("weight memory", t.f.space[spaces[i]], want, sizeof want);
    }
    bench_close(&t);
}

/* A matrix in the scratchpad becomes weights, its columns or its rows the lanes. */
static void weights_of_the_scratchpad(void **state)
{
    struct func_bench t;
    uint32_t n, size;

    (void)state;
    bench_open(&t, "sys8");
    n = t.f.config.n;
    size = t.f.n_bytes[HD_SPACE_WEIGHTS];
    random_bytes(bench_spad(&t), t.f.n_bytes[HD_SPACE_SCRATCHPAD]);
    for (uint32_t k = 0; k < 200; k++) {
        struct hd_cmd_dma_read c = read_command(HD_OPCODE_WEIGHT, HD_SPACE_WEIGHTS, 0);
        const uint32_t rows = random_in(1, 3 * n + 1), columns = random_in(1, 3 * n + 1);
        uint8_t *want = malloc(size);

        c.region = 0;
        c.rows = 0;
        c.spad = 1;
        c.transpose = k & 1;
        c.offset = random_in(0, 100);
        c.runs = rows & 0xffff;
        c.run_bytes = columns;
        c.run_pitch = columns + random_in(0, 20);
        c.dest = random_in(0, 9);
        memset(want, 0xee, size);
        memset(t.f.space[HD_SPACE_WEIGHTS], 0xee, size);
        for (uint32_t i = 0; i < (rows + n) * (columns + n); i++) {
            const uint32_t row = i / (columns + n), column = i % (columns + n),
                           deep = c.transpose ? column : row, lane = c.transpose ? row : column,
                           words = c.transpose ? columns : rows,
                           lanes = c.transpose ? rows : columns;
            if (deep < words && lane < (lanes + n - 1) / n * n)
                want[(c.dest + lane / n * words + deep) * n + lane % n] =
                    lane < lanes ? (uint8_t)bench_spad(&t)[c.offset + row * c.run_pitch + column]
                                 : 0;
        }
        assert_int_equal(bench_run_one(&t, &c, sizeof c), HD_OK);
        expect_bytes("weight memory", t.f.space[HD_SPACE_WEIGHTS], want, size);
        free(want);
    }
    bench_close(&t);
}

/* Biases of 16 bits: with their sign in the bias memory, zeros after the last in its word. */
static void narrow_biases_are_widened(void **state)
{
    struct hd_cmd_dma_read c = read_command(HD_OPCODE_WEIGHT, HD_SPACE_BIAS16, 20);
    static const int16_t narrow[10] = {0, 1, -1, 32767, -32768, 255, 256, -256, 77, -77};
    int32_t want[32];
    struct func_bench t;

    (void)state;
    bench_open(&t, "sys16");
    memcpy(t.memory + STREAM_BYTES, narrow, sizeof narrow);
    memset(t.f.space[HD_SPACE_BIAS], 0xee, sizeof want);
    memset(want, 0xee, sizeof want);
    for (uint32_t i = 0; i < 16; i++) /* from word 1 on: lanes 8 onward of entry 0 */
        want[8 + i] = i < 10 ? narrow[i] : 0;
    c.dest = 1;
    assert_int_equal(bench_run_one(&t, &c, sizeof c), HD_OK);
    expect_bytes("bias memory", t.f.space[HD_SPACE_BIAS], (const uint8_t *)want, sizeof want);
    bench_close(&t);
}

struct seen {
    uint32_t n, bytes[8], command[8], unit[8];
    uint64_t lowest[8];
};

static void see(void *ctx, const struct hd_sim_commit *c)
{
    struct seen *s = ctx;

    assert_true(c->space < 8 && c->n_bytes <= 64);
    if (!s->bytes[c->space] || c->address < s->lowest[c->space])
        s->lowest[c->space] = c->address;
    for (uint32_t i = 0; i < 64; i++)
        s->bytes[c->space] += (uint32_t)(c->strobe >> i & 1);
    s->command[c->space] = c->command;
    s->unit[c->space] = c->unit;
    s->n++;
}

static void a_sink_sees_every_write(void **state)
{
    struct hd_cmd_dma_read load = read_command(HD_OPCODE_LOAD, HD_SPACE_SCRATCHPAD, 20);
    struct hd_cmd_dma_read bias = read_command(HD_OPCODE_WEIGHT, HD_SPACE_BIAS, 20);
    struct hd_cmd_store store = store_command(20);
    struct seen s = {0};
    struct func_bench t;

    (void)state;
    bench_open(&t, "sys16");
    hd_func_commits(&t.f, see, &s);
    load.dest = 3;
    store.offset = 9;
    bench_begin(&t);
    bench_add(&t, &load, sizeof load);
    bench_add(&t, &bias, sizeof bias);
    bench_add(&t, &store, sizeof store);
    assert_int_equal(bench_run(&t), HD_OK);
    assert_int_equal(s.bytes[0], 20);
    assert_int_equal(s.lowest[0], 48);
    assert_int_equal(s.unit[0], HD_UNIT_LOAD);
    assert_int_equal(s.bytes[2 + HD_SPACE_BIAS], 32);
    assert_int_equal(s.command[2 + HD_SPACE_BIAS], 1);
    assert_int_equal(s.bytes[1], 20);
    assert_int_equal(s.lowest[1], REGION2 + 9);
    assert_int_equal(s.command[1], 2);
    hd_func_commits(&t.f, NULL, NULL);
    s.n = 0;
    assert_int_equal(bench_run_one(&t, &load, sizeof load), HD_OK);
    assert_int_equal(s.n, 0);
    bench_close(&t);
}

static void expect_fault(struct func_bench *t, int rc, uint32_t code, uint32_t unit,
                         uint32_t command, uint64_t address)
{
    assert_int_equal(rc, HD_ERROR_FAULT);
    assert_int_equal(t->dev.fault.code, code);
    assert_int_equal(t->dev.fault.unit, unit);
    assert_int_equal(t->dev.fault.command, command);
    assert_int_equal(t->dev.fault.address, address);
}

/* A good stream of LOAD, END with one word changed; sealed: and with the CRC for it. */
static int run_damaged(struct func_bench *t, uint32_t word, uint32_t value, int sealed)
{
    struct hd_cmd_dma_read load = read_command(HD_OPCODE_LOAD, HD_SPACE_SCRATCHPAD, 16);
    uint32_t at, crc;

    bench_begin(t);
    bench_add(t, &load, sizeof load);
    assert_int_equal(bench_run(t), HD_OK);
    at = t->at;
    memcpy(t->memory + word * 4, &value, 4);
    crc = hd_stream_crc(t->memory, at);
    if (sealed)
        memcpy(t->memory + offsetof(struct hd_header, crc), &crc, 4);
    return hd_run(&t->dev, 0, at);
}

static int run_changed(struct func_bench *t, uint32_t word, uint32_t value)
{
    return run_damaged(t, word, value, 1);
}

static void damaged_streams(void **state)
{
    const uint32_t first = HD_HEADER_BYTES / 4; /* word of the first command */
    struct func_bench t;

    (void)state;
    bench_open(&t, "sys16");
    expect_fault(&t, run_changed(&t, 0, 0), HD_FAULT_BAD_HEADER, HD_UNIT_FETCH, 0, 0);
    expect_fault(&t, run_changed(&t, 1, 9), HD_FAULT_BAD_VERSION, HD_UNIT_FETCH, 0, 0);
    expect_fault(&t, run_changed(&t, 2, 9), HD_FAULT_CONFIG_MISMATCH, HD_UNIT_FETCH, 0, 0);
    expect_fault(&t, run_changed(&t, 3, 64), HD_FAULT_BAD_LENGTH, HD_UNIT_FETCH, 0, 0);
    expect_fault(&t, run_changed(&t, first, 3u << 8 | 99), HD_FAULT_BAD_OPCODE, HD_UNIT_FETCH, 0,
                 32);
    expect_fault(&t, run_changed(&t, first, 2u << 8 | HD_OPCODE_LOAD), HD_FAULT_BAD_LENGTH,
                 HD_UNIT_FETCH, 0, 32);
    expect_fault(&t, run_changed(&t, first + 12, 1u << 8 | HD_OPCODE_INVALID), HD_FAULT_BAD_OPCODE,
                 HD_UNIT_FETCH, 1, 80);
    /* END is the stream's last command: what follows would escape the check. */
    expect_fault(&t, run_changed(&t, first, HD_CMD_END_UNITS << 8 | HD_OPCODE_END),
                 HD_FAULT_BAD_LENGTH, HD_UNIT_FETCH, 0, 32);
    expect_fault(&t, run_changed(&t, 7, 1), HD_FAULT_BAD_RESERVED, HD_UNIT_FETCH, 0, 0);
    expect_fault(&t, run_changed(&t, first + 3, 1u << 21), HD_FAULT_BAD_RESERVED, HD_UNIT_FETCH, 0,
                 32);
    expect_fault(&t, run_changed(&t, first + 4, 1u << 31), HD_FAULT_BAD_RESERVED, HD_UNIT_FETCH, 0,
                 32);
    expect_fault(&t, run_changed(&t, first + 12 + 3, 1u << 31), HD_FAULT_BAD_RESERVED,
                 HD_UNIT_FETCH, 1, 80);
    /* Another word of the scratchpad, which nothing else notices; the CRC itself. */
    expect_fault(&t, run_damaged(&t, first + 10, 1, 0), HD_FAULT_BAD_CRC, HD_UNIT_FETCH, 0, 0);
    expect_fault(&t, run_damaged(&t, 6, 0, 0), HD_FAULT_BAD_CRC, HD_UNIT_FETCH, 0, 0);
    assert_int_equal(run_changed(&t, first + 10, 1), HD_OK);
    /* The engine starts again after a fault. */
    assert_int_equal(run_changed(&t, 0, HD_MAGIC), HD_OK);
    bench_close(&t);
}

static void addresses_outside(void **state)
{
    struct hd_cmd_dma_read load = read_command(HD_OPCODE_LOAD, HD_SPACE_SCRATCHPAD, 32);
    struct hd_cmd_store store = store_command(32);
    struct func_bench t;
    struct hd_region *r;

    (void)state;
    bench_open(&t, "sys16");
    r = t.dev.region;
    load.offset = REGION1_BYTES - 16;
    expect_fault(&t, bench_run_one(&t, &load, sizeof load), HD_FAULT_REGION_LIMIT, HD_UNIT_LOAD, 0,
                 REGION1_BYTES - 16);
    load.offset = 0;
    load.region = 7; /* never bound */
    expect_fault(&t, bench_run_one(&t, &load, sizeof load), HD_FAULT_REGION_RIGHT, HD_UNIT_LOAD, 0,
                 0);
    hd_bind(&t.dev, 7, NULL, BASE, 0, HD_READ);
    expect_fault(&t, bench_run_one(&t, &load, sizeof load), HD_FAULT_REGION_LIMIT, HD_UNIT_LOAD, 0,
                 0);
    store.region = 7;
    expect_fault(&t, bench_run_one(&t, &store, sizeof store), HD_FAULT_REGION_RIGHT, HD_UNIT_STORE,
                 0, 0);
    hd_bind(&t.dev, 7, NULL, BASE, 64, HD_WRITE);
    expect_fault(&t, bench_run_one(&t, &load, sizeof load), HD_FAULT_REGION_RIGHT, HD_UNIT_LOAD, 0,
                 0);
    hd_bind(&t.dev, 7, NULL, BASE + MEMORY_BYTES, 64, HD_READ | HD_WRITE);
    expect_fault(&t, bench_run_one(&t, &load, sizeof load), HD_FAULT_BUS_READ, HD_UNIT_LOAD, 0, 0);
    expect_fault(&t, bench_run_one(&t, &store, sizeof store), HD_FAULT_BUS_WRITE, HD_UNIT_STORE, 0,
                 0);
    assert_int_equal(hd_bind(&t.dev, 0, r[0].host, BASE, 32, HD_READ | HD_WRITE), HD_OK);
    assert_int_equal(bench_run_one(&t, &store, sizeof store), HD_ERROR_ARGUMENT);
    bench_close(&t);
}

static void nonsense_fields(void **state)
{
    struct hd_cmd_dma_read load = read_command(HD_OPCODE_LOAD, HD_SPACE_WEIGHTS, 16);
    struct hd_cmd_dma_read weight = read_command(HD_OPCODE_WEIGHT, HD_SPACE_SCRATCHPAD, 16);
    struct func_bench t;

    (void)state;
    bench_open(&t, "sys16");
    assert_int_equal(bench_run_one(&t, &load, sizeof load), HD_ERROR_FAULT);
    assert_int_equal(t.dev.fault.code, HD_FAULT_BAD_FIELD);
    assert_int_equal(bench_run_one(&t, &weight, sizeof weight), HD_ERROR_FAULT);
    assert_int_equal(t.dev.fault.code, HD_FAULT_BAD_FIELD);
    weight.spad = 1;
    weight.space = HD_SPACE_BIAS;
    assert_int_equal(bench_run_one(&t, &weight, sizeof weight), HD_ERROR_FAULT);
    weight.space = HD_SPACE_WEIGHTS;
    weight.offset = 131072 - 15;
    assert_int_equal(bench_run_one(&t, &weight, sizeof weight), HD_ERROR_FAULT);
    assert_int_equal(t.dev.fault.code, HD_FAULT_BAD_FIELD);
    weight.offset--;
    assert_int_equal(bench_run_one(&t, &weight, sizeof weight), HD_OK);
    load.space = HD_SPACE_SCRATCHPAD;
    load.spad = 1;
    assert_int_equal(bench_run_one(&t, &load, sizeof load), HD_ERROR_FAULT);
    load.spad = 0;
    load.row_bytes = 17;
    assert_int_equal(bench_run_one(&t, &load, sizeof load), HD_ERROR_FAULT);
    load.row_bytes = 16;
    load.dest = 131072 / 16;
    assert_int_equal(bench_run_one(&t, &load, sizeof load), HD_ERROR_FAULT);
    load.dest--;
    assert_int_equal(bench_run_one(&t, &load, sizeof load), HD_OK);
    bench_close(&t);
}

static void a_wait_that_never_holds_is_stuck(void **state)
{
    struct hd_cmd_dma_read load = read_command(HD_OPCODE_LOAD, HD_SPACE_SCRATCHPAD, 16);
    struct hd_cmd_store store = store_command(16);
    struct func_bench t;

    (void)state;
    bench_open(&t, "sys16");
    store.common.wait_load = 1;
    store.common.wait_enable = 1u << HD_UNIT_LOAD;
    bench_begin(&t);
    bench_add(&t, &load, sizeof load);
    bench_add(&t, &store, sizeof store);
    assert_int_equal(bench_run(&t), HD_OK);
    bench_begin(&t);
    bench_add(&t, &store, sizeof store);
    bench_add(&t, &load, sizeof load);
    assert_int_equal(bench_run(&t), HD_ERROR_STUCK);
    assert_int_equal(bench_run_one(&t, &load, sizeof load), HD_ERROR_BUSY);
    assert_int_equal(hd_reset(&t.dev), HD_OK);
    assert_int_equal(bench_run_one(&t, &load, sizeof load), HD_OK);
    bench_close(&t);
}

static void separate_memory_and_polling(void **state)
{
    struct hd_cmd_dma_read load = read_command(HD_OPCODE_LOAD, HD_SPACE_SCRATCHPAD, 16);
    struct hd_cmd_store store = store_command(16);
    uint8_t in[16], out[16] = {0};
    struct func_bench t;

    (void)state;
    bench_open(&t, "tiny");
    t.port.window = NULL;
    t.port.wait_irq = NULL;
    assert_int_equal(hd_open(&t.dev, &t.port, t.f.config.hash), HD_OK);
    bench_bind(&t);
    assert_int_equal(hd_bind(&t.dev, 1, in, REGION1, sizeof in, HD_READ | HD_WRITE), HD_OK);
    assert_int_equal(hd_bind(&t.dev, 2, out, REGION2, sizeof out, HD_READ | HD_WRITE), HD_OK);
    random_bytes(in, sizeof in);
    assert_int_equal(hd_copy_in(&t.dev, 1, 0, sizeof in), HD_OK);
    bench_begin(&t);
    bench_add(&t, &load, sizeof load);
    bench_add(&t, &store, sizeof store);
    assert_int_equal(bench_run(&t), HD_OK);
    assert_int_equal(hd_copy_out(&t.dev, 2, 0, sizeof out), HD_OK);
    assert_memory_equal(in, out, sizeof in);
    bench_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(load_scatters_runs_to_rows),
        cmocka_unit_test(store_gathers_rows_to_runs),
        cmocka_unit_test(weight_fills_words_with_zeros),
        cmocka_unit_test(weights_of_the_scratchpad),
        cmocka_unit_test(narrow_biases_are_widened),
        cmocka_unit_test(a_sink_sees_every_write),
        cmocka_unit_test(damaged_streams),
        cmocka_unit_test(addresses_outside),
        cmocka_unit_test(nonsense_fields),
        cmocka_unit_test(a_wait_that_never_holds_is_stuck),
        cmocka_unit_test(separate_memory_and_polling),
    };

    return cmocka_run_group_tests(tests, random_seed, NULL);
}
