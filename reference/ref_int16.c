/* ref_int16.c - operators on int16 activations whose arithmetic is their own (NUMERICS.md,
 * "int16x8"): int8 weights, sums and biases of 64 bits, zero points 0. Weights as the model has
 * them; the other int16 operators share the kernels of 8 bits. Confirmed by
 * tests/oracle/rand_tflite.py. */
#include <string.h>

#include "ref_kernels.h"

static int64_t bias_of(const struct ref_call *c, int32_t channel)
{
    int64_t b = 0;

    if (c->op->n_in > 2 && c->x[2] != NULL)
        memcpy(&b, c->x[2] + (size_t)channel * 8, 8);
    return b;
}

static int32_t requantise(const struct ref_call *c, int64_t sum, int32_t channel)
{
    const struct ref_constants *f = c->k;
    const uint32_t k = f->n > 1 ? (uint32_t)channel : 0;

    if (c->op->attr[IR_NARROW] != 0)
        return ref_value(c, ref_mbqm((int32_t)(uint32_t)sum, f->multiplier[k], f->shift[k]));
    return ref_value(c, ref_mbqm64(sum, f->multiplier[k], f->shift[k]));
}

/* Products of n values from x[at_x] with n weights from w[at_w], `w_stride` apart. */
static int64_t dot(const struct ref_call *c, size_t at_x, size_t at_w, size_t w_stride, int32_t n)
{
    int64_t sum = 0;

    for (int32_t i = 0; i < n; i++)
        sum += ref_at(c->in[0], c->x[0], at_x + (size_t)i) *
               ref_at(c->in[1], c->x[1], at_w + (size_t)i * w_stride);
    return sum;
}

static size_t pixel(const struct ir_tensor *t, int32_t n, int32_t y, int32_t x)
{
    return (size_t)((n * t->dim[1] + y) * t->dim[2] + x) * (size_t)t->dim[3];
}

/* One output value: its position and channel. */
struct place {
    int32_t n, y, x, channel;
};

static enum status each(const struct ref_call *c,
                        int64_t sum(const struct ref_call *c, const struct place *p))
{
    const struct ir_tensor *y = c->out[0];
    struct place p;
    size_t at = 0;

    for (p.n = 0; p.n < y->dim[0]; p.n++)
        for (p.y = 0; p.y < y->dim[1]; p.y++)
            for (p.x = 0; p.x < y->dim[2]; p.x++)
                for (p.channel = 0; p.channel < y->dim[3]; p.channel++)
                    ref_put(y, c->y[0], at++,
                            requantise(c, sum(c, &p) + bias_of(c, p.channel), p.channel));
    return ST_OK;
}

/* Over the taps inside the image: `channels` inputs from c0 on; tap k's weights begin at
 * w0 + k * tap. */
static int64_t window_sum(const struct ref_call *c, const struct place *p, int32_t c0,
                          int32_t channels, size_t w0, size_t tap)
{
    const struct ir_tensor *x = c->in[0];
    const int32_t *a = c->op->attr;
    int64_t sum = 0;

    for (int32_t k = 0; k < a[IR_KERNEL_H] * a[IR_KERNEL_W]; k++) {
        const int32_t ky = k / a[IR_KERNEL_W], kx = k % a[IR_KERNEL_W];
        const int32_t iy = p->y * a[IR_STRIDE_H] - c->k->pad_top + ky * a[IR_DILATION_H];
        const int32_t ix = p->x * a[IR_STRIDE_W] - c->k->pad_left + kx * a[IR_DILATION_W];

        if (iy < 0 || iy >= x->dim[1] || ix < 0 || ix >= x->dim[2])
            continue;
        sum += dot(c, pixel(x, p->n, iy, ix) + (size_t)c0, w0 + (size_t)k * tap, 1, channels);
    }
    return sum;
}

/* Weights [OC,KH,KW,C/G]. */
static int64_t conv_sum(const struct ref_call *c, const struct place *p)
{
    const struct ir_tensor *w = c->in[1];
    const int32_t part = w->dim[3], per_group = w->dim[0] / (c->in[0]->dim[3] / part);
    const size_t filter = (size_t)w->dim[1] * (size_t)w->dim[2] * (size_t)part;

    return window_sum(c, p, p->channel / per_group * part, part, (size_t)p->channel * filter,
                      (size_t)part);
}

/* Weights [1,KH,KW,C*M]. */
static int64_t depthwise_sum(const struct ref_call *c, const struct place *p)
{
    return window_sum(c, p, p->channel / c->op->attr[IR_MULTIPLIER], 1, (size_t)p->channel,
                      (size_t)c->in[1]->dim[3]);
}

