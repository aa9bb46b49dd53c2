/* tosa_sum.c - convolutions, products of matrices, pools, RESIZE. Sums of int8 are int32 here. */
#include <string.h>

#include "tosa_import.h"

/* Copy `n` values of an attribute, each at least `least`. */
static void values(struct tosa *m, const char *what, const struct tosa_ints *v, uint32_t n,
                   int32_t least, int32_t *to)
{
    memset(to, 0, n * sizeof *to);
    if (v->n != n)
        (void)TOSA_FAIL(m, ST_MODEL, "%s: expected %u values, found %u", what, n, v->n);
    for (uint32_t i = 0; i < n && i < v->n; i++) {
        to[i] = v->v[i];
        if (to[i] < least)
            (void)TOSA_FAIL(m, ST_MODEL, "%s: expected at least %d, found %d", what, least, to[i]);
    }
}

/* Set the attributes of a window of kh x kw; the file's pads are top, bottom, left, right. */
static void set_window(struct tosa *m, int32_t kh, int32_t kw, int32_t *attr)
{
    const struct tosa_attributes *a = &m->op->a;
    int32_t pad[4];

    attr[IR_KERNEL_H] = kh;
    attr[IR_KERNEL_W] = kw;
    values(m, "stride", &a->stride, 2, 1, &attr[IR_STRIDE_H]);
    values(m, "pad", &a->pad, 4, 0, pad);
    attr[IR_PAD_TOP] = pad[0];
    attr[IR_PAD_BOTTOM] = pad[1];
    attr[IR_PAD_LEFT] = pad[2];
    attr[IR_PAD_RIGHT] = pad[3];
}

/* Count the multiply-accumulates of the operator just made, which computes `y`. */
static uint32_t counted(struct tosa *m, uint32_t y)
{
    if (m->st == ST_OK)
        m->g->row[m->row[m->at]].macs += ir_macs(m->g, m->g->op[m->g->n_op - 1]);
    return y;
}

/* The constants of input 2, one or one for each channel; one stands for all. */
static uint32_t bias_of(struct tosa *m, int32_t channels)
{
    const struct ir_tensor *b = m->g->tensor[tosa_in(m, 2)];

    if (b->role != IR_CONST || ir_is_code(b->type) ||
        (ir_elements(b) != 1 && ir_elements(b) != (uint64_t)channels))
        return TOSA_FAIL(m, ST_UNSUPPORTED, "bias: expected 1 or %d constants", channels);
    if (ir_elements(b) != 1 || channels == 1)
        return b->id;
    return tosa_pick(m, tosa_reshape(m, b->id, 1, (const int32_t[]){1}), 0, (uint32_t)channels,
                     ARENA_ARRAY(m->arena, int32_t, (size_t)channels));
}

bool tosa_geometry(struct tosa *m, struct tosa_conv_parts *c)
{
    const bool depthwise = m->op->code == TOSA_DEPTHWISE_CONV2D;
    const struct ir_tensor *x = m->g->tensor[tosa_in(m, 0)], *w = m->g->tensor[tosa_in(m, 1)];

    memset(c, 0, sizeof *c);
    if (x->rank != 4 || w->rank != 4 || w->type != x->type || w->role != IR_CONST)
        return TOSA_FAIL(m, ST_UNSUPPORTED,
                         "expected an input of 4 dimensions and constant weights of its type") != 0;
    c->channels = depthwise ? w->dim[2] * w->dim[3] : w->dim[0];
    c->bias = bias_of(m, c->channels);
    if (m->st != ST_OK)
        return false;
    if (depthwise && (w->dim[2] != x->dim[3] || c->channels < 1))
        return TOSA_FAIL(m, ST_MODEL, "weights: expected %d input channels, found %d", x->dim[3],
                         w->dim[2]) != 0;
    set_window(m, w->dim[depthwise ? 0 : 1], w->dim[depthwise ? 1 : 2], c->attr);
    values(m, "dilation", &m->op->a.dilation, 2, 1, &c->attr[IR_DILATION_H]);
    c->in_zero = x->type == IR_I8 ? (int32_t)tosa_value(m, m->op, 3) : 0;
    c->weight_zero = x->type == IR_I8 ? (int32_t)tosa_value(m, m->op, 4) : 0;
    if (depthwise) {
        const int32_t dim[4] = {1, w->dim[0], w->dim[1], c->channels};

        c->weights = tosa_reshape(m, w->id, 4, dim);
        c->attr[IR_MULTIPLIER] = w->dim[3];
    } else
        c->weights = w->id;
    return m->st == ST_OK;
}

