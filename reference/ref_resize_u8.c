/* ref_resize_u8.c - RESIZE_BILINEAR of uint8, which TFLite's reference computes in float32,
 * rounding halves up. The four weights of an output belong to its place alone; IR.md has the order.
 */
#include <math.h>

#include "ref_kernels.h"

/* Place of output `i` of `out` along dimension `axis` of x. */
static float centre(const struct ref_call *c, int32_t i, uint32_t axis)
{
    const float in = (float)c->in[0]->dim[axis], out = (float)c->out[0]->dim[axis];
    const bool align = c->op->attr[IR_ALIGN_CORNERS] && c->out[0]->dim[axis] > 1;
    const float scale = align ? (in - 1) / (out - 1) : in / out;

    return c->op->attr[IR_HALF_PIXEL] ? ((float)i + 0.5f) * scale - 0.5f : (float)i * scale;
}

/* x[n, y, x, k] as uint8. */
static float value(const struct ref_call *c, int32_t n, float y, float x, int32_t k)
{
    const struct ir_tensor *t = c->in[0];
    const size_t row = ((size_t)n * (size_t)t->dim[1] + (size_t)y) * (size_t)t->dim[2];
    const size_t at = (row + (size_t)x) * (size_t)t->dim[3] + (size_t)k;

    return (float)(ref_at(t, c->x[0], at) + (t->type == IR_I8 ? 128 : 0));
}

static int32_t blend(const struct ref_call *c, int32_t n, float y, float x, int32_t k)
{
    const float y0 = fmaxf(floorf(y), 0), y1 = fminf(ceilf(y), (float)(c->in[0]->dim[1] - 1));
    const float x0 = fmaxf(floorf(x), 0), x1 = fminf(ceilf(x), (float)(c->in[0]->dim[2] - 1));
    const float dy = y - y0, dx = x - x0;
    const float term[4] = {
        value(c, n, y0, x0, k) * (1 - dy) * (1 - dx), value(c, n, y1, x0, k) * dy * (1 - dx),
        value(c, n, y0, x1, k) * (1 - dy) * dx, value(c, n, y1, x1, k) * dy * dx};
    float sum = 0;

    for (uint32_t i = 0; i < 4; i++)
        sum += term[i];
    return (int32_t)(sum + 0.5f);
}

enum status ref_resize_u8(const struct ref_call *c, struct diag *d)
{
    const struct ir_tensor *y = c->out[0];
    size_t at = 0;

    (void)d;
    for (int32_t n = 0; n < y->dim[0]; n++)
        for (int32_t oy = 0; oy < y->dim[1]; oy++)
            for (int32_t ox = 0; ox < y->dim[2]; ox++)
                for (int32_t k = 0; k < y->dim[3]; k++)
                    ref_put(y, c->y[0], at++,
                            blend(c, n, centre(c, oy, 1), centre(c, ox, 2), k) -
                                (y->type == IR_I8 ? 128 : 0));
    return ST_OK;
}
