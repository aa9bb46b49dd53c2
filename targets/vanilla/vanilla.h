/* vanilla.h - the one call that heddle's emitted C makes, once for each convolution. */
#include "hd_port.h"

/* Elements; z: zero points; act: clamp of the output; scales: 1, or out_c. */
struct vanilla_sizes {
    int32_t in_h, in_w, in_c, out_h, out_w, out_c, kernel_h, kernel_w, stride_h, stride_w;
    int32_t pad_top, pad_left, z_in, z_out, act_min, act_max, scales;
};

/* x [in_h, in_w, in_c], w [out_c, kernel_h, kernel_w, in_c], bias [out_c] or NULL, multiplier and
 * shift [scales], y [out_h, out_w, out_c]. With dev NULL plain C computes. 0, or an enum hd_error.
 */
int vanilla_conv2d(const struct hd_port *dev, const int8_t *x, const int8_t *w, const int32_t *bias,
                   const int32_t *multiplier, const int8_t *shift, int8_t *y,
                   struct vanilla_sizes s);
