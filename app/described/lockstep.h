/* lockstep.h - instructions of a described device, one at a time, on its core and by its description.
 * in: an open core, the device of emitted C. out: the first instruction after which the memories
 * differ, with its fields. The core's memories are those of target.json with an "array", and the
 * first; what it does with others is not seen. */
#ifndef HEDDLE_DESCRIBED_LOCKSTEP_H
#define HEDDLE_DESCRIBED_LOCKSTEP_H

#include "app/engine/core_targets.h"

struct lockstep {
    struct arena *arena;
    const struct described_device *described;
    struct core *core;
    struct hdk_device model;     /* its memories are those of the description */
    uint8_t *chip[HDK_MEMORIES]; /* bytes of the core's memories; NULL: without an "array" */
    uint32_t number;             /* instructions so far */
    bool found;                  /* the following are of the first wrong one */
    struct hdk_issue wrong;
    uint32_t wrong_number, memory, at; /* first wrong byte of that memory */
    uint8_t expected, got;
    uint64_t differ; /* bytes */
};

/* Prepare for the open core of `target`. ST_USAGE: an array that the Verilog does not have, or that
 * has another size. */
enum status lockstep_open(struct lockstep *l, struct arena *a, const struct target *target,
                          struct core *core, struct diag *d);
/* Return true if the core's memories that the instruction uses are all seen. */
bool lockstep_sees(const struct lockstep *l, enum hdk_role role);
/* Issue `n` instructions on the core, each of which waits for the one before, and wait for the last,
 * `number` of its unit. Execute them by the description on the bytes that the core had before, and
 * compare all memories that are seen. Returns 0 or the error of the target's C. */
int lockstep_step(struct lockstep *l, const struct hdk_device *device, const struct hdk_issue *i,
                  uint32_t n, uint32_t number);
/* Return "compute (rows 3, columns 16, from 0x240, ...)": the fields that the instruction has. */
const char *lockstep_instruction_text(struct lockstep *l, const struct hdk_issue *i);
/* Return "sums 0x40: expected 0x80 (-128), found 0x7f (127); 16 bytes differ" of the wrong one. */
const char *lockstep_bytes_text(struct lockstep *l);

#endif
