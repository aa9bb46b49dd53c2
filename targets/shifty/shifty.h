/* shifty.h - a convolution whose sums become int8 or int16 by a shift. */
#include <stdint.h>

/* size: in_h, in_w, in_c, out_h, out_w, out_c, kernel_h, kernel_w, stride_h, stride_w, pad_top,
 * pad_left. x [in_h, in_w, in_c], w [out_c, kernel_h, kernel_w, in_c], bias [out_c] or 0,
 * y [out_h, out_w, out_c] = clamp(sum / 2^shift_bits + z_out). x and y are of `width` bytes; of 1
 * the biases are int32_t, of 2 int64_t. Always 0. */
int shifty_conv2d(int32_t width, const void *x, const int8_t *w, const void *bias, void *y,
                  const int32_t size[12], int32_t z_in, int32_t z_out, int32_t shift_bits,
                  int32_t act_min, int32_t act_max);
