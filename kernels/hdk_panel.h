/* hdk_panel.h - the layout of constants for convolutions and dense layers: panels of eight output
 * channels, one after another, each with what its channels need to become quantised values. Made
 * once, by the compiler or at start-up (hdk_pack.c); little-endian. */
#ifndef HDK_PANEL_H
#define HDK_PANEL_H

#include <stdint.h>

#define HDK_PANEL     8u  /* output channels of a panel */
#define HDK_LANE_ZERO 128 /* convolutions and dense layers multiply x + HDK_LANE_ZERO, 0 .. 255 */

/* bias: less z_in * sum (w - z_w), so that kernels multiply quantised values, or lanes, as they are
 * and taps outside the image read z_in. w: pairs of taps, [pair][channel][tap of the pair]; an odd last tap
 * is stored with z_w, channels beyond the last are 0. */
struct hdk_panel {
    int32_t bias[HDK_PANEL], multiplier[HDK_PANEL], shift[HDK_PANEL];
    int8_t w[][HDK_PANEL][2];
};

/* A filter to pack: weight of channel o and tap k at w[o * channel_stride + k * k_stride]. */
struct hdk_filter {
    uint32_t channels, k;
    const int8_t *w;
    uint32_t channel_stride, k_stride;
    const int32_t *bias; /* [channels] or NULL */
    const int32_t *multiplier;
    const int8_t *shift;
    uint32_t per_channel; /* 0: element 0 of multiplier and shift for all */
    int32_t z_in, z_w;    /* z_in: of lanes, where these are multiplied */
};

static inline uint32_t hdk_pairs(uint32_t k)
{
    return k / 2 + k % 2;
}

static inline uint32_t hdk_panel_bytes(uint32_t k)
{
    return (uint32_t)sizeof(struct hdk_panel) + hdk_pairs(k) * 2 * HDK_PANEL;
}

/* Bytes of all panels of `channels` channels with k taps each; a multiple of 16. */
static inline uint32_t hdk_pack_bytes(uint32_t channels, uint32_t k)
{
    return (channels + HDK_PANEL - 1) / HDK_PANEL * hdk_panel_bytes(k);
}

/* Pack f to `to`: hdk_pack_bytes, aligned to 4. */
void hdk_pack(const struct hdk_filter *f, void *to);

#endif
