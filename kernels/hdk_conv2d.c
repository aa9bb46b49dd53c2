/* hdk_conv2d.c - CONV_2D: the windows of eight output pixels at a time meet the panels of weights
 * (hdk_tile.h). Where a ring of the image's rows, widened to 16 bits and padded with z_in, fits
 * into ROWS_BYTES, windows are read in place; else, and for 1x1, each is gathered. */
#include "hdk.h"
#include "hdk_tile.h"

#define ROWS_BYTES (32u << 10) /* stays in the first level of cache in addition to weights */
#define COPY       16u         /* lanes that copies of windows move at once, and may go over */

/* Where the walk over the output stands. */
struct cursor {
    const int8_t *image; /* of the batch */
    uint32_t oy, ox;
};

static void advance(const struct hdk_conv2d *p, struct cursor *at)
{
    if (++at->ox < p->out_w)
        return;
    at->ox = 0;
    if (++at->oy < p->out_h)
        return;
    at->oy = 0;
    at->image += (uint64_t)p->in_h * p->in_w * p->in_c;
}

static uint32_t taps(const struct hdk_conv2d *p)
{
    return p->kernel_h * p->kernel_w * (p->in_c / p->groups);
}

/* Lanes of a row of the ring: all that the windows of whole tiles read. */
static uint64_t ring_lanes(const struct hdk_conv2d *p)
{
    uint64_t last = (p->out_w - 1) / HDK_TILE_ROWS * HDK_TILE_ROWS + HDK_TILE_ROWS - 1;

    return (last * p->stride_x + p->kernel_w) * p->in_c;
}

/* A row of the window is whole pairs of taps, as the panels are. */
static int in_place(const struct hdk_conv2d *p)
{
    return p->kernel_w * p->in_c % 2 == 0;
}

static uint32_t windows_bytes(const struct hdk_conv2d *p)
{
    return HDK_TILE_ROWS * hdk_row_lanes(taps(p)) * (uint32_t)sizeof(int16_t);
}

/* An address for each row of the window, the ring, windows. */
static uint64_t rows_bytes(const struct hdk_conv2d *p)
{
    uint64_t lanes = p->kernel_h * ring_lanes(p) + COPY; /* 8: no address is wider */

    return p->kernel_h * 8u + lanes * sizeof(int16_t) +
           (in_place(p) ? 0 : windows_bytes(p) + COPY * sizeof(int16_t));
}

static int by_rows(const struct hdk_conv2d *p)
{
    return p->kernel_h * p->kernel_w > 1 && p->groups == 1 && p->dilation_y == 1 &&
           p->dilation_x == 1 && p->pad_top >= 0 && p->pad_left >= 0 && rows_bytes(p) <= ROWS_BYTES;
}

uint32_t hdk_conv2d_scratch(const struct hdk_conv2d *p)
{
    return by_rows(p) ? (uint32_t)rows_bytes(p) : windows_bytes(p);
}

static void fill(int16_t *to, uint32_t n, int32_t value)
{
    for (uint32_t i = 0; i < n; i++)
        to[i] = (int16_t)value;
}

/* One row of the window. Columns lo .. hi-1 lie inside the image; `x` is that row of the image at
 * column `ix`, which may be outside, and the group's first channel. */
HDK_INLINE void gather_row(const struct hdk_conv2d *p, const int8_t *x, uint32_t lo, uint32_t hi,
                           hdk_widen_function *widen, int16_t *to)
{
    uint32_t c = p->in_c / p->groups;

    fill(to, lo * c, p->z_in);
    if (p->groups == 1 && p->dilation_x == 1)
        widen(x + (int64_t)lo * p->in_c, (hi - lo) * c, to + lo * c);
    else
        for (uint32_t kx = lo; kx < hi; kx++)
            widen(x + (int64_t)kx * p->dilation_x * p->in_c, c, to + kx * c);
    fill(to + hi * c, (p->kernel_w - hi) * c, p->z_in);
}

/* Taps of n, `step` apart from position `at` on, that lie inside 0 .. size-1: *lo .. *hi - 1. */
HDK_INLINE void clip(int32_t at, uint32_t step, uint32_t n, uint32_t size, uint32_t *lo,
                     uint32_t *hi)
{
    *lo = 0;
    *hi = n;
    while (*lo < n && at + (int32_t)(*lo * step) < 0)
        ++*lo;
    while (*hi > *lo && at + (int32_t)((*hi - 1) * step) >= (int32_t)size)
        --*hi;
}

/* The window of one output pixel, channels of the group at image + first; outside the image: z_in.
 */
