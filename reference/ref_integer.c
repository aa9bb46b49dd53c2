/* ref_integer.c - MatMulInteger, ConvInteger, JOIN_DIGITS: sums of products as int32; BYTE_OF, HALVES, JOIN_WIDE.
 *   acc = sum (x - z_x) * (w - z_w), wrapping; zero points are operands. */
#include <string.h>

#include "ref_kernels.h"

/* Zero points are numbers `za` and `zb`, or the only ones. */
static uint32_t product(const struct ref_call *c, size_t a, size_t b, size_t za, size_t zb)
{
    za = ir_elements(c->in[2]) > 1 ? za : 0;
    zb = ir_elements(c->in[3]) > 1 ? zb : 0;
    return (uint32_t)((ref_at(c->in[0], c->x[0], a) - ref_at(c->in[2], c->x[2], za)) *
                      (ref_at(c->in[1], c->x[1], b) - ref_at(c->in[3], c->x[3], zb)));
}

enum status ref_matmul_integer(const struct ref_call *c, struct diag *d)
{
    const struct ir_tensor *a = c->in[0], *b = c->in[1], *y = c->out[0];
    const size_t rows = (size_t)ir_dim_back(y, 1), cols = (size_t)ir_dim_back(y, 0);
    const size_t depth = (size_t)ir_dim_back(a, 0), n = (size_t)ir_elements(y);

    (void)d;
    for (size_t i = 0; i < n; i++) {
        const size_t m = i / cols / rows, row = i / cols % rows, col = i % cols;
        const size_t at_a = ref_matrix(a, y, m) + row * depth, at_b = ref_matrix(b, y, m) + col;
        uint32_t sum = 0;

        for (size_t k = 0; k < depth; k++)
            sum += product(c, at_a + k, at_b + k * cols, row, col);
        memcpy(c->y[0] + i * 4, &sum, 4);
    }
    return ST_OK;
}

/* Weights [OC,KH,KW,C/G]; cells outside the image count nothing. */
static uint32_t conv_sum(const struct ref_call *c, int32_t n, int32_t oy, int32_t ox, int32_t oc)
{
    const struct ir_tensor *x = c->in[0], *w = c->in[1];
    const int32_t *a = c->op->attr, part = w->dim[3], each = w->dim[0] / (x->dim[3] / part);
    uint32_t sum = 0;

    for (int32_t ky = 0; ky < a[IR_KERNEL_H]; ky++)
        for (int32_t kx = 0; kx < a[IR_KERNEL_W]; kx++) {
            const int32_t iy = oy * a[IR_STRIDE_H] - c->k->pad_top + ky * a[IR_DILATION_H];
            const int32_t ix = ox * a[IR_STRIDE_W] - c->k->pad_left + kx * a[IR_DILATION_W];

            if (iy < 0 || ix < 0 || iy >= x->dim[1] || ix >= x->dim[2])
                continue;
            for (int32_t i = 0; i < part; i++)
                sum += product(c,
                               (size_t)(((n * x->dim[1] + iy) * x->dim[2] + ix) * x->dim[3] +
                                        oc / each * part + i),
                               (size_t)(((oc * w->dim[1] + ky) * w->dim[2] + kx) * part + i),
                               (size_t)n, 0);
        }
    return sum;
}

enum status ref_conv_integer(const struct ref_call *c, struct diag *d)
{
    const int32_t *y = c->out[0]->dim;
    size_t at = 0;

    (void)d;
    for (int32_t n = 0; n < y[0]; n++)
        for (int32_t oy = 0; oy < y[1]; oy++)
            for (int32_t ox = 0; ox < y[2]; ox++)
                for (int32_t oc = 0; oc < y[3]; oc++, at += 4) {
                    const uint32_t sum = conv_sum(c, n, oy, ox, oc);

                    memcpy(c->y[0] + at, &sum, 4);
                }
    return ST_OK;
}

/* Return the row (column) of the taps that row i of n has. */
static size_t taps_row(size_t i, size_t n, const int32_t *a, uint32_t before, uint32_t after)
{
    const size_t first = (size_t)a[before], last = (size_t)a[after];

    if (i >= n - last)
        return first + 1 + i - (n - last);
    return i < first ? i : first;
}

/* y = sum of digit k * 128^k - (zero - z_in) * taps, wrapping. Zero point i is of the i-th part of y. */
enum status ref_join_digits(const struct ref_call *c, struct diag *d)
{
    const struct ir_tensor *y = c->out[0], *taps = c->in[2];
    const int32_t *a = c->op->attr;
    const size_t oc = (size_t)ir_dim_back(y, 0), w = (size_t)ir_dim_back(y, 1),
                 h = (size_t)ir_dim_back(y, 2), each = (size_t)a[IR_MULTIPLIER],
                 digits = (size_t)a[IR_DIGITS], blocks = (oc + each - 1) / each,
                 n = (size_t)ir_elements(y), zeros = (size_t)ir_elements(c->in[1]);

