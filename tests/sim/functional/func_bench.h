/* func_bench.h - a functional model with memory, driver and a stream under construction, for tests
 * of one file each. */
#ifndef FUNC_BENCH_H
#define FUNC_BENCH_H

#include "tests/driver/plain.h"

#include "base/arena.h"
#include "driver/hd.h"
#include "driver/hd_crc.h"
#include "hw/gen/accel.h"
#include "sim/functional/hd_func.h"

#define BASE          0x40000000u
#define STREAM_BYTES  0x10000u /* regions 0, 1 and 2 are one after another */
#define REGION1_BYTES 0x40000u
#define REGION2_BYTES 0x40000u
#define MEMORY_BYTES  (STREAM_BYTES + REGION1_BYTES + REGION2_BYTES)

struct func_bench {
    struct hd_func f;
    struct hd_port port;
    struct hd_device dev;
    uint8_t *memory;
    void *work;
    uint32_t at, n_commands; /* of the stream */
    struct arena *arena;
};

static inline void bench_config(struct arena *a, const char *name, struct hd_config *config)
{
    const struct accel *acc;
    struct diag d = {0};

    assert_int_equal(accel_load(a, "hw/accel.json", &acc, &d), ST_OK);
    assert_int_equal(accel_config_by_name(acc, name, config, &d), ST_OK);
}

static inline void bench_bind(struct func_bench *t)
{
    uint8_t *m = t->memory;

    assert_int_equal(hd_bind(&t->dev, 0, m, BASE, STREAM_BYTES, HD_READ | HD_WRITE), HD_OK);
    assert_int_equal(hd_bind(&t->dev, 1, m + STREAM_BYTES, BASE + STREAM_BYTES, REGION1_BYTES,
                             HD_READ | HD_WRITE),
                     HD_OK);
    assert_int_equal(hd_bind(&t->dev, 2, m + STREAM_BYTES + REGION1_BYTES,
                             BASE + STREAM_BYTES + REGION1_BYTES, REGION2_BYTES,
                             HD_READ | HD_WRITE),
                     HD_OK);
}

static inline void bench_open(struct func_bench *t, const char *config_name)
{
    struct hd_config config;
    size_t n;

    memset(t, 0, sizeof *t);
    t->arena = arena_new(0);
    bench_config(t->arena, config_name, &config);
    n = hd_func_bytes(&config);
    assert_true(n > 0);
    t->memory = calloc(1, MEMORY_BYTES);
    t->work = malloc(n);
    assert_int_equal(hd_func_init(&t->f, &config, t->work, n,
                                  (struct hd_func_memory){t->memory, BASE, MEMORY_BYTES}),
                     HD_OK);
    hd_func_port(&t->f, &t->port);
    assert_int_equal(hd_open(&t->dev, &t->port, config.hash), HD_OK);
    bench_bind(t);
}

static inline void bench_close(struct func_bench *t)
{
    free(t->memory);
    free(t->work);
    arena_free(t->arena);
}

static inline void bench_begin(struct func_bench *t)
{
    t->at = HD_HEADER_BYTES;
    t->n_commands = 0;
}

static inline void bench_add(struct func_bench *t, const void *command, uint32_t n_bytes)
{
    assert_true(t->at + n_bytes <= STREAM_BYTES);
    memcpy(t->memory + t->at, command, n_bytes);
    t->at += n_bytes;
    t->n_commands++;
}

/* Header and END, then run. */
static inline int bench_run(struct func_bench *t)
{
    struct hd_cmd_end end = {.common = {.opcode = HD_OPCODE_END, .length = HD_CMD_END_UNITS}};
    struct hd_header header = {.magic = HD_MAGIC,
                               .version = HD_STREAM_VERSION,
                               .config_hash = t->f.config.hash,
                               .region_count = 3};

    bench_add(t, &end, sizeof end);
    header.length = t->at;
    header.command_count = t->n_commands;
    memcpy(t->memory, &header, sizeof header);
    header.crc = hd_stream_crc(t->memory, t->at);
    memcpy(t->memory, &header, sizeof header);
    return hd_run(&t->dev, 0, t->at);
}

static inline int bench_run_one(struct func_bench *t, const void *command, uint32_t n_bytes)
{
    int rc;

    bench_begin(t);
    bench_add(t, command, n_bytes);
    rc = bench_run(t);
    if (rc != HD_OK)
        printf("%s: %s\n", hd_error_text(rc), t->f.why);
    return rc;
}

static inline int8_t *bench_spad(struct func_bench *t)
{
    return (int8_t *)t->f.space[HD_SPACE_SCRATCHPAD];
}

#endif