/* A constant int8 without dimensions. */
static uint32_t zero_point(struct tosa *m, int32_t zero)
{
    return tosa_number(m, IR_I8, (double)zero);
}

/* [1,KH,KW,OC] as [OC,KH,KW,1] */
static uint32_t grouped(struct tosa *m, uint32_t weights)
{
    static const int32_t perm[4] = {3, 1, 2, 0};
    const struct ir_tensor *w = m->g->tensor[weights];
    const int32_t dim[4] = {w->dim[3], w->dim[1], w->dim[2], 1};
    const uint32_t in[2] = {weights, tosa_vector(m, 4, perm)};

    return tosa_make_transpose(m, 2, in, tosa_new(m, w->type, 4, dim), NULL);
}

static uint32_t integer_conv(struct tosa *m, uint32_t x, uint32_t weights, int32_t in_zero,
                             int32_t weight_zero, const int32_t *attr)
{
    const uint32_t in[4] = {x, weights, zero_point(m, in_zero), zero_point(m, weight_zero)};
    const struct tosa_tensor *want = &m->file->tensor[m->op->out[0]];
    const uint32_t y = tosa_new(m, IR_I32, want->shape.n, want->shape.v);
    int32_t mine[IR_ATTR_COUNT];

    memcpy(mine, attr, sizeof mine);
    mine[IR_MULTIPLIER] = 0;
    return counted(m, tosa_make_conv_integer(m, 4, in, y, mine));
}

/* CONV2D, DEPTHWISE_CONV2D */
uint32_t tosa_conv(struct tosa *m)
{
    const bool depthwise = m->op->code == TOSA_DEPTHWISE_CONV2D;
    struct tosa_conv_parts c;
    uint32_t y;

    if (!tosa_geometry(m, &c))
        return 0;
    if (m->g->tensor[tosa_in(m, 0)]->type == IR_F32) {
        const uint32_t in[3] = {tosa_in(m, 0), c.weights, tosa_reshape(m, c.bias, 1, &c.channels)};

        y = tosa_out(m, IR_NONE);
        return counted(m, depthwise ? tosa_make_depthwise_conv2d(m, 3, in, y, c.attr)
                                    : tosa_make_conv2d(m, 3, in, y, c.attr));
    }
    y = integer_conv(m, tosa_in(m, 0), depthwise ? grouped(m, c.weights) : c.weights, c.in_zero,
                     c.weight_zero, c.attr);
    return tosa_do_add(m, y, c.bias);
}

/* The input of a transposed convolution of int8 with zero points between its pixels, so that a
 * convolution with reversed weights is left. */
static uint32_t spread(struct tosa *m, uint32_t x, int32_t zero, const int32_t *stride)
{
    static const int32_t two_dims[2] = {6, 2};
    const struct ir_tensor *t = m->g->tensor[x];
    const int32_t apart[6] = {t->dim[0], t->dim[1], 1, t->dim[2], 1, t->dim[3]};
    const int32_t padded[6] = {t->dim[0], t->dim[1], stride[0], t->dim[2], stride[1], t->dim[3]};
    const int32_t joined[4] = {t->dim[0], t->dim[1] * stride[0], t->dim[2] * stride[1], t->dim[3]};
    int32_t *pads = ARENA_ARRAY(m->arena, int32_t, 12);
    const uint32_t in[3] = {tosa_reshape(m, x, 6, apart), tosa_const(m, IR_I32, 2, two_dims, pads),
                            zero_point(m, zero)};
    uint32_t y = tosa_new(m, IR_I8, 6, padded);

    pads[5] = stride[0] - 1;
    pads[9] = stride[1] - 1;
    m->g->tensor[in[2]]->quant = m->g->tensor[y]->quant = t->quant;
    y = tosa_make_pad(m, 3, in, y, NULL);
    return tosa_reshape(m, y, 4, joined);
}

static uint32_t reversed(struct tosa *m, uint32_t weights)
{
    const struct ir_tensor *w = m->g->tensor[weights];
    const int32_t begin[4] = {0, w->dim[1] - 1, w->dim[2] - 1, 0}, step[4] = {1, -1, -1, 1};
    const uint32_t in[3] = {weights, tosa_vector(m, 4, begin), tosa_vector(m, 4, step)};

    return tosa_make_slice(m, 3, in, tosa_new(m, w->type, 4, w->dim), NULL);
}