    (void)d;
    for (size_t i = 0; i < n; i++) {
        const uint32_t zero =
            (uint32_t)(ref_at(c->in[1], c->x[1], i / (n / zeros)) - ir_zero_point(c->in[1]));
        const size_t channel = i % oc, pixel = i / oc;
        const size_t row = taps_row(pixel / w % h, h, a, IR_PAD_TOP, IR_PAD_BOTTOM);
        const size_t column = taps_row(pixel % w, w, a, IR_PAD_LEFT, IR_PAD_RIGHT);
        const size_t at = (row * (size_t)taps->dim[1] + column) * oc + channel;
        uint32_t sum = 0, tap;

        for (size_t k = 0; k < digits; k++)
            sum += (uint32_t)ref_at(c->in[0], c->x[0],
                                    (pixel * blocks + channel / each) * digits * each + k * each +
                                        channel % each)
                   << 7 * k;
        memcpy(&tap, c->x[2] + at * 4, 4);
        sum -= zero * tap;
        memcpy(c->y[0] + i * 4, &sum, 4);
    }
    return ST_OK;
}

/* y = the upper byte of x, or the lower one less 128. */
enum status ref_byte_of(const struct ref_call *c, struct diag *d)
{
    (void)d;
    for (size_t i = 0; i < (size_t)ir_elements(c->out[0]); i++) {
        const int32_t x = ref_at(c->in[0], c->x[0], i), lower = x & 255;

        ref_put(c->out[0], c->y[0], i, c->op->attr[IR_HIGH] ? (x - lower) / 256 : lower - 128);
    }
    return ST_OK;
}

/* x, or y, as halves: a row's upper bytes, then its lower ones less 128. */
enum status ref_halves(const struct ref_call *c, struct diag *d)
{
    const bool splits = c->in[0]->type == IR_I16;
    const struct ir_tensor *whole = splits ? c->in[0] : c->out[0];
    const size_t row =
        (size_t)ir_dim_back(whole, 0) * (size_t)(whole->rank == 4 ? ir_dim_back(whole, 1) : 1);

    (void)d;
    for (size_t i = 0; i < (size_t)ir_elements(whole); i++) {
        const size_t upper = i / row * 2 * row + i % row, lower = upper + row;

        if (splits) {
            const int32_t x = ref_at(c->in[0], c->x[0], i);

            ref_put(c->out[0], c->y[0], upper, (x - (x & 255)) / 256);
            ref_put(c->out[0], c->y[0], lower, (x & 255) - 128);
        } else {
            ref_put(c->out[0], c->y[0], i,
                    256 * ref_at(c->in[0], c->x[0], upper) + ref_at(c->in[0], c->x[0], lower) +
                        128);
        }
    }
    return ST_OK;
}

/* The sum that digits of input `in` are, for element i of the output. */
static int64_t sum_of_digits(const struct ref_call *c, uint32_t in, size_t i)
{
    const size_t oc = (size_t)ir_dim_back(c->out[0], 0), each = (size_t)c->op->attr[IR_MULTIPLIER],
                 channel = i % oc, blocks = (oc + each - 1) / each,
                 digits = (size_t)ir_dim_back(c->in[in], 0) / (blocks * each);
    int64_t sum = 0;

    for (size_t k = 0; k < digits; k++)
        sum +=
            ref_at(c->in[in], c->x[in],
                   (i / oc * blocks + channel / each) * digits * each + k * each + channel % each) *
            (INT64_C(1) << 7 * k);
    return sum;
}

/* The multipliers are the operator's own: no tensor has the scales. */
enum status ref_join_wide(const struct ref_call *c, struct diag *d)
{
    const struct ir_fixed *f = &c->op->fixed;
    const size_t oc = (size_t)ir_dim_back(c->out[0], 0);

    (void)d;
    for (size_t i = 0; i < (size_t)ir_elements(c->out[0]); i++) {
        const size_t k = f->n > 1 ? i % oc : 0;
        int64_t sum = sum_of_digits(c, 0, i) * 256 + sum_of_digits(c, 1, i), bias = 0;
        int32_t v;

        if (c->op->n_in > 2 && c->x[2])
            memcpy(&bias, c->x[2] + i % oc * 8, 8);
        sum += bias;
        v = c->op->attr[IR_NARROW]
                ? ref_mbqm((int32_t)(uint32_t)(uint64_t)sum, f->multiplier[k], f->shift[k])
                : ref_mbqm64(sum, f->multiplier[k], f->shift[k]);
        ref_put(c->out[0], c->y[0], i,
                v < f->act_min   ? f->act_min
                : v > f->act_max ? f->act_max
                                 : v);
    }
    return ST_OK;
}
