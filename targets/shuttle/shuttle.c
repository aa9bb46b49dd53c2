/* shuttle.c - the array's instructions as register writes. */
#include "shuttle.h"

#include "hd.h"

enum { LOAD, PRELOAD, ARRAY, STORE, UNITS, MOST_READS = 10000000 };

/* Registers of shuttle_core.sv, by number. */
enum { FROM, TO, SIZE, STRIDE, KIND, WAIT_01, WAIT_23, SCALE, PUSH, BEGIN };

static void set(const struct hd_port *dev, uint32_t reg, uint32_t value)
{
    dev->write32(dev->ctx, 4 * reg, value);
}

/* Write what every instruction has, and push. from, to: in the memories' words. */
static int push(const struct hd_port *dev, const struct hdk_issue *i, uint32_t unit, uint32_t from,
                uint32_t to, uint32_t kind)
{
    uint32_t waits = 0;

    for (uint32_t u = 0; u < UNITS; u++)
        waits |= (uint32_t)(i->wait[u] > 0) << u;
    set(dev, FROM, from);
    set(dev, TO, to);
    set(dev, KIND, kind);
    if (waits & 3)
        set(dev, WAIT_01, (i->wait[0] & 0xffff) | i->wait[1] << 16);
    if (waits & 12)
        set(dev, WAIT_23, (i->wait[2] & 0xffff) | i->wait[3] << 16);
    set(dev, PUSH, unit | waits << 4);
    return 0;
}

static int load(const struct hd_port *dev, const struct hdk_issue *i, uint32_t memory)
{
    set(dev, SIZE, i->from.n_bytes / 16);
    return push(dev, i, LOAD, i->from.at, i->to.at / 16, memory);
}

int shuttle_pixels_in(const struct hd_port *dev, const struct hdk_issue *i)
{
    return load(dev, i, 0);
}

int shuttle_filters_in(const struct hd_port *dev, const struct hdk_issue *i)
{
    return load(dev, i, 1);
}

int shuttle_channels_in(const struct hd_port *dev, const struct hdk_issue *i)
{
    return load(dev, i, 2);
}

int shuttle_preload(const struct hd_port *dev, const struct hdk_issue *i)
{
    return push(dev, i, PRELOAD, i->from.at / 16, 0, i->to.at / 256);
}

int shuttle_spread(const struct hd_port *dev, const struct hdk_issue *i)
{
    return push(dev, i, PRELOAD, i->from.at / 16, 0, i->to.at / 256 | 2);
}

int shuttle_compute(const struct hd_port *dev, const struct hdk_issue *i)
{
    set(dev, SIZE, i->rows << 16 | i->columns);
    set(dev, STRIDE, i->from.row_stride / 16 << 16 | i->from.column_stride / 16);
    return push(dev, i, ARRAY, i->from.at / 16, i->to.at / 64, i->with.at / 256 | i->add << 1);
}

int shuttle_widen(const struct hd_port *dev, const struct hdk_issue *i)
{
    set(dev, SIZE, i->rows << 16 | i->columns);
    set(dev, STRIDE, i->from.row_stride / 16 << 16 | i->from.column_stride / 16);
    set(dev, SCALE, (uint32_t)i->multiplier);
    return push(dev, i, ARRAY, i->from.at / 16, i->to.at / 64,
                (uint32_t)-i->shift << 16 | (uint32_t)(i->zero & 0xff) << 8 | 4 | i->add << 1);
}

/* to: bit 30 of the last register; outside or pixels. */
static int store(const struct hd_port *dev, const struct hdk_issue *i, uint32_t to)
{
    set(dev, SIZE, i->rows << 16 | i->columns);
    set(dev, STRIDE, i->to.row_stride / 16 << 16 | i->to.column_stride / 16);
    return push(dev, i, STORE, i->from.at / 64, i->to.at,
                to << 30 | i->with.at / 192 << 24 | (uint32_t)(i->zero & 0xff) << 16 |
                    (uint32_t)(i->low & 0xff) << 8 | (uint32_t)(i->high & 0xff));
}

int shuttle_move_out(const struct hd_port *dev, const struct hdk_issue *i)
{
    return store(dev, i, 0);
}

int shuttle_keep(const struct hd_port *dev, const struct hdk_issue *i)
{
    return store(dev, i, 1);
}

int shuttle_begin(const struct hd_port *dev)
{
    set(dev, BEGIN, 0);
    return 0;
}

int shuttle_wait(const struct hd_port *dev, uint32_t unit, uint32_t count)
{
    /* Counts have 16 bits, and none is half of their range ahead. */
    for (uint32_t i = 0; i < MOST_READS; i++)
        if ((int16_t)(uint16_t)(dev->read32(dev->ctx, 4 * unit) - count) >= 0)
            return 0;
    return HD_ERROR_TIMEOUT;
}
