/* The driver on a recorder: its writes, their order, and that every wait is bounded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "driver/hd.h"
#include "driver/port_record.h"

#define HASH 0x1234abcdu
#define LOG  4096u

/* A device that responds; tests append their own answers. */
struct bench {
    struct hd_record_answer answers[16];
    struct hd_record_entry log[LOG];
    struct hd_record record;
    struct hd_port port;
    struct hd_device dev;
};

static void answer(struct bench *b, uint32_t offset, uint32_t value, uint32_t count)
{
    b->answers[b->record.n_answers++] = (struct hd_record_answer){offset, value, count};
}

static void setup(struct bench *b)
{
    memset(b, 0, sizeof *b);
    b->record.answers = b->answers;
    b->record.log = b->log;
    b->record.log_room = LOG;
    hd_record_port(&b->record, &b->port);
    answer(b, HD_REG_ID, HD_ID, 0);
    answer(b, HD_REG_VERSION, HD_STREAM_VERSION, 0);
    answer(b, HD_REG_CONFIG_HASH, HASH, 0);
}

static void open_and_bind(struct bench *b, uint8_t *stream, uint32_t n_bytes)
{
    assert_int_equal(hd_open(&b->dev, &b->port, HASH), HD_OK);
    assert_int_equal(
        hd_bind(&b->dev, HD_REGION_COMMANDS, stream, 0x1000, n_bytes, HD_READ | HD_WRITE), HD_OK);
}

static void open_refuses_another_device(void **state)
{
    struct bench b;

    (void)state;
    setup(&b);
    b.answers[0].value = 7;
    assert_int_equal(hd_open(&b.dev, &b.port, HASH), HD_ERROR_NO_DEVICE);
    b.answers[0].value = HD_ID;
    b.answers[1].value = HD_STREAM_VERSION + 1;
    assert_int_equal(hd_open(&b.dev, &b.port, HASH), HD_ERROR_VERSION);
    b.port.read32 = NULL;
    assert_int_equal(hd_open(&b.dev, &b.port, HASH), HD_ERROR_ARGUMENT);
}

static void open_names_both_hashes(void **state)
{
    struct bench b;
    char text[128];

    (void)state;
    setup(&b);
    assert_int_equal(hd_open(&b.dev, &b.port, 0x0badf00d), HD_ERROR_CONFIG);
    assert_string_equal(
        hd_describe(&b.dev, HD_ERROR_CONFIG, NULL, 0, NULL, 0, text, sizeof text),
        "the program was compiled for another hardware configuration: CONFIG_HASH of the "
        "program 0x0badf00d, of the device 0x1234abcd");
    assert_int_equal(hd_record_count(&b.record, HD_RECORD_WRITE, UINT64_MAX), 0);
}

static void bind_writes_base_size_and_rights(void **state)
{
    struct bench b;
    uint8_t bytes[64];

    (void)state;
    setup(&b);
    assert_int_equal(hd_open(&b.dev, &b.port, HASH), HD_OK);
    assert_int_equal(hd_bind(&b.dev, 2, bytes, 0x1200000040u, 64, HD_READ | HD_WRITE), HD_OK);
    assert_int_equal(hd_record_last(&b.record, HD_RECORD_WRITE, HD_REG_REGION_BASE_LO(2))->value,
                     0x40);
    assert_int_equal(hd_record_last(&b.record, HD_RECORD_WRITE, HD_REG_REGION_BASE_HI(2))->value,
                     0x12);
    assert_int_equal(hd_record_last(&b.record, HD_RECORD_WRITE, HD_REG_REGION_SIZE(2))->value, 64);
    assert_int_equal(hd_record_last(&b.record, HD_RECORD_WRITE, HD_REG_REGION_RIGHTS)->value,
                     0x40004);
    assert_int_equal(hd_bind(&b.dev, 15, bytes, 0x1000, 64, HD_WRITE), HD_OK);
    assert_int_equal(hd_bind(&b.dev, 2, bytes, 0x1000, 64, HD_READ), HD_OK);
    assert_int_equal(hd_record_last(&b.record, HD_RECORD_WRITE, HD_REG_REGION_RIGHTS)->value,
                     0x80000004);
    assert_int_equal(hd_bind(&b.dev, 2, bytes, 0x1000, 64, 4), HD_ERROR_ARGUMENT);
    assert_int_equal(hd_bind(&b.dev, 2, bytes, 0x1001, 64, HD_READ | HD_WRITE), HD_ERROR_ARGUMENT);
    assert_int_equal(hd_bind(&b.dev, HD_REGIONS, bytes, 0x1000, 64, HD_READ | HD_WRITE),
                     HD_ERROR_ARGUMENT);
    assert_int_equal(hd_bind(&b.dev, 2, bytes, UINT64_MAX - 63, 128, HD_READ | HD_WRITE),
                     HD_ERROR_ARGUMENT);
}

