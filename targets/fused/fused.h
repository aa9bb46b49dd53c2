/* fused.h - several operators in one call; what is between them never reaches memory but in
 * fused_block. All return 0. */
#include <stdint.h>

/* A convolution: x [in_h, in_w, in_c], w [out_c, kernel_h, kernel_w, in_c], bias [out_c] or NULL. */
struct fused_conv {
    const int8_t *w;
    const int32_t *bias, *multiplier;
    const int8_t *shift;
    int32_t in_h, in_w, in_c, out_h, out_w, out_c, kernel_h, kernel_w, stride_h, stride_w, pad_top,
        pad_left, z_in, z_out, act_min, act_max, scales;
};
/* A sum: zero points, clamps, and the multipliers and shifts of a, b and y. */
struct fused_add {
    int32_t z_a, z_b, z_y, act_min, act_max;
    const int32_t *multiplier;
    const int8_t *shift;
};

/* conv2d, add: y = conv(x) + other */
int fused_conv_add(const int8_t *x, const int8_t *other, int8_t *y, const struct fused_conv *conv,
                   const struct fused_add *add);
/* conv2d, conv2d, add: y = second(first(x)) + x, the block of a residual network. */
#define FUSED_BLOCK_BYTES 32768 /* of first(x) */
int fused_block(const int8_t *x, int8_t *y, const struct fused_conv *first,
                const struct fused_conv *second, const struct fused_add *add);
/* conv2d, max_pool_2d without padding: y [out_h, out_w, conv->out_c] */
int fused_conv_pool(const int8_t *x, int8_t *y, const struct fused_conv *conv,
                    const int32_t pool[6], int32_t act_min, int32_t act_max);
/* fully_connected, softmax of float32: x [rows, in_c], w [out_c, in_c], y [rows, out_c] */
int fused_dense_softmax(const float *x, const float *w, const float *bias, float *y, int32_t rows,
                        int32_t in_c, int32_t out_c, float low, float high);
/* A layer normalisation as TFLite writes it out: x, y [rows, channels], gamma, beta [channels] */
int fused_layer_norm(const float *x, const float *epsilon, const float *gamma, const float *beta,
                     float *y, int32_t rows, int32_t channels);
