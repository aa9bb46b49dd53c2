/* ref_islands_image.c - convolutions and pools of deferred results: [N,H,W,C] inside, weights and
 * bias.
 */
#include <math.h>
#include <string.h>

#include "ref_islands_own.h"

static float weight_scale(const struct isl_deferred *p, int32_t channel)
{
    return p->w.scale[p->w.n_scale > 1 ? channel : 0];
}

/* The bias in units of s_in * s_w, not rounded. */
double isl_bias_units(const struct isl *s, const struct isl_deferred *p, int32_t channel)
{
    const float s_in = s->to->tensor[p->in[0]]->quant.scale[0];

    if (p->sums != NULL)
        return p->sums[channel];
    return p->bias[channel] / ((double)s_in * (double)weight_scale(p, channel));
}

bool isl_has_pads(const struct isl_deferred *p)
{
    return p->attr[IR_PAD_TOP] != 0 || p->attr[IR_PAD_BOTTOM] != 0 || p->attr[IR_PAD_LEFT] != 0 ||
           p->attr[IR_PAD_RIGHT] != 0;
}

/* --- weights and bias --- */

/* [O,C,KH,KW] as [O,KH,KW,C], or (depthwise) as [1,KH,KW,O]. */
static const void *reordered(struct isl *s, const struct isl_weights *w, bool depthwise)
{
    const size_t o = (size_t)w->dim[0], c = (size_t)w->dim[1],
                 kk = (size_t)w->dim[2] * (size_t)w->dim[3], size = ir_type_bytes(w->type);
    const uint8_t *from = w->data;
    uint8_t *to = arena_alloc(s->arena, o * c * kk * size);

    for (size_t i = 0; i < o * c * kk; i++) {
        const size_t k = i % kk, in = i / kk % c, out = i / kk / c;
        const size_t place = depthwise ? k * o + out : (out * kk + k) * c + in;

        memcpy(to + place * size, from + i * size, size);
    }
    return to;
}

/* Quantised weights have the input's type: the other one's values are 128 apart, as its zero
 * points. */
static struct isl_weights in_type_of(struct isl *s, const struct isl_weights *w, enum ir_type type)
{
    const size_t n = (size_t)w->dim[0] * (size_t)w->dim[1] * (size_t)w->dim[2] * (size_t)w->dim[3];
    struct isl_weights y = *w;
    uint8_t *v;
    int32_t *zero;

    if (type == IR_I16)
        type = IR_I8;
    if (w->type == type)
        return y;
    v = arena_memdup(s->arena, w->data, n);
    zero = arena_memdup(s->arena, w->zero, w->n_scale * sizeof *zero);
    for (size_t i = 0; i < n; i++)
        v[i] = (uint8_t)(v[i] + 128);
    for (uint32_t i = 0; i < w->n_scale; i++)
        zero[i] += type == IR_U8 ? 128 : -128;
    y.type = type;
    y.data = v;
    y.zero = zero;
    return y;
}

uint32_t isl_weights_const(struct isl *s, const struct isl_deferred *p, const struct isl_want *want,
                           bool depthwise)
{
    const struct isl_weights w =
        want->type == IR_F32 ? isl_float_weights(s, &p->w) : in_type_of(s, &p->w, want->type);
    const struct ir_quant q = {w.n_scale, w.n_scale > 1 && depthwise ? 3 : 0, w.scale, w.zero};
    const int32_t dim[4] = {depthwise ? 1 : w.dim[0], w.dim[2], w.dim[3],
                            depthwise ? w.dim[0] : w.dim[1]};
    const bool dense = p->opcode == IR_OP_FULLY_CONNECTED;

    return isl_const(s, isl_inner(s, want->name, "weights"), w.type, dense ? 2 : 4,
                     dense ? w.dim : dim, dense ? w.data : reordered(s, &w, depthwise), &q);
}