/* A part may begin at any byte, and ends where the whole does. */
static void part_of_a_region_is_bound_at_any_byte(void **state)
{
    struct bench b;
    uint8_t bytes[64];

    (void)state;
    setup(&b);
    assert_int_equal(hd_open(&b.dev, &b.port, HASH), HD_OK);
    assert_int_equal(hd_bind(&b.dev, 2, bytes, 0x12ffffffc0u, 64, HD_READ | HD_WRITE), HD_OK);
    assert_int_equal(hd_bind_part(&b.dev, 9, 2, 13), HD_OK);
    assert_int_equal(hd_record_last(&b.record, HD_RECORD_WRITE, HD_REG_REGION_BASE_LO(9))->value,
                     0xffffffcd);
    assert_int_equal(hd_record_last(&b.record, HD_RECORD_WRITE, HD_REG_REGION_BASE_HI(9))->value,
                     0x12);
    assert_int_equal(hd_record_last(&b.record, HD_RECORD_WRITE, HD_REG_REGION_SIZE(9))->value, 51);
    assert_int_equal(hd_record_last(&b.record, HD_RECORD_WRITE, HD_REG_REGION_RIGHTS)->value,
                     0x2040204);
    assert_int_equal(hd_copy_in(&b.dev, 9, 0, 51), HD_OK);
    assert_ptr_equal(hd_record_last(&b.record, HD_RECORD_TO_DEVICE, 0x12ffffffcdu)->host,
                     bytes + 13);
    assert_int_equal(hd_bind_part(&b.dev, 9, 2, 64), HD_OK);
    assert_int_equal(hd_bind_part(&b.dev, 9, 2, 65), HD_ERROR_ARGUMENT);
    assert_int_equal(hd_bind_part(&b.dev, HD_REGIONS, 2, 0), HD_ERROR_ARGUMENT);
    assert_int_equal(hd_bind_part(&b.dev, 9, HD_REGIONS, 0), HD_ERROR_ARGUMENT);
    assert_int_equal(hd_bind_part(&b.dev, 9, 3, 1), HD_ERROR_ARGUMENT);
}

static void copies_reach_the_device_address(void **state)
{
    struct bench b;
    uint8_t bytes[64];
    const struct hd_record_entry *e;

    (void)state;
    setup(&b);
    assert_int_equal(hd_open(&b.dev, &b.port, HASH), HD_OK);
    assert_int_equal(hd_bind(&b.dev, 2, bytes, 0x1000, 64, HD_READ | HD_WRITE), HD_OK);
    assert_int_equal(hd_copy_in(&b.dev, 2, 16, 48), HD_OK);
    e = hd_record_last(&b.record, HD_RECORD_TO_DEVICE, 0x1010);
    assert_non_null(e);
    assert_int_equal(e->value, 48);
    assert_ptr_equal(e->host, bytes + 16);
    assert_int_equal(hd_copy_out(&b.dev, 2, 63, 1), HD_OK);
    assert_non_null(hd_record_last(&b.record, HD_RECORD_FROM_DEVICE, 0x103f));
    b.record.copy_result = HD_ERROR_BUS;
    assert_int_equal(hd_copy_out(&b.dev, 2, 0, 1), HD_ERROR_BUS);
}

