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

/* Two operands of one type and their zero points. Factor k of output i is at [k * step + i * next].
 * flip: a byte of int8, its sign bit inverted, is the value + 128; the zero points have the 128, too. */
struct factors {
    uint8_t flip;
    int32_t zx, zw;
    size_t x_step, x_next, w_step, w_next;
};

static struct factors factors_of(const struct ref_call *c)
{
    const bool is_int8 = c->in[0]->type != IR_U8;

    return (struct factors){is_int8 ? 0x80 : 0,
                            c->in[0]->quant.zero_point[0] + (is_int8 ? 128 : 0),
                            c->in[1]->quant.zero_point[0] + (is_int8 ? 128 : 0),
                            1,
                            0,
                            1,
                            0};
}

enum { BLOCK = 256 }; /* outputs whose sums are built together */

/* Add to sum[i], i < m, the products of n factors each. The loops are in the order of memory. */
static void add_products(const struct factors *f, const uint8_t *x, const uint8_t *w, size_t n,
                         size_t m, uint32_t *restrict sum)
{
    const uint8_t flip = f->flip;
    const int32_t zx = f->zx, zw = f->zw;
    const size_t x_step = f->x_step, w_step = f->w_step;

    if (f->w_next == 1 && m > 1)
        for (size_t k = 0; k < n; k++, x += x_step, w += w_step) {
            const int32_t first = (x[0] ^ flip) - zx;

            if (f->x_next == 0)
                for (size_t i = 0; i < m; i++)
                    sum[i] += (uint32_t)(first * ((w[i] ^ flip) - zw));
            else
                for (size_t i = 0; i < m; i++)
                    sum[i] += (uint32_t)(((x[i] ^ flip) - zx) * ((w[i] ^ flip) - zw));
        }
    else
        for (size_t i = 0; i < m; i++, w += f->w_next) {
            uint32_t one = 0;

            if (x_step == 1 && w_step == 1)
                for (size_t k = 0; k < n; k++)
                    one += (uint32_t)(((x[k] ^ flip) - zx) * ((w[k] ^ flip) - zw));
            else
                for (size_t k = 0; k < n; k++)
                    one +=
                        (uint32_t)(((x[k * x_step] ^ flip) - zx) * ((w[k * w_step] ^ flip) - zw));
            sum[i] += one;
        }
}

/* Sums of m outputs from channel `first` on begin with the bias. */
static void begin(const struct ref_call *c, int32_t first, int32_t m, uint32_t *sum)
{
    for (int32_t i = 0; i < m; i++)
        sum[i] = (uint32_t)bias_of(c, (uint32_t)(first + i));
}

static int32_t block_of(int32_t left)
{
    return left < BLOCK ? left : BLOCK;
}

/* A convolution. Output channel oc reads `channels` input channels from oc / each * channels on. */
struct window {
    const struct ref_call *c;
    struct factors f;
    int32_t channels, each;
};

/* Add to the sums of m outputs of a pixel, from channel oc on, what the window covers. */
static void add_window(const struct window *v, int32_t n, int32_t oy, int32_t ox, int32_t oc,
                       int32_t m, uint32_t *sum)
{
    const struct ref_call *c = v->c;
    const struct ir_tensor *x = c->in[0];
    const int32_t *a = c->op->attr;

    for (int32_t ky = 0; ky < a[IR_KERNEL_H]; ky++) {
        const int32_t y = oy * a[IR_STRIDE_H] - c->k->pad_top + ky * a[IR_DILATION_H];

        for (int32_t kx = 0; kx < a[IR_KERNEL_W]; kx++) {
            const int32_t xx = ox * a[IR_STRIDE_W] - c->k->pad_left + kx * a[IR_DILATION_W];
            const size_t k = (size_t)(ky * a[IR_KERNEL_W] + kx) * (size_t)v->channels;

            if (y < 0 || y >= x->dim[1] || xx < 0 || xx >= x->dim[2])
                continue;
            add_products(&v->f,
                         c->x[0] +
                             (size_t)((n * x->dim[1] + y) * x->dim[2] + xx) * (size_t)x->dim[3] +
                             (size_t)(oc / v->each * v->channels),
                         c->x[1] + (size_t)oc * v->f.w_next + k * v->f.w_step, (size_t)v->channels,
                         (size_t)m, sum);
        }
    }
}

