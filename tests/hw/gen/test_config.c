#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "hw/gen/accel.h"

static const char sys16[] =
    "{\"name\": \"mine\", \"n\": 16, \"scratchpad_bytes\": 131072, \"banks\": 8, \"ports\": 4, "
    "\"weight_bytes\": 65536, \"acc_depth\": 512, \"param_entries\": 64, \"axi_bytes\": 16, "
    "\"axi_addr_bits\": 40, \"read_bursts\": 16}";

static struct arena *a;
static const struct accel *acc;

static int load(void **state)
{
    struct diag d = {.status = ST_OK};

    (void)state;
    a = arena_new(0);
    return accel_load(a, "hw/accel.json", &acc, &d) != ST_OK;
}

static int unload(void **state)
{
    (void)state;
    arena_free(a);
    return 0;
}

static enum status read_edited(const char *from, const char *to, struct hd_config *c,
                               struct diag *d)
{
    const char *at = strstr(sys16, from), *text;

    assert_non_null(at);
    text = arena_printf(a, "%.*s%s%s", (int)(at - sys16), sys16, to, at + strlen(from));
    return accel_config_from_json(a, acc, text, strlen(text), "x.json", c, d);
}

static void expect_bad(const char *from, const char *to, const char *message)
{
    struct diag d = {.status = ST_OK};
    struct hd_config c;

    assert_int_equal(read_edited(from, to, &c, &d), ST_USAGE);
    if (strstr(d.text, message) == NULL)
        fail_msg("expected '%s' in '%s'", message, d.text);
}

static void expect_good(const char *from, const char *to)
{
    struct diag d = {.status = ST_OK};
    struct hd_config c;

    if (read_edited(from, to, &c, &d) != ST_OK)
        fail_msg("%s", d.text);
}

static void names_are_found(void **state)
{
    struct diag d = {.status = ST_OK};
    struct hd_config c;

    (void)state;
    assert_int_equal(accel_config_by_name(acc, "tiny", &c, &d), ST_OK);
    assert_int_equal(c.n, 4);
    assert_string_equal(c.name, "tiny");
    assert_int_equal(accel_config_find(a, acc, "sys17", &c, &d), ST_USAGE);
    assert_string_equal(d.text, "no hardware configuration 'sys17': expected one of tiny, sys8, "
                                "sys16, sys32, or a JSON file");
}

static void a_file_with_the_same_sizes_has_the_same_hash(void **state)
{
    struct diag d = {.status = ST_OK};
    struct hd_config mine, ours;

    (void)state;
    assert_int_equal(accel_config_from_json(a, acc, sys16, strlen(sys16), "x", &mine, &d), ST_OK);
    assert_int_equal(accel_config_find(a, acc, "{\"base\": \"sys16\", \"lstm\": 0}", &ours, &d),
                     ST_OK);
    assert_string_equal(mine.name, "mine");
    assert_int_equal(mine.hash, ours.hash);
}

/* Members that an object lacks come from its base; without a name the hash distinguishes it from
 * others of that base. */
static void a_base_gives_the_rest(void **state)
{
    static const char text[] = "{\"base\": \"sys16\", \"ports\": 2}";
    struct diag d = {.status = ST_OK};
    struct hd_config mine, ours, same;

    (void)state;
    assert_int_equal(accel_config_by_name(acc, "sys16", &ours, &d), ST_OK);
    assert_int_equal(accel_config_find(a, acc, text, &mine, &d), ST_OK);
    assert_int_equal(mine.ports, 2);
    assert_int_equal(mine.weight_bytes, ours.weight_bytes);
    assert_int_not_equal(mine.hash, ours.hash);
    assert_string_equal(mine.name, arena_printf(a, "sys16-%08x", mine.hash));
    assert_int_equal(accel_config_find(a, acc, "{\"base\": \"sys16\"}", &same, &d), ST_OK);
    assert_int_equal(same.hash, ours.hash);
    assert_int_equal(accel_config_find(a, acc, "{\"base\": \"sys9\"}", &same, &d), ST_USAGE);
    assert_string_equal(d.text, "--hw: \"base\": no hardware configuration 'sys9': expected one of "
                                "tiny, sys8, sys16, sys32, or a JSON file");
}

