/* hdk_fully_connected.c - FULLY_CONNECTED: blocks of output channels share a strip of input. */
#include "hdk.h"
#include "hdk_dot.h"
#include "hdk_math.h"

/* Output channels first .. first+n-1 (at most HDK_BLOCK) of one batch entry. */
static void block(const struct hdk_fully_connected *p, const int8_t *x, const int8_t *w,
                  const int32_t *bias, uint32_t first, uint32_t n, int8_t *y)
{
    int16_t strip[HDK_STRIP];
    uint32_t acc[HDK_BLOCK];

    for (uint32_t o = 0; o < n; o++)
        acc[o] = bias ? (uint32_t)bias[first + o] : 0u;
    for (uint32_t at = 0; at < p->in_c; at += HDK_STRIP) {
        uint32_t len = p->in_c - at < HDK_STRIP ? p->in_c - at : HDK_STRIP;
        uint32_t correction = 0;

        for (uint32_t i = 0; i < len; i++)
            strip[i] = (int16_t)(x[at + i] - p->z_in);
        if (p->z_w)
            correction = (uint32_t)p->z_w * hdk_total(strip, len);
        for (uint32_t o = 0; o < n; o++)
            acc[o] += hdk_dot(strip, w + (uint64_t)(first + o) * p->in_c + at, len) - correction;
    }
    for (uint32_t o = 0; o < n; o++) {
        uint32_t s = p->scale.per_channel ? first + o : 0;
        int32_t v = hdk_rescale((int32_t)acc[o], p->scale.multiplier[s], p->scale.shift[s]);
        y[first + o] = hdk_clamp(v, p->z_out, p->act_min, p->act_max);
    }
}

void hdk_fully_connected(const struct hdk_fully_connected *p, const int8_t *x, const int8_t *w,
                         const int32_t *bias, int8_t *y)
{
    for (uint32_t b = 0; b < p->batch; b++)
        for (uint32_t first = 0; first < p->out_c; first += HDK_BLOCK)
            block(p, x + (uint64_t)b * p->in_c, w, bias, first,
                  p->out_c - first < HDK_BLOCK ? p->out_c - first : HDK_BLOCK,
                  y + (uint64_t)b * p->out_c);
}
