/* Placement and binding of a model's regions; the memory-mapped port on ordinary memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "driver/hd_model.h"
#include "driver/port_mmio.h"
#include "driver/port_record.h"

static const struct hd_io inputs[] = {{.name = "a", .n_bytes = 100, .region = HD_REGION_IO}};
static const struct hd_io outputs[] = {{.name = "b", .n_bytes = 10, .region = HD_REGION_IO + 1},
                                       {.name = "c", .n_bytes = 64, .region = HD_REGION_IO + 2}};
static const uint8_t commands[96], constants[65];
static const struct hd_model model = {.abi = HD_MODEL_ABI,
                                      .config_hash = 5,
                                      .n_inputs = 1,
                                      .n_outputs = 2,
                                      .inputs = inputs,
                                      .outputs = outputs,
                                      .commands = commands,
                                      .command_bytes = sizeof commands,
                                      .constants = constants,
                                      .constant_bytes = sizeof constants,
                                      .arena_bytes = 1000};

static void regions_follow_one_another(void **state)
{
    static const uint64_t offsets[] = {0, 128, 256, 1280, 1408, 1472, 1536};

    (void)state;
    for (uint32_t r = 0; r <= 6; r++)
        assert_int_equal(hd_model_region_offset(&model, r), offsets[r]);
    assert_int_equal(hd_model_device_bytes(&model), 1536);
}

static void binding_copies_commands_and_constants_only(void **state)
{
    struct hd_record_answer answers[] = {
        {HD_REG_ID, HD_ID, 0}, {HD_REG_VERSION, HD_STREAM_VERSION, 0}, {HD_REG_CONFIG_HASH, 5, 0}};
    struct hd_record_entry log[128];
    struct hd_record record = {.answers = answers, .n_answers = 3, .log = log, .log_room = 128};
    struct hd_port port;
    struct hd_device dev;
    uint8_t arena[1000], a[100], b[10], c[64];
    uint8_t *in[] = {a}, *out[] = {b, c};
    struct hd_call call = {.dev = &dev, .arena = arena, .in = in, .out = out};
    struct hd_model big = model;

    (void)state;
    hd_record_port(&record, &port);
    assert_int_equal(hd_open(&dev, &port, model.config_hash), HD_OK);
    assert_int_equal(hd_model_bind(&model, &call, 0x1000), HD_OK);
    assert_int_equal(hd_record_count(&record, HD_RECORD_TO_DEVICE, UINT64_MAX), 2);
    assert_ptr_equal(hd_record_last(&record, HD_RECORD_TO_DEVICE, 0x1000)->host, commands);
    assert_int_equal(hd_record_last(&record, HD_RECORD_TO_DEVICE, 0x1080)->value, 65);
    assert_ptr_equal(dev.region[HD_REGION_ARENA].host, arena);
    assert_ptr_equal(dev.region[3].host, a);
    assert_ptr_equal(dev.region[5].host, c);
    assert_int_equal(dev.region[5].device, 0x1000 + 1472);
    /* The arena and the outputs are writable; commands, constants and the input are read-only. */
    assert_int_equal(hd_record_last(&record, HD_RECORD_WRITE, HD_REG_REGION_RIGHTS)->value,
                     0x34003f);
    big.n_inputs = HD_REGIONS;
    assert_int_equal(hd_model_bind(&big, &call, 0x1000), HD_ERROR_ARGUMENT);
}

/* Every alignment of both ends, sizes around a word's: exactly these bytes are copied. */
static void mmio_copies_any_piece(void **state)
{
    static _Alignas(64) uint8_t memory[256];
    _Alignas(4) uint8_t host[64], back[64];
    struct hd_mmio mmio = {
        .memory = (uintptr_t)memory, .memory_base = 0x1000, .memory_bytes = sizeof memory};
    struct hd_port port;

    (void)state;
    hd_mmio_port(&mmio, &port);
    for (uint32_t i = 0; i < sizeof host; i++)
        host[i] = (uint8_t)(i + 1);
    for (uint32_t to = 0; to < 4; to++)
        for (uint32_t from = 0; from < 4; from++)
            for (uint32_t n = 0; n < 13; n++) {
                memset(memory, 0xee, sizeof memory);
                memset(back, 0xee, sizeof back);
                assert_int_equal(port.to_device(port.ctx, 0x1040 + to, host + from, n), HD_OK);
                assert_memory_equal(memory + 64 + to, host + from, n);
                assert_int_equal(memory[63 + to] & memory[64 + to + n], 0xee);
                assert_int_equal(port.from_device(port.ctx, back + 8 + from, 0x1040 + to, n),
                                 HD_OK);
                assert_memory_equal(back + 8 + from, host + from, n);
                assert_int_equal(back[7 + from] & back[8 + from + n], 0xee);
            }
}

static int pending_after_three(void *ctx)
{
    return ++*(int *)ctx >= 3;
}

static void mmio_reaches_registers_and_memory(void **state)
{
    static uint32_t registers[HD_REG_BYTES / 4];
    static uint8_t memory[256];
    int asked = 0;
    struct hd_mmio mmio = {.registers = (uintptr_t)registers,
                           .memory = (uintptr_t)memory,
                           .memory_base = 0x80000000,
                           .memory_bytes = sizeof memory,
                           .irq_pending = pending_after_three,
                           .irq_poll_cycles = 10,
                           .ctx = &asked};
    struct hd_port port;
    struct hd_device dev;
    uint8_t bytes[64];

    (void)state;
    registers[HD_REG_ID / 4] = HD_ID;
    registers[HD_REG_VERSION / 4] = HD_STREAM_VERSION;
    registers[HD_REG_CONFIG_HASH / 4] = 5;
    hd_mmio_port(&mmio, &port);
    assert_int_equal(hd_open(&dev, &port, 5), HD_OK);
    memset(bytes, 7, sizeof bytes);
    assert_int_equal(hd_bind(&dev, 2, bytes, 0x80000040, sizeof bytes, HD_READ | HD_WRITE), HD_OK);
    assert_int_equal(registers[HD_REG_REGION_BASE_LO(2) / 4], 0x80000040);
    assert_int_equal(hd_copy_in(&dev, 2, 0, sizeof bytes), HD_OK);
    assert_memory_equal(memory + 64, bytes, sizeof bytes);
    memory[64] = 9;
    assert_int_equal(hd_copy_out(&dev, 2, 0, 1), HD_OK);
    assert_int_equal(bytes[0], 9);
    assert_int_equal(hd_bind(&dev, 2, bytes, 0x800000c0, 128, HD_READ | HD_WRITE), HD_OK);
    assert_int_equal(hd_copy_in(&dev, 2, 0, 128), HD_ERROR_BUS);
    assert_int_equal(port.wait_irq(port.ctx, 20), HD_ERROR_TIMEOUT);
    assert_int_equal(port.wait_irq(port.ctx, 20), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regions_follow_one_another),
        cmocka_unit_test(binding_copies_commands_and_constants_only),
        cmocka_unit_test(mmio_copies_any_piece),
        cmocka_unit_test(mmio_reaches_registers_and_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
