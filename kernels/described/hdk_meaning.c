/* hdk_meaning.c - what an instruction of a described device does to its memories (hdk_described.h).
 * Sums wrap modulo 2^32. */
#include "hdk_described.h"
#include "kernels/hdk_math.h"

static uint8_t *position(const struct hdk_device *device, uint32_t memory, const struct hdk_box *b,
                         uint32_t row, uint32_t column)
{
    return device->model + device->memory_at[memory] + b->at + row * b->row_stride +
           column * b->column_stride;
}

static uint32_t get(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static void put(uint8_t *at, uint32_t v)
{
    for (uint32_t i = 0; i < 4; i++)
        at[i] = (uint8_t)(v >> 8 * i);
}

static void product(const struct hdk_device *device, const struct hdk_issue *i, const uint8_t *from,
                    const uint8_t *with, uint8_t *to)
{
    for (uint32_t n = 0; n < device->lanes; n++) {
        uint32_t sum = i->add ? get(to + 4 * n) : 0;

        for (uint32_t k = 0; k < device->depth; k++)
            sum += (uint32_t)((int8_t)from[k] * (int8_t)with[k * device->lanes + n]);
        put(to + 4 * n, sum);
    }
}

static void multiply(const struct hdk_device *device, const struct hdk_issue *i,
                     const uint8_t *from, const uint8_t *with, uint8_t *to)
{
    for (uint32_t n = 0; n < device->lanes; n++)
        put(to + 4 * n,
            (i->add ? get(to + 4 * n) : 0) + (uint32_t)((int8_t)from[n] * (int8_t)with[n]));
}

static void spread(const struct hdk_device *device, const uint8_t *from, uint8_t *to)
{
    for (uint32_t i = 0; i < device->depth * device->lanes; i++)
        to[i] = i % (device->lanes + 1) == 0 ? from[i / (device->lanes + 1)] : 0;
}

static void requantise(const struct hdk_device *device, const struct hdk_issue *i,
                       const uint8_t *from, const uint8_t *with, uint8_t *to)
{
    for (uint32_t n = 0; n < device->lanes; n++) {
        if (i->low == i->high) { /* padding, whose sums and channels may be of any bits */
            to[n] = (uint8_t)i->low;
            continue;
        }
        const uint8_t *c = with + n * sizeof(struct hdk_channel);
        const int32_t sum = (int32_t)(get(from + 4 * n) + get(c));

        to[n] = (uint8_t)hdk_clamp(hdk_rescale(sum, (int32_t)get(c + 4), (int32_t)get(c + 8)),
                                   i->zero, i->low, i->high);
    }
}

static void scale(const struct hdk_device *device, const struct hdk_issue *i, const uint8_t *from,
                  uint8_t *to)
{
    for (uint32_t n = 0; n < device->lanes; n++) {
        const int32_t x = ((int8_t)from[n] - i->zero) * (1 << 20);
        const uint32_t was = i->add ? get(to + 4 * n) : 0;

        put(to + 4 * n, was + (uint32_t)hdk_rescale(x, i->multiplier, i->shift));
    }
}

/* The sum of lane n of a layer; from, with: of the position. */
static uint32_t layer_sum(const struct hdk_device *device, const struct hdk_issue *i,
                          const uint8_t *from, const uint8_t *with, uint32_t n)
{
    uint32_t sum = 0;

    for (uint32_t k = 0; k < 2 && i->kind == HDK_LAYER_ADD; k++) {
        const struct hdk_scaling *of = &i->operand[k];
        const int32_t x = ((int8_t)(k ? with : from)[n] - of->zero) * (1 << 20);
        sum += (uint32_t)hdk_rescale(x, of->multiplier, of->shift);
    }
    for (uint32_t tap = 0; tap < i->taps.rows * i->taps.columns && i->kind != HDK_LAYER_ADD;
         tap++) {
        const uint8_t *x = from + tap / i->taps.columns * i->taps.row_stride +
                           tap % i->taps.columns * i->taps.column_stride;

        if (i->kind == HDK_LAYER_POOL)
            sum += (uint32_t)((int8_t)x[n] * (1 << HDK_POOL));
        if (i->kind == HDK_LAYER_DEPTHWISE)
            sum += (uint32_t)((int8_t)x[n] * (int8_t)with[tap * device->lanes + n]);
        for (uint32_t k = 0; k < i->from.n_bytes && i->kind == HDK_LAYER_CONVOLVE; k++)
            sum += (uint32_t)((int8_t)x[k] *
                              (int8_t)with[(tap * i->from.n_bytes + k) * device->lanes + n]);
    }
    return sum;
}

static void layer(const struct hdk_device *device, const struct hdk_issue *i, const uint8_t *from,
                  const uint8_t *with, uint8_t *to)
{
    uint8_t sums[4 * HDK_LANES];

    for (uint32_t n = 0; n < device->lanes; n++)
        put(sums + 4 * n, layer_sum(device, i, from, with, n));
    requantise(device, i, sums,
               device->model + device->memory_at[device->instruction[HDK_CHANNELS_IN].to] +
                   i->channels,
               to);
}

void hdk_meaning(const struct hdk_device *device, const struct hdk_issue *i)
{
    const struct hdk_instruction *of = &device->instruction[i->role];

    for (uint32_t row = 0; row < i->rows; row++)
        for (uint32_t column = 0; column < i->columns; column++) {
            const uint8_t *from = position(device, of->from, &i->from, row, column);
            const uint8_t *with = position(device, hdk_with(of, i), &i->with, row, column);
            uint8_t *to = position(device, of->to, &i->to, row, column);

            if (i->role == HDK_PRODUCT)
                product(device, i, from, with, to);
            else if (i->role == HDK_MULTIPLY)
                multiply(device, i, from, with, to);
            else if (i->role == HDK_MOVE_OUT || i->role == HDK_KEEP)
                requantise(device, i, from, with, to);
            else if (i->role == HDK_PIECE || i->role == HDK_PIECE_KEEP)
                layer(device, i, from, with, to);
            else if (i->role == HDK_SCALE)
                scale(device, i, from, to);
            else if (i->role == HDK_SPREAD)
                spread(device, from, to);
            else
                for (uint32_t k = 0; k < i->from.n_bytes; k++)
                    to[k] = from[k];
        }
}
