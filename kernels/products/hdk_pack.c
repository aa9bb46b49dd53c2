/* hdk_pack.c - see hdk_panel.h. */
#include "hdk_panel.h"

/* Column i of a panel: channel o. */
static void column(const struct hdk_filter *f, uint32_t o, struct hdk_panel *to, uint32_t i)
{
    uint32_t sum = 0, s = f->per_channel ? o : 0;

    for (uint32_t k = 0; k < 2 * hdk_pairs(f->k); k++) {
        int32_t w = k < f->k ? f->w[o * f->channel_stride + k * f->k_stride] : f->z_w;
        to->w[k / 2][i][k % 2] = (int8_t)w;
        sum += (uint32_t)(w - f->z_w);
    }
    to->bias[i] = (int32_t)((f->bias ? (uint32_t)f->bias[o] : 0u) - (uint32_t)f->z_in * sum);
    to->multiplier[i] = f->multiplier[s];
    to->shift[i] = f->shift[s];
}

static void blank(const struct hdk_filter *f, struct hdk_panel *to, uint32_t i)
{
    for (uint32_t k = 0; k < hdk_pairs(f->k); k++)
        to->w[k][i][0] = to->w[k][i][1] = 0;
    to->bias[i] = to->multiplier[i] = to->shift[i] = 0;
}

void hdk_pack(const struct hdk_filter *f, void *to)
{
    uint8_t *at = to;

    for (uint32_t first = 0; first < f->channels; first += HDK_PANEL, at += hdk_panel_bytes(f->k))
        for (uint32_t i = 0; i < HDK_PANEL; i++)
            if (first + i < f->channels)
                column(f, first + i, (struct hdk_panel *)(void *)at, i);
            else
                blank(f, (struct hdk_panel *)(void *)at, i);
}
