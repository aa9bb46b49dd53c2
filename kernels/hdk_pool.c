/* hdk_pool.c - AVERAGE_POOL_2D and MAX_POOL_2D: windows clipped to the image, then blocks of
 * channels. */
#include "hdk.h"
#include "hdk_math.h"

#define BLOCK 16u /* channels at once */

/* Rows y0 .. y1-1 and columns x0 .. x1-1 of the image that a window covers. */
struct window {
    const int8_t *x; /* image of the batch */
    uint32_t y0, y1, x0, x1;
};

static void clip(uint32_t at, uint32_t stride, int32_t pad, uint32_t kernel, uint32_t size,
                 uint32_t *from, uint32_t *to)
{
    int32_t begin = (int32_t)(at * stride) - pad, end = begin + (int32_t)kernel;

    *from = begin < 0 ? 0u : (uint32_t)begin;
    *to = end < 0 ? 0u : (uint32_t)end > size ? size : (uint32_t)end;
    if (*from > *to)
        *from = *to;
}

static void find_window(const struct hdk_pool *p, const int8_t *x, uint32_t i, struct window *w)
{
    uint32_t pixels = p->out_h * p->out_w;

    w->x = x + (uint64_t)(i / pixels) * p->in_h * p->in_w * p->channels;
    clip(i % pixels / p->out_w, p->stride_y, p->pad_top, p->kernel_h, p->in_h, &w->y0, &w->y1);
    clip(i % p->out_w, p->stride_x, p->pad_left, p->kernel_w, p->in_w, &w->x0, &w->x1);
}

/* Sums (is_max 0) or maxima of channels c .. c+n-1. */
static void reduce(const struct hdk_pool *p, const struct window *w, int is_max, uint32_t c,
                   uint32_t n, int32_t *v)
{
    for (uint32_t i = 0; i < n; i++)
        v[i] = is_max ? -128 : 0;
    for (uint32_t y = w->y0; y < w->y1; y++)
        for (uint32_t x = w->x0; x < w->x1; x++) {
            const int8_t *in = w->x + (y * p->in_w + x) * p->channels + c;
            if (is_max)
                for (uint32_t i = 0; i < n; i++)
                    v[i] = in[i] > v[i] ? in[i] : v[i];
            else
                for (uint32_t i = 0; i < n; i++)
                    v[i] += in[i];
        }
}

/* round_up: floor((sum + n/2) / n), what uint8's rounding of a sum that is never negative becomes
 * when every code loses 128. */
static int32_t average(int32_t sum, int32_t n, uint32_t round_up)
{
    if (n && round_up)
        return (sum + n / 2 + 128 * n) / n - 128;
    return n ? (sum > 0 ? sum + n / 2 : sum - n / 2) / n : 0;
}

static void pool(const struct hdk_pool *p, int is_max, const int8_t *x, int8_t *y)
{
    for (uint32_t i = 0; i < p->batch * p->out_h * p->out_w; i++) {
        struct window w;
        int32_t cells;

        find_window(p, x, i, &w);
        cells = (int32_t)((w.y1 - w.y0) * (w.x1 - w.x0));
        for (uint32_t c = 0; c < p->channels; c += BLOCK) {
            uint32_t n = p->channels - c < BLOCK ? p->channels - c : BLOCK;
            int32_t v[BLOCK];

            reduce(p, &w, is_max, c, n, v);
            for (uint32_t k = 0; k < n; k++)
                y[(uint64_t)i * p->channels + c + k] = hdk_clamp(
                    is_max ? v[k] : average(v[k], cells, p->round_up), 0, p->act_min, p->act_max);
        }
    }
}

void hdk_avg_pool(const struct hdk_pool *p, const int8_t *x, int8_t *y)
{
    pool(p, 0, x, y);
}

void hdk_max_pool(const struct hdk_pool *p, const int8_t *x, int8_t *y)
{
    pool(p, 1, x, y);
}
