/* onnx_float_weights.c - float32 weights of a product of quantised values as integers, where the
 * result stays within a step (docs/ONNX.md). A weight beyond 8 bits is the sum of several, each for
 * one copy of x's channels. Weights in groups as weights of one group. */
#include "onnx_make.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* The largest magnitude of channel `c` of quantised weights. */
static int32_t most_of(const struct ox_deferred *p, int32_t c)
{
    const uint64_t each = p->weight.n / (uint64_t)p->weight.dim[0];
    const int32_t zero = p->weight_quant.zero_point[p->weight_quant.n > 1 ? c : 0];
    int32_t most = 0;

    for (uint64_t i = (uint64_t)c * each; i < ((uint64_t)c + 1) * each; i++) {
        const int32_t v = abs((int32_t)ox_int(&p->weight, i) - zero);

        most = v > most ? v : most;
    }
    return most;
}

/* Return true if units of the weights would round the bias. */
static bool is_bias_rounded(const struct ox *m, const struct ox_deferred *p)
{
    const double s_in = (double)m->g->tensor[p->in[0]]->quant.scale[0];

    for (int32_t c = 0; c < p->weight.dim[0]; c++) {
        const double unit = s_in * (double)p->weight_quant.scale[p->weight_quant.n > 1 ? c : 0];
        const double code = p->bias[c] / unit;

        if (fabs(code - nearbyint(code)) > 0x1p-10)
            return true;
    }
    return false;
}

struct ox_deferred ox_finer_weights(struct ox *m, const struct ox_deferred *p)
{
    const uint32_t n = p->weight.n != 0 ? (uint32_t)p->weight.dim[0] : 0;
    struct ox_deferred y = *p;
    float *scale = ARENA_ARRAY(m->arena, float, n + 1);
    bool finer = false;
    int8_t *to;

    if (m->options->exact || n == 0 || !p->bias || p->bias_integers || p->weight_quant.n == 0 ||
        ox_is_float(m, p) || !is_bias_rounded(m, p))
        return y;
    to = ox_new_const(m, &y.weight, OX_INT8, p->weight.rank, p->weight.dim);
    for (uint32_t c = 0; c < n; c++) {
        const uint32_t k = p->weight_quant.n > 1 ? c : 0;
        const int32_t most = most_of(p, (int32_t)c), factor = most > 0 ? 127 / most : 1;
        const uint64_t each = p->weight.n / n;

        if (factor == 0)
            return *p;
        finer = finer || factor > 1;
        scale[c] = p->weight_quant.scale[k] / (float)factor;
        for (uint64_t i = c * each; i < (c + 1) * each; i++)
            to[i] =
                (int8_t)(((int32_t)ox_int(&p->weight, i) - p->weight_quant.zero_point[k]) * factor);
    }
    y.weight_quant = (struct ir_quant){n, 0, scale, ARENA_ARRAY(m->arena, int32_t, n)};
    return finer ? y : *p;
}

struct ox_deferred ox_in_one_group(struct ox *m, const struct ox_deferred *p)
{
    const int32_t *d = p->weight.dim, dim[4] = {d[0], d[1] * p->group, d[2], d[3]};
    const size_t each = (size_t)p->weight.n / (size_t)d[0], n = (size_t)p->group;
    struct ox_deferred one = *p;
    uint8_t *to = ox_new_const(m, &one.weight, p->weight.type, 4, dim);

    memset(to, p->weight_quant.zero_point[0], (size_t)one.weight.n);
    for (size_t o = 0; o < (size_t)d[0]; o++)
        memcpy(to + (o * n + o * n / (size_t)d[0]) * each,
               (const uint8_t *)p->weight.data + o * each, each);
    one.group = 1;
    one.taps_filled *= p->group;
    return one;
}
