/* test_depthwise_form.c - a depthwise convolution with several outputs a channel becomes the form that takes
 * fewer cycles on each configuration: within 2 % of the better of the two, by the cycle model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "compiler/pipeline.h"
#include "compiler/systolic/rewrites/rewrites.h"

/* An image of side x side, a kernel of k x k. */
struct shape {
    int32_t channels, multiplier, side, k, stride;
};

static const struct shape shapes[] = {{8, 8, 20, 3, 1}, {8, 4, 20, 3, 1}, {4, 8, 20, 5, 1},
                                      {3, 8, 24, 3, 1}, {8, 2, 20, 3, 2}, {16, 2, 16, 3, 1},
                                      {1, 8, 32, 3, 1}, {4, 2, 20, 3, 1}, {4, 8, 20, 5, 2},
                                      {8, 8, 10, 1, 1}, {8, 2, 3, 3, 1}};

/* A convolution that the mean over its image and a dense layer follow, before channel_order. */
static struct ir_graph *network(struct arena *a, const struct shape *s)
{
    const int32_t n = s->channels * s->multiplier, out = (s->side - s->k) / s->stride + 1;
    struct ir_graph *g = NULL;
    struct diag d = {0};
    struct text zeros;

    text_init(&zeros, a);
    for (int32_t i = 0; i < n; i++)
        text_printf(&zeros, "%s0", i ? "," : "");
    const char *text = arena_printf(
        a,
        "heddle-ir 1 graph name=\"g\"\n"
        "row 0 name=\"c\" op=\"c\" tensor=\"\" shape=\"\"\n"
        "tensor 0 i8 [1,%d,%d,%d] input name=\"x\" scale=(0.5) zero=(0)\n"
        "tensor 1 i8 [1,%d,%d,%d] const name=\"w\" scale=(0.5) zero=(0) fill=3\n"
        "tensor 2 i32 [%d] const name=\"b\" values=(%s)\n"
        "tensor 3 i8 [1,%d,%d,%d] value name=\"a\" scale=(0.5) zero=(0)\n"
        "tensor 4 i8 [1,%d] value name=\"m\" scale=(0.5) zero=(0)\n"
        "tensor 5 i8 [1,%d] const name=\"v\" scale=(0.5) zero=(0) fill=1\n"
        "tensor 6 i8 [1,1] value name=\"y\" scale=(0.5) zero=(0)\n"
        "op depthwise_conv2d row=0 in=(0,1,2) out=(3) stride_h=%d stride_w=%d dilation_h=1 "
        "dilation_w=1 kernel_h=%d kernel_w=%d multiplier=%d\n"
        "op mean row=0 in=(3) out=(4) axis=6\n"
        "op fully_connected row=0 in=(4,5) out=(6)\n"
        "border in=(0) out=(6)\n",
        s->side, s->side, s->channels, s->k, s->k, n, n, zeros.data, out, out, n, n, n, s->stride,
        s->stride, s->k, s->k, s->multiplier);
    if (ir_parse(a, text, &g, &d) != ST_OK)
        fail_msg("%s", d.text);
    return g;
}

/* Estimated cycles on `hw`, where channel_order decides as for `decides`. */
static uint64_t cycles(const struct shape *s, const struct hd_config *hw,
                       const struct lgl_options *decides)
{
    static const struct target_list targets = {2, {&target_systolic, &target_host_c}};
    struct arena *a = arena_new(0);
    struct pipeline *p = ARENA_NEW(a, struct pipeline);
    struct lgl_options legal = {0};
    struct diag d = {0};
    uint64_t total;
    enum status st = ST_OK;

    sys_for_accelerator(&legal, hw);
    *p = (struct pipeline){.arena = a,
                           .options = {.schedule = {.mem_latency = 64, .no_search = true}},
                           .graph = network(a, s),
                           .hw = *hw,
                           .targets = targets};
#define PASS(name)                                                                                 \
    if (st == ST_OK)                                                                               \
        st = lgl_##name(p->graph, lgl_##name == lgl_channel_order ? decides : &legal, &d);
#define REWRITE(name, code, gain)                                                                  \
    if (st == ST_OK)                                                                               \
        st = sys_rewrite_all(p->graph, sys_##name, IR_OP_##code, gain, &legal, &d);
#include "compiler/passes.def"
    if (st != ST_OK || partition_run(p->graph, &targets, hw, &d) != ST_OK ||
        pipeline_schedule(p, &d) != ST_OK)
        fail_msg("%s", d.text);
    total = p->program->est_cycles;
    arena_free(a);
    return total;
}

/* A tie, which fewer weights decide. */
static uint64_t no_cycles(const struct hd_config *hw, const struct ir_graph *g,
                          const struct ir_op *op)
{
    (void)hw;
    (void)g;
    (void)op;
    return 0;
}

static void takes_the_form_of_fewer_cycles(void **state)
{
    static const char *const configurations[] = {"tiny", "sys8", "sys16", "sys32"};
    struct arena *a = arena_new(0);
    struct diag d = {0};

    (void)state;
    for (size_t i = 0; i < sizeof configurations / sizeof *configurations; i++)
        for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
            const struct lgl_options whole = {0}, apart = {.cycles = no_cycles};
            struct lgl_options chosen = {0};
            struct hd_config hw;

            assert_int_equal(pipeline_config(a, configurations[i], &hw, &d), ST_OK);
            sys_for_accelerator(&chosen, &hw);
            const uint64_t one = cycles(&shapes[k], &hw, &whole),
                           many = cycles(&shapes[k], &hw, &apart),
                           found = cycles(&shapes[k], &hw, &chosen),
                           least = one < many ? one : many;
            if (one == many && shapes[k].channels > 1)
                fail_msg("shape %zu on %s: both forms take %llu cycles: nothing is compared", k,
                         hw.name, (unsigned long long)one);
            if (found * 50 > least * 51)
                fail_msg("shape %zu on %s: %llu cycles, %llu as a whole, %llu apart", k, hw.name,
                         (unsigned long long)found, (unsigned long long)one,
                         (unsigned long long)many);
        }
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(takes_the_form_of_fewer_cycles)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
