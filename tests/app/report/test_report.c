/* The report of a stats file given in this test: end-to-end time, the slowest layers first with
 * their share of the total, traffic read and written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "app/report/report.h"
#include "app/report/report_text.h"

/* 250 cycles of the accelerator, 150 of them for a group of two, and 750 of the host. */
static const char stats[] =
    "{\"model\": \"m\", \"engine\": \"rtl\", \"inferences\": 2, \"outputs\": 1, \"verdict\": "
    "\"match\","
    "\"checked_against\": \"ref\", \"hw\": {\"name\": \"tiny\"}, \"cycles\": 250, \"host_cycles\": "
    "750,"
    "\"host_model\": \"estimate\", \"total_cycles\": 1000, \"estimated_cycles\": 9000, "
    "\"crossings\": 1,"
    "\"macs\": 200, \"accelerator_macs\": 150, \"dram_read_bytes\": 300, \"dram_write_bytes\": 100,"
    "\"memory\": {\"activation_bytes\": 64, \"activation_layer\": \"00_a\", \"live_range_bytes\": "
    "32,"
    "\"live_range_layer\": \"01_b\", \"compulsory_weight_bytes\": 50, \"compulsory_read_bytes\": "
    "150,"
    "\"compulsory_write_bytes\": 50}, \"layers\": ["
    "{\"name\": \"00_a\", \"cycles\": 100, \"estimated_cycles\": 8000, \"host_cycles\": 0,"
    "\"target\": \"systolic\", \"dram_read_bytes\": 30, \"dram_write_bytes\": 40,"
    "\"parts\": [{\"target\": \"systolic\"}]},"
    "{\"name\": \"01_b\", \"cycles\": null, \"host_cycles\": 750, \"target\": \"c\", \"reason\": "
    "\"why\"},"
    "{\"name\": \"02_c\", \"group\": 0, \"cycles\": null, \"host_cycles\": 0, \"target\": "
    "\"systolic\","
    "\"dram_read_bytes\": 200, \"dram_write_bytes\": 7},"
    "{\"name\": \"03_d\", \"group\": 0, \"cycles\": null, \"host_cycles\": 0, \"target\": "
    "\"systolic\","
    "\"dram_read_bytes\": 34, \"dram_write_bytes\": 6}],"
    "\"groups\": [{\"members\": [2, 3], \"cycles\": 150, \"estimated_cycles\": 10,"
    "\"counters\": {\"array\": {\"busy\": 135, \"drain\": 15}}}]}";

static void says(const char *text, const char *expected)
{
    if (!strstr(text, expected))
        fail_msg("expected '%s' in:\n%s", expected, text);
}

static void numbers_are_those_of_the_file(void **state)
{
    struct arena *a = arena_new(0);
    cJSON *all = cJSON_Parse(stats);
    struct text t;

    (void)state;
    text_init(&t, a);
    report_text(&t, all, REPORT_LAYERS);
    cJSON_Delete(all);
    says(t.data,
         "2 inferences, 250.0 cycles each on the accelerator and 750 on the host (estimate): "
         "1000.0 in all, 1 crossing\n");
    says(t.data,
         "slowest: 01_b                           750 cycles  75.0 %  estimate, on the host: why\n"
         "         group 0                        150 cycles  15.0 %  array busy 90 %, drain 10 %\n"
         "         00_a                           100 cycles  10.0 %  ");
    says(t.data,
         "group 0                  2 layers                         150       10        -      -"
         "      234       13");
    says(
        t.data,
        "memory traffic: 400 bytes, compulsory 200 (weights 50 once, inputs 100, outputs 50): 2.00 "
        "times\n");
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_are_those_of_the_file)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
