/* memory_use.c: bytes alive, held and necessarily moved, counted by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "compiler/graph_passes.h"
#include "compiler/pipeline.h"
#include "compiler/plan/memory_use.h"
#include "hw/gen/accel.h"

/* x [1,h,8,8] -> 3x3 max pool p -> add y = p + constant [1,1,1,8] -> mul z = y * p, out: z; on the
 * accelerator `tiny`, except what `keep` names. */
static struct memory_use use_of(struct arena *a, int h, const char *keep)
{
    struct ir_graph *g;
    struct diag d = {0};
    struct hd_config *config = ARENA_NEW(a, struct hd_config);
    const struct accel *accel;
    struct pipeline p;
    struct partition partition;
    const struct target_list targets = {2, {&target_systolic, &target_host_c}};
    const struct lgl_options o = {.fc_scale = LGL_FC_CLASSIC};
    const struct partition_options forced = {.n_keep = keep != NULL, .keep = &keep};
    const char *text = arena_printf(
        a,
        "heddle-ir 1 graph name=\"g\"\n"
        "row 0 name=\"pool\" op=\"a\" tensor=\"\" shape=\"\"\n"
        "row 1 name=\"add\" op=\"a\" tensor=\"\" shape=\"\"\n"
        "row 2 name=\"mul\" op=\"a\" tensor=\"\" shape=\"\"\n"
        "tensor 0 i8 [1,%d,8,8] input name=\"x\" scale=(1) zero=(0)\n"
        "tensor 1 i8 [1,%d,8,8] value name=\"p\" scale=(1) zero=(0)\n"
        "tensor 2 i8 [1,%d,8,8] const name=\"c\" scale=(1) zero=(0) fill=3\n"
        "tensor 3 i8 [1,%d,8,8] value name=\"y\" scale=(1) zero=(0)\n"
        "tensor 4 i8 [1,%d,8,8] value name=\"z\" scale=(1) zero=(0)\n"
        "op max_pool_2d row=0 in=(0) out=(1) stride_h=1 stride_w=1 kernel_h=3 kernel_w=3 "
        "pad_top=1 pad_left=1 pad_bottom=1 pad_right=1\n"
        "op add row=1 in=(1,2) out=(3)\n"
        "op mul row=2 in=(3,1) out=(4)\n"
        "border in=(0) out=(4)\n",
        h, h, h, h, h);
    const char *json = arena_printf(a, "%s/hw/accel.json", getenv("HEDDLE_HOME"));

    if (accel_load(a, json, &accel, &d) != ST_OK ||
        accel_config_find(a, accel, "tiny", config, &d) != ST_OK ||
        ir_parse(a, text, &g, &d) != ST_OK || passes_run(g, &o, &d) != ST_OK ||
        partition_with(g, &targets, config, &forced, &partition, &d) != ST_OK)
        fail_msg("%s", d.text);
    p = (struct pipeline){.arena = a,
                          .options.schedule.no_search = true,
                          .graph = g,
                          .hw = *config,
                          .targets = targets};
    if (pipeline_schedule(&p, &d) != ST_OK)
        fail_msg("%s", d.text);
    return memory_use_of(p.program);
}

/* 8 rows of 64 bytes: all fits. */
static void everything_on_chip(void **state)
{
    (void)state;
    struct arena *a = arena_new(0);
    struct memory_use use = use_of(a, 8, NULL);
    assert_int_equal(use.at[0].live, 2 * 512); /* x, p */
    assert_int_equal(use.at[1].live, 2 * 512); /* p, y */
    assert_int_equal(use.at[2].live, 3 * 512); /* p, y, z */
    assert_int_equal(use.bound_at, 2);
    assert_int_equal(use.peak_at, 2);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(use.at[i].held, use.at[i].live);
    assert_int_equal(use.at[0].copies, 512); /* x: in memory, and loaded */
    assert_int_equal(use.at[1].copies, 0);
    assert_int_equal(use.at[2].copies, 512); /* z: made on chip, then stored */
    assert_int_equal(use.copies, 512);
    assert_int_equal(use.buffers, 0);
    assert_int_equal(use.weights, 512);
    assert_int_equal(use.read, 512);
    assert_int_equal(use.write, 512);
    arena_free(a);
}

/* 50 rows, 3200 bytes per tensor: three of them exceed 8192. */
static void what_is_streamed_has_buffers(void **state)
{
    (void)state;
    struct arena *a = arena_new(0);
    struct memory_use use = use_of(a, 50, NULL);
    assert_int_equal(use.at[use.bound_at].live, 3 * 3200);
    assert_int_equal(use.at[use.peak_at].held, 3 * 3200);
    assert_true(use.buffers > 0);
    assert_true(use.at[2].copies < 2 * 3200);
    arena_free(a);
}

/* add on the host: the accelerator writes p for it and reads y back; the constant is the host's. */
static void host_operators_add_traffic(void **state)
{
    (void)state;
    struct arena *a = arena_new(0);
    struct memory_use use = use_of(a, 8, "add");
    assert_int_equal(use.weights, 0);
    assert_int_equal(use.read, 2 * 512);  /* x, y */
    assert_int_equal(use.write, 2 * 512); /* p, z */
    assert_int_equal(use.at[use.bound_at].live, 3 * 512);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_on_chip),
        cmocka_unit_test(what_is_streamed_has_buffers),
        cmocka_unit_test(host_operators_add_traffic),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
