/* hd_port.h - how the driver accesses a device. The same driver and the same emitted code run on
 * memory-mapped registers (port_mmio.c), on the Verilated model, on the functional model
 * (sim/functional), and on a recorder in tests (port_record.c). C11, freestanding. The first
 * argument of every function is the port's context. */
#ifndef HD_PORT_H
#define HD_PORT_H

#include <stddef.h>
#include <stdint.h>

struct hdk_device;
struct hdk_issue;

struct hd_port {
    void *ctx;

    /* Access one 32-bit register at byte `offset` of the register block (HD_REG_*). */
    uint32_t (*read32)(void *ctx, uint32_t offset);
    void (*write32)(void *ctx, uint32_t offset, uint32_t value);

    /* Copy between host memory and device memory. 0, or a negative enum hd_error. Never called for
     * a region that is shared (see hd_bind). NULL if all memory is shared. */
    int (*to_device)(void *ctx, uint64_t device, const void *host, size_t n_bytes);
    int (*from_device)(void *ctx, void *host, uint64_t device, size_t n_bytes);

    /* Wait at most max_cycles device cycles for the interrupt line. 0 when it is high,
     * HD_ERROR_TIMEOUT after max_cycles, HD_ERROR_STUCK when the device makes no progress (a
     * simulator's watchdog). NULL: the port has no interrupt, and the driver polls. */
    int (*wait_irq)(void *ctx, uint64_t max_cycles);

    /* Let about `cycles` device cycles pass between two polls. NULL: poll without a pause. */
    void (*relax)(void *ctx, uint32_t cycles);

    /* Cache maintenance of shared memory: before the device reads; before the host reads. NULL: not
     * needed. */
    void (*clean)(void *ctx, const void *host, size_t n_bytes);
    void (*invalidate)(void *ctx, void *host, size_t n_bytes);

    /* Shared memory: host address of device address `window_base`, `window_bytes` long; NULL if
     * host and device share no memory. */
    uint8_t *window;
    uint64_t window_base;
    uint64_t window_bytes;

    /* Called in place of the issue function of a described device (kernels/described), with the
     * number of the instruction in its unit, from 1. NULL except where instructions are examined. */
    int (*watch)(const struct hd_port *port, const struct hdk_device *device,
                 const struct hdk_issue *i, uint32_t number);
    /* Copy bytes of a memory of such a device that the host does not reach; NULL: their copies on the
     * host stay as they are. */
    int (*inspect)(const struct hd_port *port, uint32_t memory, void *host, uint64_t device,
                   size_t n_bytes);
};

#endif
