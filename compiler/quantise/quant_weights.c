/* quant_weights.c - convert weights to int8, one scale per output channel, and biases to int32 in
 * the scale of the sums. Bias correction adds the change of the sums' mean that the rounding of the
 * weights causes: (w - its int8 value) times the mean of its inputs. */
#include <math.h>

#include "quant_own.h"

enum { LARGEST_BIAS = 1 << 30 };

static float at(const struct ir_tensor *t, size_t i)
{
    return t ? ((const float *)(const void *)t->data)[i] : 0;
}

static uint32_t channels(const struct ir_tensor *w, const struct ir_op *op)
{
    return (uint32_t)(ir_is_depthwise(op) ? w->dim[3] : w->dim[0]);
}

/* Give all channels the greatest scale if the target has one for all; round up to a power of two if it
 * shifts. */
static void limit_scales(struct quant_limits limits, uint32_t n, float *scale)
{
    float most = 0;

    for (uint32_t c = 0; c < n; c++)
        most = fmaxf(most, scale[c]);
    for (uint32_t c = 0; c < n; c++)
        scale[c] = quant_limited(limits.per_tensor ? most : scale[c], limits);
}

/* Map the greatest magnitude to 127, unless the bias would then exceed 31 bits. */
static void make_scales(const struct quant *q, const struct ir_op *op, float *scale)
{
    const struct ir_tensor *w = ir_in(q->g, op, 1), *b = ir_in(q->g, op, 2);
    const double input = (double)q->scale[op->in[0]].scale;

    for (size_t i = 0; i < (size_t)ir_elements(w); i++) {
        const uint32_t c = quant_channel(q->g, op, i);

        scale[c] = fmaxf(scale[c], fabsf(at(w, i)));
    }
    for (uint32_t c = 0; c < channels(w, op); c++) {
        const double least = fabs((double)at(b, c)) / (input * LARGEST_BIAS);

        scale[c] = fmaxf(scale[c] / 127, (float)(least * 1.001));
        if (!(scale[c] >= 1e-30f))
            scale[c] = 1e-30f;
    }
    limit_scales(q->options->limits, channels(w, op), scale);
}

static void make_quantised(const struct quant *q, const struct ir_op *op, const float *scale,
                           int8_t *code)
{
    const struct ir_tensor *w = ir_in(q->g, op, 1);

    for (size_t i = 0; i < (size_t)ir_elements(w); i++) {
        const float v = rintf(at(w, i) / scale[quant_channel(q->g, op, i)]);

        code[i] = (int8_t)fmaxf(-127, fminf(127, v));
    }
}

/* Return the mean of the inputs that weight `i` multiplies, ignoring the image's borders. */
static double mean_at(const struct quant *q, const struct ir_op *op, size_t i)
{
    const struct ir_tensor *w = ir_in(q->g, op, 1);
    const struct quant_seen *s = &q->seen[op->in[0]];
    const size_t inner = (size_t)ir_dim_back(w, 0);
    size_t c = i % inner;

    if (ir_is_depthwise(op))
        c /= (size_t)op->attr[IR_MULTIPLIER];
    else if (op->opcode == IR_OP_CONV2D) /* groups have `inner` channels */
        c += (size_t)quant_channel(q->g, op, i) * s->n_sum / inner / (size_t)w->dim[0] * inner;
    return c < s->n_sum ? s->sum[c] / (double)s->n_values : 0;
}

/* Add the change of each channel's mean that int8 weights cause. */
static void add_lost(const struct quant *q, const struct ir_op *op, const struct quant_weights *w,
                     double *bias)
{
    const struct ir_tensor *t = ir_in(q->g, op, 1);

    for (size_t i = 0; i < (size_t)ir_elements(t); i++) {
        const uint32_t c = quant_channel(q->g, op, i);
        const double kept = (double)w->scale[c] * w->code[i];

        bias[c] += ((double)at(t, i) - kept) * mean_at(q, op, i);
    }
}

static void make_bias(const struct quant *q, const struct ir_op *op, struct quant_weights *w)
{
    const struct ir_tensor *b = ir_in(q->g, op, 2);
    const bool corrects = q->options->bias_correction && q->seen[op->in[0]].sum;
    double *bias = ARENA_ARRAY(q->arena, double, w->n);
    float *scale = ARENA_ARRAY(q->arena, float, w->n);
    int32_t *code = ARENA_ARRAY(q->arena, int32_t, w->n);

    if (!b && !corrects)
        return;
    for (uint32_t c = 0; c < w->n; c++)
        bias[c] = (double)at(b, c);
    if (corrects)
        add_lost(q, op, w, bias);
    for (uint32_t c = 0; c < w->n; c++) {
        scale[c] = q->scale[op->in[0]].scale * w->scale[c];
        const double v = rint(bias[c] / (double)scale[c]);
        code[c] = (int32_t)fmax(-(double)INT32_MAX, fmin(INT32_MAX, v));
    }
    w->bias = code;
    w->bias_scale = scale;
}

void quant_make_weights(struct quant *q)
{
    const struct ir_graph *g = q->g;

    q->weights = ARENA_ARRAY(q->arena, struct quant_weights, g->n_op);
    for (uint32_t i = 0; i < g->n_op; i++) {
        const struct ir_op *op = g->op[i];

        if (!q->op[i] || quant_form_of(g, op) != QUANT_PRODUCES)
            continue;
        const struct ir_tensor *t = ir_in(g, op, 1);
        struct quant_weights *w = &q->weights[i];
        float *scale = ARENA_ARRAY(q->arena, float, channels(t, op));
        int8_t *code = ARENA_ARRAY(q->arena, int8_t, (size_t)ir_elements(t));

        make_scales(q, op, scale);
        make_quantised(q, op, scale, code);
        *w = (struct quant_weights){.n = channels(t, op), .scale = scale, .code = code};
        make_bias(q, op, w);
    }
}
