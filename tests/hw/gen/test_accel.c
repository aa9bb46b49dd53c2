#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "hw/gen/accel.h"

/* The smallest valid accelerator, on several lines so that positions in messages can be checked. */
static const char minimal[] =
    "{\"name\": \"mini\", \"version\": 1,\n"
    "\"enums\": {\"unit\": {\"doc\": \"u\", \"values\": [\"load\", \"array\"]},\n"
    "\"opcode\": {\"doc\": \"o\", \"values\": [\"invalid\", \"end\", \"go\", \"run\"]}},\n"
    "\"facts\": {\"unit\": {\"doc\": \"f\", \"columns\": [{\"name\": \"ways\", \"bits\": 2, "
    "\"doc\": "
    "\"f\"},\n"
    "{\"name\": \"reads\", \"doc\": \"f\"}], \"rows\": {\"load\": {\"ways\": 3}, \"array\": "
    "{\"ways\": 1, "
    "\"reads\": 1}}}},\n"
    "\"constants\": {\"counter_slots\": {\"value\": 4, \"doc\": \"c\"}},\n"
    "\"registers\": [{\"name\": \"id\", \"access\": \"ro\", \"doc\": \"r\"},\n"
    "{\"name\": \"base\", \"count\": 3, \"access\": \"rw\", \"doc\": \"r\"},\n"
    "{\"name\": \"last\", \"access\": \"rw\", \"doc\": \"r\", \"fields\": [\n"
    "{\"name\": \"a\", \"bits\": 3, \"doc\": \"f\"}, {\"name\": \"b\", \"bits\": 2, \"doc\": "
    "\"f\"}]}],\n"
    "\"units\": [{\"name\": \"load\", \"counters\": [\"busy\", \"idle\"], \"doc\": \"u\"},\n"
    "{\"name\": \"array\", \"counters\": [\"busy\"], \"doc\": \"u\"}],\n"
    "\"header\": {\"doc\": \"h\", \"fields\": [\n"
    "{\"name\": \"a\", \"bits\": 32, \"doc\": \"\"}, {\"name\": \"b\", \"bits\": 32, \"doc\": "
    "\"\"},\n"
    "{\"name\": \"c\", \"bits\": 32, \"doc\": \"\"}, {\"name\": \"d\", \"bits\": 32, \"doc\": "
    "\"\"},\n"
    "{\"name\": \"e\", \"bits\": 32, \"doc\": \"\"}, {\"name\": \"f\", \"bits\": 32, \"doc\": "
    "\"\"},\n"
    "{\"name\": \"g\", \"bits\": 32, \"doc\": \"\"}, {\"name\": \"h\", \"bits\": 32, \"doc\": "
    "\"\"}]},\n"
    "\"common\": {\"doc\": \"c\", \"fields\": [\n"
    "{\"name\": \"opcode\", \"bits\": 8, \"enum\": \"opcode\", \"doc\": \"\"},\n"
    "{\"name\": \"w1\", \"bits\": 32, \"doc\": \"\"}, {\"name\": \"w2\", \"bits\": 32, \"doc\": "
    "\"\"},\n"
    "{\"name\": \"w3\", \"bits\": 5, \"doc\": \"\"}]},\n"
    "\"commands\": [{\"name\": \"go\", \"opcode\": [\"go\", \"run\"], \"doc\": \"c\", \"fields\": "
    "[\n"
    "{\"name\": \"x\", \"bits\": 20, \"doc\": \"\"},\n"
    "{\"name\": \"y\", \"bits\": 12, \"signed\": true, \"doc\": \"\"},\n"
    "{\"name\": \"z\", \"bits\": 31, \"doc\": \"\"}, {\"name\": \"t\", \"bits\": 2, \"doc\": "
    "\"\"}]},\n"
    "{\"name\": \"end\", \"opcode\": \"end\", \"doc\": \"c\", \"fields\": []}],\n"
    "\"timing\": [{\"name\": \"d\", \"value\": 7, \"module\": \"m\", \"bench\": \"b\", \"doc\": "
    "\"t\"},\n"
    "{\"name\": \"q\", \"value\": 8, \"parameter\": true, \"module\": \"m\", \"bench\": \"b\", "
    "\"doc\": "
    "\"t\"}],\n"
    "\"configurations\": [{\"name\": \"one\", \"n\": 4, \"scratchpad_bytes\": 8192, \"banks\": 8,\n"
    "\"ports\": 1, \"weight_bytes\": 2048, \"acc_depth\": 64, \"param_entries\": 32,\n"
    "\"axi_bytes\": 8, \"axi_addr_bits\": 40, \"read_bursts\": 4}]}\n";

