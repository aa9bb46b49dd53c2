/* hdk_conv2d.c - CONV_2D: the windows of eight output pixels at a time meet the panels of weights
 * (hdk_tile.h). Where a ring of the image's rows, as lanes and padded with z_in, fits
 * into ROWS_BYTES, windows are read in place; else, and for 1x1, each is gathered. */
#include "hdk.h"
#include "hdk_tile.h"

#define ROWS_BYTES (32u << 10) /* stays in the first level of cache in addition to weights */
#define COPY       16u         /* lanes that a copy of a window moves at once */

/* The position of the walk over the output. */
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

/* Rows of a tile whose windows are in the line buffer. Disjoint windows: no more bytes than
 * those of words take. */
static uint32_t ring_rows(const struct hdk_conv2d *p, const struct hdk_form form)
{
    return hdk_tile_rows(p->stride_x > p->kernel_w ? HDK_FORM_PLAIN : form);
}

/* Lanes of a row of the ring: all that the windows of whole tiles read. */
static uint64_t ring_lanes(const struct hdk_conv2d *p, const struct hdk_form form)
{
    uint64_t rows = ring_rows(p, form), last = (p->out_w - 1) / rows * rows + rows - 1;

    return (last * p->stride_x + p->kernel_w) * p->in_c;
}

/* A row of the window is whole pairs of taps, as the panels are. */
static int in_place(const struct hdk_conv2d *p)
{
    return p->kernel_w * p->in_c % 2 == 0;
}

static uint32_t windows_bytes(const struct hdk_conv2d *p)
{
    return HDK_TILE_BYTES * hdk_row_lanes(taps(p));
}

/* An address for each row of the window, the ring, windows. */
static uint64_t rows_bytes(const struct hdk_conv2d *p)
{
    uint64_t lanes =
        p->kernel_h * ring_lanes(p, HDK_FORM_PLAIN) + COPY; /* 8: no address is wider */

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

/* Padding. */
HDK_INLINE void fill(const struct hdk_conv2d *p, uint8_t *to, uint32_t n,
                     const struct hdk_form form)
{
    int16_t *wide = (int16_t *)(void *)to;
    const int32_t value = p->z_in + HDK_LANE_ZERO;

    for (uint32_t i = 0; i < n; i++)
        if (form.lane == 1)
            to[i] = (uint8_t)value;
        else
            wide[i] = (int16_t)value;
}

/* One row of the window. Columns lo .. hi-1 are inside the image; `x` is that row of the image at
 * column `ix`, which may be outside, and the group's first channel. */
HDK_INLINE void gather_row(const struct hdk_conv2d *p, const int8_t *x, uint32_t lo, uint32_t hi,
                           const struct hdk_form form, uint8_t *to)
{
    uint32_t c = p->in_c / p->groups;

    fill(p, to, lo * c, form);
    if (p->groups == 1 && p->dilation_x == 1)
        form.widen(x + (int64_t)lo * p->in_c, (hi - lo) * c, to + lo * c * form.lane);
    else
        for (uint32_t kx = lo; kx < hi; kx++)
            form.widen(x + (int64_t)kx * p->dilation_x * p->in_c, c, to + kx * c * form.lane);
    fill(p, to + hi * c * form.lane, (p->kernel_w - hi) * c, form);
}

/* Taps of n, `step` apart from position `at` on, that are inside 0 .. size-1: *lo .. *hi - 1. */
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
                       const struct hdk_form form, uint8_t *to)
{
    int32_t iy = (int32_t)(at->oy * p->stride_y) - p->pad_top;
    int32_t ix = (int32_t)(at->ox * p->stride_x) - p->pad_left;
    uint32_t row = p->kernel_w * (p->in_c / p->groups), lo, hi;

    clip(ix, p->dilation_x, p->kernel_w, p->in_w, &lo, &hi);
    for (uint32_t ky = 0; ky < p->kernel_h;
         ky++, iy += (int32_t)p->dilation_y, to += row * form.lane)
        if (iy < 0 || iy >= (int32_t)p->in_h)
            fill(p, to, row, form);
        else
            gather_row(p, at->image + ((int64_t)iy * p->in_w + ix) * p->in_c + first, lo, hi, form,
                       to);
}

