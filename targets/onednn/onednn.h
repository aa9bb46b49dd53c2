/* onednn.h - convolutions and dense layers by libdnnl (oneDNN 2.x): the library sums products, the
 * requantisation is TFLite's (docs/NUMERICS.md). In float32 the order of its sums is its own. */
#include <stdint.h>

enum onednn_arithmetic { ONEDNN_AUTO, ONEDNN_FLOAT, ONEDNN_INT8 };

/* Elements; z: zero points; act: clamp of the output; scales: 1, or out_c. */
struct onednn_sizes {
    int32_t in_h, in_w, in_c, out_h, out_w, out_c, kernel_h, kernel_w, stride_h, stride_w;
    int32_t dilation_h, dilation_w, pad_top, pad_left, pad_bottom, pad_right;
    int32_t z_in, z_out, act_min, act_max, scales;
    int32_t arithmetic; /* enum onednn_arithmetic */
};

/* x [in_h, in_w, in_c], w [out_c, kernel_h, kernel_w, in_c], bias [out_c] or NULL, multiplier and
 * shift [scales], y [out_h, out_w, out_c]. 0, or -10 when the library or memory fails. */
int onednn_product(const int8_t *x, const int8_t *w, const int32_t *bias, const int32_t *multiplier,
                   const int8_t *shift, int8_t *y, const struct onednn_sizes *s);
/* The same in float32: clamped to [low, high]; zero points, quantised values and scales of `s` mean
 * nothing.
 */
int onednn_real(const float *x, const float *w, const float *bias, float low, float high, float *y,
                const struct onednn_sizes *s);
