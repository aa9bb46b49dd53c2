/* hdk_fully_connected.c - FULLY_CONNECTED: up to four batch entries at a time, as rows of 16 bits,
 * meet the panels of weights (hdk_tile.h). */
#include "hdk.h"
#include "hdk_tile.h"

uint32_t hdk_fully_connected_scratch(const struct hdk_fully_connected *p)
{
    uint32_t rows = p->batch == 1 ? 1 : HDK_TILE_ROWS;

    return rows * hdk_row_lanes(p->in_c) * (uint32_t)sizeof(int16_t);
}

HDK_INLINE void multiply(const struct hdk_fully_connected *p, const int8_t *x, const void *panels,
                         int8_t *y, int16_t *rows, hdk_tile_function *tile,
                         hdk_widen_function *widen)
{
    const uint32_t pitch = hdk_row_lanes(p->in_c);
    const int16_t *const piece = rows;
    const struct hdk_tile t = {.x = &piece,
                               .x_pitch = pitch,
                               .pieces = 1,
                               .piece = p->in_c,
                               .panels = panels,
                               .channels = p->out_c,
                               .z_w = p->z_w,
                               .z_out = p->z_out,
                               .act_min = p->act_min,
                               .act_max = p->act_max};

    for (uint32_t b = 0; b < p->batch; b += HDK_TILE_ROWS) {
        uint32_t n = p->batch - b < HDK_TILE_ROWS ? p->batch - b : HDK_TILE_ROWS;

        for (uint32_t r = 0; r < n; r++)
            widen(x + (uint64_t)(b + r) * p->in_c, p->in_c, rows + r * pitch);
        tile(&t, n, y + (uint64_t)b * p->out_c, p->out_c);
    }
}

#if HDK_SIMD
static HDK_AVX2 void multiply_avx2(const struct hdk_fully_connected *p, const int8_t *x,
                                   const void *panels, int8_t *y, int16_t *rows)
{
    multiply(p, x, panels, y, rows, hdk_tile_best(), hdk_widen_avx2);
}
#endif

void hdk_fully_connected(const struct hdk_fully_connected *p, const int8_t *x, const void *panels,
                         int8_t *y, void *scratch)
{
#if HDK_SIMD
    if (hdk_has_avx2()) {
        multiply_avx2(p, x, panels, y, scratch);
        return;
    }
#endif
    multiply(p, x, panels, y, scratch, hdk_tile_plain, hdk_widen_plain);
}
