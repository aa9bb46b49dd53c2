/* ref_integer.c - MatMulInteger, ConvInteger, JOIN_DIGITS: sums of products as int32.
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
                               (size_t)(((oc * w->dim[1] + ky) * w->dim[2] + kx) * part + i), 0, 0);
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

/* y = sum of digit k * 128^k - (zero - z_in) * taps, wrapping. */
enum status ref_join_digits(const struct ref_call *c, struct diag *d)
{
    const struct ir_tensor *y = c->out[0], *taps = c->in[2];
    const int32_t *a = c->op->attr;
    const size_t oc = (size_t)ir_dim_back(y, 0), w = (size_t)ir_dim_back(y, 1),
                 h = (size_t)ir_dim_back(y, 2), each = (size_t)a[IR_MULTIPLIER],
                 digits = (size_t)a[IR_DIGITS];
    const uint32_t zero = (uint32_t)(ref_at(c->in[1], c->x[1], 0) - ir_zero_point(c->in[1]));

    (void)d;
    for (size_t i = 0; i < (size_t)ir_elements(y); i++) {
        const size_t channel = i % oc, pixel = i / oc;
        const size_t row = taps_row(pixel / w % h, h, a, IR_PAD_TOP, IR_PAD_BOTTOM);
        const size_t column = taps_row(pixel % w, w, a, IR_PAD_LEFT, IR_PAD_RIGHT);
        const size_t at = (row * (size_t)taps->dim[1] + column) * oc + channel;
        uint32_t sum = 0, tap;

        for (size_t k = 0; k < digits; k++)
            sum += (uint32_t)ref_at(c->in[0], c->x[0],
                                    pixel * oc * digits + (channel / each * digits + k) * each +
                                        channel % each)
                   << 7 * k;
        memcpy(&tap, c->x[2] + at * 4, 4);
        sum -= zero * tap;
        memcpy(c->y[0] + i * 4, &sum, 4);
    }
    return ST_OK;
}
