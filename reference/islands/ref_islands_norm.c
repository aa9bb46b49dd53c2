/* ref_islands_norm.c - BatchNormalization, y = a[c] * x + b[c]: into the convolution or dense layer that it reads,
 * or a depthwise convolution of one cell. */
#include <math.h>
#include <string.h>

#include "ref_islands_own.h"

static size_t size_of_channel(const struct isl_weights *w)
{
    return (size_t)w->dim[1] * (size_t)w->dim[2] * (size_t)w->dim[3];
}

/* Return true if the result may stay quantised: a channel with a negative scale needs values
 * that all have a negative. */
static bool stays_quantised(const struct isl_weights *w, const double *a)
{
    const size_t each = size_of_channel(w);
    const int8_t *v = w->data;

    for (size_t c = 0; c < (size_t)w->dim[0]; c++) {
        bool can = w->type == IR_I8 && w->zero[w->n_scale > 1 ? c : 0] == 0;

        for (size_t i = c * each; can && i < (c + 1) * each; i++)
            can = v[i] != -128;
        if (a[c] < 0 && !can)
            return false;
    }
    return true;
}

static void scale_floats(struct isl *s, struct isl_weights *w, const double *a)
{
    const size_t each = size_of_channel(w), n = (size_t)w->dim[0] * each;
    float *v = arena_memdup(s->arena, w->data, n * sizeof *v);

    for (size_t i = 0; i < n; i++)
        v[i] = (float)((double)v[i] * a[i / each]);
    w->data = v;
}

/* |a| goes into the scales, the sign into the values; a channel of 0 keeps its scale, its values
 * are the zero point. */
static void scale_quantised(struct isl *s, struct isl_weights *w, const double *a)
{
    const size_t each = size_of_channel(w), n = (size_t)w->dim[0];
    float *scale = ARENA_ARRAY(s->arena, float, n);
    int32_t *zero = ARENA_ARRAY(s->arena, int32_t, n);
    uint8_t *v = arena_memdup(s->arena, w->data, n * each);

    for (size_t c = 0; c < n; c++) {
        const size_t k = w->n_scale > 1 ? c : 0;

        scale[c] = (float)((double)w->scale[k] * fabs(a[c]));
        if (!(scale[c] > 0))
            scale[c] = w->scale[k];
        zero[c] = w->zero[k];
        for (size_t i = c * each; i < (c + 1) * each; i++)
            v[i] = (uint8_t)(a[c] > 0 ? v[i] : a[c] < 0 ? -(int8_t)v[i] : zero[c]);
    }
    w->data = v;
    w->scale = scale;
    w->zero = zero;
    w->n_scale = (uint32_t)n;
}

/* x alone: one weight a channel, 64 of scale 1/64; float32 if x is, or to round once. */
static struct isl_weights unit_weights(struct isl *s, int32_t channels, bool is_float)
{
    struct isl_weights w = {is_float ? IR_F32 : IR_I8, {channels, 1, 1, 1}, NULL, 0, NULL, NULL};
    const struct ir_quant q = isl_one_scale(s, 1.0f / 64, 0);
    float *ones = ARENA_ARRAY(s->arena, float, (size_t)channels);
    int8_t *sixty_four = arena_alloc(s->arena, (size_t)channels);

    for (int32_t c = 0; c < channels; c++) {
        ones[c] = 1;
        sixty_four[c] = 64;
    }
    w.data = is_float ? (const void *)ones : sixty_four;
    if (is_float)
        return w;
    w.n_scale = 1;
    w.scale = q.scale;
    w.zero = q.zero_point;
    return w;
}

enum status isl_normalise(struct isl *s, const struct ir_op *op)
{
    const int32_t channels = ir_out(s->from, op, 0)->dim[1];
    struct isl_deferred *p = isl_grown(s, op, op->in[0]);
    const double *a, *b;
    double *bias;

    if (p == NULL || !ir_op_has(p->opcode, IR_DIGITS) || p->sums != NULL || isl_is_clamped(p)) {
        p = isl_new_deferred(s, op, 1);
        p->opcode = IR_OP_CONV2D;
        p->attr[IR_MULTIPLIER] = 0;
        TRY(isl_operand(s, op->in[0], &p->in[0]));
        p->has_weights = true;
        p->w = unit_weights(s, channels, s->exact || s->to->tensor[p->in[0]]->type == IR_F32);
    }
    TRY(isl_read_numbers(s, op->in[1], channels, &a));
    TRY(isl_read_numbers(s, op->in[2], channels, &b));
    if (a == NULL || b == NULL)
        return FAIL(s->d, ST_INTERNAL, "a normalisation without constants");
    if (p->w.type != IR_F32 && stays_quantised(&p->w, a)) {
        scale_quantised(s, &p->w, a);
    } else {
        p->w = isl_float_weights(s, &p->w);
        scale_floats(s, &p->w, a);
    }
    bias = ARENA_ARRAY(s->arena, double, (size_t)channels);
    for (int32_t c = 0; c < channels; c++)
        bias[c] = (p->bias != NULL ? p->bias[c] : 0) * a[c] + b[c];
    p->bias = bias;
    isl_set_deferred(s, op, p);
    return ST_OK;
}
