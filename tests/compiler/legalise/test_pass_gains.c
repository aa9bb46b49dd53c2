/* test_pass_gains.c - passes that change no network of tests/models: without the pass its case needs more
 * host operators, or more estimated cycles. */
#include "compiler/partition/partition.h"
#include "compiler/pipeline.h"
#include "compiler/systolic/rewrites/rewrites.h"
#include "tests/compiler/ir_files.h"

static const struct {
    const char *pass, *path;
} cases[] = {
    {"late_dequantize", "tests/compiler/legalise/late_dequantize/movers.ir"},
    {"four_dims", "tests/compiler/legalise/four_dims/windows.ir"},
    {"movers", "tests/compiler/legalise/movers/turned_slice.ir"},
    {"channel_groups", "tests/compiler/systolic/rewrites/channel_groups/three_parts.ir"},
    {"left_padding", "tests/compiler/systolic/rewrites/left_padding/rows_of_the_array.ir"},
    {"transpose_product", "tests/compiler/systolic/rewrites/transpose_product/matrices.ir"},
    {"transpose_product", "tests/compiler/systolic/rewrites/transpose_product/planes.ir"},
    {"transpose_product", "tests/compiler/systolic/rewrites/transpose_product/blocks.ir"},
    {"pool_lines", "tests/compiler/systolic/rewrites/pool_lines/windows.ir"},
    {"mean_product", "tests/compiler/systolic/rewrites/mean_product/large.ir"},
    {"row_product", "tests/compiler/systolic/rewrites/row_product/scores.ir"},
    {"transposed_parts", "tests/compiler/systolic/rewrites/transposed_parts/images_and_strips.ir"},
};

struct cost {
    uint32_t host; /* operators */
    uint64_t cycles;
};

/* The cost of the network on sys16 after all passes except `without`. */
static struct cost cost_of(const char *path, const char *without)
{
    static const struct target_list targets = {2, {&target_systolic, &target_host_c}};
    struct arena *a = arena_new(0);
    struct pipeline *p = ARENA_NEW(a, struct pipeline);
    struct lgl_options o = {.fc_scale = LGL_FC_CLASSIC};
    struct cost c = {0};
    struct diag d = {0};
    enum status st = ir_parse(a, ir_text(a, path), &p->graph, &d);

    p->arena = a;
    p->options.schedule.no_search = true;
    p->targets = targets;
    if (st == ST_OK)
        st = pipeline_config(a, "sys16", &p->hw, &d);
    sys_for_accelerator(&o, &p->hw);
#define PASS(name)                                                                                 \
    if (st == ST_OK && strcmp(without, #name) != 0)                                                \
        st = lgl_##name(p->graph, &o, &d);
#define REWRITE(name, code, gain)                                                                  \
    if (st == ST_OK && strcmp(without, #name) != 0)                                                \
        st = sys_pass_##name(p->graph, &o, &d);
#include "compiler/passes.def"
    if (st != ST_OK || partition_run(p->graph, &targets, &p->hw, &d) != ST_OK ||
        pipeline_schedule(p, &d) != ST_OK)
        fail_msg("%s without %s: %s", path, without, d.text);
    for (uint32_t i = 0; i < p->graph->n_op; i++)
        c.host += p->graph->op[i]->region == IR_NONE && !ir_is_reshape(p->graph->op[i]);
    c.cycles = p->program->est_cycles;
    arena_free(a);
    return c;
}

static void each_pass_gains(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct cost with = cost_of(cases[i].path, ""),
                          without = cost_of(cases[i].path, cases[i].pass);

        print_message("%s: %u host operators, %llu cycles; without it %u, %llu\n", cases[i].pass,
                      with.host, (unsigned long long)with.cycles, without.host,
                      (unsigned long long)without.cycles);
        if (with.host > without.host ||
            (with.host == without.host && with.cycles >= without.cycles))
            fail_msg("%s: %s gains nothing", cases[i].path, cases[i].pass);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_pass_gains)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
