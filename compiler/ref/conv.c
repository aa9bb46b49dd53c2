/* conv.c - convolution, depthwise convolution, fully connected.
 *   acc = sum (x - z_in) * (w - z_w) + bias in int32, wrapping
 *   y = clamp(MBQM(acc, multiplier[c], shift[c]) + z_out)
 * After TFLite's reference_integer_ops, restated in NUMERICS.md. Padding adds nothing. */
#include <math.h>
#include <string.h>

#include "kernels.h"

static int32_t bias_of(const struct ref_call *c, uint32_t channel)
{
    int32_t b = 0;

    if (c->op->n_in > 2 && c->x[2] != NULL)
        memcpy(&b, c->x[2] + (size_t)channel * 4, 4);
    return b;
}

/* LiteRT's FULLY_CONNECTED: the scale is the sum of three floats, the product rounded once. */
static int8_t half_away(const struct ref_call *c, int32_t acc, uint32_t channel)
{
    const struct ir_fixed *f = &c->op->fixed;
    const float *r = f->real + (f->n_real > 3 ? 3 * channel : 0);
    const double v = round(acc * ((double)r[0] + (double)r[1] + (double)r[2]));

    return ref_code(c, (int32_t)fmin(fmax(v, -1000), 1000));
}

static int8_t requantise(const struct ref_call *c, uint32_t acc, uint32_t channel)
{
    const struct ir_fixed *f = &c->op->fixed;
    const uint32_t k = f->n > 1 || f->n_real > 1 ? channel : 0;

    if (c->op->attr[IR_HALF_AWAY] != 0)
        return half_away(c, (int32_t)acc, channel);

    if (f->n_real != 0)
        return ref_real_code(c, (float)(int32_t)acc * f->real[k]);

    return ref_code(c, ref_mbqm((int32_t)acc, f->multiplier[k], f->shift[k]));
}

/* Dot product of n bytes at stride 1 and at `w_stride`. */
static uint32_t dot(const int8_t *x, int32_t zx, const int8_t *w, size_t w_stride, int32_t zw,
                    int32_t n)
{
    uint32_t acc = 0;

    for (int32_t i = 0; i < n; i++)
        acc += (uint32_t)((x[i] - zx) * (w[(size_t)i * w_stride] - zw));
    return acc;
}

/* One output of a convolution. Weight (k, oc) is at w[k * k_stride + oc * oc_stride]; `channels`
 * consecutive input channels from `c0` are used. */
struct window {
    const struct ref_call *c;
    int32_t channels;
    size_t k_stride, oc_stride;
};

static uint32_t window_sum(const struct window *v, int32_t n, int32_t oy, int32_t ox, int32_t c0,
                           int32_t oc)
{
    const struct ir_tensor *x = v->c->in[0], *w = v->c->in[1];
    const int32_t *a = v->c->op->attr;
    const int32_t zx = x->quant.zero_point[0], zw = w->quant.zero_point[0];
    const int8_t *weight = ref_i8(v->c->x[1]) + (size_t)oc * v->oc_stride;
    uint32_t acc = 0;

    for (int32_t ky = 0; ky < a[IR_KERNEL_H]; ky++) {
        const int32_t y = oy * a[IR_STRIDE_H] - a[IR_PAD_TOP] + ky * a[IR_DILATION_H];

        for (int32_t kx = 0; kx < a[IR_KERNEL_W]; kx++) {
            const int32_t xx = ox * a[IR_STRIDE_W] - a[IR_PAD_LEFT] + kx * a[IR_DILATION_W];
            const size_t k = (size_t)(ky * a[IR_KERNEL_W] + kx) * (size_t)v->channels;

            if (y < 0 || y >= x->dim[1] || xx < 0 || xx >= x->dim[2])
                continue;
            acc += dot(ref_i8(v->c->x[0]) +
                           (size_t)((n * x->dim[1] + y) * x->dim[2] + xx) * (size_t)x->dim[3] + c0,
                       zx, weight + k * v->k_stride, v->k_stride, zw, v->channels);
        }
    }
    return acc;
}

