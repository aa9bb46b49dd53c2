/* ref_conv.c - convolution, depthwise convolution, fully connected.
 *   acc = sum (x - z_in) * (w - z_w) + bias in int32, wrapping
 *   y = clamp(MBQM(acc, multiplier[c], shift[c]) + z_out)
 * After TFLite's reference_integer_ops, restated in NUMERICS.md. Padding adds nothing. */
#include <math.h>
#include <string.h>

#include "ref_kernels.h"

static int32_t bias_of(const struct ref_call *c, uint32_t channel)
{
    int32_t b = 0;

    if (c->op->n_in > 2 && c->x[2] != NULL)
        memcpy(&b, c->x[2] + (size_t)channel * 4, 4);
    return b;
}

/* LiteRT's FULLY_CONNECTED: the product with a double is rounded once. */
static int32_t half_away(const struct ref_call *c, int32_t acc, uint32_t channel)
{
    const double v = round(acc * c->k->litert[c->k->n_litert > 1 ? channel : 0]);

    return ref_value(c, (int32_t)fmin(fmax(v, -1000), 1000));
}

/* Output `i`, of channel `channel`. */
static void put(const struct ref_call *c, size_t i, uint32_t acc, uint32_t channel)
{
    const struct ref_constants *k = c->k;
    const uint32_t at = k->n > 1 || k->n_real > 1 ? channel : 0;
    int32_t v;

    if (k->n_litert != 0)
        v = half_away(c, (int32_t)acc, channel);
    else if (k->n_real != 0)
        v = ref_real_value(c, (float)(int32_t)acc * k->real[at]);
    else
        v = ref_value(c, ref_mbqm((int32_t)acc, k->multiplier[at], k->shift[at]));
    c->y[0][i] = (uint8_t)v;
}

/* Two operands of one type, their zero points, and the step from one factor to the next. */
struct factors {
    bool is_uint8;
    int32_t zx, zw;
    size_t x_step, w_step;
};

static struct factors factors_of(const struct ref_call *c, size_t x_step, size_t w_step)
{
    return (struct factors){c->in[0]->type == IR_U8, c->in[0]->quant.zero_point[0],
                            c->in[1]->quant.zero_point[0], x_step, w_step};
}

/* Sum of n products. */
static uint32_t dot(const struct factors *f, const uint8_t *x, const uint8_t *w, size_t n)
{
    const int32_t zx = f->zx, zw = f->zw;
    const size_t x_step = f->x_step, w_step = f->w_step;
    uint32_t acc = 0;

    if (f->is_uint8)
        for (size_t i = 0; i < n; i++)
            acc += (uint32_t)((x[i * x_step] - zx) * (w[i * w_step] - zw));
    else if (x_step == 1 && w_step == 1)
        for (size_t i = 0; i < n; i++)
            acc += (uint32_t)(((int8_t)x[i] - zx) * ((int8_t)w[i] - zw));
    else
        for (size_t i = 0; i < n; i++)
            acc += (uint32_t)(((int8_t)x[i * x_step] - zx) * ((int8_t)w[i * w_step] - zw));
    return acc;
}

/* One output of a convolution. Weight (k, oc) is at w[k * f.w_step + oc * oc_step]; `channels`
 * consecutive input channels from `c0` are used. */
struct window {
    const struct ref_call *c;
    struct factors f;
    int32_t channels;
    size_t oc_step;
};

static uint32_t window_sum(const struct window *v, int32_t n, int32_t oy, int32_t ox, int32_t c0,
                           int32_t oc)
{
    const struct ref_call *c = v->c;
    const struct ir_tensor *x = c->in[0];
    const int32_t *a = c->op->attr;
    const uint8_t *weight = c->x[1] + (size_t)oc * v->oc_step;
    uint32_t acc = (uint32_t)bias_of(c, (uint32_t)oc);

    for (int32_t ky = 0; ky < a[IR_KERNEL_H]; ky++) {
        const int32_t y = oy * a[IR_STRIDE_H] - c->k->pad_top + ky * a[IR_DILATION_H];

        for (int32_t kx = 0; kx < a[IR_KERNEL_W]; kx++) {
            const int32_t xx = ox * a[IR_STRIDE_W] - c->k->pad_left + kx * a[IR_DILATION_W];
            const size_t k = (size_t)(ky * a[IR_KERNEL_W] + kx) * (size_t)v->channels;

            if (y < 0 || y >= x->dim[1] || xx < 0 || xx >= x->dim[2])
                continue;
            acc += dot(&v->f,
                       c->x[0] +
                           (size_t)((n * x->dim[1] + y) * x->dim[2] + xx) * (size_t)x->dim[3] + c0,
                       weight + k * v->f.w_step, (size_t)v->channels);
        }
    }
    return acc;
}

/* Output channel oc reads input channels from oc / `each` * channels on. */
static void slide(const struct window *v, int32_t each)
{
    const struct ir_tensor *y = v->c->out[0];
    size_t at = 0;

    for (int32_t n = 0; n < y->dim[0]; n++)
        for (int32_t oy = 0; oy < y->dim[1]; oy++)
            for (int32_t ox = 0; ox < y->dim[2]; ox++)
                for (int32_t oc = 0; oc < y->dim[3]; oc++)
                    put(v->c, at++, window_sum(v, n, oy, ox, oc / each * v->channels, oc),
                        (uint32_t)oc);
}