static void copies_outside_a_region_are_refused(void **state)
{
    struct bench b;
    uint8_t bytes[64];

    (void)state;
    setup(&b);
    assert_int_equal(hd_open(&b.dev, &b.port, HASH), HD_OK);
    assert_int_equal(hd_bind(&b.dev, 2, bytes, 0x1000, 64, HD_READ | HD_WRITE), HD_OK);
    assert_int_equal(hd_copy_in(&b.dev, 2, 17, 48), HD_ERROR_ARGUMENT);
    assert_int_equal(hd_copy_in(&b.dev, 2, 65, 0), HD_ERROR_ARGUMENT);
    assert_int_equal(hd_copy_out(&b.dev, 2, UINT32_MAX, 2), HD_ERROR_ARGUMENT);
    assert_int_equal(hd_copy_in(&b.dev, 3, 0, 0), HD_ERROR_ARGUMENT);
    assert_int_equal(hd_copy_in(&b.dev, HD_REGIONS, 0, 0), HD_ERROR_ARGUMENT);
}

static void shared_memory_needs_no_copy(void **state)
{
    struct bench b;
    uint8_t window[256];

    (void)state;
    setup(&b);
    b.port.window = window;
    b.port.window_base = 0x1000;
    b.port.window_bytes = sizeof window;
    assert_int_equal(hd_open(&b.dev, &b.port, HASH), HD_OK);
    assert_int_equal(hd_bind(&b.dev, 2, window + 64, 0x1040, 192, HD_READ | HD_WRITE), HD_OK);
    assert_int_equal(hd_copy_in(&b.dev, 2, 8, 16), HD_OK);
    assert_int_equal(hd_copy_out(&b.dev, 2, 8, 16), HD_OK);
    assert_int_equal(hd_record_count(&b.record, HD_RECORD_TO_DEVICE, UINT64_MAX), 0);
    assert_int_equal(hd_record_count(&b.record, HD_RECORD_FROM_DEVICE, UINT64_MAX), 0);
    assert_ptr_equal(hd_record_last(&b.record, HD_RECORD_CLEAN, UINT64_MAX)->host, window + 72);
    assert_ptr_equal(hd_record_last(&b.record, HD_RECORD_INVALIDATE, UINT64_MAX)->host,
                     window + 72);
    /* Other bytes of the window, or a region that extends beyond it, are copied. */
    assert_int_equal(hd_bind(&b.dev, 2, window, 0x1040, 64, HD_READ | HD_WRITE), HD_OK);
    assert_int_equal(hd_copy_in(&b.dev, 2, 0, 64), HD_OK);
    assert_int_equal(hd_record_count(&b.record, HD_RECORD_TO_DEVICE, UINT64_MAX), 1);
    assert_int_equal(hd_bind(&b.dev, 2, window + 64, 0x1040, 193, HD_READ | HD_WRITE), HD_OK);
    assert_int_equal(hd_copy_in(&b.dev, 2, 0, 1), HD_OK);
    assert_int_equal(hd_record_count(&b.record, HD_RECORD_TO_DEVICE, UINT64_MAX), 2);
}

static void without_copy_functions_all_is_shared(void **state)
{
    struct bench b;
    uint8_t bytes[64];

    (void)state;
    setup(&b);
    b.port.to_device = NULL;
    b.port.from_device = NULL;
    b.port.clean = NULL;
    assert_int_equal(hd_open(&b.dev, &b.port, HASH), HD_OK);
    assert_int_equal(hd_bind(&b.dev, 2, bytes, 0x1000, 64, HD_READ | HD_WRITE), HD_OK);
    assert_int_equal(hd_copy_in(&b.dev, 2, 0, 64), HD_OK);
}