/* The products of n neighbours from element `at` of halves on. */
static int64_t dot_halves(const struct ref_call *c, size_t at, size_t w, int32_t n)
{
    int64_t sum = 0;

    for (int32_t i = 0; i < n; i++)
        sum += (int64_t)ref_at_halves(c->in[0], c->x[0], at + (size_t)i) *
               ref_at(c->in[1], c->x[1], w + (size_t)i);
    return sum;
}

/* Over the x whose window covers the place. Weights [OC,KH,KW,C]. */
static int64_t covered_sum(const struct ref_call *c, const struct place *p)
{
    const struct ir_tensor *x = c->in[0], *w = c->in[1];
    const int32_t *a = c->op->attr, columns = x->dim[2] / (a[IR_HALVES] ? 2 : 1);
    int64_t sum = 0;

    for (int32_t k = 0; k < a[IR_KERNEL_H] * a[IR_KERNEL_W]; k++) {
        const int32_t ky = k / a[IR_KERNEL_W], kx = k % a[IR_KERNEL_W];
        const int32_t ty = p->y + c->k->pad_top - ky, tx = p->x + c->k->pad_left - kx;
        const int32_t iy = ty / a[IR_STRIDE_H], ix = tx / a[IR_STRIDE_W];

        if (ty < 0 || tx < 0 || ty % a[IR_STRIDE_H] != 0 || tx % a[IR_STRIDE_W] != 0 ||
            iy >= x->dim[1] || ix >= columns)
            continue;
        const size_t at = pixel(x, p->n, iy, ix), of = pixel(w, p->channel, ky, kx);

        sum += a[IR_HALVES] ? dot_halves(c, at, of, x->dim[3]) : dot(c, at, of, 1, x->dim[3]);
    }
    return sum;
}

enum status ref_conv2d_i16(const struct ref_call *c, struct diag *d)
{
    (void)d;
    return each(c, conv_sum);
}

enum status ref_depthwise_i16(const struct ref_call *c, struct diag *d)
{
    (void)d;
    return each(c, depthwise_sum);
}

/* The products of one output of a convolution of halves. Weights [KH,KW,C,OC] and [1,KH,KW,C*M]. */
static uint32_t window_halves(const struct ref_call *c, const struct place *p)
{
    const struct ir_tensor *x = c->in[0];
    const int32_t *a = c->op->attr, oc = c->in[1]->dim[3], w = x->dim[2] / 2;
    const bool depthwise = c->op->attr[IR_MULTIPLIER] != 0;
    const int32_t depth = depthwise ? 1 : x->dim[3];
    uint32_t sum = 0;

    for (int32_t k = 0; k < a[IR_KERNEL_H] * a[IR_KERNEL_W] * depth; k++) {
        const int32_t tap = k / depth, ky = tap / a[IR_KERNEL_W], kx = tap % a[IR_KERNEL_W];
        const struct place at = {p->n,
                                 p->y * a[IR_STRIDE_H] - a[IR_PAD_TOP] + ky * a[IR_DILATION_H],
                                 p->x * a[IR_STRIDE_W] - a[IR_PAD_LEFT] + kx * a[IR_DILATION_W],
                                 depthwise ? p->channel / a[IR_MULTIPLIER] : k % depth};

        if (at.y < 0 || at.y >= x->dim[1] || at.x < 0 || at.x >= w)
            continue;
        const size_t upper = pixel(x, at.n, at.y, at.x) + (size_t)at.channel;

        sum += (uint32_t)(ref_at_halves(x, c->x[0], upper) *
                          ref_at(c->in[1], c->x[1], (size_t)(k * oc + p->channel)));
    }
    return sum;
}

static int32_t halves_sum(const struct ref_call *c, const struct place *p)
{
    const bool window = ir_op_has(c->op->opcode, IR_DILATION_H);
    uint32_t sum = window ? window_halves(c, p) : (uint32_t)covered_sum(c, p);

    if (c->op->n_in > 2 && c->x[2] != NULL) {
        uint32_t bias;

        memcpy(&bias, c->x[2] + (size_t)p->channel * 4, 4);
        sum += bias;
    }
    return (int32_t)sum;
}

/* low and high are the upper byte's. */
enum status ref_conv_halves(const struct ref_call *c, struct diag *d)
{
    const struct ir_tensor *y = c->out[0];
    const int32_t w = y->dim[2] / 2, low = c->k->low * 256, high = c->k->high * 256 + 255;

