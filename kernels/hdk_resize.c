/* hdk_resize.c - RESIZE_BILINEAR in 10-bit fixed point. */
#include "hdk.h"
#include "hdk_index.h"

static void row(const struct hdk_resize_bilinear *p, const int8_t *x, uint32_t oy, int8_t *y)
{
    struct hdk_between v = hdk_between((int32_t)oy * p->step_y + p->start_y, p->in_h);
    const int8_t *top = x + (uint64_t)v.low * p->in_w * p->channels;
    const int8_t *bottom = x + (uint64_t)v.high * p->in_w * p->channels;

    for (uint32_t ox = 0; ox < p->out_w; ox++) {
        struct hdk_between h = hdk_between((int32_t)ox * p->step_x + p->start_x, p->in_w);
        uint32_t left = h.low * p->channels, right = h.high * p->channels;

        for (uint32_t c = 0; c < p->channels; c++) {
            int64_t a = (int64_t)top[left + c] * (1024 - h.part) + (int64_t)top[right + c] * h.part;
            int64_t b =
                (int64_t)bottom[left + c] * (1024 - h.part) + (int64_t)bottom[right + c] * h.part;
            int64_t sum = a * (1024 - v.part) + b * v.part;
            *y++ = (int8_t)((sum + (sum > 0 ? 1 << 19 : -(1 << 19))) / (1 << 20));
        }
    }
}

void hdk_resize_bilinear(const struct hdk_resize_bilinear *p, const int8_t *x, int8_t *y)
{
    for (uint32_t n = 0; n < p->batch; n++, x += (uint64_t)p->in_h * p->in_w * p->channels)
        for (uint32_t oy = 0; oy < p->out_h; oy++, y += p->out_w * p->channels)
            row(p, x, oy, y);
}
