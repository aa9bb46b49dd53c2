/* host_window.c - see host_window.h. */
#include "host_window.h"

#define RING_BYTES (32u << 10) /* ROWS_BYTES of hdk_conv2d.c */
#define TILE_ROWS  8u
#define RUN        4u /* of hdk_depthwise_conv2d.c */

static uint32_t at_least_1(int32_t v)
{
    return v > 0 ? (uint32_t)v : 1;
}

void host_window_of(const struct ir_graph *g, const struct ir_op *op, struct host_window *w)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *f = ir_in(g, op, 1), *y = ir_out(g, op, 0);
    const int32_t *a = op->attr;

    *w = (struct host_window){
        .batch = (uint32_t)ir_dim_back(x, 3),
        .h = (uint32_t)ir_dim_back(x, 2),
        .w = (uint32_t)ir_dim_back(x, 1),
        .c = (uint32_t)ir_dim_back(x, 0),
        .oh = (uint32_t)ir_dim_back(y, 2),
        .ow = (uint32_t)ir_dim_back(y, 1),
        .oc = (uint32_t)ir_dim_back(y, 0),
        .groups = 1,
        .kh = at_least_1(a[IR_KERNEL_H]),
        .kw = at_least_1(a[IR_KERNEL_W]),
        .sy = at_least_1(a[IR_STRIDE_H]),
        .sx = at_least_1(a[IR_STRIDE_W]),
        .dy = at_least_1(a[IR_DILATION_H]),
        .dx = at_least_1(a[IR_DILATION_W]),
        .pt = a[IR_PAD_TOP],
        .pl = a[IR_PAD_LEFT],
    };
    if (ir_is_depthwise(op) && w->c > 1)
        w->groups = w->c;
    else if ((op->opcode == IR_OP_CONV2D || op->opcode == IR_OP_CONV_INTEGER) && f->rank == 4)
        w->groups = w->c / (uint32_t)f->dim[a[IR_WEIGHTS_KO] ? 2 : 3];
}

double host_pixels(const struct host_window *w)
{
    return (double)w->batch * w->oh * w->ow;
}

double host_ring_rows(const struct host_window *w)
{
    return w->sy >= w->kh ? (double)w->oh * w->kh : (double)(w->oh - 1) * w->sy + w->kh;
}

double host_ring_lanes(const struct host_window *w)
{
    const uint32_t last = (w->ow - 1) / TILE_ROWS * TILE_ROWS + TILE_ROWS - 1;

    return ((double)last * w->sx + w->kw) * w->c;
}

enum host_path host_path(const struct host_window *w)
{
    const double taps = (double)w->kh * w->kw * w->c;
    const bool in_place = w->kw * w->c % 2 == 0;
    const double bytes = w->kh * 8 + (w->kh * host_ring_lanes(w) + 16) * 2 +
                         (in_place ? 0 : TILE_ROWS * (taps + 1) * 2 + 32);

    if (w->kh * w->kw > 1 && w->groups == 1 && w->dy == 1 && w->dx == 1 && w->pt >= 0 &&
        w->pl >= 0 && bytes <= RING_BYTES)
        return in_place ? HOST_BY_ROWS : HOST_BY_COPIES;
    if (w->kh * w->kw * w->groups * w->sy * w->sx == 1 && w->pt == 0 && w->pl == 0 &&
        w->oh == w->h && w->ow == w->w && w->c % 2 == 0)
        return HOST_BY_FLAT;
    return HOST_BY_WINDOWS;
}

double host_runs(const struct host_window *w)
{
    const int64_t last = (int64_t)w->w - 1 + w->pl - (int64_t)(w->kw - 1) * w->dx;
    const uint32_t lo = w->pl > 0 ? ((uint32_t)w->pl + w->sx - 1) / w->sx : 0;
    uint32_t hi = last < 0 ? 0 : (uint32_t)(last / w->sx) + 1;
    double n = 0;

    hi = hi > w->ow ? w->ow : hi;
    for (uint32_t ox = 0; ox < w->ow; n++)
        ox += ox < lo || ox + 2 > hi ? 1 : ox + RUN > hi ? 2 : RUN;
    return n;
}

/* Sum over `out` positions the taps that are in 0 .. size-1. */
static double inside(uint32_t out, uint32_t stride, int32_t pad, uint32_t kernel, uint32_t dilation,
                     uint32_t size)
{
    double n = 0;

    for (uint32_t o = 0; o < out; o++)
        for (uint32_t k = 0; k < kernel; k++) {
            const int64_t at = (int64_t)o * stride - pad + (int64_t)k * dilation;

            n += at >= 0 && at < size;
        }
    return n;
}

double host_cells_inside(const struct host_window *w)
{
    return inside(w->oh, w->sy, w->pt, w->kh, w->dy, w->h) *
           inside(w->ow, w->sx, w->pl, w->kw, w->dx, w->w);
}

double host_rows_inside(const struct host_window *w)
{
    return inside(w->oh, w->sy, w->pt, w->kh, w->dy, w->h) * w->ow;
}

static double covered(uint32_t out, uint32_t stride, int32_t pad, uint32_t kernel, uint32_t size)
{
    double n = 0;

    for (uint32_t o = 0; o < out; o++)
        for (uint32_t k = 0; k < kernel; k++) {
            const int64_t at = (int64_t)o + pad - k;

            n += at >= 0 && at % stride == 0 && at / stride < size;
        }
    return n;
}

double host_cells_covered(const struct host_window *w)
{
    return covered(w->oh, w->sy, w->pt, w->kh, w->h) * covered(w->ow, w->sx, w->pl, w->kw, w->w);
}
