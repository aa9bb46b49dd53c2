/* dot4.h - the calls that heddle's emitted C makes, once for each layer. */
#include "hd_port.h"

struct dot4_sizes {
    int32_t in_h, in_w, in_c, out_h, out_w, out_c, kernel_h, kernel_w, stride_h, stride_w, pad_top,
        pad_left;
    int32_t z_in, z_out, act_min, act_max, scales;
};

/* Requantisation: bias [out_c] or NULL, multiplier and shift [scales]. */
struct dot4_scales {
    const int32_t *bias, *multiplier;
    const int8_t *shift;
};

/* x [in_h, in_w, in_c], w [out_c, kernel_h, kernel_w, in_c], y [out_h, out_w, out_c]. scratch: (out_c + 3) * (n + 16)
 * + n bytes, where n is kernel_h * kernel_w * in_c rounded up to a multiple of 8. With dev NULL plain C computes. 0. */
int dot4_conv2d(const struct hd_port *dev, const int8_t *x, const int8_t *w, struct dot4_scales r,
                int8_t *y, struct dot4_sizes s, void *scratch);

/* w [kernel_h, kernel_w, out_c], out_c = in_c, a multiple of 4; x on a multiple of 4. scratch: 17 * out_c +
 * kernel_h * kernel_w * (out_c + 8) bytes. Otherwise as dot4_conv2d. */
int dot4_depthwise(const struct hd_port *dev, const int8_t *x, const int8_t *w,
                   struct dot4_scales r, int8_t *y, struct dot4_sizes s, void *scratch);
