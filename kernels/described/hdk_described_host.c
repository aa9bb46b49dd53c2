/* hdk_described_host.c - the host's side of a layer (hdk_described.h): images, weights and channels into
 * the first memory, results from there; images that stay in the memory of pixels, where they are seen. */
#include "hdk_described.h"

#define TRY(expr)                                                                                  \
    do {                                                                                           \
        int rc_ = (expr);                                                                          \
        if (rc_ != 0)                                                                              \
            return rc_;                                                                            \
    } while (0)

struct side {
    const struct hdk_layer *p;
    const struct hdk_device *device;
    const struct hd_port *dev;
};

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static int put(const struct side *r, uint32_t at, const void *host, uint32_t n_bytes)
{
    if (r->dev)
        return r->dev->to_device(r->dev->ctx, at, host, n_bytes);
    for (uint32_t i = 0; i < n_bytes; i++)
        r->device->model[at + i] = ((const uint8_t *)host)[i];
    return 0;
}

static int get(const struct side *r, void *host, uint32_t at, uint32_t n_bytes)
{
    if (r->dev)
        return r->dev->from_device(r->dev->ctx, host, at, n_bytes);
    for (uint32_t i = 0; i < n_bytes; i++)
        ((uint8_t *)host)[i] = r->device->model[at + i];
    return 0;
}

/* Pixels of the padding in an image row. */
static int fill(const struct side *r, uint32_t at, uint32_t n_bytes)
{
    int8_t zeros[64];

    for (uint32_t i = 0; i < sizeof zeros; i++)
        zeros[i] = (int8_t)r->p->z_in;
    for (uint32_t n; n_bytes; n_bytes -= n, at += n) {
        n = least(n_bytes, sizeof zeros);
        TRY(put(r, at, zeros, n));
    }
    return 0;
}

/* `columns` pixels of an image row from column `first` on, each as `pixel` bytes. */
static int write_pixels(const struct side *r, uint32_t at, const int8_t *x, int32_t first,
                        uint32_t columns, uint32_t pixel)
{
    const struct hdk_layer *p = r->p;
    const uint32_t left = least(first < 0 ? (uint32_t)-first : 0, columns);
    const uint32_t from = first < 0 ? 0 : least((uint32_t)first, p->in_w);
    const uint32_t n = least(p->in_w - from, columns - left);

    TRY(fill(r, at, left * pixel));
    at += left * pixel;
    x += from * p->in_c;
    if (p->in_c == pixel)
        TRY(put(r, at, x, n * p->in_c));
    for (uint32_t i = 0; i < n && p->in_c != pixel; i++)
        TRY(put(r, at + i * pixel, x + i * p->in_c, p->in_c));
    return fill(r, at + n * pixel, (columns - left - n) * pixel);
}

static int write_row(const struct side *r, uint32_t at, int32_t row, const int8_t *x)
{
    const struct hdk_layer *p = r->p;
    const uint32_t step = p->phases * p->stride_w;
    const uint32_t wide = step - p->stride_w + (p->kernel_w - 1) * p->dilation_w + 1;

    if (row < 0 || row >= (int32_t)p->in_h)
        return fill(r, at, p->pitch);
    x += (uint32_t)row * p->in_w * p->in_c;
    if (p->phases == 1)
        return write_pixels(r, at, x, -p->pad_left, p->pitch / p->pixel, p->pixel);
    for (uint32_t i = 0; i < p->out_w / p->phases; i++)
        TRY(write_pixels(r, at + i * p->pixel, x, (int32_t)(i * step) - p->pad_left, wide,
                         p->in_c));
    return 0;
}

/* The bytes of one window, in the order of its weights. */
static int write_window(const struct side *r, uint32_t at, int32_t row, int32_t column,
                        const int8_t *x)
{
    const struct hdk_layer *p = r->p;
    int8_t window[HDK_WINDOW];
    uint32_t n = 0;

    for (uint32_t tap = 0; tap < p->kernel_h * p->kernel_w; tap++) {
        const int32_t y = row + (int32_t)(tap / p->kernel_w * p->dilation_h);
        const int32_t z = column + (int32_t)(tap % p->kernel_w * p->dilation_w);
        const int in = y >= 0 && y < (int32_t)p->in_h && z >= 0 && z < (int32_t)p->in_w;

        for (uint32_t c = 0; c < p->in_c; c++, n++)
            window[n] =
                in ? x[((uint32_t)y * p->in_w + (uint32_t)z) * p->in_c + c] : (int8_t)p->z_in;
    }
    return put(r, at, window, n);
}

