/* draw_products.c - random operators with weights or windows: convolutions, dense layers, pools. */
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "draw.h"

enum { MOST_TAPS = 60000 }; /* of one sign, so that sums keep to 32 bits */

/* The scale at which sums of one sign, all at their end, fill the output's range. */
static double real_of_sums(const struct draw *w, uint32_t taps)
{
    const double x = w->p->dtype == IR_I16 ? 32767 : w->p->zero_points == ZERO_NONE ? 127 : 240;

    return (w->p->dtype == IR_I16 ? 15000 : 60) / (x * 128 * taps);
}

/* Draw the scale of the first channel's sums, w->real, of a kind that the pattern can compute exactly:
 * natural: products of `taps` quantised values fill the output's range; edge: its multiplier is the least
 * or nearly the greatest; deep: shifts as far as real networks have them, with biases that show; left:
 * sums are small, and shifted to the left; steep: results far beyond the output's range; sums: the largest
 * there are; ties: no products, and biases between two output values. */
static void draw_real(struct draw *w, uint32_t taps)
{
    static const enum draw_kind kinds[32] = {
        [0] = DRAW_EDGE, DRAW_DEEP, DRAW_DEEP, DRAW_LEFT, DRAW_STEEP};
    const double part = 0.5 + check_random(w->c, 100) / 200.0;
    const bool reaches = w->reach != TARGET_VALUE_COUNT; /* then every output should show its sum */
    double real =
        1.0 / (sqrt((double)taps) * (reaches ? 90 : 30) * (0.5 + check_random(w->c, 100) / 50.0));
    uint32_t bits = 13;

    w->exact = false;
    w->kind = kinds[check_random(w->c, reaches ? 32 : 8)]; /* DRAW_NATURAL: half of them */
    if (w->wanted == DRAW_TIES || (w->wanted == DRAW_SUMS && taps < MOST_TAPS))
        w->kind = w->wanted;
    if (w->p->single_rounding && w->p->dtype != IR_I16 && w->kind != DRAW_LEFT)
        real = part;
    else if (w->kind == DRAW_DEEP || w->kind == DRAW_TIES) {
        const uint32_t shift = w->kind == DRAW_DEEP ? 4 + check_random(w->c, 28)
                               : w->nth < 4         ? 31 * (w->nth == 1)
                                                    : check_random(w->c, 32);
        w->deep = shift;
        w->exact = w->kind == DRAW_TIES && (w->nth == 2 || w->nth == 3);
        real = ldexp(w->exact ? 0.5 : part, -(int)shift);
        bits = shift + 7 < 30 ? shift + 7 : 30;
    } else if (w->kind == DRAW_SUMS) {
        real = real_of_sums(w, taps);
    }
    if (w->kind == DRAW_LEFT) {
        real = ldexp(part, (int)check_random(w->c, 4));
        bits = 4;
    }
    if (w->kind == DRAW_STEEP) {
        real = part;
        bits = 20;
    }
    if (w->p->requantise == REQUANTISE_SHIFT_BITS || w->kind == DRAW_EDGE)
        real = exp2(round(log2(real)));
    w->bias_bits = taps > 16000 && bits > 13 ? 13 : bits;
    w->real = real;
}

/* The output's scale, where products have scale `product`. */
static float output_scale(struct draw *w, double product)
{
    const float s = (float)(product / w->real);

    if (w->kind == DRAW_TIES)
        w->real = product / (double)s;
    return w->kind == DRAW_EDGE && w->p->requantise != REQUANTISE_SHIFT_BITS &&
                   check_random(w->c, 2)
               ? nextafterf(s, 2 * s)
               : s;
}

/* Weights as int8: all of one end, any, or nearly all the zero point. */
static void random_bytes(struct draw *w, uint8_t *to, uint64_t n, uint64_t taps, int32_t zero)
{
    const uint32_t kind = w->kind == DRAW_SUMS
                              ? w->negative
                              : check_random(w->c, w->reach != TARGET_VALUE_COUNT ? 20 : 5);

    if (w->kind == DRAW_TIES) {
        memset(to, zero, n);
        return;
    }
    for (uint64_t i = 0; i < n && w->kind != DRAW_LEFT; i++)
        to[i] = kind == 0 ? 0x7f : kind == 1 ? 0x80 : (uint8_t)check_random(w->c, 256);
    for (uint64_t i = 0; i < n && w->kind == DRAW_LEFT; i++) {
        const int32_t v = zero + (check_random(w->c, (uint32_t)taps) ? 0
                                  : check_random(w->c, 2)            ? 1
                                                                     : -1);
        to[i] = (uint8_t)(v > 127 ? 127 : v < -128 ? -128 : v);
    }
}

