/* The numbers of a stats file from counts given in this test, as the RTL would count them: totals
 * are sums of the parts of host and accelerator. Two submissions with the host in between. */
#include "tests/app/net.h"

#include "app/job/shared.h"
#include "app/report/report_read.h"
#include "app/stats/account.h"
#include "app/stats/stats.h"
#include "app/stats/stats_layers.h"
#include "app/stats/stats_member.h"

static const char *const words[] = {"--hw=tiny", "--partition=priority", "--no-search", NULL};

enum { INFERENCES = 2, CONV = 0, SOFTMAX = 2, ADD = 3, ROWS = 4 };

static const uint64_t cycles[ROWS] = {100, 0, 3000, 50}; /* of both inferences */

static struct net *counted(void)
{
    struct net *n = net_open("tests/e2e/numbers/accounts.ir", words);
    struct run_shared *s =
        arena_alloc(n->a, sizeof *s + n->p.graph->n_row * sizeof(struct run_row));

    assert_int_equal(n->p.graph->n_row, ROWS);
    memset(s, 0, sizeof *s + n->p.graph->n_row * sizeof(struct run_row));
    for (uint32_t i = 0; i < ROWS; i++) {
        s->row[i].cycles = cycles[i];
        s->row[i].counter[HD_UNIT_ARRAY][0] = 2 * (i + 1);
        s->cycles += cycles[i];
    }
    s->read_bytes = 640;
    s->write_bytes = 128;
    n->options.engine = ENGINE_RTL;
    n->run.job.n = INFERENCES;
    n->run.measured.n_process = 1;
    n->run.measured.shared = s;
    n->run.job.checked_against = "ref";
    return n;
}

/* The object as a reader of the file gets it. */
static cJSON *reread(cJSON *o)
{
    char *text = cJSON_Print(o);
    cJSON *again = cJSON_Parse(text);

    cJSON_Delete(o);
    cJSON_free(text);
    assert_non_null(again);
    return again;
}

static void is(const cJSON *o, const char *name, double expected)
{
    const double found = report_number(o, name);

    if (found < expected - 1e-9 || found > expected + 1e-9)
        fail_msg("%s: expected %g, found %g", name, expected, found);
}

static double sum(const cJSON *list, const char *name)
{
    const cJSON *one;
    double all = 0;

    cJSON_ArrayForEach(one, list) all +=
        report_number(one, name) > 0 ? report_number(one, name) : 0;
    return all;
}

static void the_whole_is_the_sum_of_its_parts(void **state)
{
    struct net *n = counted();
    const struct account *account = account_of(n->a, &n->p);
    cJSON *o = reread(run_stats_json(&n->run));

    (void)state;
    assert_true(account->host_cycles > 0);
    is(o, "cycles", 1575);
    is(o, "host_cycles", (double)account->host_cycles);
    is(o, "total_cycles", 1575 + (double)account->host_cycles);
    assert_true(sum(report_member(o, "layers"), "cycles") == 1575);
    assert_true(sum(report_member(o, "layers"), "host_cycles") == (double)account->host_cycles);
    is(o, "dram_read_bytes", 320);
    is(o, "dram_write_bytes", 64);
    is(o, "macs", 64);
    is(o, "crossings", 1);
    const cJSON *memory = report_member(o, "memory");
    /* the input, and the host's results for the accelerator */
    is(memory, "compulsory_read_bytes", report_number(memory, "compulsory_weight_bytes") + 16 + 8);
    cJSON_Delete(o);
    arena_free(n->a);
}

static void nothing_measured_is_an_estimate(void **state)
{
    struct net *n = counted();
    const struct account *account = account_of(n->a, &n->p);

    (void)state;
    n->options.engine = ENGINE_FUNC;
    cJSON *o = reread(run_stats_json(&n->run));
    assert_true(cJSON_IsNull(report_member(o, "cycles")));
    assert_true(cJSON_IsNull(report_member(o, "total_cycles")));
    assert_true(report_number(o, "estimated_cycles") > 0);
    is(o, "estimated_total_cycles",
       report_number(o, "estimated_cycles") + (double)account->host_cycles);
    cJSON_Delete(o);
    arena_free(n->a);
}

/* The convolution and the ADD, as if interleaved. */
static void a_group_has_its_members_cycles(void **state)
{
    struct net *n = counted();
    struct account *account = account_of(n->a, &n->p);
    const struct stats s = {&n->run.job, &n->run.measured, account, NULL};

    (void)state;
    account->n_group = 1;
    account->layer[CONV].group = account->layer[ADD].group = 0;
    cJSON *o = cJSON_CreateObject();
    stats_layers(&s, o);
    o = reread(o);
    const cJSON *layers = report_member(o, "layers"),
                *group = cJSON_GetArrayItem(report_member(o, "groups"), 0);
    is(group, "cycles", 75);
    is(report_member(report_member(group, "counters"), "array"), "busy", 5);
    is(cJSON_GetArrayItem(layers, SOFTMAX), "cycles", 1500);
    for (int i = CONV; i <= ADD; i += ADD - CONV) {
        assert_true(cJSON_IsNull(report_member(cJSON_GetArrayItem(layers, i), "cycles")));
        is(cJSON_GetArrayItem(layers, i), "group", 0);
    }
    const double most = n->p.hw.n * n->p.hw.n * 3150.0, used = stats_utilisation(&s) * most;
    assert_true(used > 31.99 && used < 32.01);
    cJSON_Delete(o);
    arena_free(n->a);
}

/* Crossings are from one submission to the next with the host in between, not where the host is
 * first. */
static void crossings_are_between_submissions(void **state)
{
    static const char *const path[] = {"tests/compiler/partition/host_first.ir",
                                       "tests/compiler/partition/host_between_regions.ir"};

    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        struct net *n = net_open(path[i], words);
        assert_int_equal(account_of(n->a, &n->p)->crossings, i);
        arena_free(n->a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_whole_is_the_sum_of_its_parts),
        cmocka_unit_test(nothing_measured_is_an_estimate),
        cmocka_unit_test(a_group_has_its_members_cycles),
        cmocka_unit_test(crossings_are_between_submissions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
