/* onnx_float_weights.c - float32 weights of a product of quantised values as integers, where the
 * result stays within a step (docs/ONNX.md). A weight beyond 8 bits is the sum of several, each for
 * one copy of x's channels. */
#include "onnx_make.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_COPIES = 64 };

struct whole {
    const struct ox_deferred *p;
    double reach, step; /* the most that x is, in its steps, and its step */
    double y_step;
    size_t each; /* weights of one output channel */
    int32_t copies;
    float *scale; /* of each output channel */
};

static bool is_finite(const float *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(v[i]))
            return false;
    return true;
}

/* Write the weights of output channel `o`, copy after copy, to `to` if it is there; false if their errors may add up to a
 * step, or their sum to 31 bits. */
static bool take_channel(const struct whole *w, size_t o, int8_t *to)
{
    const float *from = (const float *)w->p->weight.data + o * w->each;
    double most = 0, error = 0, sum = 0;

    for (size_t i = 0; i < w->each; i++)
        most = fmax(most, fabs((double)from[i]));
    w->scale[o] = (float)(most / (INT8_MAX * w->copies));
    if (!(w->scale[o] > 0))
        w->scale[o] = 1;
    const double scale = (double)w->scale[o];
    for (size_t i = 0; i < w->each; i++) {
        const int32_t v = (int32_t)lrint((double)from[i] / scale);

        error += fabs((double)from[i] - v * scale);
        sum += abs(v);
        for (int32_t k = 0; to && k < w->copies; k++)
            to[(size_t)k * w->each + i] =
                (int8_t)(v / w->copies + (k < abs(v % w->copies) ? (v > 0 ? 1 : -1) : 0));
    }
    error *= w->reach * w->step;
    sum *= w->reach;
    if (w->p->bias) {
        error += w->step * scale / 2;
        sum += fabs(w->p->bias[o]) / (w->step * scale);
    }
    return error < w->y_step * 7 / 8 && sum < 0x1p30;
}

/* Find the least number of copies. */
static bool find_copies(struct whole *w)
{
    for (w->copies = 1; w->copies <= MOST_COPIES; w->copies++) {
        size_t o = 0;

        while (o < (size_t)w->p->weight.dim[0] && take_channel(w, o, NULL))
            o++;
        if (o == (size_t)w->p->weight.dim[0])
            return true;
    }
    return false;
}

struct ox_deferred ox_whole_weights(struct ox *m, const struct ox_deferred *p,
                                    const struct ir_quant *q)
{
    const struct ir_tensor *x = p->n_in == 0 ? NULL : m->g->tensor[p->in[0]];
    struct whole w = {.p = p, .y_step = (double)q->scale[0]};
    struct ox_deferred y = *p;
    int32_t low, dim[4];
    int8_t *data;

    if (p->weight.n == 0 || p->weight.type != OX_FLOAT || p->group != 1 || p->float_only ||
        m->options->exact || (x->type != IR_I8 && x->type != IR_U8) || x->quant.n != 1 ||
        !is_finite(p->weight.data, (size_t)p->weight.n))
        return y;
    low = x->type == IR_I8 ? INT8_MIN : 0;
    w.reach = fmax(x->quant.zero_point[0] - low, low + UINT8_MAX - x->quant.zero_point[0]);
    w.step = (double)x->quant.scale[0];
    w.each = (size_t)p->weight.n / (size_t)p->weight.dim[0];
    w.scale = ARENA_ARRAY(m->arena, float, (size_t)p->weight.dim[0]);
    if (!find_copies(&w))
        return y;
    for (uint32_t i = 0; i < p->weight.rank; i++)
        dim[i] = p->weight.dim[i] * (i == 1 ? w.copies : 1);
    data = ox_new_const(m, &y.weight, OX_INT8, p->weight.rank, dim);
    for (size_t o = 0; o < (size_t)dim[0]; o++)
        (void)take_channel(&w, o, data + o * w.each * (size_t)w.copies);
    y.weight_quant = (struct ir_quant){(uint32_t)dim[0], 0, w.scale,
                                       ARENA_ARRAY(m->arena, int32_t, (size_t)dim[0])};
    y.bias_quant.n = 0;
    y.copies = w.copies;
    y.taps_filled *= w.copies;
    return y;
}
