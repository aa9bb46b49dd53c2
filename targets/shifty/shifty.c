/* shifty.c - the arithmetic of a core without a multiplier after its accumulators. */
#include "shifty.h"

/* acc / 2^bits as TFLite rounds it: to int16 once, halves up; to int8 halves up at the first bit,
 * then halves away from zero. An adder and a shifter do it; no multiplier. */
static int64_t shifted(int32_t width, int64_t acc, int32_t bits)
{
    if (bits == 0)
        return acc;
    if (width == 2)
        return ((acc >> (bits - 1)) + 1) >> 1;
    int64_t half = (acc + 1) >> 1, mask = ((int64_t)1 << (bits - 1)) - 1;
    return (half >> (bits - 1)) + ((half & mask) > (mask >> 1) + (half < 0));
}

/* One output: the taps of its window that are within the image. */
static int64_t sum(int32_t width, const void *x, const int8_t *w, const int32_t *size, int32_t z_in,
                   int32_t top, int32_t left)
{
    int32_t in_h = size[0], in_w = size[1], in_c = size[2];
    int64_t acc = 0;
    for (int32_t ky = 0; ky < size[6]; ky++)
        for (int32_t kx = 0; kx < size[7]; kx++) {
            if (top + ky < 0 || top + ky >= in_h || left + kx < 0 || left + kx >= in_w)
                continue;
            for (int32_t c = 0; c < in_c; c++) {
                int32_t i = ((top + ky) * in_w + left + kx) * in_c + c;
                int32_t v = width == 2 ? ((const int16_t *)x)[i] : ((const int8_t *)x)[i];
                acc += (v - z_in) * w[(ky * size[7] + kx) * in_c + c];
            }
        }
    return acc;
}

int shifty_conv2d(int32_t width, const void *x, const int8_t *w, const void *bias, void *y,
                  const int32_t size[12], int32_t z_in, int32_t z_out, int32_t shift_bits,
                  int32_t act_min, int32_t act_max)
{
    int32_t out_w = size[4], out_c = size[5], taps = size[6] * size[7] * size[2];
    for (int32_t i = 0; i < size[3] * out_w * out_c; i++) {
        int32_t c = i % out_c, oy = i / out_c / out_w, ox = i / out_c % out_w;
        int64_t acc = sum(width, x, w + c * taps, size, z_in, oy * size[8] - size[10],
                          ox * size[9] - size[11]);
        if (bias)
            acc += width == 2 ? ((const int64_t *)bias)[c] : ((const int32_t *)bias)[c];
        acc = shifted(width, acc, shift_bits) + z_out;
        acc = acc < act_min ? act_min : acc > act_max ? act_max : acc;
        if (width == 2)
            ((int16_t *)y)[i] = (int16_t)acc;
        else
            ((int8_t *)y)[i] = (int8_t)acc;
    }
    return 0;
}
