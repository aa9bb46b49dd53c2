/* ref_islands_weights.c - products of quantised values with float32 weights, under the condition of
 * docs/ONNX.md: weights of int8 in several copies of the input's channels, which add up to more
 * bits. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ref_islands_own.h"

enum { COPIES = 64 };

static size_t weights_each(const struct isl_weights *w)
{
    return (size_t)w->dim[1] * (size_t)w->dim[2] * (size_t)w->dim[3];
}

/* The scale of output channel `c` in which its greatest weight is 127 n. */
static float scale_of(const struct isl_weights *w, int32_t c, int32_t n)
{
    const size_t each = weights_each(w);
    const float *v = (const float *)w->data + (size_t)c * each;
    double most = 0;
    float scale;

    for (size_t i = 0; i < each; i++)
        if (fabs((double)v[i]) > most)
            most = fabs((double)v[i]);
    scale = (float)(most / (127 * n));
    return scale > 0 ? scale : 1;
}

static double rounded(const struct isl_weights *w, size_t i, float scale)
{
    return rint((double)((const float *)w->data)[i] / (double)scale);
}

/* Return true if channel `c` in n copies is less than 7/8 of a step of y off, and its sum within 2^30,
 * for any x. */
static bool is_close(const struct isl *s, const struct isl_deferred *p, int32_t c, int32_t n,
                     float y_scale)
{
    const struct ir_tensor *x = s->to->tensor[p->in[0]];
    const int32_t low = x->type == IR_U8 ? 0 : -128, zero = x->quant.zero_point[0];
    const double farthest = zero - low > low + 255 - zero ? zero - low : low + 255 - zero;
    const double unit = (double)x->quant.scale[0];
    const float scale = scale_of(&p->w, c, n);
    const size_t each = weights_each(&p->w);
    double off = 0, all = 0;

    for (size_t i = (size_t)c * each; i < ((size_t)c + 1) * each; i++) {
        const double v = rounded(&p->w, i, scale);

        off += fabs((double)((const float *)p->w.data)[i] - v * (double)scale);
        all += fabs(v);
    }
    off *= farthest * unit;
    all *= farthest;
    if (p->bias != NULL) {
        off += unit * (double)scale / 2;
        all += fabs(p->bias[c]) / (unit * (double)scale);
    }
    return off < (double)y_scale * 7 / 8 && all < 1073741824.0;
}

static bool are_close(const struct isl *s, const struct isl_deferred *p, int32_t n, float y_scale)
{
    for (int32_t c = 0; c < p->w.dim[0]; c++)
        if (!is_close(s, p, c, n, y_scale))
            return false;
    return true;
}

/* Weights of n copies: the first ones are as large as 8 bits allow. */
static void split(struct isl *s, struct isl_weights *w, int32_t n)
{
    const size_t each = weights_each(w), channels = (size_t)w->dim[0];
    int8_t *to = arena_alloc(s->arena, channels * each * (size_t)n);
    float *scale = ARENA_ARRAY(s->arena, float, channels);

    for (size_t c = 0; c < channels; c++) {
        scale[c] = scale_of(w, (int32_t)c, n);
        for (size_t i = 0; i < each; i++) {
            double left = rounded(w, c * each + i, scale[c]);

            for (size_t k = 0; k < (size_t)n; k++) {
                const double part = fmax(-127, fmin(127, left));

                to[(c * (size_t)n + k) * each + i] = (int8_t)part;
                left -= part;
            }
        }
    }
    w->type = IR_I8;
    w->data = to;
    w->dim[1] *= n;
    w->n_scale = (uint32_t)channels;
    w->scale = scale;
    w->zero = ARENA_ARRAY(s->arena, int32_t, channels);
}

static bool has_float_weights(const struct isl *s, const struct isl_deferred *p)
{
    const size_t n = p->has_weights ? (size_t)p->w.dim[0] * weights_each(&p->w) : 0;
    const struct ir_tensor *x = s->to->tensor[p->in[0]];

    if (s->exact || n == 0 || p->w.type != IR_F32 || x->type == IR_F32 || x->quant.n != 1)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!isfinite(((const float *)p->w.data)[i]))
            return false;
    return !ir_op_has(p->opcode, IR_KERNEL_H) || isl_groups(s, p) == 1;
}

const struct isl_deferred *isl_whole_weights(struct isl *s, const struct isl_deferred *p,
                                             const struct ir_quant *q)
{
    struct isl_deferred *y = arena_memdup(s->arena, p, sizeof *p);
    int32_t n = 1;

    if (!has_float_weights(s, p))
        return p;
    while (n <= COPIES && !are_close(s, p, n, q->scale[0]))
        n++;
    if (n > COPIES)
        return p;
    split(s, &y->w, n);
    y->copies = n;
    return y;
}

