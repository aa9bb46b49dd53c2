/* hdk_int16_conv.c - CONV_2D, DEPTHWISE_CONV_2D, FULLY_CONNECTED, TRANSPOSE_CONV, BATCH_MATMUL on
 * int16 activations: plain sums of 64 bits. */
#include "hdk.h"
#include "hdk_int16_math.h"

/* Products of n, |sum| below n * 2^22: int32 while n is at most 256, then added up in int64. */
static int64_t dot(const int16_t *x, const int8_t *w, uint32_t n)
{
    int64_t sum = 0;

    while (n > 0) {
        uint32_t part = n < 256 ? n : 256;
        int32_t narrow = 0;

        for (uint32_t i = 0; i < part; i++)
            narrow += x[i] * w[i];
        sum += narrow;
        x += part;
        w += part;
        n -= part;
    }
    return sum;
}

/* Add the bias and bring the sum to the output; `narrow`: in 32 bits, rounded twice. */
static int16_t finish(const struct hdk_scale *s, int64_t sum, const int64_t *bias, uint32_t channel,
                      int32_t low, int32_t high)
{
    uint32_t k = s->per_channel ? channel : 0;

    sum += bias ? bias[channel] : 0;
    if (s->narrow)
        return hdk_i16_clamp(
            hdk_rescale((int32_t)(uint32_t)(uint64_t)sum, s->multiplier[k], s->shift[k]), low,
            high);
    return hdk_i16_clamp(hdk_i16_rescale(sum, s->multiplier[k], s->shift[k]), low, high);
}

/* Taps first .. last-1 of `kernel`, `dilation` apart from position `at` on, that meet 0 .. size-1.
 */
static void inside(int32_t at, uint32_t kernel, uint32_t dilation, uint32_t size, uint32_t *first,
                   uint32_t *last)
{
    uint32_t tap = 0;

    while (tap < kernel && at + (int64_t)tap * dilation < 0)
        tap++;
    *first = tap;
    while (tap < kernel && at + (int64_t)tap * dilation < size)
        tap++;
    *last = tap;
}

/* The taps inside the image, for one output pixel. */
struct taps {
    int32_t y, x;
    uint32_t y0, y1, x0, x1;
};

static int64_t conv_sum(const struct hdk_conv2d *p, const struct taps *t, const int16_t *x,
                        const int8_t *w)
{
    uint32_t depth = p->in_c / p->groups;
    int64_t sum = 0;

    for (uint32_t ky = t->y0; ky < t->y1; ky++)
        for (uint32_t kx = t->x0; kx < t->x1; kx++) {
            uint32_t iy = (uint32_t)(t->y + (int32_t)(ky * p->dilation_y));
            uint32_t ix = (uint32_t)(t->x + (int32_t)(kx * p->dilation_x));

            sum += dot(x + ((uint64_t)iy * p->in_w + ix) * p->in_c,
                       w + ((uint64_t)ky * p->kernel_w + kx) * depth, depth);
        }
    return sum;
}

void hdk_i16_conv2d(const struct hdk_i16_conv2d *all, const int16_t *x, const int8_t *w,
                    const int64_t *bias, int16_t *y)
{
    const struct hdk_conv2d *p = &all->layer;
    uint32_t depth = p->in_c / p->groups, per_group = p->out_c / p->groups;
    uint64_t filter = (uint64_t)p->kernel_h * p->kernel_w * depth;

    for (uint32_t n = 0; n < p->batch; n++, x += (uint64_t)p->in_h * p->in_w * p->in_c)
        for (uint32_t i = 0; i < p->out_h * p->out_w; i++) {
            struct taps t = {.y = (int32_t)(i / p->out_w * p->stride_y) - p->pad_top,
                             .x = (int32_t)(i % p->out_w * p->stride_x) - p->pad_left};

            inside(t.y, p->kernel_h, p->dilation_y, p->in_h, &t.y0, &t.y1);
            inside(t.x, p->kernel_w, p->dilation_x, p->in_w, &t.x0, &t.x1);
            for (uint32_t oc = 0; oc < p->out_c; oc++)
                *y++ = finish(&all->scale,
                              conv_sum(p, &t, x + oc / per_group * depth, w + oc * filter), bias,
                              oc, p->act_min, p->act_max);
        }
}

