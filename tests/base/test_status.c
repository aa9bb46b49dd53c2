#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/status.h"

static void first_message_stays(void **state)
{
    struct diag d = {.status = ST_OK};

    (void)state;
    assert_int_equal(FAIL(&d, ST_MODEL, "tensor %d", 7), ST_MODEL);
    assert_int_equal(FAIL(&d, ST_DEVICE, "later"), ST_DEVICE);
    assert_int_equal(d.status, ST_MODEL);
    assert_string_equal(d.text, "tensor 7");
}

static void control_bytes_become_question_marks(void **state)
{
    struct diag d = {.status = ST_OK};

    (void)state;
    (void)FAIL(&d, ST_MODEL, "name '%s'", "a\x1b[31m\n\x7f\xc3\xa9");
    assert_string_equal(d.text, "name 'a?[31m??\xc3\xa9'");
}

static void prefix_goes_before_the_message(void **state)
{
    struct diag d = {.status = ST_OK};

    (void)state;
    diag_prefix(&d, "ignored: nothing failed");
    assert_string_equal(d.text, "");
    (void)FAIL(&d, ST_MODEL, "bad scale");
    diag_prefix(&d, "net%d.tflite", 3);
    assert_string_equal(d.text, "net3.tflite: bad scale");
}

static void long_messages_are_cut_and_terminated(void **state)
{
    static char big[10000];
    struct diag d = {.status = ST_OK};

    (void)state;
    memset(big, 'x', sizeof big - 1);
    (void)FAIL(&d, ST_MODEL, "%s", big);
    assert_int_equal(strlen(d.text), sizeof d.text - 1);
    diag_prefix(&d, "%s", big);
    assert_int_equal(strlen(d.text), sizeof d.text - 1);
    assert_memory_equal(d.text, "xxxx", 4);
    assert_non_null(strstr(d.text, ": xxx"));
}

static void no_diag_is_allowed(void **state)
{
    (void)state;
    assert_int_equal(FAIL(NULL, ST_USAGE, "nobody listens"), ST_USAGE);
    diag_prefix(NULL, "nobody");
}

static enum status forward(enum status st, int *after)
{
    TRY(st);
    *after = 1;
    return ST_OK;
}

static void try_returns_what_failed(void **state)
{
    int after = 0;

    (void)state;
    assert_int_equal(forward(ST_NO_SPACE, &after), ST_NO_SPACE);
    assert_int_equal(after, 0);
    assert_int_equal(forward(ST_OK, &after), ST_OK);
    assert_int_equal(after, 1);
}

static void exit_codes_are_those_of_the_design(void **state)
{
    static const int expected[] = {0, 1, 2, 3, 3, 3, 4, 5, 5, 130};

    (void)state;
    for (int st = ST_OK; st <= ST_INTERRUPTED; st++)
        assert_int_equal(status_exit_code((enum status)st), expected[st]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_message_stays),
        cmocka_unit_test(control_bytes_become_question_marks),
        cmocka_unit_test(prefix_goes_before_the_message),
        cmocka_unit_test(long_messages_are_cut_and_terminated),
        cmocka_unit_test(no_diag_is_allowed),
        cmocka_unit_test(try_returns_what_failed),
        cmocka_unit_test(exit_codes_are_those_of_the_design),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