static void run_rings_the_doorbell_last(void **state)
{
    struct bench b;
    uint8_t stream[64] = {0};

    (void)state;
    setup(&b);
    answer(&b, HD_REG_STATUS, 0, 1);
    answer(&b, HD_REG_STATUS, HD_STATUS_DONE_MASK, 0);
    answer(&b, HD_REG_CYCLES_LO, 1234, 0);
    answer(&b, HD_REG_CYCLES_HI, 1, 0);
    open_and_bind(&b, stream, sizeof stream);
    assert_int_equal(hd_submit(&b.dev, 16, 48), HD_OK);
    assert_int_equal(b.log[b.record.n_calls - 1].address, HD_REG_CONTROL);
    assert_int_equal(b.log[b.record.n_calls - 1].value, HD_CONTROL_START_MASK);
    assert_int_equal(hd_record_last(&b.record, HD_RECORD_WRITE, HD_REG_COMMAND_OFFSET)->value, 16);
    assert_int_equal(hd_record_last(&b.record, HD_RECORD_WRITE, HD_REG_COMMAND_LENGTH)->value, 48);
    assert_int_equal(hd_record_last(&b.record, HD_RECORD_WRITE, HD_REG_IRQ_ENABLE)->value, 3);
    assert_int_equal(hd_wait(&b.dev), HD_OK);
    assert_int_equal(b.dev.cycles, 0x100000000u + 1234);
    assert_int_equal(b.dev.total_cycles, b.dev.cycles);
    /* The interrupt is acknowledged. */
    assert_int_equal(b.log[b.record.n_calls - 2].address, HD_REG_IRQ_STATUS);
    assert_int_equal(b.log[b.record.n_calls - 2].value, 3);
}

static void submit_refuses_bad_ranges_and_busy(void **state)
{
    struct bench b;
    uint8_t stream[64] = {0};

    (void)state;
    setup(&b);
    answer(&b, HD_REG_STATUS, HD_STATUS_BUSY_MASK, 0);
    open_and_bind(&b, stream, sizeof stream);
    assert_int_equal(hd_submit(&b.dev, 8, 48), HD_ERROR_ARGUMENT);
    assert_int_equal(hd_submit(&b.dev, 0, 40), HD_ERROR_ARGUMENT);
    assert_int_equal(hd_submit(&b.dev, 0, 16), HD_ERROR_ARGUMENT);
    assert_int_equal(hd_submit(&b.dev, 32, 48), HD_ERROR_ARGUMENT);
    assert_int_equal(hd_submit(&b.dev, UINT32_MAX - 15, 48), HD_ERROR_ARGUMENT);
    assert_int_equal(hd_submit(&b.dev, 0, 64), HD_ERROR_BUSY);
    assert_int_equal(hd_record_count(&b.record, HD_RECORD_WRITE, HD_REG_CONTROL), 0);
    setup(&b);
    answer(&b, HD_REG_STATUS, HD_STATUS_RESETTING_MASK, 0);
    open_and_bind(&b, stream, sizeof stream);
    assert_int_equal(hd_submit(&b.dev, 0, 64), HD_ERROR_BUSY);
}

static void waiting_is_bounded_by_interrupt(void **state)
{
    struct bench b;
    uint8_t stream[64] = {0};

    (void)state;
    setup(&b);
    open_and_bind(&b, stream, sizeof stream);
    b.dev.wait_cycles = 5000;
    b.record.irq_result = HD_ERROR_TIMEOUT;
    assert_int_equal(hd_run(&b.dev, 0, 64), HD_ERROR_TIMEOUT);
    assert_int_equal(hd_record_last(&b.record, HD_RECORD_WAIT_IRQ, UINT64_MAX)->value, 5000);
    b.record.irq_result = HD_ERROR_STUCK;
    assert_int_equal(hd_run(&b.dev, 0, 64), HD_ERROR_STUCK);
    /* An interrupt of another device: done never comes, and the wait still ends. */
    b.record.irq_result = 0;
    assert_int_equal(hd_run(&b.dev, 0, 64), HD_ERROR_TIMEOUT);
}

static void waiting_is_bounded_by_polling(void **state)
{
    struct bench b;
    uint8_t stream[64] = {0};

    (void)state;
    setup(&b);
    open_and_bind(&b, stream, sizeof stream);
    b.dev.wait_cycles = 5000;
    b.dev.wait_mode = HD_WAIT_POLL;
    assert_int_equal(hd_run(&b.dev, 0, 64), HD_ERROR_TIMEOUT);
    assert_true(b.record.cycles >= 5000 && b.record.cycles < 5100);
    assert_int_equal(hd_record_count(&b.record, HD_RECORD_WAIT_IRQ, UINT64_MAX), 0);
    assert_int_equal(hd_record_last(&b.record, HD_RECORD_WRITE, HD_REG_IRQ_ENABLE)->value, 0);
    b.port.relax = NULL;
    assert_int_equal(hd_run(&b.dev, 0, 64), HD_ERROR_TIMEOUT);
}