/* weights [OC,KH,KW,IC]; out_pad top, bottom, left, right: below 0 is cut off, of integers above 0 is added. */
uint32_t tosa_transpose_conv(struct tosa *m)
{
    const struct ir_tensor *x = m->g->tensor[tosa_in(m, 0)], *w = m->g->tensor[tosa_in(m, 1)];
    const struct tosa_tensor *want = &m->file->tensor[m->op->out[0]];
    int32_t attr[IR_ATTR_COUNT] = {0}, out_pad[4], *stride = &attr[IR_STRIDE_H];
    uint32_t y, bias;

    values(m, "out_pad", &m->op->a.out_pad, 4, INT32_MIN, out_pad);
    values(m, "stride", &m->op->a.stride, 2, 1, stride);
    if (m->st != ST_OK)
        return 0;
    if (x->rank != 4 || w->rank != 4 || want->shape.n != 4 || w->role != IR_CONST ||
        w->type != x->type || stride[0] > 64 || stride[1] > 64)
        return TOSA_FAIL(m, ST_UNSUPPORTED,
                         "expected 4 dimensions, constant weights, strides up to 64");
    bias = bias_of(m, w->dim[0]);
    if (m->st != ST_OK)
        return 0;
    for (uint32_t i = 0; i < 2; i++) {
        const int64_t before = w->dim[1 + i] - 1 + (int64_t)out_pad[2 * i];
        const int64_t after = (int64_t)want->shape.v[1 + i] + w->dim[1 + i] - 1 - before -
                              (int64_t)x->dim[1 + i] * stride[i];

        if (before < 0 || after < 0 || (x->type == IR_F32 && out_pad[2 * i] > 0) ||
            before > INT16_MAX || after > INT16_MAX)
            return TOSA_FAIL(m, ST_UNSUPPORTED,
                             "out_pad: expected 1 - kernel to 0, a kernel of at least the stride, "
                             "found %d",
                             out_pad[2 * i]);
        attr[IR_KERNEL_H + i] = w->dim[1 + i];
        attr[IR_PAD_TOP + i] = x->type == IR_F32 ? -out_pad[2 * i] : (int32_t)before;
        attr[IR_PAD_BOTTOM + i] = x->type == IR_F32 ? 0 : (int32_t)after;
    }
    if (x->type == IR_F32) {
        const uint32_t in[3] = {x->id, w->id, bias};

        y = tosa_out(m, IR_NONE);
        return counted(m, tosa_make_transpose_conv(m, 3, in, y, attr));
    }
    y = spread(m, x->id, (int32_t)tosa_value(m, m->op, 3), stride);
    stride[0] = stride[1] = attr[IR_DILATION_H] = attr[IR_DILATION_W] = 1;
    y = integer_conv(m, y, reversed(m, w->id), (int32_t)tosa_value(m, m->op, 3),
                     (int32_t)tosa_value(m, m->op, 4), attr);
    return tosa_do_add(m, y, bias);
}

/* [N,H,C] x [N,C,W] */
uint32_t tosa_matmul(struct tosa *m)
{
    const uint32_t a = tosa_in(m, 0), b = tosa_in(m, 1), y = tosa_out(m, IR_NONE);
    uint32_t in[4] = {a, b, 0, 0}, n = 2;

    if (m->g->tensor[a]->type == IR_I8) {
        in[2] = zero_point(m, (int32_t)tosa_value(m, m->op, 2));
        in[3] = zero_point(m, (int32_t)tosa_value(m, m->op, 3));
        n = 4;
    }
    if (m->g->tensor[a]->rank != 3 || m->g->tensor[b]->rank != 3)
        return TOSA_FAIL(m, ST_MODEL, "expected matrices of 3 dimensions");
    return counted(m, n == 4 ? tosa_make_matmul_integer(m, n, in, y, NULL)
                             : tosa_make_batch_matmul(m, n, in, y, NULL));
}

void tosa_pool_window(struct tosa *m, int32_t *attr)
{
    int32_t kernel[2];

    memset(attr, 0, IR_ATTR_COUNT * sizeof *attr);
    values(m, "kernel", &m->op->a.kernel, 2, 1, kernel);
    set_window(m, kernel[0], kernel[1], attr);
    if (m->g->tensor[tosa_in(m, 0)]->rank != 4 || m->file->tensor[m->op->out[0]].shape.n != 4)
        (void)TOSA_FAIL(m, ST_MODEL, "expected an input and output of 4 dimensions");
}