static int make_arena(void **state)
{
    *state = arena_new(0);
    return 0;
}

static int free_arena(void **state)
{
    arena_free(*state);
    return 0;
}

/* `minimal` with the first `from` replaced by `to`. */
static const char *edited(struct arena *a, const char *from, const char *to)
{
    const char *at = strstr(minimal, from);

    assert_non_null(at);
    return arena_printf(a, "%.*s%s%s", (int)(at - minimal), minimal, to, at + strlen(from));
}

static void expect_bad(struct arena *a, const char *from, const char *to, const char *message)
{
    const char *text = edited(a, from, to);
    struct diag d = {.status = ST_OK};
    const struct accel *acc;

    assert_int_equal(accel_parse(a, text, strlen(text), "m.json", NULL, &acc, &d), ST_USAGE);
    if (strstr(d.text, message) == NULL)
        fail_msg("expected '%s' in '%s'", message, d.text);
}

static const struct accel *parse(struct arena *a, const char *text)
{
    struct diag d = {.status = ST_OK};
    const struct accel *acc;

    if (accel_parse(a, text, strlen(text), "m.json", NULL, &acc, &d) != ST_OK)
        fail_msg("%s", d.text);
    return acc;
}

static void fields_go_upward_and_never_straddle(void **state)
{
    const struct accel *acc = parse(*state, minimal);
    const struct accel_record *go = &acc->commands[0];
    static const uint32_t expected[][2] = {{4, 0}, {4, 20}, {5, 0}, {6, 0}}; /* word, lsb */

    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(go->fields[i].word, expected[i][0]);
        assert_int_equal(go->fields[i].lsb, expected[i][1]);
    }
    assert_true(go->fields[1].is_signed);
    assert_int_equal(go->n_words, 8);
    assert_int_equal(acc->commands[1].n_words, 4);
    assert_int_equal(go->n_opcodes, 2);
    assert_int_equal(go->opcodes[1], 3);
}

static void members_fill_every_bit_once(void **state)
{
    const struct accel *acc = parse(*state, minimal);
    static const uint32_t bits[] = {20, 12, 31, 1, 2, 30, 32}; /* words 4..7 */
    const struct accel_field *m;
    uint32_t n;

    m = accel_members(*state, &acc->commands[0], &n);
    assert_int_equal(n, 7);
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(m[i].bits, bits[i]);
    assert_null(m[3].name);
    assert_null(m[6].name);
    (void)accel_members(*state, &acc->commands[1], &n);
    assert_int_equal(n, 0);
}

static void registers_are_consecutive_words(void **state)
{
    const struct accel *acc = parse(*state, minimal);

    assert_int_equal(acc->registers[0].word, 0);
    assert_int_equal(acc->registers[1].word, 1);
    assert_int_equal(acc->registers[1].count, 3);
    assert_int_equal(acc->registers[2].word, 4);
    assert_int_equal(acc->registers[2].fields[1].lsb, 3);
    assert_int_equal(acc->register_words, 5);
}

static void enums_are_as_wide_as_their_field(void **state)
{
    const struct accel *acc = parse(*state, minimal);

    assert_int_equal(acc->enums[accel_enum_index(acc, "opcode")].bits, 8);
    assert_int_equal(acc->enums[accel_enum_index(acc, "unit")].bits, 1);
    assert_int_equal(accel_enum_index(acc, "none"), acc->n_enums);
}