    (void)d;
    for (int32_t i = 0; i < y->dim[0] * y->dim[1] * w * y->dim[3]; i++) {
        const struct place p = {i / y->dim[3] / w / y->dim[1], i / y->dim[3] / w % y->dim[1],
                                i / y->dim[3] % w, i % y->dim[3]};
        const uint32_t k = c->k->n > 1 ? (uint32_t)p.channel : 0;
        const int32_t v = ref_mbqm(halves_sum(c, &p), c->k->multiplier[k], c->k->shift[k]),
                      clamped = v < low    ? low
                                : v > high ? high
                                           : v;

        ref_put_halves(y, c->y[0], pixel(y, p.n, p.y, p.x) + (size_t)p.channel, clamped);
    }
    return ST_OK;
}

enum status ref_transpose_conv_i16(const struct ref_call *c, struct diag *d)
{
    (void)d;
    return each(c, covered_sum);
}

/* Weights [OC,K]; x is rows of K elements. */
enum status ref_dense_i16(const struct ref_call *c, struct diag *d)
{
    const int32_t channels = c->in[1]->dim[0], k = c->in[1]->dim[1];
    const size_t n_row = (size_t)(ir_elements(c->in[0]) / (uint64_t)k);
    size_t at = 0;

    (void)d;
    for (size_t row = 0; row < n_row; row++)
        for (int32_t oc = 0; oc < channels; oc++)
            ref_put(
                c->out[0], c->y[0], at++,
                requantise(
                    c, dot(c, row * (size_t)k, (size_t)oc * (size_t)k, 1, k) + bias_of(c, oc), oc));
    return ST_OK;
}

enum status ref_matmul_i16(const struct ref_call *c, struct diag *d)
{
    const struct ir_tensor *a = c->in[0], *b = c->in[1], *y = c->out[0];
    const bool adj_a = c->op->attr[IR_ADJ_A] != 0, adj_b = c->op->attr[IR_ADJ_B] != 0;
    const size_t m = (size_t)ir_dim_back(y, 1), n = (size_t)ir_dim_back(y, 0);
    const size_t k = (size_t)ir_dim_back(a, adj_a);

    (void)d;
    for (size_t i = 0; i < (size_t)ir_elements(y); i++) {
        const size_t row = i / n % m, col = i % n;
        const size_t at_a = ref_matrix(a, y, i / (m * n)), at_b = ref_matrix(b, y, i / (m * n));
        int64_t sum = bias_of(c, (int32_t)col);

        for (size_t j = 0; j < k; j++)
            sum += (int64_t)ref_at(a, c->x[0], at_a + (adj_a ? j * m + row : row * k + j)) *
                   ref_at(b, c->x[1], at_b + (adj_b ? col * k + j : j * n + col));
        ref_put(y, c->y[0], i, requantise(c, sum, 0));
    }
    return ST_OK;
}

/* Between two of the 513 entries, Q0.7. */
static int32_t look_up(const int16_t *table, int32_t code)
{
    const int32_t i = (code + 32768) >> 7, slope = table[i + 1] - table[i];

    return (int16_t)(table[i] + ((slope * (code & 127) + 64) >> 7));
}

static int32_t saturated(int64_t v)
{
    return (int32_t)(v < -32768 ? -32768 : v > 32767 ? 32767 : v);
}

/* One row: e = exp(x - max) in Q0.15, y = e / sum(e) by the table of 1 / (1 + x). */
static void softmax_row(const struct ref_call *c, size_t from, size_t n)
{
    const struct ref_constants *f = c->k;
    int32_t most = -32768, sum = 0, bits, inverse;

    for (size_t i = from; i < from + n; i++)
        most = ref_at(c->in[0], c->x[0], i) > most ? ref_at(c->in[0], c->x[0], i) : most;
    for (size_t i = from; i < from + n; i++) {
        const int32_t diff = ref_at(c->in[0], c->x[0], i) - most;
        const int32_t e = look_up(
            f->wide, saturated((int64_t)ref_mbqm(diff, f->multiplier[0], f->shift[0]) + 32767));

        ref_put(c->out[0], c->y[0], i, e);
        sum += e;
    }
    bits = __builtin_clz((uint32_t)sum);
    inverse = (int32_t)((((int64_t)sum << (bits - 1)) + (1 << 13)) >> 14) - (3 << 15);
    inverse = look_up(f->wide + f->n_wide / 2, saturated(inverse));
    for (size_t i = from; i < from + n; i++) {
        const int64_t v = (int64_t)ref_at(c->out[0], c->y[0], i) * inverse;

        const int32_t y = saturated((v + (INT64_C(1) << (30 - bits))) >> (31 - bits));

        ref_put(c->out[0], c->y[0], i, y < 0 ? 0 : y);
    }
}