uint32_t tosa_max_pool(struct tosa *m)
{
    const uint32_t x = tosa_in(m, 0);
    int32_t attr[IR_ATTR_COUNT];
    uint32_t y;

    tosa_pool_window(m, attr);
    y = tosa_out(m, x);
    return tosa_make_max_pool_2d(m, 1, &x, y, attr);
}

/* The cells inside the image of window `i` along one dimension. */
static int32_t inside(int32_t i, int32_t stride, int32_t pad, int32_t kernel, int32_t size)
{
    const int64_t from = (int64_t)i * stride - pad, to = from + kernel;
    const int64_t n = (to < size ? to : size) - (from > 0 ? from : 0);

    return n < 0 ? 0 : (int32_t)n;
}

/* Multipliers and shifts of each place of the output, [1,OH,OW,1]. */
static void divisors(struct tosa *m, const int32_t *attr, uint32_t scale[3])
{
    const struct ir_tensor *x = m->g->tensor[tosa_in(m, 0)];
    const int32_t *out = m->file->tensor[m->op->out[0]].shape.v;
    const int32_t dim[4] = {1, out[1], out[2], 1};
    const size_t n = (size_t)out[1] * (size_t)out[2];
    int64_t *v[3];

    for (uint32_t i = 0; i < 3; i++)
        v[i] = ARENA_ARRAY(m->arena, int64_t, n);
    for (int32_t h = 0, k = 0; h < out[1]; h++)
        for (int32_t w = 0; w < out[2]; w++, k++) {
            const int32_t rows =
                inside(h, attr[IR_STRIDE_H], attr[IR_PAD_TOP], attr[IR_KERNEL_H], x->dim[1]);
            const int32_t columns =
                inside(w, attr[IR_STRIDE_W], attr[IR_PAD_LEFT], attr[IR_KERNEL_W], x->dim[2]);

            if (rows < 1 || columns < 1) {
                (void)TOSA_FAIL(m, ST_MODEL, "a window has no cell inside the image");
                return;
            }
            tosa_reciprocal(rows * columns, &v[0][k], &v[1][k]);
            v[2][k] = INT64_C(1) << (v[1][k] - 1);
        }
    for (uint32_t i = 0; i < 3; i++)
        scale[i] = tosa_const(m, IR_I64, 4, dim, v[i]);
}

/* int8: the sum less zero points, times the reciprocal of the number of cells, rounded up. */
uint32_t tosa_average_pool(struct tosa *m)
{
    const uint32_t x = tosa_in(m, 0);
    int32_t attr[IR_ATTR_COUNT], dim[4];
    uint32_t y, scale[3] = {0};
    uint8_t *ones;

    tosa_pool_window(m, attr);
    if (m->st != ST_OK)
        return 0;
    if (m->g->tensor[x]->type == IR_F32) {
        y = tosa_out(m, IR_NONE);
        return tosa_make_average_pool_2d(m, 1, &x, y, attr);
    }
    dim[0] = m->g->tensor[x]->dim[3];
    dim[1] = attr[IR_KERNEL_H];
    dim[2] = attr[IR_KERNEL_W];
    dim[3] = 1;
    if (!ir_shape_ok(4, dim, IR_I8) || dim[1] > 4096 || dim[2] > 4096)
        return TOSA_FAIL(m, ST_UNSUPPORTED, "kernel: expected up to 4096");
    divisors(m, attr, scale);
    if (m->st != ST_OK)
        return 0;
    attr[IR_DILATION_H] = attr[IR_DILATION_W] = 1;
    ones = arena_alloc(m->arena, (size_t)dim[0] * (size_t)dim[1] * (size_t)dim[2]);
    memset(ones, 1, (size_t)dim[0] * (size_t)dim[1] * (size_t)dim[2]);
    y = integer_conv(m, x, tosa_const(m, IR_I8, 4, dim, ones), (int32_t)tosa_value(m, m->op, 1), 0,
                     attr);
    y = tosa_do_mul(m, tosa_cast(m, y, IR_I64), scale[0]);
    y = tosa_do_right_shift(m, tosa_do_add(m, y, scale[2]), scale[1]);
    y = tosa_do_add(m, y, tosa_number(m, IR_I64, (double)tosa_value(m, m->op, 2)));
    return tosa_saturate(m, y, IR_I8);
}