/* In the units of the sum: int32, of int16 x int64, or real numbers. */
uint32_t isl_bias_const(struct isl *s, const struct isl_deferred *p, const struct isl_want *want)
{
    const int32_t n = p->w.dim[0];
    const bool real = want->type == IR_F32;
    int32_t *whole = ARENA_ARRAY(s->arena, int32_t, (size_t)n);
    int64_t *wide = ARENA_ARRAY(s->arena, int64_t, (size_t)n);
    float *f = ARENA_ARRAY(s->arena, float, (size_t)n);

    if (p->bias == NULL && p->sums == NULL)
        return IR_NONE;
    for (int32_t c = 0; c < n; c++) {
        const struct ir_tensor *x = s->to->tensor[p->in[0]];

        if (want->type == IR_I16)
            wide[c] = (int64_t)rint(isl_bias_units(s, p, c));
        else if (!real)
            whole[c] = (int32_t)rint(isl_bias_units(s, p, c));
        else if (p->sums == NULL)
            f[c] = (float)p->bias[c];
        else
            f[c] = (float)(p->sums[c] * (double)x->quant.scale[0] * (double)weight_scale(p, c));
    }
    if (want->type == IR_I16)
        return isl_const(s, isl_inner(s, want->name, "bias"), IR_I64, 1, &n, wide, NULL);
    return isl_const(s, isl_inner(s, want->name, "bias"), real ? IR_F32 : IR_I32, 1, &n,
                     real ? (const void *)f : whole, NULL);
}

/* --- operators --- */

static uint32_t window_result(struct isl *s, const struct isl_deferred *p,
                              const struct isl_want *want, enum ir_opcode opcode, uint32_t n_in,
                              const uint32_t *in)
{
    int32_t dim[4];
    uint32_t out;
    struct ir_op *op;

    isl_nhwc_shape(p->y, dim);
    out = isl_tensor(s, isl_inner(s, want->name, "nhwc"), want->type, 4, dim, want->q);
    op = isl_op(s, opcode, n_in, in, out);
    isl_set_attributes(op, p);
    if (ir_is_depthwise(op))
        op->attr[IR_MULTIPLIER] = dim[3] / s->to->tensor[in[0]]->dim[3];
    return isl_from_nhwc(s, want->name, out, p->y->rank);
}

uint32_t isl_make_conv(struct isl *s, const struct isl_deferred *p, const struct isl_want *want)
{
    const int32_t n_group = isl_groups(s, p);
    const bool depthwise = n_group > 1 && p->w.dim[1] == 1;
    uint32_t in[3];

    in[1] = isl_weights_const(s, p, want, depthwise);
    in[2] = isl_bias_const(s, p, want);
    in[0] = isl_to_nhwc(s, isl_result_operand(s, p, want, 0));
    return window_result(s, p, want, depthwise ? IR_OP_DEPTHWISE_CONV2D : IR_OP_CONV2D,
                         in[2] == IR_NONE ? 2 : 3, in);
}

/* Group k of n of a transposed convolution. */
static struct isl_deferred part_of(struct isl *s, const struct isl_deferred *p, int32_t k,
                                   int32_t n)
{
    const size_t each =
        (size_t)(p->w.dim[0] / n) * (size_t)p->w.dim[1] * (size_t)p->w.dim[2] * (size_t)p->w.dim[3];
    struct isl_deferred part = *p;
    struct ir_tensor *y = arena_memdup(s->arena, p->y, sizeof *y);

    y->dim[1] /= n;
    part.y = y;
    part.w.dim[0] /= n;
    part.w.data = (const uint8_t *)p->w.data + (size_t)k * each * ir_type_bytes(p->w.type);
    if (p->bias != NULL)
        part.bias = p->bias + (size_t)k * (size_t)part.w.dim[0];
    if (p->w.n_scale > 1) {
        part.w.n_scale /= (uint32_t)n;
        part.w.scale += k * part.w.dim[0];
        part.w.zero += k * part.w.dim[0];
    }
    return part;
}

static uint32_t one_transposed(struct isl *s, const struct isl_deferred *p,
                               const struct isl_want *want, uint32_t x)
{
    int32_t dim[4];
    uint32_t in[3] = {x, isl_weights_const(s, p, want, false), isl_bias_const(s, p, want)}, out;

    isl_nhwc_shape(p->y, dim);
    out = isl_tensor(s, isl_inner(s, want->name, "nhwc"), want->type, 4, dim, want->q);
    isl_set_attributes(isl_op(s, p->opcode, in[2] == IR_NONE ? 2 : 3, in, out), p);
    return out;
}

/* Channels from `from` on, `n` of them. */
static uint32_t channels(struct isl *s, uint32_t x, int32_t from, int32_t n)
{
    static const int32_t four = 4;
    const struct ir_tensor *t = s->to->tensor[x];
    const int32_t begin[4] = {0, 0, 0, from}, dim[4] = {t->dim[0], t->dim[1], t->dim[2], n};
    const uint32_t in[2] = {x, isl_const(s, isl_inner(s, t->name, "begin"), IR_I32, 1, &four,
                                         arena_memdup(s->arena, begin, sizeof begin), NULL)};
    const uint32_t out = isl_tensor(s, isl_inner(s, t->name, "group"), t->type, 4, dim, &t->quant);

    isl_op_slice(s, 2, in, out);
    return out;
}

