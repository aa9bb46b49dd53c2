/* hdk_integer.c - sums of products that stay int32 (ConvInteger, MatMulInteger, JOIN_DIGITS), and BATCH_MATMUL
 * in ONNX's rounding. Plain loops. */
#include <stddef.h>

#include "hdk.h"

/* Element (i, j) of matrix m of the output, sums wrapping. */
static int32_t matrix_sum(const struct hdk_matmul *p, const int8_t *a, const int8_t *b, uint32_t m,
                          uint32_t i, uint32_t j)
{
    uint32_t sum = 0;

    for (uint32_t d = 4; d-- > 0; m /= p->batch[d]) {
        a += (size_t)(m % p->batch[d]) * p->a_batch[d];
        b += (size_t)(m % p->batch[d]) * p->b_batch[d];
    }
    a += (size_t)i * p->a_row;
    b += (size_t)j * p->b_col;
    for (uint32_t l = 0; l < p->depth; l++)
        sum += (uint32_t)((a[(size_t)l * p->a_col] - p->z_a) * (b[(size_t)l * p->b_row] - p->z_b));
    return (int32_t)sum;
}

static uint32_t matrices(const struct hdk_matmul *p)
{
    return p->batch[0] * p->batch[1] * p->batch[2] * p->batch[3];
}

void hdk_matmul_integer(const struct hdk_matmul *layer, const void *const *x, int32_t *y)
{
    struct hdk_matmul p = *layer;

    for (uint32_t m = 0; m < matrices(&p); m++)
        for (uint32_t i = 0; i < p.rows; i++)
            for (uint32_t j = 0; j < p.cols; j++) {
                p.z_a = ((const int8_t *)x[2])[layer->z_a ? i : 0];
                p.z_b = ((const int8_t *)x[3])[layer->z_b ? j : 0];
                *y++ = matrix_sum(&p, x[0], x[1], m, i, j);
            }
}

void hdk_conv_integer(const struct hdk_conv2d *p, const void *const *x, int32_t *y)
{
    const int8_t *in = x[0], *weights = x[1];
    const int8_t *zero = x[2];
    const int32_t z_w = *(const int8_t *)x[3];
    const uint32_t part = p->in_c / p->groups, each = p->out_c / p->groups;
    const size_t image = (size_t)p->in_h * p->in_w * p->in_c;

    for (uint32_t i = 0; i < p->batch * p->out_h * p->out_w * p->out_c; i++) {
        const uint32_t oc = i % p->out_c, pixel = i / p->out_c;
        const int32_t y0 = (int32_t)(pixel / p->out_w % p->out_h * p->stride_y) - p->pad_top;
        const int32_t x0 = (int32_t)(pixel % p->out_w * p->stride_x) - p->pad_left;
        const uint32_t n = pixel / p->out_w / p->out_h;
        const int32_t z_in = zero[p->z_in ? n : 0];
        const int8_t *from = in + n * image + oc / each * part;
        const int8_t *w = weights + (size_t)oc * p->kernel_h * p->kernel_w * part;
        uint32_t sum = 0;

        for (uint32_t k = 0; k < p->kernel_h * p->kernel_w; k++, w += part) {
            const int32_t iy = y0 + (int32_t)(k / p->kernel_w * p->dilation_y);
            const int32_t ix = x0 + (int32_t)(k % p->kernel_w * p->dilation_x);
            const int8_t *cell;

            if (iy < 0 || ix < 0 || iy >= (int32_t)p->in_h || ix >= (int32_t)p->in_w)
                continue;
            cell = from + ((size_t)iy * p->in_w + (size_t)ix) * p->in_c;
            for (uint32_t c = 0; c < part; c++)
                sum += (uint32_t)((cell[c] - z_in) * (w[c] - z_w));
        }
        y[i] = (int32_t)sum;
    }
}

/* Number of row (column) i of n among the taps. */
static uint32_t border(uint32_t i, uint32_t n, uint32_t before, uint32_t after)
{
    return i < before ? i : i < n - after ? before : i - (n - after) + before + 1;
}

/* One pixel: `taps` of its channels, times `zero`. */
static void join(const struct hdk_join_digits *p, const int8_t *x, uint32_t zero,
                 const int32_t *taps, int32_t *y)
{
    for (uint32_t c = 0; c < p->out_c; c += p->each, x += (size_t)p->each * p->digits)
        for (uint32_t i = 0; i < p->each && c + i < p->out_c; i++) {
            const int8_t *from = x + (size_t)p->each * p->digits + i;
            uint32_t sum = 0;

            for (uint32_t k = p->digits; k > 0; k--) {
                const int32_t digit = *(from -= p->each);
                sum = sum * 128 + (uint32_t)digit;
            }
            y[c + i] = (int32_t)(sum - zero * (uint32_t)taps[c + i]);
        }
}

void hdk_join_digits(const struct hdk_join_digits *p, const int8_t *x, const int8_t *zero,
                     int32_t *y)
{
    const uint32_t columns = p->left + 1 + p->right, blocks = (p->out_c + p->each - 1) / p->each;
    const uint32_t part = p->batch * p->out_h * p->out_w / p->zeros; /* pixels of a zero point */
    uint32_t left = part;

    for (uint32_t i = 0; i < p->batch * p->out_h; i++) {
        const uint32_t row = border(i % p->out_h, p->out_h, p->top, p->bottom);

        for (uint32_t k = 0; k < p->out_w; k++) {
            const uint32_t column = border(k, p->out_w, p->left, p->right);

            join(p, x, (uint32_t)(*zero - p->z_in),
                 p->taps + ((size_t)row * columns + column) * p->out_c, y);
            x += (size_t)blocks * p->each * p->digits;
            y += p->out_c;
            if (--left == 0) {
                left = part;
                zero++;
            }
        }
    }
}

void hdk_onnx_matmul(const struct hdk_onnx_matmul *q, const int8_t *a, const int8_t *b,
                     const int32_t *bias, int8_t *y)
{
    const struct hdk_matmul *p = &q->layer;

    for (uint32_t m = 0; m < matrices(p); m++)
        for (uint32_t i = 0; i < p->rows; i++)
            for (uint32_t j = 0; j < p->cols; j++) {
                const int32_t sum = (int32_t)((uint32_t)matrix_sum(p, a, b, m, i, j) +
                                              (bias ? (uint32_t)bias[j] : 0));
                const float v =
                    hdk_f32_nearest((float)sum * q->real) + (float)p->z_out; /* exact: < 2^24 */

                *y++ = (int8_t)hdk_f32_clamp(v, (float)p->act_min, (float)p->act_max);
            }
}