static struct ir_tensor *real_constant(struct draw *w, struct ir_graph *g, uint32_t rank,
                                       const int32_t *dim)
{
    struct ir_tensor *t = draw_tensor(g, IR_F32, rank, dim, 0, NULL, NULL);

    t->role = IR_CONST;
    t->data = draw_data(w, t);
    return t;
}

static struct ir_tensor *weights(struct draw *w, struct ir_graph *g, const int32_t dim[4],
                                 uint32_t rank, uint32_t channels, uint32_t axis, float base,
                                 uint32_t taps)
{
    if (w->p->dtype == IR_F32)
        return real_constant(w, g, rank, dim);
    bool per_channel = !w->p->per_tensor && (check_random(w->c, 2) || w->kind == DRAW_TIES) &&
                       w->p->zero_points != ZERO_BOTH;
    uint32_t n = per_channel ? channels : 1;
    float *s = ARENA_ARRAY(g->arena, float, n);
    int32_t *z = ARENA_ARRAY(g->arena, int32_t, n);
    const uint32_t apart =
        w->kind == DRAW_TIES ? 32 - w->deep
        : w->kind == DRAW_NATURAL && check_random(w->c, 2) && w->reach == TARGET_VALUE_COUNT ? 7
                                                                                             : 1;
    for (uint32_t i = 0; i < n; i++)
        s[i] = w->p->requantise == REQUANTISE_SHIFT_BITS
                   ? base * (float)(1u << check_random(w->c, 3))
                   : base * (i && w->kind != DRAW_EDGE
                                 ? (w->exact ? 1 : 1 + (float)check_random(w->c, 100) / 100) /
                                       (float)(1u << check_random(w->c, apart))
                                 : 1);
    for (uint32_t i = 0; i < n; i++)
        z[i] = i == 0 ? draw_zero_point(w, TARGET_Z_W,
                                        w->p->zero_points == ZERO_BOTH && !per_channel, true)
                      : z[0];
    struct ir_tensor *t =
        draw_tensor(g, w->p->dtype == IR_I16 ? IR_I8 : w->p->dtype, rank, dim, n, s, z);
    uint8_t *data = arena_alloc(g->arena, (size_t)ir_bytes(t));
    random_bytes(w, data, ir_bytes(t), taps, z[0] - (w->p->dtype == IR_U8 ? 128 : 0));
    for (uint64_t i = 0; i < ir_bytes(t) && t->type == IR_U8; i++)
        data[i] ^= 0x80;
    t->quant.axis = axis;
    t->role = IR_CONST;
    t->data = data;
    return t;
}

/* A bias within two of the border between two output values, where the sum is `real` of one. */
static int64_t tie(struct draw *w, double real, int64_t most)
{
    const int64_t value = (int64_t)check_random(w->c, 512) - 256,
                  border = (int64_t)llround(((double)value + 0.5) / real) +
                           (int64_t)check_random(w->c, 5) - 2;

    return border < -most ? -most : border < most ? border : most;
}

static struct ir_tensor *bias(struct draw *w, struct ir_graph *g, const struct ir_tensor *filter,
                              float in_scale, uint32_t channels)
{
    const int32_t dim = (int32_t)channels;

    if (w->p->dtype == IR_F32)
        return w->p->bias == BIAS_NONE ? NULL : real_constant(w, g, 1, &dim);
    float *s = ARENA_ARRAY(g->arena, float, filter->quant.n);
    int32_t *z = ARENA_ARRAY(g->arena, int32_t, filter->quant.n);
    const bool wide = w->p->dtype == IR_I16;
    uint8_t *data = arena_alloc(g->arena, (size_t)channels * (wide ? 8 : 4));
    for (uint32_t i = 0; i < filter->quant.n; i++)
        s[i] = in_scale * filter->quant.scale[i];
    struct ir_tensor *t = draw_tensor(g, wide ? IR_I64 : IR_I32, 1, &dim, filter->quant.n, s, z);
    for (uint32_t i = 0; i < channels && w->p->bias != BIAS_NONE; i++) {
        const uint32_t bits = w->bias_bits + (wide ? 8 : 0);
        const double real = w->real * (double)filter->quant.scale[filter->quant.n > 1 ? i : 0] /
                            (double)filter->quant.scale[0];
        const int64_t v = w->kind == DRAW_TIES ? tie(w, real, ((int64_t)1 << (wide ? 38 : 31)) - 1)
                                               : (int64_t)(random_next(&w->c->rng) >> (63 - bits)) -
                                                     ((int64_t)1 << bits);
        memcpy(data + (size_t)i * (wide ? 8 : 4), &v, wide ? 8 : 4); /* little-endian */
    }
    t->role = IR_CONST;
    t->data = data;
    return t;
}

