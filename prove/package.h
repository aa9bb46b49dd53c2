/* package.h - what a compiled package computes, over terms: its run function is called with a device
 * that executes command streams over terms, and with kernels that do. */
#ifndef HEDDLE_PROVE_PACKAGE_H
#define HEDDLE_PROVE_PACKAGE_H

#include <setjmp.h>

#include "base/status.h"
#include "driver/hd_model.h"
#include "hw/gen/config.h"
#include "prove/order.h"
#include "prove/terms/rules.h"

/* Terms of n bytes; a byte that nothing wrote is PROVE_NOTHING until it is read. */
struct prove_memory {
    uint32_t *term;
    uint64_t n;
};

enum { PROVE_NAMES = 128 };

/* The memory that host and devices share: commands, constants, arena, inputs, outputs, state. */
struct prove_package {
    struct prove *p;
    const struct hd_model *model;
    uint8_t *window; /* constants are there as bytes too */
    uint64_t base;   /* its bus address */
    struct prove_memory memory;
    struct prove_device *device;
    uint32_t n_device;
    const char *fault; /* the first thing that no device may do, or NULL */
    uint32_t fault_layer, n_command, n_call;
    const struct hd_call *call; /* of the inference */
    jmp_buf stop;               /* ends emitted code at a read that cannot be followed */
    bool entered;               /* a layer has begun */
    bool trial;                 /* host code runs on samples: devices and kernels do nothing */
    const char *const *target;  /* by layer, NULL for those that no external target computes */
    struct prove_graph *graph;  /* what the package is compared with */
    uint32_t n_compared;        /* calls that inputs alone compare */
    char compared[PROVE_NAMES]; /* their kernels, "lstm, f32_mean" */
};

/* One accelerator. */
struct prove_device {
    struct prove_package *package;
    struct hd_config config;
    struct hd_port port;
    struct hd_device dev;
    struct prove_memory scratchpad, weights;
    uint8_t *parameter[HD_SPACE_COUNT]; /* by enum hd_space */
    uint8_t *known[HD_SPACE_COUNT];     /* by byte: whether it is known */
    uint32_t n_parameter[HD_SPACE_COUNT];
    struct prove_sum *sum; /* accumulators */
    uint8_t *summed;       /* written once */
    uint32_t reg[256];
    struct prove_order order;
    uint32_t command, done[5]; /* of LOAD, WEIGHT, ARRAY, VECTOR, STORE */
};

/* Write commands and constants to the window. Other bytes are untouched. */
void prove_package_begin(struct prove_package *k);
/* Terms of the package's state after its reset; NULL without state. */
const uint32_t *prove_package_reset(struct prove_package *k);
/* The terms of its state, to read and write before and after an inference. */
uint32_t *prove_package_state(struct prove_package *k);
/* Run one inference. in[i], out[i]: terms of each input (given) and output. If the package does what cannot
 * be followed, package->fault says what. */
void prove_package_run(struct prove_package *k, const uint32_t *const *in, uint32_t **out);
/* Count a call that inputs alone compare. */
void prove_package_compared(struct prove_package *k, const char *name);
/* Record the first fault. why: a literal. */
void prove_package_fault(struct prove_package *k, const char *why);
/* True: n bytes at a host address are in the window, from *place on. */
bool prove_inside(const struct prove_package *k, const void *at, uint64_t n, uint64_t *place);
/* Return the terms of `n` bytes at a host address of the window or of constants. Elsewhere: a fault, which
 * ends the emitted code that called. */
const uint32_t *prove_read(struct prove_package *k, const void *at, uint64_t n);
/* The place of n terms in the window, or NULL after a fault. */
uint32_t *prove_write(struct prove_package *k, void *at, uint64_t n);

/* --- the device --- */

void prove_device_init(struct prove_device *v, struct prove_package *k,
                       const struct hd_config *config);
/* Record the first fault; always -1. why: a literal. */
int prove_fault(struct prove_device *v, const char *why);
/* The term at byte `at`, made when nothing wrote it. */
uint32_t prove_at(struct prove *p, const struct prove_memory *m, uint64_t at);
int prove_stream(struct prove_device *v);
int prove_dma_read(struct prove_device *v, const struct hd_cmd_dma_read *c);
int prove_store(struct prove_device *v, const struct hd_cmd_store *c);
int prove_array(struct prove_device *v, const struct hd_cmd_array *c);
int prove_vector(struct prove_device *v, const struct hd_cmd_vector *c);
int prove_device_softmax(struct prove_device *v, const struct hd_cmd_vector *c);
/* n known bytes of a parameter memory, or NULL after a fault. */
const uint8_t *prove_parameter(struct prove_device *v, uint32_t space, uint32_t at, uint32_t n);
/* t, requantised by lane `lane`'s table. */
uint32_t prove_look_up(struct prove_device *v, uint32_t table, uint32_t lane, uint32_t t);

#endif
