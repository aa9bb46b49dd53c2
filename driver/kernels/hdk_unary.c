/* hdk_unary.c - look-up table, requantisation, copy. */
#include "hdk.h"
#include "hdk_math.h"

void hdk_lut(const struct hdk_lut *p, const int8_t *x, int8_t *y)
{
    for (uint32_t i = 0; i < p->n; i++)
        y[i] = p->table[x[i] + 128];
}

void hdk_requantize(const struct hdk_requantize *p, const int8_t *x, int8_t *y)
{
    for (uint32_t i = 0; i < p->n; i++)
        y[i] = hdk_clamp(hdk_rescale(x[i] - p->z_in, p->multiplier, p->shift), p->z_out, p->act_min,
                         p->act_max);
}

void hdk_copy(const struct hdk_copy *p, const void *x, void *y)
{
    const uint8_t *from = x;
    uint8_t *to = y;

    for (uint32_t i = 0; i < p->n_bytes && x != y; i++)
        to[i] = from[i];
}