static struct hdk_tile make_tile(const struct hdk_conv2d *p, const void *panels,
                                 const uint8_t *const *x, uint32_t pitch, uint32_t pieces)
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

/* Return true if windows are contiguous already: one pixel each. */
static int flat(const struct hdk_conv2d *p)
{
    return p->kernel_h * p->kernel_w * p->groups * p->stride_y * p->stride_x == 1 &&
           p->pad_top == 0 && p->pad_left == 0 && p->out_h == p->in_h && p->out_w == p->in_w &&
           p->in_c % 2 == 0;
}

HDK_INLINE void convolve_flat(const struct hdk_conv2d *p, const int8_t *x, const uint8_t *panels,
                              int8_t *y, uint8_t *rows, const struct hdk_form form)
{
    const uint32_t pixels = p->batch * p->out_h * p->out_w;
    const uint8_t *const piece = rows;
    const struct hdk_tile t = make_tile(p, panels, &piece, p->in_c * form.lane, 1);

    for (uint32_t i = 0; i < pixels; i += hdk_tile_rows(form)) {
        uint32_t left = pixels - i, n = left < hdk_tile_rows(form) ? left : hdk_tile_rows(form);

        form.widen(x + (uint64_t)i * p->in_c, n * p->in_c, rows);
        form.tile(&t, n, y + (uint64_t)i * p->out_c, p->out_c);
    }
}

HDK_INLINE void convolve_windows(const struct hdk_conv2d *p, const int8_t *x, const uint8_t *panels,
                                 int8_t *y, uint8_t *rows, const struct hdk_form form)
{
    uint32_t pixels = p->batch * p->out_h * p->out_w, pitch = hdk_row_lanes(taps(p)) * form.lane;
    uint32_t group_c = p->in_c / p->groups, group_o = p->out_c / p->groups;
    const uint8_t *const piece = rows;
    struct hdk_tile t = make_tile(p, panels, &piece, pitch, 1);
    struct cursor at = {x, 0, 0};

    for (uint32_t i = 0; i < pixels; i += hdk_tile_rows(form)) {
        uint32_t left = pixels - i, n = left < hdk_tile_rows(form) ? left : hdk_tile_rows(form);
        struct cursor next = at;

        for (uint32_t g = 0; g < p->groups; g++) {
            next = at;
            for (uint32_t r = 0; r < n; r++, advance(p, &next))
                gather(p, &next, g * group_c, form, rows + r * pitch);
            t.panels = panels + (uint64_t)g * hdk_pack_bytes(group_o, taps(p));
            form.tile(&t, n, y + g * group_o, p->out_c);
        }
        at = next;
        y += (uint64_t)n * p->out_c;
    }
}

/* Row iy of the image, which may be outside, with its padding. */
HDK_INLINE void load_row(const struct hdk_conv2d *p, const int8_t *image, int32_t iy,
                         const struct hdk_form form, uint8_t *to)
{
    uint32_t lanes = (uint32_t)ring_lanes(p, form), left = (uint32_t)p->pad_left * p->in_c;
    uint32_t n = p->in_w * p->in_c;

    if (iy < 0 || iy >= (int32_t)p->in_h || left >= lanes) {
        fill(p, to, lanes, form);
        return;
    }
    n = n < lanes - left ? n : lanes - left;
    fill(p, to, left, form);
    form.widen(image + (uint64_t)(uint32_t)iy * p->in_w * p->in_c, n, to + left * form.lane);
    fill(p, to + (left + n) * form.lane, lanes - left - n, form);
}

/* The windows of a tile, whose rows begin at row[0 .. kernel_h-1], one after another. */
HDK_INLINE void copy_windows(const struct hdk_conv2d *p, const uint8_t *const *row, uint8_t *to,
                             const struct hdk_form form)
{
    uint32_t step = p->stride_x * p->in_c * form.lane, n = p->kernel_w * p->in_c * form.lane;
    uint32_t pitch = hdk_row_lanes(taps(p)) * form.lane;

    for (uint32_t r = 0; r < ring_rows(p, form); r++)
        for (uint32_t ky = 0; ky < p->kernel_h; ky++)
            for (uint32_t i = 0; i < n; i += COPY * form.lane)
                __builtin_memcpy(to + r * pitch + ky * n + i, row[ky] + r * step + i,
                                 COPY * form.lane);
}

