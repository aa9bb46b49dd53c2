/* program_main.c - run a user's C on bare metal instead of the package's main.c: open the
 * accelerator, pass it to hd_program with HD_MEMORY, exit with the result. heddle run --prog
 * --host=iss compiles it. */
#include "driver/package/port.h"
#include "driver/port_mmio.h"
#include "hd.h"

int hd_program(struct hd_device *dev, uint8_t *memory, uint64_t base, uint64_t bytes);

int package_main(uint32_t rounds)
{
    static struct hd_mmio mmio = {.registers = HD_REGISTERS,
                                  .memory = HD_MEMORY,
                                  .memory_base = HD_MEMORY,
                                  .memory_bytes = HD_MEMORY_BYTES};
    static struct hd_port port;
    static struct hd_device device;
    int rc;

    (void)rounds;
#ifdef HD_IRQ
    mmio.irq_pending = port_interrupt;
#endif
    hd_mmio_port(&mmio, &port);
    rc = hd_open(&device, &port, HD_CONFIG_HASH);
    return rc != HD_OK ? rc : hd_program(&device, (uint8_t *)HD_MEMORY, HD_MEMORY, HD_MEMORY_BYTES);
}
