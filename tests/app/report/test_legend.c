/* A report's legend defines everything that it prints: every counter of every unit, every unit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "app/report/report.h"
#include "app/report/report_legend.h"
#include "hd_accel_tables.h"

static void every_counter_has_a_meaning(void **state)
{
    (void)state;
    for (uint32_t u = 0; u < HD_UNIT_COUNT; u++) {
        if (!report_unit_text(hd_unit_names[u]))
            fail_msg("unit %s: no meaning", hd_unit_names[u]);
        for (uint32_t k = 0; k < HD_COUNTER_SLOTS; k++)
            if (hd_counter_names[u][k] && !report_counter_text(hd_counter_names[u][k]))
                fail_msg("%s of %s: no meaning", hd_counter_names[u][k], hd_unit_names[u]);
    }
}

static const char *legend_of(struct arena *a, const char *json, enum report_detail detail)
{
    cJSON *all = cJSON_Parse(json);
    struct text t;

    text_init(&t, a);
    report_legend(&t, all, detail);
    cJSON_Delete(all);
    return t.data;
}

static void only_what_is_printed_is_explained(void **state)
{
    static const char drains[] = "{\"layers\": [{\"counters\": {\"array\": {\"busy\": 5, "
                                 "\"drain\": 3, \"idle\": 1}}}], \"counters\": {}}";
    jmp_buf exhausted;
    struct arena *a = arena_open((size_t)1 << 20, &exhausted);

    (void)state;
    const char *text = legend_of(a, drains, REPORT_LAYERS);
    assert_non_null(strstr(text, "drain: results leave, no step"));
    assert_null(strstr(text, "idle:"));
    assert_null(strstr(text, "wait_queue:"));
    text = legend_of(a, drains, REPORT_UNITS);
    assert_non_null(strstr(text, "wait_queue: the unit's queue is full"));
    assert_non_null(strstr(text, "fetch: reads commands\n"));
    text = legend_of(a, "{}", REPORT_UNITS);
    assert_null(strstr(text, "idle:"));
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_counter_has_a_meaning),
        cmocka_unit_test(only_what_is_printed_is_explained),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