/* Rows and columns are n unless stated; a base's follow another n only if they are its own n. */
static void sides_are_n_unless_stated(void **state)
{
    static const struct {
        const char *text;
        uint32_t rows, columns;
    } cases[] = {
        {"{\"base\": \"sys16\"}", 16, 16},
        {"{\"base\": \"sys16\", \"rows\": 12}", 12, 16},
        {"{\"base\": \"sys16\", \"rows\": 6, \"columns\": 10, \"lstm\": 0}", 6, 10},
        {"{\"base\": \"sys16\", \"n\": 8, \"columns\": 4}", 8, 4},
    };
    struct hd_config square, c;
    struct diag d = {.status = ST_OK};

    (void)state;
    assert_int_equal(accel_config_by_name(acc, "sys16", &square, &d), ST_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(accel_config_find(a, acc, cases[i].text, &c, &d), ST_OK);
        assert_int_equal(c.rows, cases[i].rows);
        assert_int_equal(c.columns, cases[i].columns);
        assert_int_equal(c.hash == square.hash, i == 0);
    }
}

static void a_missing_file_is_said(void **state)
{
    struct diag d = {.status = ST_OK};
    struct hd_config c;

    (void)state;
    assert_int_equal(accel_config_find(a, acc, "no/such.json", &c, &d), ST_USAGE);
    assert_string_equal(d.text, "cannot read 'no/such.json': No such file or directory");
}

static void sizes_at_the_edge_pass(void **state)
{
    (void)state;
    expect_good("131072", "16777216");
    expect_good("131072", "256"); /* two words in each bank */
    expect_good("65536", "2064"); /* 129 words for 64 entries */
    expect_good("65536, \"acc_depth\": 512, \"param_entries\": 64",
                "272, \"acc_depth\": 512, \"param_entries\": 4"); /* one segment and a word */
    expect_good("\"param_entries\": 64", "\"param_entries\": 2");
    expect_good("\"axi_addr_bits\": 40", "\"axi_addr_bits\": 63");
    expect_good("\"axi_addr_bits\": 40", "\"axi_addr_bits\": 32");
    expect_good("\"acc_depth\": 512", "\"acc_depth\": 16");
    expect_good("\"acc_depth\": 512", "\"acc_depth\": 4096");
    expect_good("\"ports\": 4", "\"ports\": 3");
    expect_good("\"axi_bytes\": 16", "\"axi_bytes\": 64");
    expect_good("\"axi_bytes\": 16", "\"axi_bytes\": 4");
    expect_good("\"read_bursts\": 16", "\"read_bursts\": 1");
    expect_good("\"ports\": 4", "\"ports\": 4, \"softmax_rows\": 0");
    expect_good("\"ports\": 4", "\"ports\": 4, \"softmax_rows\": 1024");
    expect_good("\"ports\": 4", "\"ports\": 4, \"lstm\": 1");
    expect_good("\"n\": 16", "\"n\": 8, \"lstm\": 1");
}

