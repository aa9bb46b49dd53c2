/* hdk_int16_pool.c - AVERAGE_POOL_2D, MAX_POOL_2D, MEAN, REDUCE_MAX, REDUCE_MIN, RESIZE_BILINEAR on
 * int16 activations. */
#include "hdk.h"
#include "hdk_index.h"
#include "hdk_int16_math.h"

/* Cells from .. to-1 of a window that are in 0 .. size-1. */
static void clip(uint32_t at, uint32_t stride, int32_t pad, uint32_t kernel, uint32_t size,
                 uint32_t *from, uint32_t *to)
{
    int32_t begin = (int32_t)(at * stride) - pad, end = begin + (int32_t)kernel;

    *from = begin < 0 ? 0u : (uint32_t)begin;
    *to = end < 0 ? 0u : (uint32_t)end > size ? size : (uint32_t)end;
    if (*from > *to)
        *from = *to;
}

static int32_t window(const struct hdk_pool *p, const int16_t *x, uint32_t i, int is_max)
{
    uint32_t y0, y1, x0, x1;
    int32_t v = is_max ? -32768 : 0, n;

    clip(i / p->out_w, p->stride_y, p->pad_top, p->kernel_h, p->in_h, &y0, &y1);
    clip(i % p->out_w, p->stride_x, p->pad_left, p->kernel_w, p->in_w, &x0, &x1);
    for (uint32_t iy = y0; iy < y1; iy++)
        for (uint32_t ix = x0; ix < x1; ix++) {
            int32_t code = x[((uint64_t)iy * p->in_w + ix) * p->channels];

            v = is_max ? (code > v ? code : v) : v + code;
        }
    n = (int32_t)((y1 - y0) * (x1 - x0));
    if (is_max || n == 0)
        return v;
    return (v > 0 ? v + n / 2 : v - n / 2) / n;
}

static void pool(const struct hdk_pool *p, int is_max, const int16_t *x, int16_t *y)
{
    for (uint32_t n = 0; n < p->batch; n++, x += (uint64_t)p->in_h * p->in_w * p->channels)
        for (uint32_t i = 0; i < p->out_h * p->out_w; i++)
            for (uint32_t c = 0; c < p->channels; c++)
                *y++ = hdk_i16_clamp(window(p, x + c, i, is_max), p->act_min, p->act_max);
}

void hdk_i16_avg_pool(const struct hdk_pool *p, const int16_t *x, int16_t *y)
{
    pool(p, 0, x, y);
}

void hdk_i16_max_pool(const struct hdk_pool *p, const int16_t *x, int16_t *y)
{
    pool(p, 1, x, y);
}

void hdk_i16_mean(const struct hdk_mean *p, const int16_t *x, int16_t *y)
{
    uint32_t n[2];

    hdk_counts(p->shape, p->reduce, n);
    for (uint32_t i = 0; i < n[0]; i++) {
        const int16_t *from = x + hdk_pick(p->shape, p->reduce, 0, i);
        uint32_t sum = 0;

        for (uint32_t k = 0; k < n[1]; k++) {
            int32_t v = from[hdk_pick(p->shape, p->reduce, 1, k)];

            sum += (uint32_t)v;
        }
        y[i] = hdk_i16_clamp(hdk_rescale((int32_t)sum, p->multiplier, p->shift), p->act_min,
                             p->act_max);
    }
}

void hdk_i16_reduce_prod(const struct hdk_mean *p, const int16_t *x, int16_t *y)
{
    uint32_t n[2];

    hdk_counts(p->shape, p->reduce, n);
    for (uint32_t i = 0; i < n[0]; i++) {
        const int16_t *from = x + hdk_pick(p->shape, p->reduce, 0, i);
        int32_t product = from[0];

        for (uint32_t k = 1; k < n[1]; k++)
            product = hdk_i16_rescale((int64_t)product * from[hdk_pick(p->shape, p->reduce, 1, k)],
                                      p->multiplier, p->shift);
        y[i] = hdk_i16_clamp(hdk_i16_rescale(product, p->multiplier, p->shift), p->act_min,
                             p->act_max);
    }
}

/* sign: 1 keeps the larger code, -1 the smaller. */
static void reduce(const struct hdk_mean *p, int32_t sign, const int16_t *x, int16_t *y)
{
    uint32_t n[2];

    hdk_counts(p->shape, p->reduce, n);
    for (uint32_t i = 0; i < n[0]; i++) {
        const int16_t *from = x + hdk_pick(p->shape, p->reduce, 0, i);
        int16_t best = from[0];

        for (uint32_t k = 1; k < n[1]; k++) {
            int16_t v = from[hdk_pick(p->shape, p->reduce, 1, k)];

            best = sign * v > sign * best ? v : best;
        }
        y[i] = best;
    }
}

void hdk_i16_reduce_max(const struct hdk_mean *p, const int16_t *x, int16_t *y)
{
    reduce(p, 1, x, y);
}

void hdk_i16_reduce_min(const struct hdk_mean *p, const int16_t *x, int16_t *y)
{
    reduce(p, -1, x, y);
}

void hdk_i16_resize_bilinear(const struct hdk_resize_bilinear *p, const int16_t *x, int16_t *y)
{
    uint32_t pixels = p->out_h * p->out_w;

    for (uint32_t i = 0; i < p->batch * pixels; i++) {
        struct hdk_between v =
            hdk_between((int32_t)(i % pixels / p->out_w) * p->step_y + p->start_y, p->in_h);
        struct hdk_between h =
            hdk_between((int32_t)(i % p->out_w) * p->step_x + p->start_x, p->in_w);
        const int16_t *image = x + (uint64_t)(i / pixels) * p->in_h * p->in_w * p->channels;
        const int16_t *top = image + (uint64_t)v.low * p->in_w * p->channels;
        const int16_t *bottom = image + (uint64_t)v.high * p->in_w * p->channels;
        uint32_t left = h.low * p->channels, right = h.high * p->channels;

        for (uint32_t c = 0; c < p->channels; c++) {
            int64_t a = (int64_t)top[left + c] * (1024 - h.part) + (int64_t)top[right + c] * h.part;
            int64_t b =
                (int64_t)bottom[left + c] * (1024 - h.part) + (int64_t)bottom[right + c] * h.part;
            int64_t sum = a * (1024 - v.part) + b * v.part;
            *y++ = (int16_t)((sum + (sum > 0 ? 1 << 19 : -(1 << 19))) / (1 << 20));
        }
    }
}