static void reset_is_bounded(void **state)
{
    struct bench b;

    (void)state;
    setup(&b);
    answer(&b, HD_REG_STATUS, HD_STATUS_RESETTING_MASK, 4);
    answer(&b, HD_REG_STATUS, 0, 1);
    answer(&b, HD_REG_STATUS, HD_STATUS_RESETTING_MASK, 0);
    assert_int_equal(hd_open(&b.dev, &b.port, HASH), HD_OK);
    assert_int_equal(hd_reset(&b.dev), HD_OK);
    assert_int_equal(hd_record_last(&b.record, HD_RECORD_WRITE, HD_REG_CONTROL)->value,
                     HD_CONTROL_SOFT_RESET_MASK);
    b.dev.wait_cycles = 1000;
    assert_int_equal(hd_reset(&b.dev), HD_ERROR_TIMEOUT);
}

static void fault_is_read_and_named(void **state)
{
    static const char *const names[] = {"00_conv2d", "01_softmax"};
    struct {
        struct hd_header header;
        struct hd_cmd_dma_read load;
        struct hd_cmd_end end;
    } stream = {.load.common = {.opcode = HD_OPCODE_LOAD, .length = 3, .layer = 0},
                .end.common = {.opcode = HD_OPCODE_END, .length = HD_CMD_END_UNITS, .layer = 1}};
    struct bench b;
    char text[128];

    (void)state;
    setup(&b);
    answer(&b, HD_REG_STATUS, 0, 1);
    answer(&b, HD_REG_STATUS, HD_STATUS_DONE_MASK | HD_STATUS_ERROR_MASK, 0);
    answer(&b, HD_REG_ERR_CAUSE,
           HD_FAULT_BUS_READ << HD_ERR_CAUSE_CODE_LSB | HD_UNIT_FETCH << HD_ERR_CAUSE_UNIT_LSB, 0);
    answer(&b, HD_REG_ERR_COMMAND, 1, 0);
    answer(&b, HD_REG_ERR_ADDRESS_LO, 0x80000010, 0);
    answer(&b, HD_REG_ERR_ADDRESS_HI, 0x7, 0);
    open_and_bind(&b, (uint8_t *)&stream, sizeof stream);
    assert_int_equal(hd_run(&b.dev, 0, sizeof stream), HD_ERROR_FAULT);
    assert_int_equal(b.dev.fault.code, HD_FAULT_BUS_READ);
    assert_string_equal(hd_describe(&b.dev, HD_ERROR_FAULT, (const uint32_t *)(const void *)&stream,
                                    sizeof stream, names, 2, text, sizeof text),
                        "device fault bus_read in fetch, command 1 ('01_softmax'), "
                        "address 0x780000010");
    assert_string_equal(hd_describe(&b.dev, HD_ERROR_FAULT, NULL, 0, NULL, 0, text, sizeof text),
                        "device fault bus_read in fetch, command 1, address 0x780000010");
    assert_string_equal(hd_describe(&b.dev, HD_ERROR_FAULT, NULL, 0, NULL, 0, text, 13),
                        "device fault");
    assert_int_equal(hd_submit(&b.dev, 0, sizeof stream), HD_OK);
    assert_int_equal(b.dev.fault.code, 0); /* of the last submission */
    assert_int_equal(b.dev.fault.address, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(open_refuses_another_device),
        cmocka_unit_test(open_names_both_hashes),
        cmocka_unit_test(bind_writes_base_size_and_rights),
        cmocka_unit_test(part_of_a_region_is_bound_at_any_byte),
        cmocka_unit_test(copies_reach_the_device_address),
        cmocka_unit_test(copies_outside_a_region_are_refused),
        cmocka_unit_test(shared_memory_needs_no_copy),
        cmocka_unit_test(without_copy_functions_all_is_shared),
        cmocka_unit_test(run_rings_the_doorbell_last),
        cmocka_unit_test(submit_refuses_bad_ranges_and_busy),
        cmocka_unit_test(waiting_is_bounded_by_interrupt),
        cmocka_unit_test(waiting_is_bounded_by_polling),
        cmocka_unit_test(reset_is_bounded),
        cmocka_unit_test(fault_is_read_and_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
