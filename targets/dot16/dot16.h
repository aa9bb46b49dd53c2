/* dot16.h - a convolution as dot products of int16 activations and int8 weights. */
#include <stdint.h>

struct dot16_sizes {
    int32_t in_h, in_w, in_c, out_h, out_w, out_c, kernel_h, kernel_w, stride_h, stride_w, pad_top,
        pad_left;
};
/* x [in_h, in_w, in_c], w [out_c, kernel_h, kernel_w, in_c], bias [out_c] or NULL,
 * y [out_h, out_w, out_c] = clamp((sum + bias) * multiplier * 2^(shift - 31)). Always 0. */
int dot16_conv2d(const int16_t *x, const int8_t *w, const int64_t *bias, int16_t *y,
                 const struct dot16_sizes *s, const int32_t *multiplier, const int8_t *shift,
                 int32_t scales, int32_t act_min, int32_t act_max);
