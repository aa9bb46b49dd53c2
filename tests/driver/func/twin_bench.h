/* twin_bench.h - a twin with memory, driver and a stream under construction; random numbers;
 * NUMERICS' arithmetic written as the document words it, not as the twin does. For tests that are
 * one file each. */
#ifndef TWIN_BENCH_H
#define TWIN_BENCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/base/arena.h"
#include "driver/func/hd_func.h"
#include "driver/hd.h"
#include "hw/gen/accel.h"

#define BASE          0x40000000u
#define STREAM_BYTES  0x10000u /* regions 0, 1 and 2 lie one after another */
#define REGION1_BYTES 0x40000u
#define REGION2_BYTES 0x40000u
#define MEMORY_BYTES  (STREAM_BYTES + REGION1_BYTES + REGION2_BYTES)

struct twin {
    struct hd_func f;
    struct hd_port port;
    struct hd_device dev;
    uint8_t *memory;
    void *work;
    uint32_t at, n_commands; /* of the stream */
    struct arena *arena;
};

static uint64_t random_state;

/* Seed from HD_SEED or the clock of the commit: printed, so that a failure can be repeated. */
static inline int random_seed(void **state)
{
    const char *seed = getenv("HD_SEED");

    (void)state;
    random_state = seed ? strtoull(seed, NULL, 0) : 0x9e3779b97f4a7c15u;
    printf("HD_SEED=0x%llx\n", (unsigned long long)random_state);
    return 0;
}

static inline uint32_t random_u32(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 16);
}

static inline uint32_t random_in(uint32_t low, uint32_t high)
{
    return low + random_u32() % (high - low + 1);
}

static inline int32_t random_int(int32_t low, int32_t high)
{
    return low + (int32_t)(random_u32() % (uint32_t)(high - low + 1));
}

static inline void random_bytes(void *to, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ((uint8_t *)to)[i] = (uint8_t)random_u32();
}

/* NUMERICS.md: SRDHM, RDBPOT, MBQM. */
static inline int32_t plain_mbqm(int32_t x, int32_t m, int32_t shift)
{
    int64_t ab = (int64_t)(int32_t)((uint32_t)x << (shift > 0 ? shift : 0)) * m;
    int64_t nudge = ab >= 0 ? (int64_t)1 << 30 : 1 - ((int64_t)1 << 30);
    int32_t h = (int32_t)((ab + nudge) / ((int64_t)1 << 31));
    int32_t e = shift < 0 ? -shift : 0;
    int64_t unit = (int64_t)1 << e;
    int64_t size = h < 0 ? -(int64_t)h : h;
    int64_t q = (2 * size + unit) / (2 * unit); /* half away from zero */

    return (int32_t)(h < 0 ? -q : q);
}

static inline int8_t plain_clamp(int64_t v, int32_t low, int32_t high)
{
    return (int8_t)(v < low ? low : v > high ? high : v);
}

static inline void twin_config(struct arena *a, const char *name, struct hd_config *config)
{
    const struct accel *acc;
    struct diag d = {0};

    assert_int_equal(accel_load(a, "hw/accel.json", &acc, &d), ST_OK);
    assert_int_equal(accel_config_by_name(acc, name, config, &d), ST_OK);
}

static inline void twin_bind(struct twin *t)
{
    uint8_t *m = t->memory;

    assert_int_equal(hd_bind(&t->dev, 0, m, BASE, STREAM_BYTES), HD_OK);
    assert_int_equal(hd_bind(&t->dev, 1, m + STREAM_BYTES, BASE + STREAM_BYTES, REGION1_BYTES),
                     HD_OK);
    assert_int_equal(hd_bind(&t->dev, 2, m + STREAM_BYTES + REGION1_BYTES,
                             BASE + STREAM_BYTES + REGION1_BYTES, REGION2_BYTES),
                     HD_OK);
}

static inline void twin_open(struct twin *t, const char *config_name)
{
    struct hd_config config;
    size_t n;

    memset(t, 0, sizeof *t);
    t->arena = arena_new(0);
    twin_config(t->arena, config_name, &config);
    n = hd_func_bytes(&config);
    assert_true(n > 0);
    t->memory = calloc(1, MEMORY_BYTES);
    t->work = malloc(n);
    assert_int_equal(hd_func_init(&t->f, &config, t->work, n,
                                  (struct hd_func_memory){t->memory, BASE, MEMORY_BYTES}),
                     HD_OK);
    hd_func_port(&t->f, &t->port);
    assert_int_equal(hd_open(&t->dev, &t->port, config.hash), HD_OK);
    twin_bind(t);
}

static inline void twin_close(struct twin *t)
{
    free(t->memory);
    free(t->work);
    arena_free(t->arena);
}

static inline void twin_begin(struct twin *t)
{
    t->at = HD_HEADER_BYTES;
    t->n_commands = 0;
}

static inline void twin_add(struct twin *t, const void *command, uint32_t n_bytes)
{
    assert_true(t->at + n_bytes <= STREAM_BYTES);
    memcpy(t->memory + t->at, command, n_bytes);
    t->at += n_bytes;
    t->n_commands++;
}

/* Header and END, then run. */
static inline int twin_run(struct twin *t)
{
    struct hd_cmd_end end = {.common = {.opcode = HD_OPCODE_END, .length = HD_CMD_END_UNITS}};
    struct hd_header header = {.magic = HD_MAGIC,
                               .version = HD_STREAM_VERSION,
                               .config_hash = t->f.config.hash,
                               .region_count = 3};

    twin_add(t, &end, sizeof end);
    header.length = t->at;
    header.command_count = t->n_commands;
    memcpy(t->memory, &header, sizeof header);
    return hd_run(&t->dev, 0, t->at);
}

static inline int twin_run_one(struct twin *t, const void *command, uint32_t n_bytes)
{
    int rc;

    twin_begin(t);
    twin_add(t, command, n_bytes);
    rc = twin_run(t);
    if (rc != HD_OK)
        printf("%s: %s\n", hd_error_text(rc), t->f.why);
    return rc;
}

static inline int8_t *twin_spad(struct twin *t)
{
    return (int8_t *)t->f.space[HD_SPACE_SCRATCHPAD];
}

/* Fail with the first byte that differs. */
static inline void expect_bytes(const char *what, const void *got, const void *want, size_t n)
{
    const uint8_t *g = got, *w = want;

    for (size_t i = 0; i < n; i++)
        if (g[i] != w[i])
            fail_msg("%s: byte %zu is %d, expected %d", what, i, (int8_t)g[i], (int8_t)w[i]);
}

#endif