uint32_t isl_make_transposed(struct isl *s, const struct isl_deferred *p,
                             const struct isl_want *want)
{
    const int32_t n = isl_groups(s, p);
    const uint32_t x = isl_to_nhwc(s, isl_result_operand(s, p, want, 0));
    uint32_t *part = ARENA_ARRAY(s->arena, uint32_t, (size_t)n), out = IR_NONE;
    int32_t dim[4];

    for (int32_t k = 0; k < n; k++) {
        const struct isl_deferred one = part_of(s, p, k, n);

        part[k] = one_transposed(s, &one, want,
                                 n == 1 ? x : channels(s, x, k * p->w.dim[1], p->w.dim[1]));
    }
    out = part[0];
    if (n > 1) {
        isl_nhwc_shape(p->y, dim);
        out = isl_tensor(s, isl_inner(s, want->name, "nhwc"), want->type, 4, dim, want->q);
        isl_op_concatenation(s, (uint32_t)n, part, out)->attr[IR_AXIS] = 3;
    }
    return isl_from_nhwc(s, want->name, out, p->y->rank);
}

/* Quantised cells outside the image count as zero: ones of scale 1/n as weights. */
static uint32_t counted_pool(struct isl *s, const struct isl_deferred *p,
                             const struct isl_want *want)
{
    const int32_t channels = p->y->dim[1], cells = p->attr[IR_KERNEL_H] * p->attr[IR_KERNEL_W];
    const struct ir_quant q = isl_one_scale(s, 1.0f / (float)cells, 0);
    const size_t n = (size_t)channels * (size_t)cells;
    struct isl_deferred conv = *p;

    conv.opcode = IR_OP_CONV2D;
    conv.attr[IR_QLINEAR] = 0;
    conv.attr[IR_DILATION_H] = conv.attr[IR_DILATION_W] = 1;
    conv.has_weights = true;
    conv.w = (struct isl_weights){IR_I8,
                                  {channels, 1, p->attr[IR_KERNEL_H], p->attr[IR_KERNEL_W]},
                                  memset(arena_alloc(s->arena, n), 1, n),
                                  1,
                                  q.scale,
                                  q.zero_point};
    return isl_make_conv(s, &conv, want);
}

/* Zeros around float32 image `x` [N,H,W,C]. */
static uint32_t padded(struct isl *s, struct isl_deferred *p, uint32_t x)
{
    static const int32_t shape[2] = {4, 2};
    const struct ir_tensor *t = s->to->tensor[x];
    const int32_t *a = p->attr;
    const int32_t amount[8] = {
        0, 0, a[IR_PAD_TOP], a[IR_PAD_BOTTOM], a[IR_PAD_LEFT], a[IR_PAD_RIGHT], 0, 0};
    const int32_t dim[4] = {t->dim[0], t->dim[1] + amount[2] + amount[3],
                            t->dim[2] + amount[4] + amount[5], t->dim[3]};
    const uint32_t in[2] = {x, isl_const(s, isl_inner(s, t->name, "amount"), IR_I32, 2, shape,
                                         arena_memdup(s->arena, amount, sizeof amount), NULL)};
    const uint32_t out = isl_tensor(s, isl_inner(s, t->name, "padded"), IR_F32, 4, dim, NULL);

    for (uint32_t i = IR_PAD_TOP; i <= IR_PAD_RIGHT; i++)
        p->attr[i] = 0;
    isl_op_pad(s, 2, in, out);
    return out;
}

uint32_t isl_make_pool(struct isl *s, const struct isl_deferred *p, const struct isl_want *want)
{
    const bool counted = p->counts_pads && isl_has_pads(p);
    const bool rescaled = want->type == IR_I16 && !isl_has_pads(p) &&
                          !isl_same_quant(s->to->tensor[p->in[0]], IR_I16, want->q);
    struct isl_deferred inside = *p;
    uint32_t x;

    if ((counted && want->type != IR_F32) || rescaled)
        return counted_pool(s, p, want);
    x = isl_to_nhwc(s, isl_result_operand(s, p, want, 0));
    if (counted)
        x = padded(s, &inside, x);
    return window_result(s, &inside, want, p->opcode, 1, &x);
}
