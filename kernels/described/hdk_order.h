/* hdk_order.h - instructions into the queues of their units. in: instructions in the order of a
 * layer's loops. out: each issued with its waits, counts or tokens, that follow from bytes. */
#ifndef HDK_ORDER_H
#define HDK_ORDER_H

#include "hdk_described.h"

enum { HDK_RANGES = 4, HDK_RING = HDK_QUEUE + HDK_HELD };

/* Bytes that an instruction uses. */
struct hdk_use {
    uint32_t memory, begin, end;
};

/* Begins as zeros with device and dev; dev NULL: the description computes. */
struct hdk_order {
    const struct hdk_device *device;
    const struct hd_port *dev;
    uint32_t issued[HDK_UNITS], sent[HDK_UNITS];
    uint32_t complete[HDK_UNITS]; /* at least */
    struct hdk_use use[HDK_UNITS][HDK_RING][HDK_RANGES];
    struct hdk_issue held[HDK_HELD];
    uint32_t held_put, held_take;
    uint32_t popped[HDK_UNITS][HDK_UNITS]; /* [of][by]: up to this instruction */
};

/* Set the waits of an instruction and put it into its unit's queue, or hold it back for one that
 * waits for it. Returns 0 or a negative enum hd_error. */
int hdk_order_issue(struct hdk_order *r, struct hdk_issue *i);
/* Issue all that is held back, and return when all units are done. Likewise. */
int hdk_order_end(struct hdk_order *r);

#endif