void hdk_i16_depthwise_conv2d(const struct hdk_i16_depthwise_conv2d *all, const int16_t *x,
                              const int8_t *w, const int64_t *bias, int16_t *y)
{
    const struct hdk_depthwise_conv2d *p = &all->layer;
    uint32_t channels = p->in_c * p->depth_multiplier;

    for (uint32_t n = 0; n < p->batch; n++, x += (uint64_t)p->in_h * p->in_w * p->in_c)
        for (uint32_t i = 0; i < p->out_h * p->out_w; i++) {
            int32_t top = (int32_t)(i / p->out_w * p->stride_y) - p->pad_top;
            int32_t left = (int32_t)(i % p->out_w * p->stride_x) - p->pad_left;
            uint32_t y0, y1, x0, x1;

            inside(top, p->kernel_h, p->dilation_y, p->in_h, &y0, &y1);
            inside(left, p->kernel_w, p->dilation_x, p->in_w, &x0, &x1);
            for (uint32_t oc = 0; oc < channels; oc++) {
                int64_t sum = 0;

                for (uint32_t ky = y0; ky < y1; ky++)
                    for (uint32_t kx = x0; kx < x1; kx++) {
                        uint32_t iy = (uint32_t)(top + (int32_t)(ky * p->dilation_y));
                        uint32_t ix = (uint32_t)(left + (int32_t)(kx * p->dilation_x));

                        sum +=
                            x[((uint64_t)iy * p->in_w + ix) * p->in_c + oc / p->depth_multiplier] *
                            w[((uint64_t)ky * p->kernel_w + kx) * channels + oc];
                    }
                *y++ = finish(&all->scale, sum, bias, oc, p->act_min, p->act_max);
            }
        }
}

void hdk_i16_fully_connected(const struct hdk_i16_fully_connected *all, const int16_t *x,
                             const int8_t *w, const int64_t *bias, int16_t *y)
{
    const struct hdk_fully_connected *p = &all->layer;

    for (uint32_t n = 0; n < p->batch; n++, x += p->in_c)
        for (uint32_t oc = 0; oc < p->out_c; oc++)
            *y++ = finish(&all->scale, dot(x, w + (uint64_t)oc * p->in_c, p->in_c), bias, oc,
                          p->act_min, p->act_max);
}

/* Over the taps of one output pixel: those that a multiple of the stride brings to an input cell.
 */
static int64_t covered(const struct hdk_transpose_conv *p, const int16_t *x, const int8_t *w,
                       uint32_t oy, uint32_t ox)
{
    int64_t sum = 0;

    for (uint32_t ky = 0; ky < p->kernel_h && ky <= oy; ky++) {
        uint32_t iy = (oy - ky) / p->stride_y;

        if ((oy - ky) % p->stride_y || iy >= p->in_h)
            continue;
        for (uint32_t kx = 0; kx < p->kernel_w && kx <= ox; kx++) {
            uint32_t ix = (ox - kx) / p->stride_x;

            if ((ox - kx) % p->stride_x == 0 && ix < p->in_w)
                sum += dot(x + ((uint64_t)iy * p->in_w + ix) * p->in_c,
                           w + ((uint64_t)ky * p->kernel_w + kx) * p->in_c, p->in_c);
        }
    }
    return sum;
}

void hdk_i16_transpose_conv(const struct hdk_transpose_conv *p, const int16_t *x, const int8_t *w,
                            const int64_t *bias, int16_t *y)
{
    uint64_t filter = (uint64_t)p->kernel_h * p->kernel_w * p->in_c;

    for (uint32_t n = 0; n < p->batch; n++, x += (uint64_t)p->in_h * p->in_w * p->in_c)
        for (uint32_t i = 0; i < p->out_h * p->out_w; i++)
            for (uint32_t oc = 0; oc < p->out_c; oc++)
                *y++ = finish(&p->scale,
                              covered(p, x, w + oc * filter, i / p->out_w + (uint32_t)p->pad_top,
                                      i % p->out_w + (uint32_t)p->pad_left),
                              bias, oc, p->act_min, p->act_max);
}

void hdk_byte_of(const struct hdk_byte_of *p, const int16_t *x, int8_t *y)
{
    if (p->high)
        for (uint32_t i = 0; i < p->n; i++)
            y[i] = (int8_t)(x[i] >> 8);
    else
        for (uint32_t i = 0; i < p->n; i++)
            y[i] = (int8_t)(uint8_t)((uint32_t)x[i] ^ 0x80u);
}

/* Return true if whole words are: four values are two of int16, one of each half. */
static int in_words(const struct hdk_halves *p, const void *x, const void *y)
{
    return ((uintptr_t)x | (uintptr_t)y | p->n) % 4 == 0;
}

/* Four values of int16, the lower byte first in memory, to a word of each half. */
static void split_four(const int16_t *x, int8_t *upper, int8_t *lower)
{
    uint32_t two[2], half[2];

    __builtin_memcpy(two, __builtin_assume_aligned(x, 4), sizeof two);
    half[0] = (two[0] >> 8 & 0xffu) | (two[0] >> 16 & 0xff00u) | (two[1] & 0xff00u) << 8 |
              (two[1] & 0xff000000u);
    half[1] = (two[0] & 0xffu) | (two[0] >> 8 & 0xff00u) | (two[1] & 0xffu) << 16 |
              (two[1] << 8 & 0xff000000u);
    half[1] ^= 0x80808080u;
    __builtin_memcpy(__builtin_assume_aligned(upper, 4), half, 4);
    __builtin_memcpy(__builtin_assume_aligned(lower, 4), half + 1, 4);
}