/* Weights [OC,KH,KW,C/G], or [KH,KW,C/G,OC] once weights_ko is set; G groups of channels. */
enum status ref_conv2d(const struct ref_call *c, struct diag *d)
{
    const struct ir_tensor *x = c->in[0], *y = c->out[0];
    const int32_t *a = c->op->attr;
    const bool ko = a[IR_WEIGHTS_KO] != 0;
    const int32_t part = c->in[1]->dim[ko ? 2 : 3], per_group = y->dim[3] / (x->dim[3] / part);
    const size_t k = (size_t)a[IR_KERNEL_H] * (size_t)a[IR_KERNEL_W] * (size_t)part;
    const struct window v = {c, part, ko ? (size_t)y->dim[3] : 1, ko ? 1 : k};
    int8_t *out = (int8_t *)c->y[0];

    if (c->in[0]->type == IR_I16)
        return ref_conv2d_i16(c, d);
    for (int32_t n = 0; n < y->dim[0]; n++)
        for (int32_t oy = 0; oy < y->dim[1]; oy++)
            for (int32_t ox = 0; ox < y->dim[2]; ox++)
                for (int32_t oc = 0; oc < y->dim[3]; oc++)
                    *out++ = requantise(c,
                                        window_sum(&v, n, oy, ox, oc / per_group * part, oc) +
                                            (uint32_t)bias_of(c, (uint32_t)oc),
                                        (uint32_t)oc);
    return ST_OK;
}

/* Weights [1,KH,KW,C*M]: output channel oc reads input channel oc / M. */
enum status ref_depthwise(const struct ref_call *c, struct diag *d)
{
    const struct ir_tensor *y = c->out[0];
    const int32_t multiplier = c->op->attr[IR_MULTIPLIER];
    const struct window v = {c, 1, (size_t)y->dim[3], 1};
    int8_t *out = (int8_t *)c->y[0];

    if (c->in[0]->type == IR_I16)
        return ref_depthwise_i16(c, d);
    for (int32_t n = 0; n < y->dim[0]; n++)
        for (int32_t oy = 0; oy < y->dim[1]; oy++)
            for (int32_t ox = 0; ox < y->dim[2]; ox++)
                for (int32_t oc = 0; oc < y->dim[3]; oc++)
                    *out++ = requantise(c,
                                        window_sum(&v, n, oy, ox, oc / multiplier, oc) +
                                            (uint32_t)bias_of(c, (uint32_t)oc),
                                        (uint32_t)oc);
    return ST_OK;
}

/* Weights [OC,K], or [K,OC] once weights_ko is set; x is rows of K elements. */
enum status ref_dense(const struct ref_call *c, struct diag *d)
{
    const struct ir_tensor *x = c->in[0], *w = c->in[1];
    const bool ko = c->op->attr[IR_WEIGHTS_KO] != 0;
    const int32_t k = w->dim[ko ? 0 : 1], channels = w->dim[ko ? 1 : 0];
    const size_t k_stride = ko ? (size_t)channels : 1, oc_stride = ko ? 1 : (size_t)k;
    const size_t n_row = (size_t)(ir_elements(x) / (uint64_t)k);
    int8_t *out = (int8_t *)c->y[0];

    if (c->in[0]->type == IR_I16)
        return ref_dense_i16(c, d);
    for (size_t row = 0; row < n_row; row++)
        for (int32_t oc = 0; oc < channels; oc++)
            *out++ = requantise(c,
                                dot(ref_i8(c->x[0]) + row * (size_t)k, x->quant.zero_point[0],
                                    ref_i8(c->x[1]) + (size_t)oc * oc_stride, k_stride,
                                    w->quant.zero_point[0], k) +
                                    (uint32_t)bias_of(c, (uint32_t)oc),
                                (uint32_t)oc);
    return ST_OK;
}