/* One row of the output; row[0 .. kernel_h-1]: the image's rows that it needs. */
HDK_INLINE void convolve_row(const struct hdk_conv2d *p, const uint8_t **row, uint8_t *windows,
                             const void *panels, int8_t *y, const struct hdk_form form)
{
    const uint8_t *const piece = windows;
    uint32_t step = p->stride_x * p->in_c * form.lane;
    const struct hdk_tile t =
        in_place(p) ? make_tile(p, panels, row, step, p->kernel_h)
                    : make_tile(p, panels, &piece, hdk_row_lanes(taps(p)) * form.lane, 1);

    const uint32_t rows = ring_rows(p, form);

    for (uint32_t ox = 0; ox < p->out_w; ox += rows) {
        if (!in_place(p))
            copy_windows(p, row, windows, form);
        form.tile(&t, p->out_w - ox < rows ? p->out_w - ox : rows, y + (uint64_t)ox * p->out_c,
                  p->out_c);
        for (uint32_t ky = 0; ky < p->kernel_h; ky++)
            row[ky] += rows * step;
    }
}

/* The ring holds row v of the padded image at v modulo kernel_h. */
HDK_INLINE void convolve_rows(const struct hdk_conv2d *p, const int8_t *x, const void *panels,
                              int8_t *y, void *scratch, const struct hdk_form form)
{
    const uint8_t **row = scratch;
    uint8_t *ring = (uint8_t *)scratch + p->kernel_h * 8u;
    uint32_t line = (uint32_t)ring_lanes(p, form) * form.lane, kernel_h = p->kernel_h;
    uint8_t *windows = ring + kernel_h * line + COPY * form.lane;

    for (uint32_t b = 0; b < p->batch; b++, x += (uint64_t)p->in_h * p->in_w * p->in_c)
        for (uint32_t oy = 0, next = 0; oy < p->out_h; oy++, y += (uint64_t)p->out_w * p->out_c) {
            uint32_t first = oy * p->stride_y;

            for (next = next > first ? next : first; next < first + kernel_h; next++)
                load_row(p, x, (int32_t)next - p->pad_top, form, ring + next % kernel_h * line);
            for (uint32_t ky = 0; ky < kernel_h; ky++)
                row[ky] = ring + (first + ky) % kernel_h * line;
            convolve_row(p, row, windows, panels, y, form);
        }
}

HDK_INLINE void convolve(const struct hdk_conv2d *p, const int8_t *x, const void *panels, int8_t *y,
                         void *scratch, const struct hdk_form form)
{
    if (by_rows(p))
        convolve_rows(p, x, panels, y, scratch, form);
    else if (flat(p))
        convolve_flat(p, x, panels, y, scratch, form);
    else
        convolve_windows(p, x, panels, y, scratch, form);
}

static void conv2d_plain(const struct hdk_conv2d *p, const int8_t *x, const void *panels, int8_t *y,
                         void *scratch)
{
    convolve(p, x, panels, y, scratch, HDK_FORM_PLAIN);
}

#if HDK_SIMD
static HDK_AVX2 void conv2d_avx2(const struct hdk_conv2d *p, const int8_t *x, const void *panels,
                                 int8_t *y, void *scratch)
{
    convolve(p, x, panels, y, scratch, HDK_FORM_AVX2);
}

static HDK_VNNI void conv2d_vnni(const struct hdk_conv2d *p, const int8_t *x, const void *panels,
                                 int8_t *y, void *scratch)
{
    convolve(p, x, panels, y, scratch, HDK_FORM_VNNI);
}
#endif

void hdk_conv2d(const struct hdk_conv2d *p, const int8_t *x, const void *panels, int8_t *y,
                void *scratch)
{
#if HDK_SIMD
    if (hdk_has_vnni()) {
        conv2d_vnni(p, x, panels, y, scratch);
        return;
    }
    if (hdk_has_avx2()) {
        conv2d_avx2(p, x, panels, y, scratch);
        return;
    }
#endif
    conv2d_plain(p, x, panels, y, scratch);
}