static int write_image(const struct side *r, uint32_t at, const int8_t *x)
{
    const struct hdk_layer *p = r->p;
    const uint32_t rows = hdk_layer_rows(p, p->out_h);

    for (uint32_t row = 0; row < rows && !p->together; row++)
        TRY(write_row(r, at + row * p->pitch, (int32_t)row - p->pad_top, x));
    for (uint32_t i = 0; i < p->out_h * p->out_w && p->together; i++)
        TRY(write_window(r, at + i * p->pixel, (int32_t)(i / p->out_w * p->stride_h) - p->pad_top,
                         (int32_t)(i % p->out_w * p->stride_w) - p->pad_left, x));
    return 0;
}

/* --- images that stay in the memory of pixels --- */

/* Without a core: write image x with the padding that the layer reads to its place. */
static void show(const struct side *r, uint32_t k, const int8_t *x)
{
    const struct hdk_layer *p = r->p;
    const struct hdk_place *of = &p->operand[k].place;
    uint8_t *const pixels =
        r->device->model + r->device->memory_at[r->device->instruction[HDK_MOVE_IN].to];
    const uint32_t rows = hdk_layer_rows(p, p->out_h);
    const uint32_t columns = (p->out_w - 1) * p->stride_w + (p->kernel_w - 1) * p->dilation_w + 1;

    for (uint32_t i = 0; i < rows * columns; i++) {
        const int32_t row = (int32_t)(i / columns) - p->pad_top;
        const int32_t column = (int32_t)(i % columns) - p->pad_left;
        const int in =
            row >= 0 && row < (int32_t)p->in_h && column >= 0 && column < (int32_t)p->in_w;
        uint8_t *to = pixels + of->at + row * (int32_t)of->row + column * (int32_t)p->pixel;

        for (uint32_t c = 0; c < p->in_c; c++)
            to[c] = (uint8_t)(in ? x[((uint32_t)row * p->in_w + (uint32_t)column) * p->in_c + c]
                                 : p->z_in);
    }
}

/* Copy a result that stays there, if it is seen. */
static int see(const struct side *r, int8_t *y)
{
    const struct hdk_layer *p = r->p;
    const uint32_t memory = r->device->instruction[HDK_MOVE_IN].to;
    const uint32_t pixel = (p->out_c + r->device->lanes - 1) / r->device->lanes * r->device->lanes;

    for (uint32_t i = 0; i < p->out_h * p->out_w; i++) {
        const uint32_t at = p->result.at + i / p->out_w * p->result.row + i % p->out_w * pixel;
        const uint8_t *model = r->device->model + r->device->memory_at[memory] + at;

        if (r->dev && r->dev->inspect)
            TRY(r->dev->inspect(r->dev, memory, y + i * p->out_c, at, p->out_c));
        for (uint32_t c = 0; c < p->out_c && !r->dev; c++)
            y[i * p->out_c + c] = (int8_t)model[c];
    }
    return 0;
}

static int write_operands(const struct side *r, const int8_t *x, const int8_t *w)
{
    const struct hdk_layer *p = r->p;
    const uint32_t depth = r->device->depth, lanes = r->device->lanes;
    const int8_t *const image[2] = {x, w};

    for (uint32_t k = 0; k < (p->kind == HDK_LAYER_ADD ? 2 : 1); k++)
        if (!p->operand[k].place.there)
            TRY(write_image(r, k * p->filters_at, image[k]));
        else if (!r->dev)
            show(r, k, image[k]);
    if (!hdk_layer_weighs(p))
        return 0;
    return put(r, p->filters_at, w,
               hdk_layer_channels(p, lanes) / lanes * hdk_layer_block(p, depth, lanes));
}

int hdk_described_run(const struct hdk_layer *p, const struct hdk_device *device,
                      const struct hd_port *dev, const int8_t *x, const int8_t *w,
                      const struct hdk_channel *channels, int8_t *y)
{
    const struct side r = {p, device, dev};
    const uint32_t lanes = device->lanes, pixel = (p->out_c + lanes - 1) / lanes * lanes;
    const uint32_t n = p->out_h * p->out_w;

    TRY(write_operands(&r, x, w));
    TRY(put(&r, p->channels_at, channels,
            hdk_layer_channels(p, lanes) * (uint32_t)sizeof *channels));
    TRY(hdk_described_issue(p, device, dev));
    if (p->result.there)
        return see(&r, y);
    if (p->out_c == pixel)
        return get(&r, y, p->out_at, n * pixel);
    for (uint32_t i = 0; i < n; i++)
        TRY(get(&r, y + i * p->out_c, p->out_at + i * pixel, p->out_c));
    return 0;
}
