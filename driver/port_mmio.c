/* port_mmio.c - the port for bare metal: volatile accesses with a full barrier on both sides, so
 * that the doorbell follows every write to memory and every read of results follows the status. */
#include "port_mmio.h"

#include "hd.h"

static volatile uint32_t *reg_of(const struct hd_mmio *m, uint32_t offset)
{
    return (volatile uint32_t *)(m->registers + offset);
}

static uint32_t mmio_read32(void *ctx, uint32_t offset)
{
    uint32_t value = *reg_of(ctx, offset);

    __sync_synchronize();
    return value;
}

static void mmio_write32(void *ctx, uint32_t offset, uint32_t value)
{
    __sync_synchronize();
    *reg_of(ctx, offset) = value;
    __sync_synchronize();
}

static uint8_t *memory_at(const struct hd_mmio *m, uint64_t device, size_t n_bytes)
{
    uint64_t at = device - m->memory_base;

    if (device < m->memory_base || at > m->memory_bytes || n_bytes > m->memory_bytes - at)
        return NULL;
    return (uint8_t *)(m->memory + (uintptr_t)at);
}

/* A word that may alias any type. */
typedef uint32_t __attribute__((may_alias)) word;

/* Copy words if both addresses are aligned, otherwise bytes: device memory may be uncached, where a
 * word takes as long as a byte. */
static void copy(uint8_t *to, const uint8_t *from, size_t n)
{
    size_t i = 0;

    if (((uintptr_t)to | (uintptr_t)from) % 4 == 0)
        for (; n - i >= 4; i += 4)
            *(word *)(void *)(to + i) = *(const word *)(const void *)(from + i);
    for (; i < n; i++)
        to[i] = from[i];
}

static int mmio_to_device(void *ctx, uint64_t device, const void *host, size_t n_bytes)
{
    const struct hd_mmio *m = ctx;
    uint8_t *to = memory_at(m, device, n_bytes);

    if (!to)
        return HD_ERROR_BUS;
    copy(to, host, n_bytes);
    if (m->clean)
        m->clean(m->ctx, to, n_bytes);
    return HD_OK;
}

static int mmio_from_device(void *ctx, void *host, uint64_t device, size_t n_bytes)
{
    const struct hd_mmio *m = ctx;
    uint8_t *from = memory_at(m, device, n_bytes);

    if (!from)
        return HD_ERROR_BUS;
    if (m->invalidate)
        m->invalidate(m->ctx, from, n_bytes);
    copy(host, from, n_bytes);
    return HD_OK;
}

static int mmio_wait_irq(void *ctx, uint64_t max_cycles)
{
    const struct hd_mmio *m = ctx;
    uint64_t step = m->irq_poll_cycles ? m->irq_poll_cycles : 1;

    for (uint64_t waited = 0; waited < max_cycles; waited += step)
        if (m->irq_pending(m->ctx))
            return HD_OK;
    return HD_ERROR_TIMEOUT;
}

static void mmio_clean(void *ctx, const void *host, size_t n_bytes)
{
    const struct hd_mmio *m = ctx;

    m->clean(m->ctx, host, n_bytes);
}

static void mmio_invalidate(void *ctx, void *host, size_t n_bytes)
{
    const struct hd_mmio *m = ctx;

    m->invalidate(m->ctx, host, n_bytes);
}

void hd_mmio_port(struct hd_mmio *m, struct hd_port *port)
{
    *port = (struct hd_port){.ctx = m,
                             .read32 = mmio_read32,
                             .write32 = mmio_write32,
                             .to_device = mmio_to_device,
                             .from_device = mmio_from_device,
                             .wait_irq = m->irq_pending ? mmio_wait_irq : NULL,
                             .clean = m->clean ? mmio_clean : NULL,
                             .invalidate = m->invalidate ? mmio_invalidate : NULL,
                             .window = (uint8_t *)m->memory,
                             .window_base = m->memory_base,
                             .window_bytes = m->memory_bytes};
}