/* Sizes of a window over the image, shared by convolutions and pools. */
struct window {
    int64_t kernel, stride, dilation, before, after, image, out;
};

/* The image holds a few windows where the case reaches for large ones. */
static void along(struct draw *w, bool rows, bool pads, struct window *n)
{
    const bool reaches = draw_reaches(w, rows ? TARGET_KERNEL_H : TARGET_KERNEL_W) ||
                         draw_reaches(w, rows ? TARGET_STRIDE_H : TARGET_STRIDE_W) ||
                         (pads && draw_reaches(w, rows ? TARGET_DILATION_H : TARGET_DILATION_W));

    n->kernel = draw_value(w, rows ? TARGET_KERNEL_H : TARGET_KERNEL_W, 1, draw_few(w, 5));
    n->stride = draw_value(w, rows ? TARGET_STRIDE_H : TARGET_STRIDE_W, 1, draw_few(w, 3));
    n->dilation = pads ? draw_value(w, rows ? TARGET_DILATION_H : TARGET_DILATION_W, 1, 2) : 1;
    n->before = draw_value(w, rows ? TARGET_PAD_TOP : TARGET_PAD_LEFT, 0, n->kernel / 2);
    n->after = draw_value(w, rows ? TARGET_PAD_BOTTOM : TARGET_PAD_RIGHT, 0, n->kernel / 2);
    const int64_t span = (n->kernel - 1) * n->dilation + 1;
    n->image = draw_value(w, rows ? TARGET_IN_H : TARGET_IN_W, reaches ? span : 1,
                          reaches ? span + 3 * n->stride : draw_few(w, 12));
}

/* Outputs; 0: the window is larger than the image. */
static void count(struct draw *w, struct window *n)
{
    if (w->keeps_shape) {
        n->kernel |= 1;
        n->stride = n->dilation = 1;
        n->before = n->after = n->kernel / 2;
    }
    const int64_t spare = n->image + n->before + n->after - ((n->kernel - 1) * n->dilation + 1);
    n->out = spare < 0 ? 0 : spare / n->stride + 1;
}

/* `channels`: of the input, where its bytes are reached for, and of the output. */
static void window(struct draw *w, bool pads, const int64_t channels[2], int32_t x[4], int32_t y[4],
                   int32_t *attr)
{
    struct window h, v;

    along(w, true, pads, &h);
    along(w, false, pads, &v);
    draw_fill(w, TARGET_IN_BYTES, channels[0], &h.image, &v.image);
    draw_fill(w, TARGET_OUT_BYTES, channels[1], &h.image, &v.image);
    if (w->reach == TARGET_OUT_BYTES && !w->given[0])
        h.stride = v.stride = 1;
    count(w, &h);
    count(w, &v);
    x[0] = y[0] = (int32_t)draw_value(w, TARGET_BATCH, 1, draw_few(w, 2));
    x[1] = (int32_t)(w->v[TARGET_IN_H] = h.image);
    x[2] = (int32_t)(w->v[TARGET_IN_W] = v.image);
    y[1] = (int32_t)h.out;
    y[2] = (int32_t)v.out;
    const int64_t all[][2] = {{IR_KERNEL_H, h.kernel},  {IR_KERNEL_W, v.kernel},
                              {IR_STRIDE_H, h.stride},  {IR_STRIDE_W, v.stride},
                              {IR_PAD_TOP, h.before},   {IR_PAD_LEFT, v.before},
                              {IR_PAD_BOTTOM, h.after}, {IR_PAD_RIGHT, v.after}};
    for (uint32_t i = 0; i < sizeof all / sizeof *all; i++)
        attr[all[i][0]] = (int32_t)all[i][1];
    if (pads) {
        attr[IR_DILATION_H] = (int32_t)h.dilation;
        attr[IR_DILATION_W] = (int32_t)v.dilation;
    }
}

static bool of_blocks(const struct draw *w)
{
    return !w->p->call && describe_of(w->target)->blocks;
}

/* Channels of the input and the output, and the depth multiplier of depthwise ones. Where the compiler cuts
 * the depth of a product (blocks), many are wanted. */
static int64_t draw_channels(struct draw *w, bool depthwise, int64_t c[2])
{
    c[0] = draw_value(w, TARGET_IN_C, 1, draw_few(w, of_blocks(w) ? 150 : 19));
    const int64_t m = depthwise ? draw_value(w, TARGET_MULTIPLIER, 1, draw_few(w, 2)) : 1;
    c[1] = depthwise        ? c[0] * m
           : w->keeps_shape ? c[0]
                            : draw_value(w, TARGET_OUT_C, 1, draw_few(w, 19));
    return m;
}