/* Places and weights along one dimension: output i is between in[0][i] and in[1][i]; the second
 * counts `part` of `unit`. */
struct taps {
    int32_t *in[2], *part, n, unit;
};

static struct taps taps_of(struct tosa *m, uint32_t axis, int64_t n, int64_t d, int64_t offset)
{
    const int32_t size = m->g->tensor[tosa_in(m, 0)]->dim[axis];
    struct taps t = {.n = m->file->tensor[m->op->out[0]].shape.v[axis], .unit = (int32_t)n};

    for (uint32_t k = 0; k < 2; k++)
        t.in[k] = ARENA_ARRAY(m->arena, int32_t, (size_t)t.n);
    t.part = ARENA_ARRAY(m->arena, int32_t, (size_t)t.n);
    for (int32_t i = 0; i < t.n; i++) {
        const int64_t at = i * d + offset;
        int64_t first = at / n;

        if (at < 0 && at % n != 0)
            first--;
        t.part[i] = (int32_t)(at - first * n);
        for (int64_t k = 0; k < 2; k++) {
            const int64_t place = first + k;

            t.in[k][i] = (int32_t)(place < 0 ? 0 : place >= size ? size - 1 : place);
        }
    }
    return t;
}

/* Two elements along `axis`, by their weights: integers times the unit, floats times 1. */
static uint32_t blend(struct tosa *m, uint32_t x, uint32_t axis, const struct taps *t)
{
    const enum ir_type type = m->g->tensor[x]->type;
    int32_t dim[4] = {1, 1, 1, 1};
    uint32_t y[2];

    dim[axis] = t->n;
    for (uint32_t k = 0; k < 2; k++) {
        int32_t *whole = ARENA_ARRAY(m->arena, int32_t, (size_t)t->n);
        float *real = ARENA_ARRAY(m->arena, float, (size_t)t->n);

        for (int32_t i = 0; i < t->n; i++) {
            whole[i] = k ? t->part[i] : t->unit - t->part[i];
            real[i] = (float)t->part[i] / (float)t->unit;
            real[i] = k ? real[i] : 1 - real[i];
        }
        y[k] =
            tosa_do_mul(m, tosa_pick(m, x, axis, (uint32_t)t->n, t->in[k]),
                        tosa_const(m, type, 4, dim, type == IR_F32 ? (const void *)real : whole));
    }
    return tosa_do_add(m, y[0], y[1]);
}

uint32_t tosa_resize(struct tosa *m)
{
    uint32_t n[2], x = tosa_in(m, 0);
    const int64_t *scale = tosa_values(m, m->op, 1, &n[0]);
    const int64_t *offset = tosa_values(m, m->op, 2, &n[1]);
    struct taps t[2];

    if (m->st != ST_OK)
        return 0;
    if (n[0] != 4 || n[1] != 2 || m->g->tensor[x]->rank != 4 ||
        m->file->tensor[m->op->out[0]].shape.n != 4)
        return TOSA_FAIL(m, ST_MODEL, "expected 4 dimensions, 4 scales and 2 offsets");
    for (uint32_t i = 0; i < 4; i++)
        if (scale[i] < 1 || scale[i] > 4096 || offset[i / 2] < -65536 || offset[i / 2] > 65536)
            return TOSA_FAIL(m, ST_UNSUPPORTED, "scale: expected 1 to 4096, found %lld",
                             (long long)scale[i]);
    for (uint32_t i = 0; i < 2; i++)
        t[i] = taps_of(m, 1 + i, scale[2 * i], scale[2 * i + 1], offset[i]);
    if (m->op->a.mode == TOSA_NEAREST) {
        for (uint32_t i = 0; i < 2; i++) {
            for (int32_t k = 0; k < t[i].n; k++)
                t[i].in[0][k] = t[i].in[2 * t[i].part[k] >= t[i].unit][k];
            x = tosa_pick(m, x, 1 + i, (uint32_t)t[i].n, t[i].in[0]);
        }
        return x;
    }
    if (m->op->a.mode != TOSA_BILINEAR)
        return TOSA_FAIL(m, ST_MODEL, "mode: expected NEAREST or BILINEAR, found %u",
                         m->op->a.mode);
    if (m->g->tensor[x]->type == IR_I8)
        x = tosa_cast(m, x, IR_I32);
    return blend(m, blend(m, x, 1, &t[0]), 2, &t[1]);
}
