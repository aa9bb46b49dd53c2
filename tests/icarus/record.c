/* record.c - the trace of one inference: the driver and an emitted network on the recorder, each
 * call of the port as a line of text. Linked with the emitted C and the driver's.
 *     record BASE IN >trace      device memory from address BASE, the input's bytes
 *     read OFFSET VALUE | write OFFSET VALUE | to_device ADDRESS HEX | from_device ADDRESS BYTES | wait_irq
 * A read states what the recorder answered: what a device that has finished answers. */
#include <stdio.h>
#include <stdlib.h>

#include "driver/port_record.h"
#include "model.h"

static void print_bytes(uint64_t device, const uint8_t *bytes, uint64_t n)
{
    printf("to_device 0x%llx ", (unsigned long long)device);
    for (uint64_t i = 0; i < n; i++)
        printf("%02x", bytes[i]);
    printf("\n");
}

static void print_entry(const struct hd_record_entry *e)
{
    const unsigned long long address = e->address, value = e->value;

    switch (e->kind) {
    case HD_RECORD_READ: printf("read 0x%llx 0x%llx\n", address, value); break;
    case HD_RECORD_WRITE: printf("write 0x%llx 0x%llx\n", address, value); break;
    case HD_RECORD_TO_DEVICE: print_bytes(address, e->host, value); break;
    case HD_RECORD_FROM_DEVICE: printf("from_device 0x%llx %llu\n", address, value); break;
    case HD_RECORD_WAIT_IRQ: printf("wait_irq\n"); break;
    default: fprintf(stderr, "record: call %d was not expected\n", (int)e->kind); exit(2);
    }
}

int main(int argc, char **argv)
{
    struct hd_record_answer answers[] = {{HD_REG_ID, HD_ID, 0},
                                         {HD_REG_VERSION, HD_STREAM_VERSION, 0},
                                         {HD_REG_CONFIG_HASH, MODEL_CONFIG_HASH, 0},
                                         {HD_REG_STATUS, 0, 1},
                                         {HD_REG_STATUS, HD_STATUS_DONE_MASK, 0}};
    static struct hd_record_entry log[256];
    static uint8_t arena[MODEL_ARENA_BYTES + 1], io[MODEL_IO_BYTES];
    struct hd_record record = {
        .answers = answers, .n_answers = 5, .log = log, .log_room = sizeof log / sizeof *log};
    struct hd_port port;
    struct hd_device dev;
    uint8_t *in[] = {io}, *out[] = {io + (hd_model.inputs[0].n_bytes + 63) / 64 * 64};
    struct hd_call call = {.dev = &dev, .arena = arena, .in = in, .out = out};
    FILE *file = argc == 3 ? fopen(argv[2], "rb") : NULL;
    int rc;

    if (!file || hd_model.n_inputs != 1 || hd_model.n_outputs != 1 ||
        fread(in[0], 1, hd_model.inputs[0].n_bytes, file) != hd_model.inputs[0].n_bytes) {
        fprintf(stderr, "usage: record BASE IN, of a network of one input and one output\n");
        return 2;
    }
    fclose(file);
    hd_record_port(&record, &port);
    rc = hd_open(&dev, &port, MODEL_CONFIG_HASH);
    if (rc == HD_OK)
        rc = hd_model_bind(&hd_model, &call, strtoull(argv[1], NULL, 0));
    if (rc == HD_OK)
        rc = hd_model.run(&call);
    if (rc != HD_OK || record.n_calls > record.log_room) {
        fprintf(stderr, "record: error %d after %u calls\n", rc, record.n_calls);
        return 2;
    }
    for (uint32_t i = 0; i < record.n_calls; i++)
        print_entry(&log[i]);
    return 0;
}
