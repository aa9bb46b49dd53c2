/* order.h - does every read come after the write that it needs, whatever time each unit takes? From waits and
 * the order of each unit's commands alone, within a submission. docs/PROOF.md has the rules. */
#ifndef HEDDLE_PROVE_ORDER_H
#define HEDDLE_PROVE_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "hd_accel.h"

struct prove_device;

enum { ORDER_UNITS = 5 };

/* Memories of a device: those of enum hd_space, and the host's. */
enum { ORDER_WINDOW = HD_SPACE_COUNT, ORDER_MEMORIES };

/* Who used a byte last. Commands of a unit are counted from 1 in each submission. */
struct prove_touch {
    uint32_t submission, writer;
    uint32_t reader[ORDER_UNITS]; /* since it was written */
    uint8_t unit;                 /* of the writer */
    bool late;                    /* of ARRAY: on its way when the next command begins */
    bool streams;                 /* of WEIGHT: words that ARRAY can follow */
};

struct prove_order {
    struct prove_touch *touch[ORDER_MEMORIES];
    uint64_t n[ORDER_MEMORIES], window_first;
    uint32_t submission, unit, sequence;
    uint32_t done[ORDER_UNITS]; /* commands that are complete when this one begins */
    uint32_t (
        *before[ORDER_UNITS])[ORDER_UNITS]; /* the same of each command, by unit and sequence */
    uint32_t follow;                        /* ARRAY: the WEIGHT command that it follows; 0: none */
    uint32_t lead, tile;                    /* ARRAY: lead_tiles, the tile that is computed */
    uint64_t left;                          /* ARRAY: steps after that tile */
    bool streams;
};

void prove_order_init(struct prove_device *v);
/* A submission of at most n commands begins: all before it are complete. */
void prove_order_begin(struct prove_device *v, uint32_t n);
/* The command c begins; `issued`: commands of each unit before it. */
void prove_order_command(struct prove_device *v, const struct hd_common *c, const uint32_t *issued);
/* ARRAY comes to its next tile, of `positions` positions and `words` words of weights. */
void prove_order_tile(struct prove_device *v, uint32_t positions, uint32_t words);
/* The command reads or writes n bytes of a memory. A fault if another order is possible. */
void prove_order_read(struct prove_device *v, uint32_t memory, uint64_t at, uint64_t n);
void prove_order_write(struct prove_device *v, uint32_t memory, uint64_t at, uint64_t n);

#endif
