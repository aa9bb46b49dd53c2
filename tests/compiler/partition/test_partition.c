/* partition.c: regions are runs of accelerator operators, reasons name the rule that failed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "compiler/graph_passes.h"
#include "compiler/partition/partition.h"

static const struct hd_config hw = {.name = "sys16",
                                    .n = 16,
                                    .rows = 16,
                                    .columns = 16,
                                    .scratchpad_bytes = 131072,
                                    .banks = 8,
                                    .ports = 4,
                                    .weight_bytes = 65536,
                                    .acc_depth = 512,
                                    .param_entries = 64,
                                    .axi_bytes = 16};

/* relu, relu, softmax, relu: legalise joins the first two into one table */
static const char text[] = "heddle-ir 1 graph name=\"g\"\n"
                           "row 0 name=\"r0\" op=\"RELU\" tensor=\"\" shape=\"\"\n"
                           "row 1 name=\"r1\" op=\"RELU\" tensor=\"\" shape=\"\"\n"
                           "row 2 name=\"s2\" op=\"SOFTMAX\" tensor=\"\" shape=\"\"\n"
                           "row 3 name=\"r3\" op=\"RELU\" tensor=\"\" shape=\"\"\n"
                           "tensor 0 i8 [1,8] input name=\"x\" scale=(1) zero=(0)\n"
                           "tensor 1 i8 [1,8] value name=\"a\" scale=(1) zero=(0)\n"
                           "tensor 2 i8 [1,8] value name=\"b\" scale=(1) zero=(0)\n"
                           "tensor 3 i8 [1,8] value name=\"c\" scale=(0.00390625) zero=(-128)\n"
                           "tensor 4 i8 [1,8] value name=\"y\" scale=(1) zero=(0)\n"
                           "op relu row=0 in=(0) out=(1)\n"
                           "op relu row=1 in=(1) out=(2)\n"
                           "op softmax row=2 in=(2) out=(3) beta_bits=1065353216\n"
                           "op relu row=3 in=(3) out=(4)\n"
                           "border in=(0) out=(4)\n";

static const struct target_list both = {2, {&target_systolic, &target_host_c}},
                                host = {1, {&target_host_c}};

static struct ir_graph *parted(struct arena *a, const struct target_list *targets)
{
    const struct lgl_options o = {.fc_scale = LGL_FC_CLASSIC};
    struct ir_graph *g;
    struct diag d = {0};

    if (ir_parse(a, text, &g, &d) != ST_OK || passes_run(g, &o, &d) != ST_OK ||
        partition_run(g, targets, &hw, &d) != ST_OK)
        fail_msg("%s", d.text);
    return g;
}

static void runs_of_accelerator_operators_are_regions(void **state)
{
    struct arena *a = arena_new(0);
    struct ir_graph *g = parted(a, &both);

    (void)state;
    assert_int_equal(g->n_op, 3);
    assert_int_equal(g->op[0]->region, 0);
    assert_int_equal(g->op[1]->region, IR_NONE);
    assert_int_equal(g->op[2]->region, 1);
    assert_int_equal(g->row[0].fused_into, 1);
    assert_string_equal(g->row[0].target, "none");
    assert_string_equal(g->row[1].target, "systolic");
    assert_null(g->row[1].reason);
    assert_string_equal(g->row[2].target, "c");
    assert_string_equal(g->row[2].reason, "systolic: sys16 has no softmax (softmax_rows 0)");
    arena_free(a);
}

static void without_an_accelerator_all_is_the_hosts(void **state)
{
    struct arena *a = arena_new(0);
    struct ir_graph *g = parted(a, &host);

    (void)state;
    for (uint32_t i = 0; i < g->n_op; i++) {
        assert_int_equal(g->op[i]->region, IR_NONE);
        assert_string_equal(g->row[g->op[i]->row].target, "c");
        assert_string_equal(g->row[g->op[i]->row].reason, "no accelerator was named");
    }
    arena_free(a);
}

/* Targets whose answers the test sets: cost by position of the operator, negative: refused. */
static double costs[2][8], toll, start;

static const char *fake_refusal(const struct target_question *q)
{
    return costs[q->target->name[0] == 'b'][q->op->id] < 0 ? "no" : NULL;
}

static struct target_cost fake_cost(const struct target_question *q)
{
    const double cycles = costs[q->target->name[0] == 'b'][q->op->id];

    return (struct target_cost){cycles, cycles, start};
}

static struct target_cost host_cost(const struct target_question *q)
{
    (void)q;
    return (struct target_cost){1000, 1000, 0};
}

static const char *host_refusal(const struct target_question *q)
{
    (void)q;
    return NULL;
}

static double fake_transfer(const struct target *t, const struct hd_config *config,
                            const struct target_memory *m, uint64_t n)
{
    (void)config;
    (void)m;
    (void)n;
    return t->name[0] == 'h' ? 0 : toll;
}

static const struct target_desc fake = {.name = "fake",
                                        .refusal = fake_refusal,
                                        .cost = fake_cost,
                                        .transfer = fake_transfer},
                                fake_host = {.name = "host",
                                             .refusal = host_refusal,
                                             .cost = host_cost,
                                             .transfer = fake_transfer};
static const struct target fake_a = {&fake, "a", NULL, NULL}, fake_b = {&fake, "b", NULL, NULL},
                           fake_c = {&fake_host, "h", NULL, NULL};
static const struct target_list three = {3, {&fake_a, &fake_b, &fake_c}};

/* A chain of four operators on int8 [1,8]. */
static struct ir_graph *chain(struct arena *a)
{
    const int32_t dim[2] = {1, 8};
    struct ir_graph *g = ir_graph_new(a, "g");
    struct ir_tensor *x = ir_tensor_new(g, "x", IR_I8, 2, dim);

