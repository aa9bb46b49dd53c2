/* strawberry.c - the core's registers, or where there is no core the same in C. */
#include "strawberry.h"

enum { SIDE = 4, DEPTH = 256, MEMORY = 131072, MAX_CYCLES = 10000000 };

/* Registers of strawberry_core.sv, by number. */
enum { WAIT = 1, ADDRESS = 2, LOAD = 8, STORE = 9, MULTIPLY = 10 };

/* The model of the core in C: there is one such device, as there is one core. */
static struct {
    uint8_t memory[MEMORY];
    int8_t lane[2][2][SIDE][DEPTH]; /* rows and columns, each twice */
    int32_t sums[2][SIDE * SIDE];
} soft;

static void copy(void *to, const void *from, uint32_t n_bytes)
{
    for (uint32_t i = 0; i < n_bytes; i++)
        ((uint8_t *)to)[i] = ((const uint8_t *)from)[i];
}

static void set(const struct hd_port *dev, uint32_t reg, uint32_t value)
{
    dev->write32(dev->ctx, 4 * reg, value);
}

static int put(const struct hd_port *dev, uint32_t address, const void *host, uint32_t n_bytes)
{
    if (dev)
        return dev->to_device(dev->ctx, address, host, n_bytes);
    copy(soft.memory + address, host, n_bytes);
    return 0;
}

static int get(const struct hd_port *dev, void *host, uint32_t address, uint32_t n_bytes)
{
    if (dev)
        return dev->from_device(dev->ctx, host, address, n_bytes);
    copy(host, soft.memory + address, n_bytes);
    return 0;
}

static int load(const struct hd_port *dev, const struct hdk_blocks_load *l)
{
    const uint32_t value[] = {l->address, l->lanes,        l->lane_stride,
                              l->pieces,  l->piece_stride, l->piece_bytes};
    for (uint32_t i = 0; dev && i < 6; i++)
        set(dev, ADDRESS + i, value[i]);
    if (dev)
        set(dev, LOAD, l->columns | l->buffer << 1);
    for (uint32_t i = 0; !dev && i < l->lanes * l->pieces; i++) {
        uint32_t lane = i / l->pieces, piece = i % l->pieces;
        copy(soft.lane[l->columns][l->buffer][lane] + piece * l->piece_bytes,
             soft.memory + l->address + lane * l->lane_stride + piece * l->piece_stride,
             l->piece_bytes);
    }
    return 0;
}

static int multiply(const struct hd_port *dev, const struct hdk_blocks_multiply *m)
{
    if (dev)
        set(dev, MULTIPLY,
            m->rows | m->columns << 1 | m->sums << 2 | m->first << 3 | m->depth << 16);
    for (uint32_t i = 0; !dev && i < SIDE * SIDE; i++) {
        const int8_t *a = soft.lane[0][m->rows][i / SIDE], *b = soft.lane[1][m->columns][i % SIDE];
        int32_t sum = m->first ? 0 : soft.sums[m->sums][i];
        for (uint32_t k = 0; k < m->depth; k++)
            sum += a[k] * b[k];
        soft.sums[m->sums][i] = sum;
    }
    return 0;
}

static int store(const struct hd_port *dev, uint32_t sums, uint32_t address)
{
    if (!dev) {
        copy(soft.memory + address, soft.sums[sums], sizeof soft.sums[sums]);
        return 0;
    }
    set(dev, ADDRESS, address);
    set(dev, STORE, sums);
    return 0;
}

static int wait(const struct hd_port *dev, uint32_t what)
{
    if (!dev)
        return 0;
    set(dev, WAIT, what);
    return dev->wait_irq(dev->ctx, MAX_CYCLES);
}

const struct hdk_blocks_unit strawberry_unit = {put, get, load, multiply, store, wait};
