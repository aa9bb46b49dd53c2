/* hdk_resize_u8.c - RESIZE_BILINEAR of what was uint8, in float32. Each operation rounds by itself:
 * products are in variables of their own, so that none is contracted with a sum. */
#include "hdk.h"

/* Neighbours of a place, and its distance from the lower one. */
struct place {
    uint32_t low, high;
    float part, rest;
};

static struct place place_of(uint32_t i, float scale, uint32_t half, uint32_t size)
{
    const float middle = half ? 0.5f : 0.0f, scaled = ((float)i + middle) * scale;
    const float at = scaled - middle;
    int32_t low = (int32_t)at, high, last = (int32_t)size - 1;
    struct place p;

    if ((float)low > at) /* at is negative */
        low--;
    high = (float)low < at ? low + 1 : low;
    p.low = low > 0 ? (uint32_t)low : 0;
    p.high = (uint32_t)(high < last ? high : last);
    p.part = at - (float)p.low;
    p.rest = 1 - p.part;
    return p;
}

static float weighed(int8_t x, float by_y, float by_x)
{
    const float row = (float)(x + 128) * by_y;

    return row * by_x;
}

static void row(const struct hdk_resize_u8 *p, const int8_t *x, uint32_t oy, int8_t *y)
{
    const struct place v = place_of(oy, p->scale_y, p->half_pixel, p->in_h);
    const int8_t *top = x + (uint64_t)v.low * p->in_w * p->channels;
    const int8_t *bottom = x + (uint64_t)v.high * p->in_w * p->channels;

    for (uint32_t ox = 0; ox < p->out_w; ox++) {
        const struct place h = place_of(ox, p->scale_x, p->half_pixel, p->in_w);
        const uint32_t left = h.low * p->channels, right = h.high * p->channels;

        for (uint32_t c = 0; c < p->channels; c++) {
            const float a = weighed(top[left + c], v.rest, h.rest);
            const float b = weighed(bottom[left + c], v.part, h.rest);
            const float e = weighed(top[right + c], v.rest, h.part);
            const float f = weighed(bottom[right + c], v.part, h.part);

            *y++ = (int8_t)((int32_t)(a + b + e + f + 0.5f) - 128);
        }
    }
}

void hdk_resize_u8(const struct hdk_resize_u8 *p, const int8_t *x, int8_t *y)
{
    for (uint32_t n = 0; n < p->batch; n++, x += (uint64_t)p->in_h * p->in_w * p->channels)
        for (uint32_t oy = 0; oy < p->out_h; oy++, y += (uint64_t)p->out_w * p->channels)
            row(p, x, oy, y);
}