/* y[oy, ox, oc] = sum over the x whose window covers it. Weights [OC,KH,KW,C]. */
static uint32_t covered_sum(const struct ref_call *c, int32_t n, int32_t oy, int32_t ox, int32_t oc)
{
    const struct ir_tensor *x = c->in[0], *w = c->in[1];
    const int32_t *a = c->op->attr;
    uint32_t acc = (uint32_t)bias_of(c, (uint32_t)oc);

    for (int32_t ky = 0; ky < a[IR_KERNEL_H]; ky++)
        for (int32_t kx = 0; kx < a[IR_KERNEL_W]; kx++) {
            const int32_t ty = oy + a[IR_PAD_TOP] - ky, tx = ox + a[IR_PAD_LEFT] - kx;
            const int32_t iy = ty / a[IR_STRIDE_H], ix = tx / a[IR_STRIDE_W];

            if (ty < 0 || tx < 0 || ty % a[IR_STRIDE_H] != 0 || tx % a[IR_STRIDE_W] != 0 ||
                iy >= x->dim[1] || ix >= x->dim[2])
                continue;
            acc += dot(ref_i8(c->x[0]) +
                           (size_t)((n * x->dim[1] + iy) * x->dim[2] + ix) * (size_t)x->dim[3],
                       x->quant.zero_point[0],
                       ref_i8(c->x[1]) +
                           (size_t)((oc * w->dim[1] + ky) * w->dim[2] + kx) * (size_t)w->dim[3],
                       1, w->quant.zero_point[0], x->dim[3]);
        }
    return acc;
}

enum status ref_transpose_conv(const struct ref_call *c, struct diag *d)
{
    const struct ir_tensor *y = c->out[0];
    int8_t *out = (int8_t *)c->y[0];

    if (c->in[0]->type == IR_I16)
        return ref_transpose_conv_i16(c, d);
    for (int32_t n = 0; n < y->dim[0]; n++)
        for (int32_t oy = 0; oy < y->dim[1]; oy++)
            for (int32_t ox = 0; ox < y->dim[2]; ox++)
                for (int32_t oc = 0; oc < y->dim[3]; oc++)
                    *out++ = requantise(c, covered_sum(c, n, oy, ox, oc), (uint32_t)oc);
    return ST_OK;
}

/* Offset of matrix `batch` of the output in an operand whose other dimensions are broadcast. */
size_t ref_matrix(const struct ir_tensor *t, const struct ir_tensor *y, size_t batch)
{
    size_t at = 0, size = (size_t)ir_dim_back(t, 0) * (size_t)ir_dim_back(t, 1);

    for (uint32_t i = 2; i < y->rank; i++) {
        const size_t n = (size_t)ir_dim_back(t, i), k = batch % (size_t)ir_dim_back(y, i);

        at += (n == 1 ? 0 : k) * size;
        size *= n;
        batch /= (size_t)ir_dim_back(y, i);
    }
    return at;
}

enum status ref_matmul(const struct ref_call *c, struct diag *d)
{
    const struct ir_tensor *a = c->in[0], *b = c->in[1], *y = c->out[0];
    const bool adj_a = c->op->attr[IR_ADJ_A] != 0, adj_b = c->op->attr[IR_ADJ_B] != 0;
    const size_t m = (size_t)ir_dim_back(y, 1), n = (size_t)ir_dim_back(y, 0);
    const size_t k = (size_t)ir_dim_back(a, adj_a), batches = (size_t)ir_elements(y) / (m * n);
    int8_t *out = (int8_t *)c->y[0];

    if (c->in[0]->type == IR_I16)
        return ref_matmul_i16(c, d);
    for (size_t i = 0; i < batches; i++)
        for (size_t row = 0; row < m; row++)
            for (size_t col = 0; col < n; col++) {
                uint32_t acc = (uint32_t)bias_of(c, (uint32_t)col);

                for (size_t j = 0; j < k; j++) {
                    const size_t at_a = ref_matrix(a, y, i) + (adj_a ? j * m + row : row * k + j);
                    const size_t at_b = ref_matrix(b, y, i) + (adj_b ? col * k + j : j * n + col);

                    acc += (uint32_t)((ref_i8(c->x[0])[at_a] - a->quant.zero_point[0]) *
                                      (ref_i8(c->x[1])[at_b] - b->quant.zero_point[0]));
                }
                *out++ = requantise(c, acc, 0);
            }
    return ST_OK;
}
