/* hdk_resize.c - RESIZE_BILINEAR in 10-bit fixed point. */
#include "hdk.h"
#include "hdk_index.h"

/* A weight is -512 to 1536 in each direction, the two of one pixel where it is outside: all partial sums
 * are below 2^30. Halves go away from zero. */
static void row(const struct hdk_resize_bilinear *p, const int8_t *x, uint32_t oy, int8_t *y)
{
    struct hdk_between v = hdk_between((int32_t)oy * p->step_y + p->start_y, p->in_h);
    const int8_t *top = x + (uint64_t)v.low * p->in_w * p->channels;
    const int8_t *bottom = x + (uint64_t)v.high * p->in_w * p->channels;

    for (uint32_t ox = 0; ox < p->out_w; ox++) {
        struct hdk_between h = hdk_between((int32_t)ox * p->step_x + p->start_x, p->in_w);
        const uint32_t left = h.low * p->channels, right = h.high * p->channels;
        const int8_t *x00 = top + left, *x01 = top + right;
        const int8_t *x10 = bottom + left, *x11 = bottom + right;
        const int32_t w00 = (1024 - v.part) * (1024 - h.part), w01 = (1024 - v.part) * h.part;
        const int32_t w10 = v.part * (1024 - h.part), w11 = v.part * h.part;

        for (uint32_t c = 0; c < p->channels; c++) {
            const int32_t sum = x00[c] * w00 + x01[c] * w01 + x10[c] * w10 + x11[c] * w11;
            *y++ = (int8_t)((sum + (1 << 19) - (sum < 0)) >> 20);
        }
    }
}

void hdk_resize_bilinear(const struct hdk_resize_bilinear *p, const int8_t *x, int8_t *y)
{
    for (uint32_t n = 0; n < p->batch; n++, x += (uint64_t)p->in_h * p->in_w * p->channels)
        for (uint32_t oy = 0; oy < p->out_h; oy++, y += p->out_w * p->channels)
            row(p, x, oy, y);
}