static void slide(const struct window *v)
{
    const struct ir_tensor *y = v->c->out[0];
    uint32_t sum[BLOCK];
    size_t at = 0;

    for (int32_t n = 0; n < y->dim[0]; n++)
        for (int32_t oy = 0; oy < y->dim[1]; oy++)
            for (int32_t ox = 0; ox < y->dim[2]; ox++)
                for (int32_t oc = 0, m; oc < y->dim[3]; oc += m) {
                    m = block_of(v->f.x_next ? y->dim[3] - oc : v->each - oc % v->each);
                    begin(v->c, oc, m, sum);
                    add_window(v, n, oy, ox, oc, m, sum);
                    for (int32_t i = 0; i < m; i++)
                        put(v->c, at++, sum[i], (uint32_t)(oc + i));
                }
}

/* Weights [OC,KH,KW,C/G], or [KH,KW,C/G,OC] once weights_ko is set; G groups of channels. */
enum status ref_conv2d(const struct ref_call *c, struct diag *d)
{
    const struct ir_tensor *x = c->in[0], *y = c->out[0];
    const int32_t *a = c->op->attr;
    const bool ko = a[IR_WEIGHTS_KO] != 0;
    const int32_t part = c->in[1]->dim[ko ? 2 : 3];
    struct window v = {c, factors_of(c), part, y->dim[3] / (x->dim[3] / part)};

    if (c->in[0]->type == IR_I16)
        return ref_conv2d_i16(c, d);
    if (a[IR_HALVES])
        return ref_conv_halves(c, d);
    v.f.w_step = ko ? (size_t)y->dim[3] : 1;
    v.f.w_next = ko ? 1 : (size_t)(a[IR_KERNEL_H] * a[IR_KERNEL_W] * part);
    slide(&v);
    return ST_OK;
}

/* Weights [1,KH,KW,C*M]: output channel oc reads input channel oc / M. */
enum status ref_depthwise(const struct ref_call *c, struct diag *d)
{
    struct window v = {c, factors_of(c), 1, c->op->attr[IR_MULTIPLIER]};

    if (c->in[0]->type == IR_I16)
        return ref_depthwise_i16(c, d);
    if (c->op->attr[IR_HALVES])
        return ref_conv_halves(c, d);
    v.f.w_step = (size_t)c->out[0]->dim[3];
    v.f.w_next = 1;
    v.f.x_next = v.each == 1;
    slide(&v);
    return ST_OK;
}

/* Outputs of a row: n factors each, biases of the same number. channel: 1, or 0 for one scale. */
static void put_row(const struct ref_call *c, const struct factors *f, const uint8_t *x,
                    const uint8_t *w, size_t n, int32_t outputs, int32_t channel, size_t *at)
{
    uint32_t sum[BLOCK];

    for (int32_t oc = 0, m; oc < outputs; oc += m) {
        m = block_of(outputs - oc);
        begin(c, oc, m, sum);
        add_products(f, x, w + (size_t)oc * f->w_next, n, (size_t)m, sum);
        for (int32_t i = 0; i < m; i++)
            put(c, (*at)++, sum[i], (uint32_t)((oc + i) * channel));
    }
}

/* Weights [OC,K], or [K,OC] once weights_ko is set; x is rows of K elements. */
enum status ref_dense(const struct ref_call *c, struct diag *d)
{
    const struct ir_tensor *x = c->in[0], *w = c->in[1];
    const bool ko = c->op->attr[IR_WEIGHTS_KO] != 0;
    const size_t k = (size_t)w->dim[ko ? 0 : 1], n_row = (size_t)ir_elements(x) / k;
    struct factors f = factors_of(c);
    size_t at = 0;

