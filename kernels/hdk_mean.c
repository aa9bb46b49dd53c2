/* hdk_mean.c - MEAN over any axes of up to four. */
#include "hdk.h"
#include "hdk_math.h"

/* Element distance of axis d in a dense array. */
static uint32_t distance(const uint32_t shape[4], uint32_t d)
{
    uint32_t n = 1;

    while (++d < 4)
        n *= shape[d];
    return n;
}

/* Offset in x of element `index`, counted over the axes whose reduce is `kind`. */
static uint32_t locate(const struct hdk_mean *p, uint32_t kind, uint32_t index)
{
    uint32_t at = 0;

    for (uint32_t d = 4; d-- > 0;) {
        if (!!p->reduce[d] != kind)
            continue;
        at += index % p->shape[d] * distance(p->shape, d);
        index /= p->shape[d];
    }
    return at;
}

void hdk_mean(const struct hdk_mean *p, const int8_t *x, int8_t *y)
{
    uint32_t kept = 1, cells = 1;

    for (uint32_t d = 0; d < 4; d++)
        *(p->reduce[d] ? &cells : &kept) *= p->shape[d];
    for (uint32_t i = 0; i < kept; i++) {
        const int8_t *from = x + locate(p, 0, i);
        int32_t sum = 0;

        for (uint32_t k = 0; k < cells; k++)
            sum += from[locate(p, 1, k)] - p->z_in;
        y[i] =
            hdk_clamp(hdk_rescale(sum, p->multiplier, p->shift), p->z_out, p->act_min, p->act_max);
    }
}
