/* hdk_matmul.c - BATCH_MATMUL and TRANSPOSE_CONV: plain sums of products. */
#include "hdk.h"
#include "hdk_math.h"

static void one_matrix(const struct hdk_matmul *p, const int8_t *a, const int8_t *b,
                       const int32_t *bias, int8_t *y)
{
    for (uint32_t i = 0; i < p->rows; i++)
        for (uint32_t j = 0; j < p->cols; j++) {
            uint32_t sum = bias ? (uint32_t)bias[j] : 0;

            for (uint32_t l = 0; l < p->depth; l++)
                sum += (uint32_t)((a[i * p->a_row + l * p->a_col] - p->z_a) *
                                  (b[l * p->b_row + j * p->b_col] - p->z_b));
            *y++ = hdk_clamp(hdk_rescale((int32_t)sum, p->multiplier, p->shift), p->z_out,
                             p->act_min, p->act_max);
        }
}

void hdk_matmul(const struct hdk_matmul *p, const int8_t *a, const int8_t *b, const int32_t *bias,
                int8_t *y)
{
    uint32_t index[4] = {0}, d;
    uint64_t at_a = 0, at_b = 0;

    do {
        one_matrix(p, a + at_a, b + at_b, bias, y);
        y += (uint64_t)p->rows * p->cols;
        for (d = 4; d-- > 0;) {
            at_a += p->a_batch[d];
            at_b += p->b_batch[d];
            if (++index[d] < p->batch[d])
                break;
            at_a -= (uint64_t)p->a_batch[d] * p->batch[d];
            at_b -= (uint64_t)p->b_batch[d] * p->batch[d];
            index[d] = 0;
        }
    } while (d < 4);
}

/* First tap that meets an input cell at output position o (pad included), and that cell; further
 * taps are `stride` apart, one cell less each. */
static uint32_t first_tap(uint32_t o, uint32_t stride, uint32_t size, uint32_t *cell)
{
    uint32_t tap = o % stride;

    *cell = o / stride;
    if (*cell >= size) {
        tap += (*cell - (size - 1)) * stride;
        *cell = size - 1;
    }
    return tap;
}

static uint32_t covered(const struct hdk_transpose_conv *p, const int8_t *x, const int8_t *w,
                        uint32_t oy, uint32_t ox)
{
    uint32_t sum = 0, iy, ix0;
    uint32_t ky = first_tap(oy + (uint32_t)p->pad_top, p->stride_y, p->in_h, &iy);
    uint32_t kx0 = first_tap(ox + (uint32_t)p->pad_left, p->stride_x, p->in_w, &ix0);

    for (; ky < p->kernel_h; ky += p->stride_y) {
        for (uint32_t kx = kx0, ix = ix0; kx < p->kernel_w; kx += p->stride_x) {
            const int8_t *cell = x + ((uint64_t)iy * p->in_w + ix) * p->in_c;
            const int8_t *tap = w + ((uint64_t)ky * p->kernel_w + kx) * p->in_c;

            for (uint32_t c = 0; c < p->in_c; c++)
                sum += (uint32_t)((cell[c] - p->z_in) * (tap[c] - p->z_w));
            if (ix-- == 0)
                break;
        }
        if (iy-- == 0)
            break;
    }
    return sum;
}

void hdk_transpose_conv(const struct hdk_transpose_conv *p, const int8_t *x, const int8_t *w,
                        const int32_t *bias, int8_t *y)
{
    uint64_t filter = (uint64_t)p->kernel_h * p->kernel_w * p->in_c;

    for (uint32_t n = 0; n < p->batch; n++, x += (uint64_t)p->in_h * p->in_w * p->in_c)
        for (uint32_t i = 0; i < p->out_h * p->out_w; i++)
            for (uint32_t oc = 0; oc < p->out_c; oc++) {
                uint32_t k = p->scale.per_channel ? oc : 0;
                uint32_t sum = covered(p, x, w + oc * filter, i / p->out_w, i % p->out_w) +
                               (bias ? (uint32_t)bias[oc] : 0);

                *y++ =
                    hdk_clamp(hdk_rescale((int32_t)sum, p->scale.multiplier[k], p->scale.shift[k]),
                              p->z_out, p->act_min, p->act_max);
            }
}
