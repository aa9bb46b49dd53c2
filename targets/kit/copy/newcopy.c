/* newcopy.c - a copy by the core, or in plain C where there is no core. */
#include "newcopy.h"

#include <string.h>

int newcopy_copy(const struct hd_port *dev, const void *x, void *y, size_t n)
{
    const uint32_t to = ((uint32_t)n + 63) / 64 * 64; /* the operand is at 0, the result after it */
    int rc;

    if (!dev) {
        memcpy(y, x, n);
        return 0;
    }
    rc = dev->to_device(dev->ctx, 0, x, n);
    if (rc != 0)
        return rc;
    dev->write32(dev->ctx, 4, 0);
    dev->write32(dev->ctx, 8, to);
    dev->write32(dev->ctx, 12, (uint32_t)n);
    dev->write32(dev->ctx, 0, 1);
    rc = dev->wait_irq(dev->ctx, 2000000000);
    dev->write32(dev->ctx, 0, 0);
    return rc ? rc : dev->from_device(dev->ctx, y, to, n);
}
