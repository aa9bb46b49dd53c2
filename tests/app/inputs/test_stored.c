/* Numbers of types that the IR does not have: every float16 comes back, roundings are to even, and
 * a uint64 that int64 does not have is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "app/inputs/stored.h"
#include "operators/half.h"

static void test_every_half(void **state)
{
    (void)state;
    for (uint32_t h = 0; h < 65536; h++) {
        const float v = half_to_float((uint16_t)h);

        if (isnan(v))
            assert_true((h & 0x7fff) > 0x7c00);
        else
            assert_int_equal(half_from_float(v), h);
    }
    assert_true(half_to_float(0x3c00) == 1.0f && half_to_float(1) == 0x1p-24f);
    assert_int_equal(half_from_float(65519), 0x7bff);
    assert_int_equal(half_from_float(65520), 0x7c00);
    assert_int_equal(half_from_float(1 + 0x1p-11f), 0x3c00); /* ties to even */
    assert_int_equal(half_from_float(1 + 0x3p-11f), 0x3c02);
    assert_int_equal(bfloat_from_float(1 + 0x1p-8f), 0x3f80);
    assert_int_equal(bfloat_from_float(1 + 0x3p-8f), 0x3f82);
}

static struct ir_tensor tensor_of(enum ir_type type, enum ir_stored stored)
{
    return (struct ir_tensor){
        .name = "x", .type = type, .rank = 1, .dim = {2}, .stored = (uint8_t)stored};
}

static void back(struct arena *a, enum ir_type type, enum ir_stored stored, const void *from,
                 const char *npy)
{
    const struct ir_tensor t = tensor_of(type, stored);
    struct diag d = {0};
    uint8_t *loaded;

    assert_string_equal(stored_npy_type(&t), npy);
    assert_int_equal(stored_load(a, &t, from, 2, &loaded, &d), ST_OK);
    assert_memory_equal(stored_save(a, &t, loaded, 2), from, stored_bytes(&t));
}

static void test_types(void **state)
{
    struct arena *a = arena_new(1 << 20);
    const uint64_t big[2] = {1, (uint64_t)1 << 63};
    const struct ir_tensor t = tensor_of(IR_I64, IR_STORED_U64);
    struct diag d = {0};
    uint8_t *to;

    (void)state;
    back(a, IR_F32, IR_STORED_F16, (const uint16_t[]){0x3c01, 0xfbff}, "f2");
    back(a, IR_F32, IR_STORED_BF16, (const uint16_t[]){0x3f81, 0xff7f}, "V2");
    back(a, IR_F32, IR_STORED_F64, (const double[]){1.5, -0x1p100}, "f8");
    back(a, IR_I32, IR_STORED_U16, (const uint16_t[]){65535, 1}, "u2");
    back(a, IR_I32, IR_STORED_I16, (const int16_t[]){-32768, 32767}, "i2");
    back(a, IR_I64, IR_STORED_U32, (const uint32_t[]){UINT32_MAX, 1}, "u4");
    back(a, IR_I64, IR_STORED_U64, (const uint64_t[]){INT64_MAX, 1}, "u8");
    assert_int_equal(stored_load(a, &t, (const uint8_t *)big, 2, &to, &d), ST_UNSUPPORTED);
    assert_string_equal(d.text, "'x': element 1: expected a uint64 of at most 2^63 - 1");
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_half),
                                       cmocka_unit_test(test_types)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
