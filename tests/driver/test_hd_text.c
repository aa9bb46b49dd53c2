/* Names in messages are those of hw/accel.json; every error has a text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "driver/hd.h"
#include "hd_accel_tables.h"

static void faults_and_units_have_the_names_of_accel_json(void **state)
{
    char text[128], want[128];

    (void)state;
    for (uint32_t code = 0; code < HD_FAULT_COUNT; code++)
        for (uint32_t unit = 0; unit < HD_UNIT_COUNT; unit++) {
            struct hd_device dev = {.fault = {.code = code, .unit = unit, .command = 70123}};

            strcpy(want, "device fault ");
            strcat(want, hd_fault_names[code]);
            strcat(want, " in ");
            strcat(want, hd_unit_names[unit]);
            strcat(want, ", command 70123, address 0x00000000");
            hd_describe(&dev, HD_ERROR_FAULT, NULL, 0, NULL, 0, text, sizeof text);
            assert_string_equal(text, want);
        }
}

static void every_error_has_its_own_words(void **state)
{
    (void)state;
    for (int a = HD_ERROR_HOST_OP; a <= HD_OK; a++) {
        assert_string_not_equal(hd_error_text(a), "unknown error");
        for (int b = HD_ERROR_HOST_OP; b < a; b++)
            assert_string_not_equal(hd_error_text(a), hd_error_text(b));
    }
    assert_string_equal(hd_error_text(-1000), "unknown error");
}

static void a_damaged_stream_gives_no_name(void **state)
{
    static const char *const names[] = {"00_conv2d"};
    uint32_t stream[12] = {0}; /* a command of length 0 */
    struct hd_device dev = {.fault = {.command = 3}};
    char text[128];

    (void)state;
    hd_describe(&dev, HD_ERROR_FAULT, stream, sizeof stream, names, 1, text, sizeof text);
    assert_string_equal(text, "device fault none in load, command 3, address 0x00000000");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults_and_units_have_the_names_of_accel_json),
        cmocka_unit_test(every_error_has_its_own_words),
        cmocka_unit_test(a_damaged_stream_gives_no_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