/* Weights [OC,KH,KW,C/G], or [KH,KW,C/G,OC] once weights_ko is set; G groups of channels. */
enum status ref_conv2d(const struct ref_call *c, struct diag *d)
{
    const struct ir_tensor *x = c->in[0], *y = c->out[0];
    const int32_t *a = c->op->attr;
    const bool ko = a[IR_WEIGHTS_KO] != 0;
    const int32_t part = c->in[1]->dim[ko ? 2 : 3];
    const size_t k = (size_t)a[IR_KERNEL_H] * (size_t)a[IR_KERNEL_W] * (size_t)part;
    const struct window v = {c, factors_of(c, 1, ko ? (size_t)y->dim[3] : 1), part, ko ? 1 : k};

    if (c->in[0]->type == IR_I16)
        return ref_conv2d_i16(c, d);
    slide(&v, y->dim[3] / (x->dim[3] / part));
    return ST_OK;
}

/* Weights [1,KH,KW,C*M]: output channel oc reads input channel oc / M. */
enum status ref_depthwise(const struct ref_call *c, struct diag *d)
{
    const struct window v = {c, factors_of(c, 1, (size_t)c->out[0]->dim[3]), 1, 1};

    if (c->in[0]->type == IR_I16)
        return ref_depthwise_i16(c, d);
    slide(&v, c->op->attr[IR_MULTIPLIER]);
    return ST_OK;
}

/* Weights [OC,K], or [K,OC] once weights_ko is set; x is rows of K elements. */
enum status ref_dense(const struct ref_call *c, struct diag *d)
{
    const struct ir_tensor *x = c->in[0], *w = c->in[1];
    const bool ko = c->op->attr[IR_WEIGHTS_KO] != 0;
    const size_t k = (size_t)w->dim[ko ? 0 : 1], channels = (size_t)w->dim[ko ? 1 : 0];
    const struct factors f = factors_of(c, 1, ko ? channels : 1);
    const size_t oc_step = ko ? 1 : k, n_row = (size_t)ir_elements(x) / k;
    size_t at = 0;

    if (c->in[0]->type == IR_I16)
        return ref_dense_i16(c, d);
    for (size_t row = 0; row < n_row; row++)
        for (size_t oc = 0; oc < channels; oc++)
            put(c, at++,
                dot(&f, c->x[0] + row * k, c->x[1] + oc * oc_step, k) +
                    (uint32_t)bias_of(c, (uint32_t)oc),
                (uint32_t)oc);
    return ST_OK;
}

/* y[oy, ox, oc] = sum over the x whose window covers it. Weights [OC,KH,KW,C]. */
static uint32_t covered_sum(const struct ref_call *c, int32_t n, int32_t oy, int32_t ox, int32_t oc)
{
    const struct ir_tensor *x = c->in[0], *w = c->in[1];
    const struct factors f = factors_of(c, 1, 1);
    const int32_t *a = c->op->attr;
    uint32_t acc = (uint32_t)bias_of(c, (uint32_t)oc);

    for (int32_t ky = 0; ky < a[IR_KERNEL_H]; ky++)
        for (int32_t kx = 0; kx < a[IR_KERNEL_W]; kx++) {
            const int32_t ty = oy + c->k->pad_top - ky, tx = ox + c->k->pad_left - kx;
            const int32_t iy = ty / a[IR_STRIDE_H], ix = tx / a[IR_STRIDE_W];

            if (ty < 0 || tx < 0 || ty % a[IR_STRIDE_H] != 0 || tx % a[IR_STRIDE_W] != 0 ||
                iy >= x->dim[1] || ix >= x->dim[2])
                continue;
            acc += dot(
                &f, c->x[0] + (size_t)((n * x->dim[1] + iy) * x->dim[2] + ix) * (size_t)x->dim[3],
                c->x[1] + (size_t)((oc * w->dim[1] + ky) * w->dim[2] + kx) * (size_t)w->dim[3],
                (size_t)x->dim[3]);
        }
    return acc;
}

enum status ref_transpose_conv(const struct ref_call *c, struct diag *d)
{
    const struct ir_tensor *y = c->out[0];
    size_t at = 0;

    if (c->in[0]->type == IR_I16)
        return ref_transpose_conv_i16(c, d);
    for (int32_t n = 0; n < y->dim[0]; n++)
        for (int32_t oy = 0; oy < y->dim[1]; oy++)
            for (int32_t ox = 0; ox < y->dim[2]; ox++)
                for (int32_t oc = 0; oc < y->dim[3]; oc++)
                    put(c, at++, covered_sum(c, n, oy, ox, oc), (uint32_t)oc);
    return ST_OK;
}

enum status ref_matmul(const struct ref_call *c, struct diag *d)
{
    const struct ir_tensor *a = c->in[0], *b = c->in[1], *y = c->out[0];
    const bool adj_a = c->op->attr[IR_ADJ_A] != 0, adj_b = c->op->attr[IR_ADJ_B] != 0;
    const size_t m = (size_t)ir_dim_back(y, 1), n = (size_t)ir_dim_back(y, 0);
    const size_t k = (size_t)ir_dim_back(a, adj_a), batches = (size_t)ir_elements(y) / (m * n);
    const struct factors f = factors_of(c, adj_a ? m : 1, adj_b ? 1 : n);
    size_t at = 0;

    if (c->in[0]->type == IR_I16)
        return ref_matmul_i16(c, d);
    for (size_t i = 0; i < batches; i++)
        for (size_t row = 0; row < m; row++)
            for (size_t col = 0; col < n; col++)
                put(c, at++,
                    dot(&f, c->x[0] + ref_matrix(a, y, i) + (adj_a ? row : row * k),
                        c->x[1] + ref_matrix(b, y, i) + (adj_b ? col * k : col), k) +
                        (uint32_t)bias_of(c, (uint32_t)col),
                    0);
    return ST_OK;
}
