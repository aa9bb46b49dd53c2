/* shifty.h - a convolution whose sums become int8 by a shift. */
#include <stdint.h>

/* size: in_h, in_w, in_c, out_h, out_w, out_c, kernel_h, kernel_w, stride_h, stride_w, pad_top,
 * pad_left. x [in_h, in_w, in_c], w [out_c, kernel_h, kernel_w, in_c], bias [out_c] or 0,
 * y [out_h, out_w, out_c] = clamp(sum / 2^shift_bits + z_out). Always 0. */
int shifty_conv2d(const int8_t *x, const int8_t *w, const int32_t *bias, int8_t *y,
                  const int32_t size[12], int32_t z_in, int32_t z_out, int32_t shift_bits,
                  int32_t act_min, int32_t act_max);