static void syntax_errors_say_line_and_column(void **state)
{
    expect_bad(*state, "\"constants\":", "\"constants\";", "m.json:6:12: not valid JSON");
    expect_bad(*state, "\"read_bursts\": 4}]}\n", "",
               "m.json:31:38: not valid JSON: the text ends");
    expect_bad(*state, "4}]}\n", "4}]}\n x", "m.json:32:2: not valid JSON");
}

static void members_are_checked(void **state)
{
    expect_bad(
        *state, "\"bits\": 20", "\"bits\": 33",
        "m.json: commands[0].fields[0]: \"bits\": expected an integer from 1 to 32, found 33");
    expect_bad(*state, "\"bits\": 20", "\"bits\": 2.5", "found 2.5");
    expect_bad(*state, "\"bits\": 20", "\"bits\": \"20\"", "found a string");
    expect_bad(*state, "\"bits\": 20, ", "", "found nothing");
    expect_bad(*state, "\"signed\": true", "\"sigend\": true", "unknown member \"sigend\"");
    expect_bad(*state, "\"signed\": true", "\"signed\": 1",
               "expected true or false, found a number");
    expect_bad(*state, "\"signed\": true", "\"bits\": 3", "duplicate member \"bits\"");
    expect_bad(*state, "\"name\": \"x\"", "\"name\": \"X\"", "'X' is not a name");
    expect_bad(*state, "\"name\": \"x\"", "\"name\": \"y\"", "duplicate field 'y'");
    expect_bad(*state, "\"name\": \"x\"", "\"name\": \"w2\"", "is in the common part already");
    expect_bad(*state, "\"enum\": \"opcode\"", "\"enum\": \"opcod\"", "unknown enum 'opcod'");
    expect_bad(*state, "\"access\": \"ro\"", "\"access\": \"r\"", "expected ro, wo, rw or w1c");
    expect_bad(*state, "\"access\": \"ro\"", "\"access\": \"ro\", \"reset\": \"magic\"",
               "expected config_hash or a constant, found 'magic'");
}

static void structure_is_checked(void **state)
{
    expect_bad(*state, "[\"go\", \"run\"]", "[\"go\", \"end\"]",
               "opcode 1 belongs to two commands");
    expect_bad(*state, "[\"go\", \"run\"]", "[\"gone\"]", "'gone' is not in enum opcode");
    expect_bad(*state, "\"load\", \"array\"", "\"array\", \"load\"", "the order of enum unit");
    expect_bad(*state, "\"load\", \"array\"", "\"load\", \"load\"", "duplicate 'load'");
    expect_bad(*state, "\"value\": 4", "\"value\": 1", "expected at most counter_slots, 1");
    expect_bad(*state, "\"name\": \"a\", \"bits\": 3", "\"name\": \"a\", \"bits\": 31",
               "the fields of 'last' need more than 32 bits");
    expect_bad(*state, "{\"name\": \"w3\", \"bits\": 5, \"doc\": \"\"}",
               "{\"name\": \"w3\", \"bits\": 32, \"doc\": \"\"}, {\"name\": \"w4\", \"bits\": 1, "
               "\"doc\": \"\"}",
               "common: expected 4 words, found 8");
}