HDK_INLINE void gather(const struct hdk_conv2d *p, const struct cursor *at, uint32_t first,
                       hdk_widen_function *widen, int16_t *to)
{
    int32_t iy = (int32_t)(at->oy * p->stride_y) - p->pad_top;
    int32_t ix = (int32_t)(at->ox * p->stride_x) - p->pad_left;
    uint32_t row = p->kernel_w * (p->in_c / p->groups), lo, hi;

    clip(ix, p->dilation_x, p->kernel_w, p->in_w, &lo, &hi);
    for (uint32_t ky = 0; ky < p->kernel_h; ky++, iy += (int32_t)p->dilation_y, to += row)
        if (iy < 0 || iy >= (int32_t)p->in_h)
            fill(to, row, p->z_in);
        else
            gather_row(p, at->image + ((int64_t)iy * p->in_w + ix) * p->in_c + first, lo, hi, widen,
                       to);
}

static struct hdk_tile make_tile(const struct hdk_conv2d *p, const void *panels,
                                 const int16_t *const *x, uint32_t pitch, uint32_t pieces)
{
    return (struct hdk_tile){.x = x,
                             .x_pitch = pitch,
                             .pieces = pieces,
                             .piece = taps(p) / pieces,
                             .panels = panels,
                             .channels = p->out_c / p->groups,
                             .z_w = p->z_w,
                             .z_out = p->z_out,
                             .act_min = p->act_min,
                             .act_max = p->act_max};
}

/* Windows of one pixel lie side by side already. */
static int flat(const struct hdk_conv2d *p)
{
    return p->kernel_h * p->kernel_w * p->groups * p->stride_y * p->stride_x == 1 &&
           p->pad_top == 0 && p->pad_left == 0 && p->out_h == p->in_h && p->out_w == p->in_w &&
           p->in_c % 2 == 0;
}

HDK_INLINE void convolve_flat(const struct hdk_conv2d *p, const int8_t *x, const uint8_t *panels,
                              int8_t *y, int16_t *rows, hdk_tile_function *tile,
                              hdk_widen_function *widen)
{
    const uint32_t pixels = p->batch * p->out_h * p->out_w;
    const int16_t *const piece = rows;
    const struct hdk_tile t = make_tile(p, panels, &piece, p->in_c, 1);

    for (uint32_t i = 0; i < pixels; i += HDK_TILE_ROWS) {
        uint32_t n = pixels - i < HDK_TILE_ROWS ? pixels - i : HDK_TILE_ROWS;

        widen(x + (uint64_t)i * p->in_c, n * p->in_c, rows);
        tile(&t, n, y + (uint64_t)i * p->out_c, p->out_c);
    }
}

HDK_INLINE void convolve_windows(const struct hdk_conv2d *p, const int8_t *x, const uint8_t *panels,
                                 int8_t *y, int16_t *rows, hdk_tile_function *tile,
                                 hdk_widen_function *widen)
{
    uint32_t pixels = p->batch * p->out_h * p->out_w, pitch = hdk_row_lanes(taps(p));
    uint32_t group_c = p->in_c / p->groups, group_o = p->out_c / p->groups;
    const int16_t *const piece = rows;
    struct hdk_tile t = make_tile(p, panels, &piece, pitch, 1);
    struct cursor at = {x, 0, 0};

    for (uint32_t i = 0; i < pixels; i += HDK_TILE_ROWS) {
        uint32_t n = pixels - i < HDK_TILE_ROWS ? pixels - i : HDK_TILE_ROWS;
        struct cursor next = at;

        for (uint32_t g = 0; g < p->groups; g++) {
            next = at;
            for (uint32_t r = 0; r < n; r++, advance(p, &next))
                gather(p, &next, g * group_c, widen, rows + r * pitch);
            t.panels = panels + (uint64_t)g * hdk_pack_bytes(group_o, taps(p));
            tile(&t, n, y + g * group_o, p->out_c);
        }
        at = next;
        y += (uint64_t)n * p->out_c;
    }
}

/* Row iy of the image, which may be outside, with its padding. */
HDK_INLINE void load_row(const struct hdk_conv2d *p, const int8_t *image, int32_t iy,
                         hdk_widen_function *widen, int16_t *to)
{
    uint32_t lanes = (uint32_t)ring_lanes(p), left = (uint32_t)p->pad_left * p->in_c;
    uint32_t n = p->in_w * p->in_c;

    if (iy < 0 || iy >= (int32_t)p->in_h || left >= lanes) {
        fill(to, lanes, p->z_in);
        return;
    }
    n = n < lanes - left ? n : lanes - left;
    fill(to, left, p->z_in);
    widen(image + (uint64_t)(uint32_t)iy * p->in_w * p->in_c, n, to + left);
    fill(to + left + n, lanes - left - n, p->z_in);
}