static void join_four(const int8_t *upper, const int8_t *lower, int16_t *y)
{
    uint32_t u, l, two[2];

    __builtin_memcpy(&u, __builtin_assume_aligned(upper, 4), 4);
    __builtin_memcpy(&l, __builtin_assume_aligned(lower, 4), 4);
    l ^= 0x80808080u;
    two[0] = (l & 0xffu) | (u & 0xffu) << 8 | (l & 0xff00u) << 8 | (u & 0xff00u) << 16;
    two[1] = (l >> 16 & 0xffu) | (u >> 8 & 0xff00u) | (l >> 8 & 0xff0000u) | (u & 0xff000000u);
    __builtin_memcpy(__builtin_assume_aligned(y, 4), two, sizeof two);
}

void hdk_split_halves(const struct hdk_halves *p, const int16_t *x, int8_t *y)
{
    const int words = in_words(p, x, y);

    for (uint32_t r = 0; r < p->rows; r++, x += p->n, y += 2 * (uint64_t)p->n) {
        for (uint32_t i = 0; words && i < p->n; i += 4)
            split_four(x + i, y + i, y + p->n + i);
        for (uint32_t i = 0; !words && i < p->n; i++) {
            y[i] = (int8_t)(x[i] >> 8);
            y[p->n + i] = (int8_t)(uint8_t)((uint32_t)x[i] ^ 0x80u);
        }
    }
}

void hdk_join_halves(const struct hdk_halves *p, const int8_t *x, int16_t *y)
{
    const int words = in_words(p, x, y);

    for (uint32_t r = 0; r < p->rows; r++, x += 2 * (uint64_t)p->n, y += p->n) {
        for (uint32_t i = 0; words && i < p->n; i += 4)
            join_four(x + i, x + p->n + i, y + i);
        for (uint32_t i = 0; !words && i < p->n; i++)
            y[i] = (int16_t)(256 * x[i] + x[p->n + i] + 128);
    }
}

/* The sum of n digits, `each` apart, at most 4. */
static int32_t joined(const int8_t *x, uint32_t each, uint32_t n)
{
    int32_t sum = n > 3 ? x[3 * (uint64_t)each] : 0;

    if (n > 2)
        sum = sum * 128 + x[2 * (uint64_t)each];
    if (n > 1)
        sum = sum * 128 + x[each];
    return sum * 128 + x[0];
}

void hdk_join_wide(const struct hdk_join_wide *p, const int8_t *upper, const int8_t *lower,
                   const int64_t *bias, int16_t *y)
{
    for (uint32_t i = 0; i < p->pixels; i++)
        for (uint32_t c = 0; c < p->out_c; c += p->each) {
            for (uint32_t k = 0; k < p->each && c + k < p->out_c; k++) {
                int64_t sum = (int64_t)joined(upper + k, p->each, p->digits_upper) * 256 +
                              joined(lower + k, p->each, p->digits_lower);

                *y++ = finish(&p->scale, sum, bias, c + k, p->act_min, p->act_max);
            }
            upper += (uint64_t)p->each * p->digits_upper;
            lower += (uint64_t)p->each * p->digits_lower;
        }
}

static void one_matrix(const struct hdk_matmul *p, const int16_t *a, const int16_t *b,
                       const int64_t *bias, int16_t *y)
{
    for (uint32_t i = 0; i < p->rows; i++)
        for (uint32_t j = 0; j < p->cols; j++) {
            int64_t sum = bias ? bias[j] : 0;

            for (uint32_t l = 0; l < p->depth; l++)
                sum += (int64_t)a[i * p->a_row + l * p->a_col] * b[l * p->b_row + j * p->b_col];
            *y++ = hdk_i16_clamp(hdk_i16_rescale(sum, p->multiplier, p->shift), p->act_min,
                                 p->act_max);
        }
}

void hdk_i16_matmul(const struct hdk_matmul *p, const int16_t *a, const int16_t *b,
                    const int64_t *bias, int16_t *y)
{
    uint32_t n = p->batch[0] * p->batch[1] * p->batch[2] * p->batch[3];

    for (uint32_t i = 0; i < n; i++, y += (uint64_t)p->rows * p->cols) {
        uint64_t at_a = 0, at_b = 0;
        uint32_t rest = i;

        for (uint32_t d = 4; d-- > 0; rest /= p->batch[d]) {
            at_a += (uint64_t)(rest % p->batch[d]) * p->a_batch[d];
            at_b += (uint64_t)(rest % p->batch[d]) * p->b_batch[d];
        }
        one_matrix(p, a + at_a, b + at_b, bias, y);
    }
}
