/* loom.c - the core's instructions as register writes. */
#include "loom.h"

#include "hd.h"

enum { LOAD, GEMM, ALU, STORE, MOST_READS = 10000000 };

/* Registers of loom_core.sv, by number. */
enum { FROM, TO, SIZE, STRIDE, KIND, PUSH, BEGIN };

static void set(const struct hd_port *dev, uint32_t reg, uint32_t value)
{
    dev->write32(dev->ctx, 4 * reg, value);
}

/* Write what every instruction has, and push. from, to: in the memories' words. */
static int push(const struct hd_port *dev, const struct hdk_issue *i, uint32_t unit, uint32_t from,
                uint32_t to, uint32_t kind)
{
    set(dev, FROM, from);
    set(dev, TO, to);
    set(dev, KIND, kind);
    set(dev, PUSH, unit | i->pop << 4 | i->push << 8);
    return 0;
}

static int load(const struct hd_port *dev, const struct hdk_issue *i, uint32_t memory)
{
    set(dev, SIZE, i->from.n_bytes / 16);
    return push(dev, i, LOAD, i->from.at, i->to.at / 16, memory);
}

int loom_pixels_in(const struct hd_port *dev, const struct hdk_issue *i)
{
    return load(dev, i, 0);
}

int loom_filters_in(const struct hd_port *dev, const struct hdk_issue *i)
{
    return load(dev, i, 1);
}

int loom_channels_in(const struct hd_port *dev, const struct hdk_issue *i)
{
    return load(dev, i, 2);
}

/* with: bits of the weights in KIND. */
static int gemm(const struct hd_port *dev, const struct hdk_issue *i, uint32_t with)
{
    set(dev, SIZE, i->rows << 16 | i->columns);
    set(dev, STRIDE, i->from.row_stride / 16 << 16 | i->from.column_stride / 16);
    return push(dev, i, GEMM, i->from.at / 16, i->to.at / 64, with | i->add << 8);
}

int loom_gemm(const struct hd_port *dev, const struct hdk_issue *i)
{
    return gemm(dev, i, i->with.at / 256);
}

int loom_lanes(const struct hd_port *dev, const struct hdk_issue *i)
{
    return gemm(dev, i, i->with.at / 256 | i->with.at / 16 % 16 << 12 | 1 << 10);
}

int loom_widen(const struct hd_port *dev, const struct hdk_issue *i)
{
    return gemm(dev, i, (uint32_t)-i->shift << 24 | (uint32_t)(i->zero & 0xff) << 16 | 1 << 9);
}

/* keep: 1: to pixels, 0: to results. */
static int alu(const struct hd_port *dev, const struct hdk_issue *i, uint32_t keep)
{
    set(dev, SIZE, i->rows << 16 | i->columns);
    set(dev, STRIDE, i->to.row_stride / 16 << 16 | i->to.column_stride / 16);
    return push(dev, i, ALU, i->from.at / 64, i->to.at / 16,
                keep << 30 | i->with.at / 192 << 24 | (uint32_t)(i->zero & 0xff) << 16 |
                    (uint32_t)(i->low & 0xff) << 8 | (uint32_t)(i->high & 0xff));
}

int loom_alu(const struct hd_port *dev, const struct hdk_issue *i)
{
    return alu(dev, i, 0);
}

int loom_keep(const struct hd_port *dev, const struct hdk_issue *i)
{
    return alu(dev, i, 1);
}

int loom_store(const struct hd_port *dev, const struct hdk_issue *i)
{
    set(dev, SIZE, i->columns);
    set(dev, STRIDE, i->to.column_stride / 16);
    return push(dev, i, STORE, i->from.at / 16, i->to.at, 0);
}

int loom_begin(const struct hd_port *dev)
{
    set(dev, BEGIN, 0);
    return 0;
}

int loom_wait(const struct hd_port *dev, uint32_t unit, uint32_t count)
{
    /* Counts have 16 bits, and none is half of their range ahead. */
    for (uint32_t i = 0; i < MOST_READS; i++)
        if ((int16_t)(uint16_t)(dev->read32(dev->ctx, 4 * unit) - count) >= 0)
            return 0;
    return HD_ERROR_TIMEOUT;
}
