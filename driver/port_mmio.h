/* port_mmio.h - bare metal: registers and device memory at fixed addresses of the processor.
 *
 *     static struct hd_mmio mmio = {.registers = 0x40000000, .memory = 0x80000000, .memory_base =
 * 0x80000000, .memory_bytes = 1 << 20}; struct hd_port port; hd_mmio_port(&mmio, &port);
 *
 * Without irq_pending the driver polls. clean and invalidate are the platform's cache maintenance
 * (NULL: coherent).
 */
#ifndef HD_PORT_MMIO_H
#define HD_PORT_MMIO_H

#include "hd_port.h"

struct hd_mmio {
    uintptr_t registers;  /* address of the register block */
    uintptr_t memory;     /* device memory at the processor's address */
    uint64_t memory_base; /* the same at the device's address */
    uint64_t memory_bytes;

    /* Interrupt: 1 if the line is or was high. Called every irq_poll_cycles; it may sleep (wfi). */
    int (*irq_pending)(void *ctx);
    uint32_t irq_poll_cycles; /* at least 1; 0 is treated as 1 */
    void *ctx;

    void (*clean)(void *ctx, const void *host, size_t n_bytes);
    void (*invalidate)(void *ctx, void *host, size_t n_bytes);
};

/* Make a port for it, valid as long as `m`. */
void hd_mmio_port(struct hd_mmio *m, struct hd_port *port);

#endif