static void timing_is_checked(void **state)
{
    static const char value[] = "\"value\": 7", what[] = "m.json: timing[0]: \"value\": expected ";

    expect_bad(*state, value, "\"value\": 0", what);
    expect_bad(*state, value, "\"value\": 0", "an integer from 1 to 65535, found 0");
    expect_bad(*state, value, "\"value\": \"7\"", "found a string");
    expect_bad(*state, "\"value\": 7, ", "", "found nothing");
    expect_bad(*state, "\"parameter\": true", "\"parameter\": 1",
               "m.json: timing[1]: \"parameter\": expected true or false, found a number");
    expect_bad(*state, "\"name\": \"q\"", "\"name\": \"d\"",
               "m.json: timing[1]: \"name\": duplicate 'd', also timing[0]");
    expect_bad(*state, "\"module\": \"m\"", "\"module\": \"M\"", "timing[0]: 'M' is not a name");
    expect_bad(*state, "\"bench\": \"b\", ", "", "\"bench\": expected a string, found nothing");
    expect_bad(*state, value, "\"vlaue\": 7", "m.json: timing[0]: unknown member \"vlaue\"");
    expect_bad(*state,
               "\"timing\":", "\"doc\":", "m.json: \"timing\": expected an array, found nothing");
}

static void facts_are_packed_by_column(void **state)
{
    const struct accel_facts *f = parse(*state, minimal)->facts;

    assert_string_equal(f->of->name, "unit");
    assert_int_equal(f->bits, 3);
    assert_int_equal(accel_fact_row(f, 0), 3);
    assert_int_equal(accel_fact_row(f, 1), 5);
}

static void facts_are_checked(void **state)
{
    expect_bad(*state, "\"facts\": {\"unit\"", "\"facts\": {\"units\"",
               "m.json: facts.units: no enum of this name");
    expect_bad(*state, "\"load\": {\"ways\": 3}, ", "",
               "m.json: facts.unit.rows: \"load\": expected an object, found nothing");
    expect_bad(*state, "{\"load\": {\"ways\": 3}", "{\"laod\": {}, \"load\": {\"ways\": 3}",
               "facts.unit.rows: unknown member \"laod\", expected: load array");
    expect_bad(*state, "\"ways\": 3", "\"ways\": 4",
               "facts.unit.rows.load: \"ways\": expected an integer from 0 to 3, found 4");
    expect_bad(*state, "\"ways\": 3", "\"way\": 3",
               "facts.unit.rows.load: unknown member \"way\", expected: ways reads");
    expect_bad(*state, "{\"name\": \"reads\"", "{\"name\": \"ways\"",
               "facts.unit: duplicate column 'ways'");
    expect_bad(*state, "\"name\": \"ways\", \"bits\": 2", "\"name\": \"ways\", \"bits\": 9",
               "facts.unit.columns[0]: \"bits\": expected an integer from 1 to 8, found 9");
    expect_bad(
        *state, "{\"name\": \"reads\", \"doc\": \"f\"}",
        "{\"name\": \"a\", \"bits\": 8, \"doc\": \"\"}, {\"name\": \"b\", \"bits\": 8, \"doc\": "
        "\"\"}, {\"name\": \"c\", \"bits\": 8, \"doc\": \"\"}, {\"name\": \"d\", \"bits\": 8, "
        "\"doc\": \"\"}",
        "facts.unit: expected columns of 1 to 32 bits in all, found 34");
}

static uint32_t fnv1a(const char *s)
{
    uint32_t hash = 0x811c9dc5u;

    for (; *s; s++)
        hash = (hash ^ (unsigned char)*s) * 0x01000193u;
    return hash;
}