/* The windows of a tile, whose rows begin at row[0 .. kernel_h-1], one after another. */
HDK_INLINE void copy_windows(const struct hdk_conv2d *p, const int16_t *const *row, int16_t *to)
{
    uint32_t step = p->stride_x * p->in_c, n = p->kernel_w * p->in_c;
    uint32_t pitch = hdk_row_lanes(taps(p));

    for (uint32_t r = 0; r < HDK_TILE_ROWS; r++)
        for (uint32_t ky = 0; ky < p->kernel_h; ky++)
            for (uint32_t i = 0; i < n; i += COPY)
                __builtin_memcpy(to + r * pitch + ky * n + i, row[ky] + r * step + i,
                                 COPY * sizeof *to);
}

/* One row of the output; row[0 .. kernel_h-1]: the image's rows that it needs. */
HDK_INLINE void convolve_row(const struct hdk_conv2d *p, const int16_t **row, int16_t *windows,
                             const void *panels, int8_t *y, hdk_tile_function *tile)
{
    const int16_t *const piece = windows;
    uint32_t step = p->stride_x * p->in_c;
    const struct hdk_tile t = in_place(p) ? make_tile(p, panels, row, step, p->kernel_h)
                                          : make_tile(p, panels, &piece, hdk_row_lanes(taps(p)), 1);

    for (uint32_t ox = 0; ox < p->out_w; ox += HDK_TILE_ROWS) {
        if (!in_place(p))
            copy_windows(p, row, windows);
        tile(&t, p->out_w - ox < HDK_TILE_ROWS ? p->out_w - ox : HDK_TILE_ROWS,
             y + (uint64_t)ox * p->out_c, p->out_c);
        for (uint32_t ky = 0; ky < p->kernel_h; ky++)
            row[ky] += HDK_TILE_ROWS * step;
    }
}

/* The ring holds row v of the padded image at v modulo kernel_h. */
HDK_INLINE void convolve_rows(const struct hdk_conv2d *p, const int8_t *x, const void *panels,
                              int8_t *y, void *scratch, hdk_tile_function *tile,
                              hdk_widen_function *widen)
{
    const int16_t **row = scratch;
    int16_t *ring = (int16_t *)(void *)((uint8_t *)scratch + p->kernel_h * 8u);
    uint32_t lanes = (uint32_t)ring_lanes(p), kernel_h = p->kernel_h;
    int16_t *windows = ring + kernel_h * lanes + COPY;

    for (uint32_t b = 0; b < p->batch; b++, x += (uint64_t)p->in_h * p->in_w * p->in_c)
        for (uint32_t oy = 0, next = 0; oy < p->out_h; oy++, y += (uint64_t)p->out_w * p->out_c) {
            uint32_t first = oy * p->stride_y;

            for (next = next > first ? next : first; next < first + kernel_h; next++)
                load_row(p, x, (int32_t)next - p->pad_top, widen, ring + next % kernel_h * lanes);
            for (uint32_t ky = 0; ky < kernel_h; ky++)
                row[ky] = ring + (first + ky) % kernel_h * lanes;
            convolve_row(p, row, windows, panels, y, tile);
        }
}

HDK_INLINE void convolve(const struct hdk_conv2d *p, const int8_t *x, const void *panels, int8_t *y,
                         void *scratch, hdk_tile_function *tile, hdk_widen_function *widen)
{
    if (by_rows(p))
        convolve_rows(p, x, panels, y, scratch, tile, widen);
    else if (flat(p))
        convolve_flat(p, x, panels, y, scratch, tile, widen);
    else
        convolve_windows(p, x, panels, y, scratch, tile, widen);
}

static void conv2d_plain(const struct hdk_conv2d *p, const int8_t *x, const void *panels, int8_t *y,
                         void *scratch)
{
    convolve(p, x, panels, y, scratch, hdk_tile_plain, hdk_widen_plain);
}

#if HDK_SIMD
static HDK_AVX2 void conv2d_avx2(const struct hdk_conv2d *p, const int8_t *x, const void *panels,
                                 int8_t *y, void *scratch)
{
    convolve(p, x, panels, y, scratch, hdk_tile_best(), hdk_widen_avx2);
}
#endif

void hdk_conv2d(const struct hdk_conv2d *p, const int8_t *x, const void *panels, int8_t *y,
                void *scratch)
{
#if HDK_SIMD
    if (hdk_has_avx2()) {
        conv2d_avx2(p, x, panels, y, scratch);
        return;
    }
#endif
    conv2d_plain(p, x, panels, y, scratch);
}