static void impossible_sizes_are_refused(void **state)
{
    (void)state;
    expect_bad("\"n\": 16", "\"n\": 12",
               "x.json: \"n\": expected 4, 8, 16 or 32, found 12: byte addresses are a word and a "
               "lane of n, split as bits; for an array of 12, state a larger n, and \"rows\" and "
               "\"columns\"");
    expect_bad("\"n\": 16", "\"n\": 6", "expected 4, 8, 16 or 32, found 6");
    expect_bad("\"n\": 16", "\"n\": 16, \"rows\": 17",
               "x.json: \"rows\": expected at most 16 (n, the lanes of a word), found 17; state a "
               "larger n");
    expect_bad("\"n\": 16", "\"n\": 16, \"columns\": 32",
               "x.json: \"columns\": expected at most 16");
    expect_bad("\"n\": 16", "\"n\": 16, \"columns\": 1", "from 2 to 32, found 1");
    expect_bad("\"n\": 16", "\"n\": 16, \"cols\": 16", "unknown member \"cols\"");
    expect_bad("\"n\": 16", "\"n\": 16, \"lstm\": 1, \"columns\": 10",
               "x.json: \"lstm\": expected 0 unless columns are a multiple of 4, the gates of a "
               "cell, found 10 columns");
    expect_bad("\"n\": 16", "\"n\": 64", "expected an integer from 4 to 32, found 64");
    expect_bad("\"banks\": 8", "\"banks\": 4", "expected an integer from 8 to 8, found 4");
    expect_bad("\"ports\": 4", "\"ports\": 5", "expected an integer from 1 to 4, found 5");
    expect_bad("\"ports\": 4", "\"ports\": 0", "expected an integer from 1 to 4, found 0");
    expect_bad("131072", "131088", "expected a power of two of words of 16 bytes");
    expect_bad("131072", "128", "at least two in each of the 8 banks, found 128");
    expect_bad("65536", "65528", "expected a multiple of 16 (n)");
    expect_bad("65536", "240", "at least 256 (one segment of n x n)");
    expect_bad("65536", "2048", "expected more than 128 words of 16 (n), as many as");
    expect_bad("\"param_entries\": 64", "\"param_entries\": 1", "from 2 to 4096, found 1");
    expect_bad("\"axi_addr_bits\": 40", "\"axi_addr_bits\": 64", "from 32 to 63, found 64");
    expect_bad("\"axi_addr_bits\": 40", "\"axi_addr_bits\": 31", "from 32 to 63, found 31");
    expect_bad("65536", "1048592", "expected at most 65536 words of 16 (n)");
    expect_bad("\"acc_depth\": 512", "\"acc_depth\": 500", "expected a power of two, found 500");
    expect_bad("\"acc_depth\": 512", "\"acc_depth\": 8192", "from 16 to 4096, found 8192");
    expect_bad("\"axi_bytes\": 16", "\"axi_bytes\": 24", "expected a power of two, found 24");
    expect_bad("\"axi_bytes\": 16", "\"axi_bytes\": 128", "from 4 to 64, found 128");
    expect_bad("\"ports\": 4", "\"ports\": 4, \"softmax_rows\": 100",
               "\"softmax_rows\": expected 0 or a power of two from 2, found 100");
    expect_bad("\"ports\": 4", "\"ports\": 4, \"softmax_rows\": 2048", "0 to 1024, found 2048");
    expect_bad("\"n\": 16", "\"n\": 4, \"lstm\": 1",
               "\"lstm\": expected 0 with n below 8, found 1");
    expect_bad("\"ports\": 4", "\"ports\": 4, \"lstm\": 2", "from 0 to 1, found 2");
    expect_bad("65536", "2048, \"softmax_rows\": 64", "0 with less than 256 words of weights");
    expect_bad("\"read_bursts\": 16", "\"read_bursts\": 65", "from 1 to 64, found 65");
    expect_bad("\"ports\": 4", "\"ports\": 4, \"clock_mhz\": 0", "from 1 to 100000, found 0");
    expect_bad("\"ports\": 4", "\"ports\": 4, \"clock_origin\": \"routed\"",
               "\"clock_mhz\": expected an integer from 1 to 100000, found nothing");
    expect_bad("\"ports\": 4", "\"ports\": 4, \"clock_mhz\": 9, \"clock_origin\": \"guess\"",
               "x.json: \"clock_origin\": expected \"assumed\", \"given\", \"placed\" or "
               "\"routed\", found guess");
    expect_bad("\"ports\": 4", "\"ports\": 4, \"clock_mhz\": 9, \"clock_origin\": 1",
               "found no string");
}

static void malformed_objects_are_refused(void **state)
{
    (void)state;
    expect_bad("\"ports\": 4, ", "", "\"ports\": expected an integer from 1 to 4, found nothing");
    expect_bad("\"ports\": 4", "\"ports\": -1", "found -1");
    expect_bad("\"ports\": 4", "\"ports\": 1e300", "found 1e+300");
    expect_bad("\"ports\": 4", "\"port\": 4", "unknown member \"port\"");
    expect_bad("\"banks\": 8", "\"n\": 16", "duplicate member \"n\"");
    expect_bad("\"mine\"", "\"my own\"", "expected 1 to 31 letters, digits, '_' or '-'");
    expect_bad("\"mine\"", "\"\"", "expected 1 to 31 letters");
    expect_bad("\"mine\"", "\"a1234567890123456789012345678901\"", "expected 1 to 31 letters");
    expect_bad("\"n\": 16,", "\"n\": 16", "x.json:1:26: not valid JSON");
    expect_bad("16}", "16} {}", "not valid JSON");
    expect_bad(sys16, "[]", "x.json: expected an object");
    expect_bad(sys16, "", "x.json:1:1: not valid JSON: the text ends too early");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_found),
        cmocka_unit_test(a_file_with_the_same_sizes_has_the_same_hash),
        cmocka_unit_test(a_base_gives_the_rest),
        cmocka_unit_test(sides_are_n_unless_stated),
        cmocka_unit_test(a_missing_file_is_said),
        cmocka_unit_test(sizes_at_the_edge_pass),
        cmocka_unit_test(impossible_sizes_are_refused),
        cmocka_unit_test(malformed_objects_are_refused),
    };

    return cmocka_run_group_tests(tests, load, unload);
}
