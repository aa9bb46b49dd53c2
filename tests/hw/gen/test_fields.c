/* The structs of hd_accel.h and the tables of hd_accel_tables.c must state the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "hd_accel_tables.h"

static const struct hd_field_info *field(const struct hd_field_info *f, uint32_t n,
                                         const char *name)
{
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(f[i].name, name) == 0)
            return &f[i];
    fail_msg("no field '%s'", name);
    return NULL;
}

static const struct hd_command_info *command(uint32_t opcode)
{
    assert_non_null(hd_command_of_opcode[opcode]);
    return hd_command_of_opcode[opcode];
}

/* Put `value` into a field by name, in the words of a struct. */
static void put(void *object, uint32_t opcode, const char *name, int64_t value)
{
    const struct hd_command_info *c = command(opcode);
    const struct hd_field_info *f = field(c->fields, c->n_fields, name);
    uint32_t words[64];

    memcpy(words, object, c->n_words * 4);
    assert_true(hd_field_set(words, f, value));
    assert_int_equal(hd_field_get(words, f), value);
    memcpy(object, words, c->n_words * 4);
}

#define CHECK(object, opcode, member, value)                                                       \
    do {                                                                                           \
        put(&(object), (opcode), #member, (value));                                                \
        assert_int_equal((object).member, (value));                                                \
    } while (0)

static void array_struct_agrees(void **state)
{
    struct hd_cmd_array c = {.common = {.opcode = HD_OPCODE_ARRAY}};

    (void)state;
    for (int round = 0; round < 2; round++) { /* twice: no field may change another */
        CHECK(c, HD_OPCODE_ARRAY, depthwise, 1);
        CHECK(c, HD_OPCODE_ARRAY, streams, 2);
        CHECK(c, HD_OPCODE_ARRAY, ports, 4);
        CHECK(c, HD_OPCODE_ARRAY, kernel_h, 255);
        CHECK(c, HD_OPCODE_ARRAY, z_in, -128);
        CHECK(c, HD_OPCODE_ARRAY, act_max, 127);
        CHECK(c, HD_OPCODE_ARRAY, shift, -31);
        CHECK(c, HD_OPCODE_ARRAY, multiplier, INT32_MAX);
        CHECK(c, HD_OPCODE_ARRAY, out_channels, 65535);
        CHECK(c, HD_OPCODE_ARRAY, in_row, INT32_MIN);
        CHECK(c, HD_OPCODE_ARRAY, y_start, -3);
        CHECK(c, HD_OPCODE_ARRAY, in_h, 40000);
        CHECK(c, HD_OPCODE_ARRAY, in_wc, UINT32_MAX);
        CHECK(c, HD_OPCODE_ARRAY, pair_last, 16);
    }
    assert_int_equal(c.depthwise, 1);
    assert_int_equal(c.streams, 2);
    assert_int_equal(c.common.opcode, HD_OPCODE_ARRAY);
}

static void other_structs_agree(void **state)
{
    struct hd_cmd_vector v = {.op = 0};
    struct hd_cmd_dma_read r = {.region = 0};
    struct hd_cmd_store s = {.region = 0};

    (void)state;
    CHECK(v, HD_OPCODE_VECTOR, op, HD_VOP_SUM);
    CHECK(v, HD_OPCODE_VECTOR, kernel_h, 4095);
    CHECK(v, HD_OPCODE_VECTOR, x_start, -1);
    CHECK(v, HD_OPCODE_VECTOR, shift_out, 30);
    CHECK(v, HD_OPCODE_VECTOR, multiplier_out, 1 << 30);
    CHECK(r, HD_OPCODE_LOAD, region, 15);
    CHECK(r, HD_OPCODE_WEIGHT, space, HD_SPACE_TABLE);
    CHECK(r, HD_OPCODE_LOAD, dest_pitch, UINT32_MAX);
    CHECK(s, HD_OPCODE_STORE, rows, 65535);
    CHECK(s, HD_OPCODE_STORE, src_pitch, 3);
}

static void common_and_header_agree(void **state)
{
    const struct hd_common c = {
        .opcode = 5, .length = 7, .layer = 300, .wait_store = 9, .wait_enable = 31};
    const struct hd_header h = {.magic = HD_MAGIC, .command_count = 77};
    uint32_t words[8];

    (void)state;
    memcpy(words, &c, sizeof c);
    assert_int_equal(words[0], 5u | 7u << 8 | 300u << 16);
    assert_int_equal(hd_field_get(words, field(hd_common_fields, HD_COMMON_FIELDS, "layer")), 300);
    assert_int_equal(hd_field_get(words, field(hd_common_fields, HD_COMMON_FIELDS, "wait_store")),
                     9);
    memcpy(words, &h, sizeof h);
    assert_memory_equal(words, "HDDL", 4);
    assert_int_equal(
        hd_field_get(words, field(hd_header_fields, HD_HEADER_FIELDS, "command_count")), 77);
}

static void values_that_do_not_fit_are_refused(void **state)
{
    const struct hd_field_info u3 = {.name = "u", .lsb = 29, .bits = 3};
    const struct hd_field_info s8 = {.name = "s", .lsb = 4, .bits = 8, .is_signed = true};
    const struct hd_field_info u32 = {.name = "w", .bits = 32};
    uint32_t word = 0x12345678;

    (void)state;
    assert_false(hd_field_set(&word, &u3, 8));
    assert_false(hd_field_set(&word, &u3, -1));
    assert_false(hd_field_set(&word, &s8, 128));
    assert_false(hd_field_set(&word, &s8, -129));
    assert_false(hd_field_set(&word, &u32, (int64_t)1 << 32));
    assert_int_equal(word, 0x12345678);
    assert_true(hd_field_set(&word, &u3, 7));
    assert_true(hd_field_set(&word, &s8, -128));
    assert_int_equal(word, 0xf2345808);
    assert_true(hd_field_set(&word, &u32, UINT32_MAX));
    assert_int_equal(hd_field_get(&word, &u32), UINT32_MAX);
    assert_int_equal(hd_field_get(&word, &s8), -1);
}

static void tables_name_things(void **state)
{
    (void)state;
    assert_string_equal(hd_fault_names[HD_FAULT_REGION_LIMIT], "region_limit");
    assert_string_equal(
        hd_counter_names[HD_UNIT_ARRAY][HD_COUNTER_ARRAY_CONFLICT % HD_COUNTER_SLOTS], "conflict");
    assert_null(hd_counter_names[HD_UNIT_ARRAY][HD_COUNTER_SLOTS - 1]);
    assert_null(hd_command_of_opcode[HD_OPCODE_INVALID]);
    assert_string_equal(command(HD_OPCODE_WEIGHT)->name, "dma_read");
    assert_string_equal(hd_common_fields[0].values->values[HD_OPCODE_STORE], "store");
    assert_int_equal(command(HD_OPCODE_ARRAY)->n_words * 4, sizeof(struct hd_cmd_array));
    assert_int_equal(HD_CMD_ARRAY_UNITS * 16, sizeof(struct hd_cmd_array));
}

static void registers_are_where_the_offsets_say(void **state)
{
    uint32_t next = 0;

    (void)state;
    for (uint32_t i = 0; i < HD_REGISTER_KINDS; i++) {
        const struct hd_register_info *r = &hd_registers[i];

        assert_int_equal(r->offset, next);
        next += 4 * (r->count == 0 ? 1 : r->count);
        if (strcmp(r->name, "region_size") == 0)
            assert_int_equal(HD_REG_REGION_SIZE(3), r->offset + 12);
        if (strcmp(r->name, "status") == 0)
            assert_int_equal(HD_REG_STATUS, r->offset);
    }
    assert_int_equal(next, HD_REG_BYTES);
    assert_int_equal(HD_STATUS_ERROR_MASK, 1u << HD_STATUS_ERROR_LSB);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(array_struct_agrees),
        cmocka_unit_test(other_structs_agree),
        cmocka_unit_test(common_and_header_agree),
        cmocka_unit_test(values_that_do_not_fit_are_refused),
        cmocka_unit_test(tables_name_things),
        cmocka_unit_test(registers_are_where_the_offsets_say),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
