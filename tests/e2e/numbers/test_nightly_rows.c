/* test_nightly_rows.c - the per-layer numbers of a run on the RTL add up exactly: in each layer
 * without a group and in each group the counters of every unit to its cycles; all of these to those
 * of the accelerator's own registers, their cycles to the network's, the layers' bytes to what went
 * over the bus. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#include "base/file.h"
#include "hd_accel_tables.h"
#include "tests/base/test_place.h"

/* Two accelerator regions with a host operator between: two submissions of one inference. */
static const char split_graph[] =
    "heddle-ir 1\n"
    "graph name=\"split\"\n"
    "row 0 name=\"00_add\" op=\"ADD\" tensor=\"a\" shape=\"1x9x7x19\" macs=0\n"
    "row 1 name=\"01_softmax\" op=\"SOFTMAX\" tensor=\"s\" shape=\"1x9x7x19\" macs=0\n"
    "row 2 name=\"02_add\" op=\"ADD\" tensor=\"b\" shape=\"1x9x7x19\" macs=0\n"
    "row 3 name=\"03_mul\" op=\"MUL\" tensor=\"y\" shape=\"1x9x7x19\" macs=0\n"
    "tensor 0 i8 [1,9,7,19] input name=\"x\" scale=(0.1) zero=(3)\n"
    "tensor 1 i8 [1,9,7,19] value name=\"a\" scale=(0.15) zero=(-4)\n"
    "tensor 2 i8 [1,9,7,19] value name=\"s\" scale=(0.00390625) zero=(-128)\n"
    "tensor 3 i8 [1,9,7,19] value name=\"b\" scale=(0.1) zero=(5)\n"
    "tensor 4 i8 [1,9,7,19] value name=\"y\" scale=(0.2) zero=(1)\n"
    "op add row=0 in=(0,0) out=(1)\n"
    "op softmax row=1 in=(1) out=(2) beta_bits=1065353216\n"
    "op add row=2 in=(2,0) out=(3)\n"
    "op mul row=3 in=(3,2) out=(4)\n"
    "border in=(0) out=(4)\n";

static uint64_t number(const cJSON *o, const char *name)
{
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, name);

    if (!cJSON_IsNumber(v))
        fail_msg("no number '%s' in the stats", name);
    return (uint64_t)v->valuedouble;
}

/* Add the cycles of `unit` by kind to sum; return their total. */
static uint64_t add_unit(const cJSON *counters, uint32_t unit, uint64_t *sum)
{
    const cJSON *o = cJSON_GetObjectItemCaseSensitive(counters, hd_unit_names[unit]);
    uint64_t all = 0;

    for (uint32_t k = 0; k < HD_COUNTER_SLOTS; k++) {
        if (!hd_counter_names[unit][k])
            continue;
        sum[k] += number(o, hd_counter_names[unit][k]);
        all += number(o, hd_counter_names[unit][k]);
    }
    return all;
}

/* Add cycles and counters of layers or groups to the sums; return how many have cycles. */
static uint32_t add_timed(const cJSON *list, uint64_t *cycles,
                          uint64_t counter[HD_UNIT_COUNT][HD_COUNTER_SLOTS])
{
    uint32_t timed = 0;
    const cJSON *l;

    cJSON_ArrayForEach(l, list)
    {
        const cJSON *counters = cJSON_GetObjectItemCaseSensitive(l, "counters");

        if (!cJSON_IsNumber(cJSON_GetObjectItemCaseSensitive(l, "cycles"))) {
            assert_null(counters);
            continue;
        }
        for (uint32_t u = 0; u < HD_UNIT_COUNT; u++)
            assert_int_equal(add_unit(counters, u, counter[u]), number(l, "cycles"));
        *cycles += number(l, "cycles");
        timed++;
    }
    return timed;
}

static void check_stats(const cJSON *s)
{
    const cJSON *layers = cJSON_GetObjectItemCaseSensitive(s, "layers"), *l;
    uint64_t cycles = 0, read = 0, written = 0, counter[HD_UNIT_COUNT][HD_COUNTER_SLOTS] = {{0}};
    uint32_t timed = add_timed(layers, &cycles, counter);

    timed += add_timed(cJSON_GetObjectItemCaseSensitive(s, "groups"), &cycles, counter);
    cJSON_ArrayForEach(l, layers)
    {
        if (!cJSON_IsNumber(cJSON_GetObjectItemCaseSensitive(l, "array_cycles")))
            continue;
        read += number(l, "dram_read_bytes");
        written += number(l, "dram_write_bytes");
    }
    assert_true(timed > 1);
    assert_int_equal(cycles, number(s, "cycles"));
    assert_int_equal(read, number(s, "dram_read_bytes"));
    assert_int_equal(written, number(s, "dram_write_bytes"));
    for (uint32_t u = 0; u < HD_UNIT_COUNT; u++) {
        uint64_t want[HD_COUNTER_SLOTS] = {0};

        (void)add_unit(cJSON_GetObjectItemCaseSensitive(s, "counters"), u, want);
        assert_memory_equal(counter[u], want, sizeof want);
    }
}

/* Run one inference with random inputs. */
static void run(const struct place *p, const char *model, const char *options)
{
    const char *build = getenv("HEDDLE_BUILD");
    struct diag d = {.status = ST_OK};
    uint8_t *text;
    size_t n;

    print_message("%s %s\n", model, options);
    assert_int_equal(
        system(arena_printf(p->a, "'%s/heddle' run '%s' -n 1 %s --stats '%s/s.json' >'%s/out'",
                            build ? build : "build", model, options, p->dir, p->dir)),
        0);
    assert_int_equal(
        file_read(p->a, arena_printf(p->a, "%s/s.json", p->dir), 1 << 24, &text, &n, &d), ST_OK);
    cJSON *s = cJSON_ParseWithLength((const char *)text, n);
    assert_non_null(s);
    check_stats(s);
    cJSON_Delete(s);
}

static void rows_add_up_exactly(void **state)
{
    const struct place *p = *state;
    static const char *const options[] = {"--hw=tiny",
                                          "--hw=tiny --mem-latency=200 --mem-bytes=4",
                                          "--hw=tiny --stall-seed=7 --wait=poll",
                                          "--hw=sys16",
                                          "--hw=sys16 --stall-seed=8 --memory=separate",
                                          "--hw=sys16 --no-overlap"};
    const char *split = arena_printf(p->a, "%s/split.ir", p->dir);
    struct diag d = {.status = ST_OK};

    assert_int_equal(file_write(split, split_graph, sizeof split_graph - 1, &d), ST_OK);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        run(p, "tests/models/digits/model.tflite", options[i]);
        if (i == 0 || i == 3) {
            run(p, "tests/models/dscnn_own/model.tflite", options[i]);
            /* weights come from the scratchpad */
            run(p, "tests/models/vit_own/model.tflite", options[i]);
        }
        run(p, split, options[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rows_add_up_exactly, make_place, remove_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
