/* tfl_resize.c - RESIZE_BILINEAR: a separate operator on quantised values; in float32 an
 * interpolation of two taps along each axis. */
#include "tfl_import.h"

#include <math.h>

/* Return the input position of output i, computed as in the reference. */
static float place_of(const struct tfl_options *o, int32_t i, int32_t in, int32_t out)
{
    const bool align = o->align_corners && out > 1;
    const float scale = align ? (float)(in - 1) / (float)(out - 1) : (float)in / (float)out;

    return o->half_pixel_centers ? ((float)i + 0.5f) * scale - 0.5f : (float)i * scale;
}

static uint32_t weights(struct tfl_importer *m, const int32_t *dim, const float *value)
{
    struct ir_tensor *t = ir_tensor_new(m->g, "weights", IR_F32, 2, dim);

    t->role = IR_CONST;
    t->data = arena_memdup(m->arena, value, (size_t)ir_bytes(t));
    return t->id;
}

/* Interpolate x along `axis` to the size of y. */
static enum status interpolate(struct tfl_importer *m, const struct tfl_options *o, uint32_t row,
                               uint32_t axis, uint32_t x, uint32_t y)
{
    const int32_t n = m->g->tensor[y]->dim[axis], size = m->g->tensor[x]->dim[axis];
    int32_t *index = ARENA_ARRAY(m->arena, int32_t, 2 * (size_t)n);
    float *weight = ARENA_ARRAY(m->arena, float, 2 * (size_t)n);
    const int32_t dim[2] = {n, 2};
    struct ir_op *op;
    uint32_t in[3] = {x};

    for (int32_t i = 0; i < n; i++) {
        const float at = fmaxf(place_of(o, i, size, n), 0);
        const int32_t low = at < (float)(size - 1) ? (int32_t)at : size - 1;

        index[2 * i] = low;
        index[2 * i + 1] = low + 1 < size ? low + 1 : low;
        weight[2 * i + 1] = low + 1 < size ? at - (float)low : 0;
        weight[2 * i] = 1 - weight[2 * i + 1];
    }
    in[1] = tfl_new_const(m, "indices", 2, dim, index);
    in[2] = weights(m, dim, weight);
    TRY(tfl_make_interpolate(m, row, 3, in, y, &op));
    op->attr[IR_AXIS] = (int32_t)axis;
    return ST_OK;
}

enum status tfl_resize_bilinear(struct tfl_importer *m, const struct tfl_operator *src,
                                uint32_t row)
{
    const struct tfl_options *o = &src->options;
    const struct ir_tensor *t;
    const int32_t *size;
    uint32_t x, y, n, rows;
    struct ir_op *op;

    TRY(tfl_value(m, src, 0, &x));
    TRY(tfl_result(m, src, 0, &y));
    t = m->g->tensor[y];
    TRY(tfl_param(m, src->in.v[1], "size", &n, &size));
    if (n != 2 || t->rank != 4 || size[0] != t->dim[1] || size[1] != t->dim[2])
        return FAIL(m->d, ST_MODEL, "size: expected the output's height and width");
    if (t->type != IR_F32 || m->g->tensor[x]->type != IR_F32 || m->g->tensor[x]->rank != 4) {
        TRY(tfl_make_resize_bilinear(m, row, 1, &x, y, &op));
        op->attr[IR_ALIGN_CORNERS] = o->align_corners;
        op->attr[IR_HALF_PIXEL] = o->half_pixel_centers;
        return ST_OK;
    }
    TRY(tfl_between(
        m, t, 4,
        (const int32_t[]){t->dim[0], t->dim[1], m->g->tensor[x]->dim[2], m->g->tensor[x]->dim[3]},
        &rows));
    TRY(interpolate(m, o, row, 1, x, rows));
    return interpolate(m, o, row, 2, rows, y);
}
