/* hd_func.h - the functional model: executes a command stream without cycles, one command after
 * another, with the memories of the hardware. Used through an hd_port, it replaces the device;
 * `start` runs the stream at once.
 *
 * For each command the set of bytes it writes (space, address, value) equals that of the RTL; a
 * commit sink receives them. The functional model is stricter than the RTL for invalid commands (an
 * address outside a memory, inconsistent sizes): the RTL wraps or continues, the functional model
 * stops with HD_FAULT_BAD_FIELD and a reason. Freestanding, no allocation: the caller provides
 * hd_func_bytes bytes. */
#ifndef HD_FUNC_H
#define HD_FUNC_H

#include <stddef.h>
#include <stdint.h>

#include "driver/hd_port.h"
#include "hw/gen/config.h"
#include "sim/hd_sim.h"

#define HD_FUNC_MAX_N     64u  /* lanes of the widest configuration */
#define HD_FUNC_REG_WORDS 256u /* room for the register block */

/* The device's memory at its bus addresses: [base, base + n_bytes) are these host bytes. Other
 * accesses get a bus error. */
struct hd_func_memory {
    uint8_t *host;
    uint64_t base, n_bytes;
};

typedef void hd_func_sink(void *ctx, const struct hd_sim_commit *commit);

struct hd_cmd_vector;

/* One functional model. Fields are for its own files and for tests that inspect the memories. */
struct hd_func {
    struct hd_config config;
    struct hd_func_memory memory;

    uint8_t *space[11];   /* by enum hd_space: scratchpad, weights, bias, multiplier .. */
    uint32_t n_bytes[11]; /* of each */
    uint32_t *acc;        /* acc_depth vectors of N sums */
    int16_t *w_tile;      /* weights of one segment, N x N, zero point subtracted */
    int16_t *w_tile2;     /* the same for the second pixel stream */

    uint32_t reg[HD_FUNC_REG_WORDS];
    uint32_t done[8]; /* commands completed, by enum hd_unit */
    uint32_t command; /* index of the command being executed */
    uint32_t stuck;   /* 1: a command waits for a completion that never comes */
    uint64_t fault_address;
    const char *why; /* detail of the last fault or deadlock; "" if none */

    uint64_t commands_run, macs; /* since init: for reports */
    hd_func_sink *sink;
    void *sink_ctx;
};

/* Return the bytes of working memory for a configuration (n at most 64, a multiple of 4), or 0 if
 * it is not possible. */
size_t hd_func_bytes(const struct hd_config *config);

/* Make a functional model in reset state. mem: n_bytes >= hd_func_bytes(config), aligned to 8.
 * Memories start at 0. Returns 0, or HD_ERROR_ARGUMENT. */
int hd_func_init(struct hd_func *f, const struct hd_config *config, void *mem, size_t n_bytes,
                 struct hd_func_memory memory);

/* Make a port to the functional model. Host and device share `memory` through the window; clear
 * port->window to make the driver copy instead. Valid as long as `f`. */
void hd_func_port(struct hd_func *f, struct hd_port *port);

/* Send every write from now on to `sink` (NULL: off), as the RTL's commits; `cycle` counts
 * commands. */
void hd_func_commits(struct hd_func *f, hd_func_sink *sink, void *ctx);

/* Write what a commit of the RTL, or of another functional model, wrote into one of the device's
 * memories; one that is not of these, or beyond their ends, is ignored. */
void hd_func_apply(struct hd_func *f, const struct hd_sim_commit *commit);

/* Return the first of softmax's passes that explains a wrong row. MAXIMUM: the row is correct for
 * `other` as its largest byte, which is `max`. SUM: one wrong factor gives all results from the
 * exponentials. RESULT: neither. f: with the command's exponentials; x: the row's c->channels
 * bytes; found: the results. */
enum hd_softmax_pass { HD_SOFTMAX_MAXIMUM, HD_SOFTMAX_SUM, HD_SOFTMAX_RESULT };
enum hd_softmax_pass hd_func_softmax_pass(const struct hd_func *f, const struct hd_cmd_vector *c,
                                          const int8_t *x, const int8_t *found, int32_t *max,
                                          int32_t *other);

#endif