    if (c->in[0]->type == IR_I16)
        return ref_dense_i16(c, d);
    f.w_step = ko ? (size_t)w->dim[1] : 1;
    f.w_next = ko ? 1 : k;
    for (size_t row = 0; row < n_row; row++)
        put_row(c, &f, c->x[0] + row * k, c->x[1], k, w->dim[ko ? 1 : 0], 1, &at);
    return ST_OK;
}

/* Add to the sums of m outputs from channel oc on the x whose window covers [oy, ox]. Weights
 * [OC,KH,KW,C]. */
static void add_covered(const struct ref_call *c, const struct factors *f, const int32_t at[3],
                        int32_t oc, int32_t m, uint32_t *sum)
{
    const struct ir_tensor *x = c->in[0], *w = c->in[1];
    const int32_t *a = c->op->attr;

    for (int32_t ky = 0; ky < a[IR_KERNEL_H]; ky++)
        for (int32_t kx = 0; kx < a[IR_KERNEL_W]; kx++) {
            const int32_t ty = at[1] + c->k->pad_top - ky, tx = at[2] + c->k->pad_left - kx;
            const int32_t iy = ty / a[IR_STRIDE_H], ix = tx / a[IR_STRIDE_W];

            if (ty < 0 || tx < 0 || ty % a[IR_STRIDE_H] != 0 || tx % a[IR_STRIDE_W] != 0 ||
                iy >= x->dim[1] || ix >= x->dim[2])
                continue;
            add_products(
                f,
                c->x[0] + (size_t)((at[0] * x->dim[1] + iy) * x->dim[2] + ix) * (size_t)x->dim[3],
                c->x[1] + (size_t)((oc * w->dim[1] + ky) * w->dim[2] + kx) * (size_t)w->dim[3],
                (size_t)x->dim[3], (size_t)m, sum);
        }
}

enum status ref_transpose_conv(const struct ref_call *c, struct diag *d)
{
    const struct ir_tensor *y = c->out[0], *w = c->in[1];
    struct factors f = factors_of(c);
    uint32_t sum[BLOCK];
    size_t at = 0;

    if (c->in[0]->type == IR_I16)
        return ref_transpose_conv_i16(c, d);
    if (c->op->attr[IR_HALVES])
        return ref_conv_halves(c, d);
    f.w_next = (size_t)(w->dim[1] * w->dim[2] * w->dim[3]);
    for (int32_t n = 0; n < y->dim[0]; n++)
        for (int32_t oy = 0; oy < y->dim[1]; oy++)
            for (int32_t ox = 0; ox < y->dim[2]; ox++)
                for (int32_t oc = 0, m; oc < y->dim[3]; oc += m) {
                    m = block_of(y->dim[3] - oc);
                    begin(c, oc, m, sum);
                    add_covered(c, &f, (const int32_t[]){n, oy, ox}, oc, m, sum);
                    for (int32_t i = 0; i < m; i++)
                        put(c, at++, sum[i], (uint32_t)(oc + i));
                }
    return ST_OK;
}

enum status ref_matmul(const struct ref_call *c, struct diag *d)
{
    const struct ir_tensor *a = c->in[0], *b = c->in[1], *y = c->out[0];
    const bool adj_a = c->op->attr[IR_ADJ_A] != 0, adj_b = c->op->attr[IR_ADJ_B] != 0;
    const size_t m = (size_t)ir_dim_back(y, 1), n = (size_t)ir_dim_back(y, 0);
    const size_t k = (size_t)ir_dim_back(a, adj_a), batches = (size_t)ir_elements(y) / (m * n);
    struct factors f = factors_of(c);
    size_t at = 0;

    if (c->in[0]->type == IR_I16)
        return ref_matmul_i16(c, d);
    f.x_step = adj_a ? m : 1;
    f.w_step = adj_b ? 1 : n;
    f.w_next = adj_b ? k : 1;
    for (size_t i = 0; i < batches; i++)
        for (size_t row = 0; row < m; row++)
            put_row(c, &f, c->x[0] + ref_matrix(a, y, i) + (adj_a ? row : row * k),
                    c->x[1] + ref_matrix(b, y, i), k, (int32_t)n, 0, &at);
    return ST_OK;
}