enum status ref_softmax_i16(const struct ref_call *c, struct diag *d)
{
    const size_t n = (size_t)ir_dim_back(c->in[0], 0);

    (void)d;
    for (size_t from = 0; from < (size_t)ir_elements(c->in[0]); from += n)
        softmax_row(c, from, n);
    return ST_OK;
}

/* sigmoid(|x| / 2^(9 or 8) / 24) from the table, linear in between: Q0.16 and `bits` more. */
static int32_t sigmoid(const int16_t *table, uint32_t x, uint32_t bits)
{
    const uint32_t i = x >> bits;

    if (i >= 255)
        return bits == 9 ? 0x7fff << 10 : 0xffff << 8;
    return (int32_t)(((uint32_t)(uint16_t)table[i] << bits) +
                     (x & ((1u << bits) - 1)) *
                         (uint32_t)((uint16_t)table[i + 1] - (uint16_t)table[i]));
}

static int32_t logistic_one(const struct ref_constants *f, int32_t x)
{
    const int32_t half = sigmoid(f->wide, (uint32_t)(x < 0 ? -x : x), 9);

    return (x >= 0 ? half + (1 << 9) : (1 << 25) - half + (1 << 9) - 1) >> 10;
}

static int32_t tanh_one(const struct ref_constants *f, int32_t x)
{
    const int32_t twice = sigmoid(f->wide, (uint32_t)(x < 0 ? -x : x), 8) - (1 << 23);

    return (x >= 0 ? twice + (1 << 7) : -twice + (1 << 7) - 1) >> 8;
}

static int32_t unary_one(const struct ref_call *c, int32_t x)
{
    const struct ref_constants *f = c->k;
    const bool table = f->n_wide != 0;
    const int32_t half = table && f->shift[0] > 0 ? 1 << (f->shift[0] - 1) : 0;
    const int32_t side = !table && x < 0 ? 1 : 0;

    if (table)
        x = (int32_t)(((int64_t)x * f->multiplier[0] + half) >> f->shift[0]);
    switch (c->op->opcode) {
    case IR_OP_LOGISTIC: return logistic_one(f, x);
    case IR_OP_TANH: return tanh_one(f, x);
    case IR_OP_ABS: x = x < 0 ? -x : x; break;
    default: break;
    }
    return ref_value(c, ref_mbqm(x, f->multiplier[side], f->shift[side]));
}

/* The line from an entry {base, slope} to the next one, of x in 1/512 or 1/256 of it. Without sign (shift[1]) bases are
 * uint16, and those below 0 are 1/512 less. */
static int32_t curve_one(const struct ref_constants *f, int32_t x)
{
    const int64_t v = ((int64_t)x * f->multiplier[0] + (1 << 15)) >> 16,
                  part = f->shift[0] == -8 ? 2 * v : v, far = part >> 9,
                  at = far < -256  ? -256
                       : far > 255 ? 255
                                   : far;
    const int16_t *entry = f->wide + 2 * (at & 511);
    int64_t sum = 512 * (int64_t)entry[0] + entry[1] * (part & 511);

    if (f->shift[1] != 0)
        sum += (entry[0] < 0 ? 512 << 16 : 0) + (at < 0 ? 511 : 0);
    return ref_mbqm((int32_t)(2 * sum), f->multiplier[2], f->shift[2]);
}

/* LOGISTIC and TANH of int16 as halves. */
static void unary_halves(const struct ref_call *c)
{
    const struct ir_tensor *y = c->out[0];
    const size_t row = ref_halves_apart(y);

    for (size_t i = 0; i < (size_t)ir_elements(y); i++)
        if (i / row % 2 == 0)
            ref_put_halves(y, c->y[0], i, curve_one(c->k, ref_at_halves(c->in[0], c->x[0], i)));
}

/* For 8 bits, by a table. */
enum status ref_unary(const struct ref_call *c, struct diag *d)
{
    if (c->op->attr[IR_HALVES]) {
        unary_halves(c);
        return ST_OK;
    }
    if (c->in[0]->type != IR_I16)
        return ref_none(c, d);
    for (size_t i = 0; i < (size_t)ir_elements(c->out[0]); i++)
        ref_put(c->out[0], c->y[0], i, unary_one(c, ref_at(c->in[0], c->x[0], i)));
    return ST_OK;
}
