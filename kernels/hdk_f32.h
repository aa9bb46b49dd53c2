/* hdk_f32.h - host kernels of float32 operators, part of hdk.h: include that. C11, freestanding, no
 * libm. Images are NHWC. The order of every sum is part of the definition (compiler/ir/IR.md,
 * "Float"): one float32 sum per output, from the bias or 0 on, products rounded before they are
 * added, never reordered or contracted. Clamps are [low, high], infinite without one. */
#ifndef HDK_F32_H
#define HDK_F32_H

#include "hdk.h"
#include "hdk_f32_math.h"

/* CONV_2D; FULLY_CONNECTED as in_h = out_h = 1, one row per column. Taps in the order [kernel_h,
 * kernel_w, in_c / groups]; those outside the image are left out.
 *   x [batch, in_h, in_w, in_c]   y [batch, out_h, out_w, out_c]   bias [out_c] or NULL
 *   w: for each group, for each HDK_F32_LANES of its output channels, [taps, HDK_F32_LANES], zeros
 *   after the last channel */
#define HDK_F32_LANES 16u
struct hdk_f32_conv {
    uint32_t batch, in_h, in_w, in_c, out_h, out_w, out_c;
    uint32_t kernel_h, kernel_w, groups;
    uint32_t stride_y, stride_x, dilation_y, dilation_x;
    int32_t pad_top, pad_left;
    float low, high;
    const float *w, *bias;
};
void hdk_f32_conv2d(const struct hdk_f32_conv *p, const float *x, float *y);

/* DEPTHWISE_CONV_2D, w [kernel_h, kernel_w, out_c]; output channel c * (out_c / in_c) + m reads
 * input channel c. `groups` is not used. */
void hdk_f32_depthwise_conv2d(const struct hdk_f32_conv *p, const float *x, float *y);

/* TRANSPOSE_CONV: y[oy, ox] sums the taps [ky, kx, c] for which oy = iy * stride_y - pad_top + ky
 * and ox alike have an input.  w [out_c, kernel_h, kernel_w, in_c] */
void hdk_f32_transpose_conv(const struct hdk_f32_conv *p, const float *x, float *y);

/* BATCH_MATMUL, fields as hdk_matmul's; sums from 0 over `depth` upwards, then bias[j]. */
struct hdk_f32_matmul {
    uint32_t rows, cols, depth;
    uint32_t a_row, a_col, b_row, b_col;
    uint32_t batch[4], a_batch[4], b_batch[4];
    float low, high;
};
void hdk_f32_matmul(const struct hdk_f32_matmul *p, const float *a, const float *b,
                    const float *bias, float *y);

/* Two operands; y may be a or b where that one is not broadcast. PRELU: a < 0 ? a * b : a;
 * maximum and minimum: a where the comparison is false. */
struct hdk_f32_binary {
    struct hdk_walk2 walk;
    float low, high;
};
void hdk_f32_add(const struct hdk_f32_binary *p, const float *a, const float *b, float *y);
void hdk_f32_sub(const struct hdk_f32_binary *p, const float *a, const float *b, float *y);
void hdk_f32_mul(const struct hdk_f32_binary *p, const float *a, const float *b, float *y);
void hdk_f32_div(const struct hdk_f32_binary *p, const float *a, const float *b, float *y);
void hdk_f32_floor_div(const struct hdk_f32_binary *p, const float *a, const float *b, float *y);
void hdk_f32_floor_mod(const struct hdk_f32_binary *p, const float *a, const float *b, float *y);
void hdk_f32_power(const struct hdk_f32_binary *p, const float *a, const float *b, float *y);
void hdk_f32_maximum(const struct hdk_f32_binary *p, const float *a, const float *b, float *y);
void hdk_f32_minimum(const struct hdk_f32_binary *p, const float *a, const float *b, float *y);
void hdk_f32_prelu(const struct hdk_f32_binary *p, const float *a, const float *b, float *y);
void hdk_f32_squared_difference(const struct hdk_f32_binary *p, const float *a, const float *b,
                                float *y);

/* Windows: cells inside the image, row by row; an average divides their sum by their number.
 *   x [batch, in_h, in_w, channels]   y [batch, out_h, out_w, channels] */
struct hdk_f32_pool {
    uint32_t batch, in_h, in_w, channels, out_h, out_w;
    uint32_t kernel_h, kernel_w, stride_y, stride_x;
    int32_t pad_top, pad_left;
    float low, high;
};
void hdk_f32_avg_pool(const struct hdk_f32_pool *p, const float *x, float *y);
void hdk_f32_max_pool(const struct hdk_f32_pool *p, const float *x, float *y);

/* Over the axes whose `reduce` is 1, elements in the order of memory; the mean divides the sum. */
struct hdk_f32_reduce {
    uint32_t shape[4], reduce[4];
};
void hdk_f32_mean(const struct hdk_f32_reduce *p, const float *x, float *y);
void hdk_f32_sum(const struct hdk_f32_reduce *p, const float *x, float *y);
void hdk_f32_reduce_max(const struct hdk_f32_reduce *p, const float *x, float *y);
void hdk_f32_reduce_min(const struct hdk_f32_reduce *p, const float *x, float *y);

void hdk_f32_reduce_prod(const struct hdk_f32_reduce *p, const float *x, float *y);

/* Along n of x [outer, n, inner]. CUMSUM: y of x's shape, from 0; `reverse`: from the end;
 * `exclusive`: without the element itself. TOP_K: the k largest (`reverse`: smallest) in order, the
 * first of equal ones first: y [outer, k, inner] values, or places of `index_bytes` each. */