bool draw_convolution(struct draw *w, struct ir_graph *g)
{
    const bool depthwise = ir_op_info(w->p->opcode)->depthwise;
    int32_t x[4], y[4], attr[IR_ATTR_COUNT] = {0};
    int64_t channels[2];
    const int64_t m = draw_channels(w, depthwise, channels);

    window(w, true, channels, x, y, attr);
    if (!depthwise && !w->keeps_shape)
        draw_fill(w, TARGET_W_BYTES, attr[IR_KERNEL_H] * attr[IR_KERNEL_W], &channels[0],
                  &channels[1]);
    const int32_t c = (int32_t)channels[0], oc = (int32_t)channels[1];
    if (y[1] < 1 || y[2] < 1)
        return false;
    x[3] = c;
    y[3] = oc;
    const int32_t f[4] = {depthwise ? 1 : oc, attr[IR_KERNEL_H], attr[IR_KERNEL_W],
                          depthwise ? oc : c};
    float sx, sw = 0.03125f;
    uint32_t taps = (uint32_t)(f[1] * f[2] * (depthwise ? 1 : c));
    struct ir_tensor *in[3];
    draw_real(w, taps);
    in[0] = draw_activation(w, g, x, 0.5f, TARGET_Z_IN, true);
    sx = draw_scale(in[0], 0.5f);
    const float sy = output_scale(w, (double)sx * (double)sw);
    in[1] = weights(w, g, f, 4, (uint32_t)oc, depthwise ? 3 : 0, sw, taps);
    in[2] = bias(w, g, in[1], sx, (uint32_t)oc);
    struct ir_tensor *out = draw_activation(w, g, y, sy, TARGET_Z_OUT, false);
    struct ir_op *op = draw_finish(w, g, in, 3, out);
    memcpy(op->attr, attr, sizeof attr);
    op->attr[IR_MULTIPLIER] = depthwise ? (int32_t)m : 0;
    op->attr[IR_ACTIVATION] = draw_activation_of(w);
    return true;
}

bool draw_dense(struct draw *w, struct ir_graph *g)
{
    const struct ir_tensor *given = w->given[0];
    int32_t rows = (int32_t)draw_value(w, TARGET_BATCH, 1, draw_few(w, 3));
    int64_t depth = given ? (int64_t)(ir_elements(given) / (uint64_t)rows)
                          : draw_value(w, TARGET_IN_C, 1, draw_few(w, of_blocks(w) ? 700 : 70)),
            width = draw_value(w, TARGET_OUT_C, 1, draw_few(w, 19));
    if (!given)
        draw_fill(w, TARGET_W_BYTES, 1, &depth, &width);
    const int32_t k = (int32_t)depth, oc = (int32_t)width;
    const int32_t x[2] = {rows, k}, y[2] = {rows, oc}, f[4] = {oc, k, 1, 1};
    const int32_t x4[4] = {1, 1, rows, k}, y4[4] = {1, 1, rows, oc};
    float sx, sw = 0.03125f;
    struct ir_tensor *in[3];

    draw_real(w, (uint32_t)k);
    in[0] = given ? w->given[0] : draw_activation(w, g, x4, 0.5f, TARGET_Z_IN, true);
    sx = draw_scale(in[0], 0.5f);
    if (!given) {
        in[0]->rank = 2;
        memcpy(in[0]->dim, x, sizeof x);
    }
    const float sy = output_scale(w, (double)sx * (double)sw);
    in[1] = weights(w, g, f, 2, (uint32_t)oc, 0, sw, (uint32_t)k);
    in[2] = bias(w, g, in[1], sx, (uint32_t)oc);
    struct ir_tensor *out = draw_activation(w, g, y4, sy, TARGET_Z_OUT, false);
    out->rank = 2;
    memcpy(out->dim, y, sizeof y);
    draw_finish(w, g, in, 3, out)->attr[IR_ACTIVATION] = draw_activation_of(w);
    return true;
}

bool draw_pool(struct draw *w, struct ir_graph *g)
{
    int32_t x[4], y[4], attr[IR_ATTR_COUNT] = {0};
    const int64_t c = draw_value(w, TARGET_IN_C, 1, draw_few(w, 19)), channels[2] = {c, c};

    w->kind = w->wanted;
    window(w, false, channels, x, y, attr);
    if (y[1] < 1 || y[2] < 1)
        return false;
    x[3] = y[3] = (int32_t)c;
    struct ir_tensor *in[1] = {draw_activation(w, g, x, 0.5f, TARGET_Z_IN, true)};
    struct ir_tensor *out = draw_activation(w, g, y, 0.5f, TARGET_Z_OUT, false);
    out->quant = in[0]->quant;
    struct ir_op *op = draw_finish(w, g, in, 1, out);
    memcpy(op->attr, attr, sizeof attr);
    op->attr[IR_ACTIVATION] = draw_activation_of(w);
    return true;
}