/* Weights less their zero point; the greatest magnitude of each channel in *most. */
static int32_t *numbers_of(struct isl *s, const struct isl_weights *w, int32_t *most)
{
    const size_t each = weights_each(w);
    int32_t *v = ARENA_ARRAY(s->arena, int32_t, (size_t)w->dim[0] * each);

    for (int32_t c = 0; c < w->dim[0]; c++) {
        most[c] = 0;
        for (size_t i = (size_t)c * each; i < (size_t)(c + 1) * each; i++) {
            v[i] =
                (w->type == IR_I8 ? ((const int8_t *)w->data)[i] : ((const uint8_t *)w->data)[i]) -
                w->zero[w->n_scale > 1 ? c : 0];
            if (abs(v[i]) > most[c])
                most[c] = abs(v[i]);
        }
    }
    return v;
}

/* A bias that is no whole number of its units. */
static bool rounds_bias(const struct isl *s, const struct isl_deferred *p)
{
    const double s_x = (double)s->to->tensor[p->in[0]]->quant.scale[0];
    bool rounds = false;

    for (int32_t c = 0; c < p->w.dim[0]; c++) {
        const double v = p->bias[c] / (s_x * (double)p->w.scale[p->w.n_scale > 1 ? c : 0]);

        rounds = rounds || fabs(v - rint(v)) > 1.0 / 1024;
    }
    return rounds;
}

const struct isl_deferred *isl_finer_weights(struct isl *s, const struct isl_deferred *p)
{
    const int32_t n = p->has_weights ? p->w.dim[0] : 0;
    struct isl_deferred *y = arena_memdup(s->arena, p, sizeof *p);
    int32_t *most = ARENA_ARRAY(s->arena, int32_t, (size_t)n + 1), *v, least = 127;
    float *scale = ARENA_ARRAY(s->arena, float, (size_t)n + 1);
    int8_t *to;

    if (s->exact || n == 0 || p->bias == NULL || p->sums != NULL || isl_is_float(s, p) ||
        !rounds_bias(s, p))
        return p;
    v = numbers_of(s, &p->w, most);
    to = arena_alloc(s->arena, (size_t)n * weights_each(&p->w));
    for (int32_t c = 0; c < n; c++) {
        const int32_t times = most[c] == 0 ? 1 : 127 / most[c];

        if (most[c] > 127)
            return p;
        if (most[c] != 0 && most[c] < 64)
            least = most[c];
        scale[c] = p->w.scale[p->w.n_scale > 1 ? c : 0] / (float)times;
        for (size_t i = 0; i < weights_each(&p->w); i++)
            to[(size_t)c * weights_each(&p->w) + i] =
                (int8_t)(v[(size_t)c * weights_each(&p->w) + i] * times);
    }
    if (least == 127)
        return p;
    y->w = (struct isl_weights){.type = IR_I8, .data = to, .n_scale = (uint32_t)n, .scale = scale};
    memcpy(y->w.dim, p->w.dim, sizeof y->w.dim);
    y->w.zero = ARENA_ARRAY(s->arena, int32_t, (size_t)n);
    return y;
}

/* The input as often as its weights multiply it: along an image's channels, or a row's values. */
static uint32_t copied(struct isl *s, const struct isl_deferred *p)
{
    const struct ir_tensor *x = s->to->tensor[p->in[0]];
    const uint32_t axis = ir_op_has(p->opcode, IR_KERNEL_H) ? 1 : x->rank - 1;
    uint32_t in[COPIES], id;
    int32_t dim[IR_MAX_RANK];

    if (p->copies == 1)
        return p->in[0];
    for (int32_t k = 0; k < p->copies; k++)
        in[k] = p->in[0];
    for (uint32_t i = 0; i < x->rank; i++)
        dim[i] = x->dim[i] * (i == axis ? p->copies : 1);
    id = isl_tensor(s, isl_inner(s, x->name, "copies"), x->type, x->rank, dim, &x->quant);
    isl_op_concatenation(s, (uint32_t)p->copies, in, id)->attr[IR_AXIS] = (int32_t)axis;
    return id;
}

uint32_t isl_result_operand(struct isl *s, const struct isl_deferred *p,
                            const struct isl_want *want, uint32_t i)
{
    if (want->type == IR_F32)
        return isl_as_float(s, p->in[i]);
    return i == 0 ? copied(s, p) : p->in[i];
}