struct hdk_f32_order {
    uint32_t outer, n, inner, k, reverse, exclusive, index_bytes;
    uint32_t is_int8; /* TOP_K: x is int8 */
};
void hdk_f32_cumsum(const struct hdk_f32_order *p, const float *x, float *y);
void hdk_top_k(const struct hdk_f32_order *p, const void *x, void *y);

/* e^(beta * (x - max)) over their sum, left to right.   x, y [rows, cols]; y may be x.
 * LOG_SOFTMAX: x - max - log(sum of e^(x - max)). L2: x / sqrt(max(sum of squares, 1e-6)). These
 * two do not use beta. */
struct hdk_f32_rows {
    uint32_t rows, cols;
    float beta;
};
void hdk_f32_softmax(const struct hdk_f32_rows *p, const float *x, float *y);
void hdk_f32_log_softmax(const struct hdk_f32_rows *p, const float *x, float *y);
void hdk_f32_l2_normalization(const struct hdk_f32_rows *p, const float *x, float *y);

/* y[o, i, k] = sum over t of weight[i, t] * x[o, index[i, t], k], from 0 on.
 *   x [outer, size, inner]   y [outer, n, inner] */
struct hdk_f32_interpolate {
    uint32_t outer, size, inner, n, taps;
    const int32_t *index; /* [n, taps] */
    const float *weight;
};
void hdk_f32_interpolate(const struct hdk_f32_interpolate *p, const float *x, float *y);

/* Float32 activations times int8 weights (TFLite's dynamic range): scales [rows, 3] are the scale of a
 * row of x, its inverse and its zero point. x, y [rows, cols] */
struct hdk_rows {
    uint32_t rows, cols, asymmetric;
};
void hdk_row_scales(const struct hdk_rows *p, const float *x, float *scales);
void hdk_quantize_rows(const struct hdk_rows *p, const float *x, const float *scales, int8_t *y);
/* y = x * (scale * weight) + bias, channels_first (x * weight) * scale + bias, clamped.
 *   x, y [rows, cols, channels]   weight: one, or one for each channel where per_channel is 1 */
struct hdk_scale_sums {
    uint32_t rows, cols, channels, per_channel, channels_first;
    const float *weight, *bias; /* bias [channels] or NULL */
    float low, high;
};
void hdk_scale_sums(const struct hdk_scale_sums *p, const int32_t *x, const float *scales,
                    float *y);

/* TFLite_Detection_PostProcess. Boxes y, x, h, w relative to anchors; the best box is kept, those
 * that overlap it by more than iou_threshold go, and so on down to score_threshold. encoding
 * [boxes, encoding]   score [boxes, scores], the last `classes` count y: boxes [n, 4], classes [n],
 * scores [n], number of detections; n = detections * classes_each scratch: 5 floats a box */
struct hdk_detection {
    uint32_t boxes, encoding, scores, classes, classes_each, detections;
    const float *anchor; /* [boxes, 4] */
    float scale[4], score_threshold, iou_threshold;
};
void hdk_detection(const struct hdk_detection *p, const float *encoding, const float *score,
                   float *y, void *scratch);

/* y = f(x), element by element; y may be x. */
struct hdk_f32_unary {
    uint32_t n;
    float a, b;
};
void hdk_f32_clip(const struct hdk_f32_unary *p, const float *x, float *y); /* [a, b] */
/* x < 0 ? a * x : x */
void hdk_f32_leaky_relu(const struct hdk_f32_unary *p, const float *x, float *y);
/* [0, 1] of a * x + b */
void hdk_f32_hard_sigmoid(const struct hdk_f32_unary *p, const float *x, float *y);
/* x * [0, 1] of (x / 6 + 1/2) */
void hdk_f32_hard_swish(const struct hdk_f32_unary *p, const float *x, float *y);
void hdk_f32_logistic(const struct hdk_f32_unary *p, const float *x, float *y);
void hdk_f32_hyperbolic_tangent(const struct hdk_f32_unary *p, const float *x, float *y);
void hdk_f32_absolute(const struct hdk_f32_unary *p, const float *x, float *y);
void hdk_f32_negative(const struct hdk_f32_unary *p, const float *x, float *y);
void hdk_f32_sign(const struct hdk_f32_unary *p, const float *x, float *y);
void hdk_f32_sine(const struct hdk_f32_unary *p, const float *x, float *y);
void hdk_f32_cosine(const struct hdk_f32_unary *p, const float *x, float *y);
void hdk_f32_square_root(const struct hdk_f32_unary *p, const float *x, float *y);
void hdk_f32_exponential(const struct hdk_f32_unary *p, const float *x, float *y);
void hdk_f32_error_function(const struct hdk_f32_unary *p, const float *x, float *y);
void hdk_f32_round(const struct hdk_f32_unary *p, const float *x, float *y); /* halves to even */
void hdk_f32_round_down(const struct hdk_f32_unary *p, const float *x, float *y);
void hdk_f32_round_up(const struct hdk_f32_unary *p, const float *x, float *y);
void hdk_f32_logarithm(const struct hdk_f32_unary *p, const float *x, float *y);
void hdk_f32_inverse_root(const struct hdk_f32_unary *p, const float *x, float *y);
/* x < 0 ? e^x - 1 : x */
void hdk_f32_elu(const struct hdk_f32_unary *p, const float *x, float *y);
/* x / 2 * (1 + erf(x / sqrt 2)); with a != 0: x / 2 * (1 + tanh(0.79788 (x + 0.044715 x^3))) */
void hdk_f32_gelu(const struct hdk_f32_unary *p, const float *x, float *y);

#endif
