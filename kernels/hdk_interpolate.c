/* hdk_interpolate.c - INTERPOLATE of int8 along one dimension. */
#include "hdk.h"
#include "hdk_math.h"

/* Write one output element of `inner` neighbours. The sums of weights stay below 2^11, of
 * products below 2^20. */
static void element(const struct hdk_interpolate *p, const int8_t *x, uint32_t i, int8_t *y)
{
    const int32_t *index = p->index + i * p->taps;
    const int16_t *weight = p->weight + i * p->taps;
    int32_t zeros = 0;

    for (uint32_t t = 0; t < p->taps; t++)
        zeros -= weight[t] * p->z_in;
    for (uint32_t k = 0; k < p->inner; k++) {
        int32_t sum = zeros;

        for (uint32_t t = 0; t < p->taps; t++)
            sum += weight[t] * x[(uint32_t)index[t] * p->inner + k];
        y[k] =
            hdk_clamp(hdk_rescale(sum, p->multiplier, p->shift), p->z_out, p->act_min, p->act_max);
    }
}

void hdk_interpolate(const struct hdk_interpolate *p, const int8_t *x, int8_t *y)
{
    for (uint32_t o = 0; o < p->outer; o++, x += (uint64_t)p->size * p->inner)
        for (uint32_t i = 0; i < p->n; i++, y += p->inner)
            element(p, x, i, y);
}
