/* hdk_fully_connected.c - FULLY_CONNECTED: up to eight batch entries at a time, as rows of lanes,
 * meet the panels of weights (hdk_tile.h). */
#include "hdk.h"
#include "hdk_tile.h"

uint32_t hdk_fully_connected_scratch(const struct hdk_fully_connected *p)
{
    uint32_t column = p->batch == 1 ? sizeof(int16_t) : HDK_TILE_BYTES;

    return column * hdk_row_lanes(p->in_c);
}

HDK_INLINE void multiply(const struct hdk_fully_connected *p, const int8_t *x, const void *panels,
                         int8_t *y, uint8_t *rows, const struct hdk_form form)
{
    const uint32_t pitch = hdk_row_lanes(p->in_c) * form.lane;
    const uint8_t *const piece = rows;
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

    for (uint32_t b = 0; b < p->batch; b += hdk_tile_rows(form)) {
        uint32_t left = p->batch - b, n = left < hdk_tile_rows(form) ? left : hdk_tile_rows(form);

        for (uint32_t r = 0; r < n; r++)
            form.widen(x + (uint64_t)(b + r) * p->in_c, p->in_c, rows + r * pitch);
        form.tile(&t, n, y + (uint64_t)b * p->out_c, p->out_c);
    }
}

#if HDK_SIMD
static HDK_AVX2 void multiply_avx2(const struct hdk_fully_connected *p, const int8_t *x,
                                   const void *panels, int8_t *y, uint8_t *rows)
{
    multiply(p, x, panels, y, rows, HDK_FORM_AVX2);
}

static HDK_VNNI void multiply_vnni(const struct hdk_fully_connected *p, const int8_t *x,
                                   const void *panels, int8_t *y, uint8_t *rows)
{
    multiply(p, x, panels, y, rows, HDK_FORM_VNNI);
}
#endif

void hdk_fully_connected(const struct hdk_fully_connected *p, const int8_t *x, const void *panels,
                         int8_t *y, void *scratch)
{
#if HDK_SIMD
    if (hdk_has_vnni()) {
        multiply_vnni(p, x, panels, y, scratch);
        return;
    }
    if (hdk_has_avx2()) {
        multiply_avx2(p, x, panels, y, scratch);
        return;
    }
#endif
    multiply(p, x, panels, y, scratch, HDK_FORM_PLAIN);
}