    x->role = IR_INPUT;
    g->n_row = 4;
    g->row = ARENA_ARRAY(a, struct ir_row, 4);
    for (uint32_t i = 0; i < 4; i++) {
        struct ir_tensor *y = ir_tensor_new(g, "y", IR_I8, 2, dim);
        struct ir_op *op = ir_op_new(g, IR_OP_LUT, i, 1, 1);
        op->in[0] = x->id;
        op->out[0] = y->id;
        y->producer = op->id;
        g->row[i] = (struct ir_row){.name = arena_printf(a, "r%u", i), .fused_into = IR_NONE};
        x = y;
    }
    x->is_output = true;
    return g;
}

/* Targets of the four operators, as "aabh". */
static void goes(const char *expected, const struct partition_options *o)
{
    struct arena *a = arena_new(0);
    struct ir_graph *g = chain(a);
    struct partition p;
    struct diag d = {0};
    char found[5] = "";

    assert_int_equal(partition_with(g, &three, &hw, o, &p, &d), ST_OK);
    for (uint32_t i = 0; i < 4; i++)
        found[i] = three.target[g->op[i]->target]->name[0];
    assert_string_equal(found, expected);
    arena_free(a);
}

static void set_costs(const double *a, const double *b, double transfer)
{
    memcpy(costs[0], a, 4 * sizeof *a);
    memcpy(costs[1], b, 4 * sizeof *b);
    toll = transfer;
}

static void the_cheapest_target_wins_transfers_counted(void **state)
{
    static const double ten[4] = {10, 10, 10, 10}, mixed[4] = {10, 5, 5, 10},
                        hole[4] = {10, -1, 10, 10}, dear[4] = {900, 900, 900, 900};
    const struct partition_options o = {0}, first = {.mode = PARTITION_PRIORITY};

    (void)state;
    set_costs(ten, ten, 1);
    goes("aaaa", &o); /* a tie: list order */
    set_costs(ten, mixed, 1);
    goes("bbbb", &o); /* 30 + 2 transfers beats 30 + 6 */
    goes("aaaa", &first);
    set_costs(hole, ten, 50);
    goes("bbbb", &o); /* a refuses one: crossing twice costs more than leaving */
    goes("abaa", &first);
    set_costs(hole, ten, 0);
    goes("abaa", &o); /* free transfers: ties go to a again */
    set_costs(ten, dear, 2000);
    goes("hhhh", &o); /* 40 + 4000 against 4000: the host is cheaper by 40 */
}

static void each_submission_costs_its_start_once(void **state)
{
    static const double most[4] = {900, 900, 900, 900}, slow[4] = {900, 1110, 900, 900},
                        none[4] = {-1, -1, -1, -1};
    const struct partition_options o = {0};

    (void)state;
    set_costs(most, none, 0);
    start = 150;
    goes("aaaa", &o); /* 3600 + 150 against 4000 */
    start = 500;
    goes("hhhh", &o);
    set_costs(slow, none, 0);
    start = 150;
    goes("hhaa", &o); /* 3800 + 150; r0 there too: 3700 + 300 */
    start = 50;
    goes("ahaa", &o); /* 3700 + 100 */
    start = 0;
}

static void operators_are_forced_by_name(void **state)
{
    static const double ten[4] = {10, 10, 10, 10}, hole[4] = {10, -1, 10, 10};
    const char *const r1[] = {"r1"}, *const r2b[] = {"r2=b"}, *const all[] = {"r*"};
    struct partition_options o = {.n_keep = 1, .keep = r1};

    (void)state;
    set_costs(ten, ten, 1);
    goes("ahaa", &o);
    o = (struct partition_options){.n_offload = 1, .offload = r2b};
    set_costs(ten, hole, 1);
    goes("aabb", &o); /* after a forced one, returning costs one more transfer */
    o = (struct partition_options){.n_keep = 1, .keep = all};
    goes("hhhh", &o);
}

static void refuse_force(const char *const *offload, const char *const *kept, const char *message)
{
    struct arena *a = arena_new(0);
    const struct partition_options o = {
        .n_offload = offload != NULL, .offload = offload, .n_keep = kept != NULL, .keep = kept};
    struct partition p;
    struct diag d = {0};

    assert_int_equal(partition_with(chain(a), &three, &hw, &o, &p, &d), ST_USAGE);
    assert_string_equal(d.text, message);
    arena_free(a);
}

static void names_that_cannot_be_forced_are_refused(void **state)
{
    static const double no[4] = {-1, -1, -1, -1}, hole[4] = {10, -1, 10, 10};
    const char *const r1[] = {"r1"}, *const r1b[] = {"r1=b"}, *const none[] = {"r9"},
                      *const other[] = {"r0=z"};

    (void)state;
    set_costs(no, hole, 1);
    refuse_force(r1, NULL, "--offload: r1 cannot go to an accelerator: a: no; b: no");
    refuse_force(r1b, NULL, "--offload: r1 cannot go to b: b: no");
    refuse_force(other, NULL, "--offload: r0 cannot go to z: it is not selected (--target)");
    refuse_force(NULL, none,
                 "--keep-on-host: no operator 'r9' that computes anything; did you mean 'r0'?");
    refuse_force(r1, r1, "r1 is named by --offload and by --keep-on-host");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_of_accelerator_operators_are_regions),
        cmocka_unit_test(without_an_accelerator_all_is_the_hosts),
        cmocka_unit_test(the_cheapest_target_wins_transfers_counted),
        cmocka_unit_test(each_submission_costs_its_start_once),
        cmocka_unit_test(operators_are_forced_by_name),
        cmocka_unit_test(names_that_cannot_be_forced_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
