/* hdk_conv2d.c - CONV_2D: four output pixels at a time gather their windows as rows of 16 bits into
 * the scratch; the rows meet the panels of weights (hdk_tile.h). */
#include "hdk.h"
#include "hdk_tile.h"

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

uint32_t hdk_conv2d_scratch(const struct hdk_conv2d *p)
{
    return HDK_TILE_ROWS * hdk_row_lanes(taps(p)) * (uint32_t)sizeof(int16_t);
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

HDK_INLINE void convolve(const struct hdk_conv2d *p, const int8_t *x, const uint8_t *panels,
                         int8_t *y, int16_t *rows, hdk_tile_function *tile,
                         hdk_widen_function *widen)
{
    uint32_t pixels = p->batch * p->out_h * p->out_w, pitch = hdk_row_lanes(taps(p));
    uint32_t group_c = p->in_c / p->groups, group_o = p->out_c / p->groups;
    struct hdk_tile t = {rows,   pitch,    taps(p),    panels,    group_o,
                         p->z_w, p->z_out, p->act_min, p->act_max};
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

static void conv2d_plain(const struct hdk_conv2d *p, const int8_t *x, const void *panels, int8_t *y,
                         void *scratch)
{
    convolve(p, x, panels, y, scratch, hdk_tile_plain, hdk_widen_plain);
}

#if HDK_SIMD
static HDK_AVX2 void conv2d_avx2(const struct hdk_conv2d *p, const int8_t *x, const void *panels,
                                 int8_t *y, void *scratch)
{
    convolve(p, x, panels, y, scratch, hdk_tile_avx2, hdk_widen_avx2);
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
