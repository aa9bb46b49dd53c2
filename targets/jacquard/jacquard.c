/* jacquard.c - the engine's instructions as descriptors: registers, then the unit that takes them. */
#include "jacquard.h"

#include "hd.h"

enum { LOAD, ENGINE, MOST_READS = 10000000 };

/* Registers of jacquard_core.sv, by number. */
enum {
    FROM,
    TO,
    SIZE,
    KIND,
    FROM_STEP,
    TO_STEP,
    TAPS,
    TAP_STEP,
    WITH,
    WITH_STEP,
    RESULT,
    SCALE,
    SCALE_1,
    SCALE_BY,
    PUSH,
    BEGIN
};

static void set(const struct hd_port *dev, uint32_t reg, uint32_t value)
{
    dev->write32(dev->ctx, 4 * reg, value);
}

static uint32_t halves(uint32_t high, uint32_t low)
{
    return high << 16 | (low & 0xffff);
}

/* From a row to the next, and from a column to the next, in units of n bytes. */
static uint32_t steps(uint32_t row, uint32_t column, uint32_t n)
{
    return halves(row / n, column / n);
}

/* The unit takes the descriptor, to begin when the other one has completed what this one waits for. */
static int push(const struct hd_port *dev, const struct hdk_issue *i, uint32_t unit)
{
    const uint32_t count = i->wait[1 - unit];

    set(dev, PUSH, halves(count, (uint32_t)(count > 0) << 1 | unit));
    return 0;
}

static int load(const struct hd_port *dev, const struct hdk_issue *i, uint32_t memory)
{
    set(dev, FROM, i->from.at);
    set(dev, TO, i->to.at / (memory == 2 ? 192 : 8));
    set(dev, SIZE, i->from.n_bytes / 8);
    set(dev, KIND, memory);
    return push(dev, i, LOAD);
}

int jacquard_lines_in(const struct hd_port *dev, const struct hdk_issue *i)
{
    return load(dev, i, 0);
}

int jacquard_filters_in(const struct hd_port *dev, const struct hdk_issue *i)
{
    return load(dev, i, 1);
}

int jacquard_channels_in(const struct hd_port *dev, const struct hdk_issue *i)
{
    return load(dev, i, 2);
}

/* An addition has two taps, the second at WITH. */
static int layer(const struct hd_port *dev, const struct hdk_issue *i, uint32_t keep)
{
    const int add = i->kind == HDK_LAYER_ADD;
    const uint32_t words = i->kind == HDK_LAYER_CONVOLVE ? i->from.n_bytes / 4 : 1;
    const struct hdk_scaling *of = i->operand;

    set(dev, FROM, i->from.at / 4);
    set(dev, TO, keep ? i->to.at / 16 : i->to.at);
    set(dev, SIZE, halves(i->rows, i->columns));
    set(dev, KIND, keep << 2 | (uint32_t)i->kind);
    set(dev, FROM_STEP, steps(i->from.row_stride, i->from.column_stride, 4));
    set(dev, TO_STEP, steps(i->to.row_stride, i->to.column_stride, 16));
    set(dev, TAPS, halves(i->taps.rows << 8 | (add ? 2 : i->taps.columns), words));
    set(dev, TAP_STEP, steps(i->taps.row_stride, i->taps.column_stride, 4));
    set(dev, WITH, i->with.at / (add ? 4 : 16));
    set(dev, RESULT,
        i->channels / 192 << 24 | (uint32_t)(i->zero & 0xff) << 16 |
            (uint32_t)(i->low & 0xff) << 8 | (uint32_t)(i->high & 0xff));
    if (add) {
        set(dev, WITH_STEP, steps(i->with.row_stride, i->with.column_stride, 4));
        set(dev, SCALE, (uint32_t)of[0].multiplier);
        set(dev, SCALE_1, (uint32_t)of[1].multiplier);
        set(dev, SCALE_BY,
            halves((uint32_t)-of[1].shift << 8 | (uint32_t)(of[1].zero & 0xff),
                   (uint32_t)-of[0].shift << 8 | (uint32_t)(of[0].zero & 0xff)));
    }
    return push(dev, i, ENGINE);
}

int jacquard_layer(const struct hd_port *dev, const struct hdk_issue *i)
{
    return layer(dev, i, 0);
}

int jacquard_keep(const struct hd_port *dev, const struct hdk_issue *i)
{
    return layer(dev, i, 1);
}

int jacquard_begin(const struct hd_port *dev)
{
    set(dev, BEGIN, 0);
    return 0;
}

int jacquard_wait(const struct hd_port *dev, uint32_t unit, uint32_t count)
{
    /* Counts have 16 bits, and none is half of their range ahead. */
    for (uint32_t i = 0; i < MOST_READS; i++)
        if ((int16_t)(uint16_t)(dev->read32(dev->ctx, 4 * unit) - count) >= 0)
            return 0;
    return HD_ERROR_TIMEOUT;
}
