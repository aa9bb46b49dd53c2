/* port_record.h - a port that records every access and answers from a script, for the driver's
 * tests.
 *
 *     struct hd_record_answer answers[] = {{HD_REG_ID, HD_ID, 0}, {HD_REG_STATUS, 0, 3},
 * {HD_REG_STATUS, 2, 0}}; struct hd_record_entry log[64]; struct hd_record record = {.answers =
 * answers, .n_answers = 3, .log = log, .log_room = 64}; struct hd_port port;
 *     hd_record_port(&record, &port);
 */
#ifndef HD_PORT_RECORD_H
#define HD_PORT_RECORD_H

#include "hd_port.h"

enum hd_record_kind {
    HD_RECORD_READ,
    HD_RECORD_WRITE,
    HD_RECORD_TO_DEVICE,
    HD_RECORD_FROM_DEVICE,
    HD_RECORD_WAIT_IRQ,
    HD_RECORD_RELAX,
    HD_RECORD_CLEAN,
    HD_RECORD_INVALIDATE,
};

/* One call of the port. */
struct hd_record_entry {
    enum hd_record_kind kind;
    uint64_t address; /* register offset, or device address */
    uint64_t value;   /* register value, bytes, or cycles */
    const void *host; /* copies and cache maintenance */
};

/* Answer to a read of register `offset`: the `value` of the first matching line whose count is not
 * used up (0: unlimited). A register without a line reads as 0. */
struct hd_record_answer {
    uint32_t offset, value, count;
};

struct hd_record {
    struct hd_record_answer *answers; /* their counts decrease */
    uint32_t n_answers;
    struct hd_record_entry *log; /* the first log_room calls */
    uint32_t log_room;
    uint32_t n_calls; /* all calls */
    int irq_result;   /* of wait_irq */
    int copy_result;  /* result of to_device and from_device */
    uint64_t cycles;  /* requested by relax */
};

/* Make a port with every function set; tests clear functions to omit them, or set a window. */
void hd_record_port(struct hd_record *r, struct hd_port *port);

/* Count the recorded calls of a kind at an address (UINT64_MAX: any). */
uint32_t hd_record_count(const struct hd_record *r, enum hd_record_kind kind, uint64_t address);
/* Return the last such call, or NULL. */
const struct hd_record_entry *hd_record_last(const struct hd_record *r, enum hd_record_kind kind,
                                             uint64_t address);

#endif