/* Written out by hand from the rule in hw/gen/README.md. */
static const char canonical[] =
    "{\"commands\":[{\"fields\":[{\"bits\":20,\"name\":\"x\"},"
    "{\"bits\":12,\"name\":\"y\",\"signed\":true},{\"bits\":31,\"name\":\"z\"},"
    "{\"bits\":2,\"name\":\"t\"}],\"name\":\"go\",\"opcode\":[\"go\",\"run\"]},"
    "{\"fields\":[],\"name\":\"end\",\"opcode\":\"end\"}],"
    "\"common\":{\"fields\":[{\"bits\":8,\"enum\":\"opcode\",\"name\":\"opcode\"},"
    "{\"bits\":32,\"name\":\"w1\"},{\"bits\":32,\"name\":\"w2\"},{\"bits\":5,\"name\":\"w3\"}]},"
    "\"configuration\":{\"acc_depth\":64,\"axi_addr_bits\":40,\"axi_bytes\":8,\"banks\":8,\"lstm\":"
    "0,\"n\":4,"
    "\"param_entries\":32,\"ports\":1,\"read_bursts\":4,\"scratchpad_bytes\":8192,"
    "\"softmax_rows\":256,\"weight_bytes\":2048},"
    "\"constants\":{\"counter_slots\":{\"value\":4}},"
    "\"enums\":{\"opcode\":{\"values\":[\"invalid\",\"end\",\"go\",\"run\"]},"
    "\"unit\":{\"values\":[\"load\",\"array\"]}},"
    "\"header\":{\"fields\":[{\"bits\":32,\"name\":\"a\"},{\"bits\":32,\"name\":\"b\"},"
    "{\"bits\":32,\"name\":\"c\"},{\"bits\":32,\"name\":\"d\"},{\"bits\":32,\"name\":\"e\"},"
    "{\"bits\":32,\"name\":\"f\"},{\"bits\":32,\"name\":\"g\"},{\"bits\":32,\"name\":\"h\"}]},"
    "\"registers\":[{\"access\":\"ro\",\"name\":\"id\"},"
    "{\"access\":\"rw\",\"count\":3,\"name\":\"base\"},"
    "{\"access\":\"rw\",\"fields\":[{\"bits\":3,\"name\":\"a\"},{\"bits\":2,\"name\":\"b\"}],"
    "\"name\":\"last\"}]}";

static void hash_is_fnv1a_of_canonical_json(void **state)
{
    assert_int_equal(fnv1a("foobar"), 0xbf9cf968u); /* published vector */
    assert_int_equal(parse(*state, minimal)->configs[0].hash, fnv1a(canonical));
}

static void hash_ignores_docs_names_units_facts_and_timing(void **state)
{
    const uint32_t hash = fnv1a(canonical);

    assert_int_equal(
        parse(*state, edited(*state, "\"doc\": \"r\"", "\"doc\": \"else\""))->configs[0].hash,
        hash);
    assert_int_equal(parse(*state, edited(*state, "\"one\"", "\"two\""))->configs[0].hash, hash);
    assert_int_equal(parse(*state, edited(*state, "\"n\": 4", "\"n\": 4.0"))->configs[0].hash,
                     hash);
    assert_int_equal(parse(*state, edited(*state, "\"value\": 7", "\"value\": 6"))->configs[0].hash,
                     hash);
    assert_int_equal(parse(*state, edited(*state, "\"ways\": 3", "\"ways\": 2"))->configs[0].hash,
                     hash);
    assert_int_not_equal(parse(*state, edited(*state, "8192", "16384"))->configs[0].hash, hash);
    assert_int_not_equal(parse(*state, edited(*state, "\"last\"", "\"final\""))->configs[0].hash,
                         hash);
}

static void our_accelerator_loads(void **state)
{
    struct diag d = {.status = ST_OK}, missing = d;
    const struct accel *acc;

    if (accel_load(*state, "hw/accel.json", &acc, &d) != ST_OK)
        fail_msg("%s", d.text);
    assert_int_equal(acc->n_configs, 4);
    assert_int_equal(accel_load(*state, "hw/none.json", &acc, &missing), ST_USAGE);
    assert_non_null(strstr(missing.text, "hw/none.json"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, make_arena, free_arena)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(fields_go_upward_and_never_straddle),
        TEST(members_fill_every_bit_once),
        TEST(registers_are_consecutive_words),
        TEST(enums_are_as_wide_as_their_field),
        TEST(syntax_errors_say_line_and_column),
        TEST(members_are_checked),
        TEST(structure_is_checked),
        TEST(timing_is_checked),
        TEST(facts_are_packed_by_column),
        TEST(facts_are_checked),
        TEST(hash_is_fnv1a_of_canonical_json),
        TEST(hash_ignores_docs_names_units_facts_and_timing),
        TEST(our_accelerator_loads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
