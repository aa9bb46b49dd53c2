/* layer_disturb.c - disturb a device as a careless host may: start a job, ring the doorbell again
 * and write registers while it is busy, reset it. in: a device with its regions bound. out: a
 * device that must run the next job correctly. The layer's seed determines everything. */
#include "hd_accel.h"
#include "layer_run.h"

/* Write one register; a doorbell every third time, as otherwise few writes would find a busy
 * device. */
static void write_one(struct device *v, struct layers_rng *r)
{
    static const uint32_t offsets[] = {HD_REG_COMMAND_OFFSET, HD_REG_COMMAND_LENGTH,
                                       HD_REG_IRQ_ENABLE, HD_REG_IRQ_STATUS};
    const uint32_t region = (uint32_t)layers_range(r, 0, HD_REGIONS - 1);
    const uint32_t value = (uint32_t)layers_next(r) & 0xfff0u;

    switch (layers_range(r, 0, 8)) {
    case 0:
    case 1:
    case 2: v->port.write32(v->port.ctx, HD_REG_CONTROL, HD_CONTROL_START_MASK); return;
    case 3:
        v->port.write32(v->port.ctx, HD_REG_REGION_BASE_LO(region), DEVICE_BASE + value);
        return;
    case 4: v->port.write32(v->port.ctx, HD_REG_REGION_SIZE(region), value); return;
    default: v->port.write32(v->port.ctx, offsets[layers_range(r, 0, 3)], value); return;
    }
}

int layer_disturb(const struct layer *l, struct device *v)
{
    struct layers_rng r = {l->setup->seed + 31};
    const struct sched_stream *s = &l->program->stream[0];
    const int32_t writes = layers_range(&r, 1, 12);
    const int rc = hd_submit(&v->dev, s->offset, s->n_bytes);

    if (rc != HD_OK)
        return rc;
    for (int32_t i = 0; i < writes; i++) {
        if (v->port.relax)
            v->port.relax(v->port.ctx,
                          (uint32_t)layers_range(&r, 0, 1) * (uint32_t)layers_range(&r, 1, 300));
        write_one(v, &r);
    }
    return hd_reset(&v->dev);
}
