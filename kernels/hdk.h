/* hdk.h - the host kernels that emitted code calls: one routine per operator, one constant
 * parameter struct per layer. C11, freestanding, no libm, no allocation; floating point in
 * (de)quantize and in the hdk_onnx_ and hdk_f32_ kernels only.
 *
 * Everything is int8 and NHWC unless said. Zero points are in [-128, 127], act_min <= act_max in
 * the same range. A multiplier is Q0.31 and a shift in -31..30 (positive is left), both made by the
 * compiler (QuantizeMultiplier); `x * m * 2^(shift-31)` below means MBQM with both roundings.
 * Formulas: NUMERICS.md, which names the oracle. Shapes are the compiler's: kernels trust them.
 * Output and input may be the same bytes only where it is said. */
#ifndef HDK_H
#define HDK_H

#include <stdint.h>

/* Weights, biases and scales come as panels (hdk_panel.h), multipliers of them not negative.
 * Scratch is the caller's: hdk_<kernel>_scratch bytes, aligned to 16, of no meaning before and
 * after.
 *
 * CONV_2D. y = clamp((sum (x - z_in) * (w - z_w) + bias) * scale + z_out). Taps outside the image
 * count nothing. x [batch, in_h, in_w, in_c]   panels: for each group those of its channels, taps
 * in the order [kernel_h, kernel_w, in_c / groups]   y [batch, out_h, out_w, out_c] */
struct hdk_conv2d {
    uint32_t batch, in_h, in_w, in_c, out_h, out_w, out_c;
    uint32_t kernel_h, kernel_w, groups;
    uint32_t stride_y, stride_x, dilation_y, dilation_x;
    int32_t pad_top, pad_left;
    int32_t z_in, z_w, z_out, act_min, act_max;
};
uint32_t hdk_conv2d_scratch(const struct hdk_conv2d *p);
void hdk_conv2d(const struct hdk_conv2d *p, const int8_t *x, const void *panels, int8_t *y,
                void *scratch);

/* DEPTHWISE_CONV_2D. Output channel c * multiplier + m reads input channel c.
 *   x [batch, in_h, in_w, in_c]   panels: of out_c channels, taps in the order [kernel_h, kernel_w]
 *   y [batch, out_h, out_w, out_c], out_c = in_c * depth_multiplier */
struct hdk_depthwise_conv2d {
    uint32_t batch, in_h, in_w, in_c, out_h, out_w, depth_multiplier;
    uint32_t kernel_h, kernel_w;
    uint32_t stride_y, stride_x, dilation_y, dilation_x;
    int32_t pad_top, pad_left;
    int32_t z_in, z_w, z_out, act_min, act_max;
};
uint32_t hdk_depthwise_conv2d_scratch(const struct hdk_depthwise_conv2d *p);
void hdk_depthwise_conv2d(const struct hdk_depthwise_conv2d *p, const int8_t *x, const void *panels,
                          int8_t *y, void *scratch);

/* FULLY_CONNECTED. x [batch, in_c]   panels: of out_c channels, in_c taps   y [batch, out_c] */
struct hdk_fully_connected {
    uint32_t batch, in_c, out_c;
    int32_t z_in, z_w, z_out, act_min, act_max;
};
uint32_t hdk_fully_connected_scratch(const struct hdk_fully_connected *p);
void hdk_fully_connected(const struct hdk_fully_connected *p, const int8_t *x, const void *panels,
                         int8_t *y, void *scratch);

/* Walk of two operands over an output [shape0, .., shape3]. Strides in elements; 0 broadcasts. The
 * innermost strides are 0 or 1. Equal shapes are best given as {1, 1, 1, n}. */
struct hdk_walk2 {
    uint32_t shape[4], a_stride[4], b_stride[4];
};

/* ADD, SUB. a' = ((a - z_a) << 20) * m_a * 2^(shift_a-31), b' alike, shift_a and shift_b <= 0;
 * y = clamp((a' +- b') * m_out * 2^(shift_out-31) + z_out). y may be a or b where that one is not
 * broadcast. */
struct hdk_add {
    struct hdk_walk2 walk;
    int32_t z_a, z_b, z_out, act_min, act_max;
    int32_t multiplier_a, multiplier_b, multiplier_out;
    int32_t shift_a, shift_b, shift_out;
};
void hdk_add(const struct hdk_add *p, const int8_t *a, const int8_t *b, int8_t *y);
void hdk_sub(const struct hdk_add *p, const int8_t *a, const int8_t *b, int8_t *y);

/* MUL. y = clamp((a - z_a) * (b - z_b) * multiplier * 2^(shift-31) + z_out). y may be a or b as
 * above. */
struct hdk_mul {
    struct hdk_walk2 walk;
    int32_t z_a, z_b, z_out, act_min, act_max;
    int32_t multiplier, shift;
};
void hdk_mul(const struct hdk_mul *p, const int8_t *a, const int8_t *b, int8_t *y);

/* DIV. y = clamp((a - z_a) / (b - z_b) * multiplier * 2^(shift-31) + z_out); z_out where b is z_b.
 * y may be a or b as above. */
void hdk_div(const struct hdk_mul *p, const int8_t *a, const int8_t *b, int8_t *y);

/* MAXIMUM, MINIMUM of quantised values with one scale and zero point; multiplier_out not 0: of
 * others, rescaled as by hdk_add. y may be a or b as above. */
struct hdk_extremum {
    struct hdk_walk2 walk;
    int32_t z_a, z_b, z_out;
    int32_t multiplier_a, multiplier_b, multiplier_out, shift_out;
};
void hdk_maximum(const struct hdk_extremum *p, const int8_t *a, const int8_t *b, int8_t *y);
void hdk_minimum(const struct hdk_extremum *p, const int8_t *a, const int8_t *b, int8_t *y);

/* AVERAGE_POOL_2D (mean over the cells inside the image, halves away from zero; same scale in and
 * out) and MAX_POOL_2D.   x [batch, in_h, in_w, channels]   y [batch, out_h, out_w, channels] */
struct hdk_pool {
    uint32_t batch, in_h, in_w, channels, out_h, out_w;
    uint32_t kernel_h, kernel_w, stride_y, stride_x;
    int32_t pad_top, pad_left;
    int32_t act_min, act_max;
    uint32_t round_up; /* average: ties go up (uint8 models) */
};
void hdk_avg_pool(const struct hdk_pool *p, const int8_t *x, int8_t *y);
void hdk_max_pool(const struct hdk_pool *p, const int8_t *x, int8_t *y);

/* MEAN over the axes whose `reduce` is 1. S = sum(x - z_in); y = clamp(S * multiplier *
 * 2^(shift-31) + z_out). The count is in the multiplier: the compiler passes m' and e - sh of
 * NUMERICS. x [shape0, .., shape3]   y: the axes kept, in order */
struct hdk_mean {
    uint32_t shape[4], reduce[4];
    int32_t z_in, z_out, act_min, act_max;
    int32_t multiplier, shift;
};
void hdk_mean(const struct hdk_mean *p, const int8_t *x, int8_t *y);
/* REDUCE_PROD, as MEAN: product = round(product * (x - z_in) * multiplier * 2^(shift-31)) for each
 * element after the first, then the same without a factor; shift at most 14. */
void hdk_reduce_prod(const struct hdk_mean *p, const int8_t *x, int8_t *y);

/* SOFTMAX over the last dimension; output scale 1/256, zero point -128. TFLite's fixed point: exp
 * of (x - max) * input_multiplier * 2^(input_left_shift-31) as Q5.26 (which is beta * scale * (x -
 * max)), differences below diff_min count as nothing. multiplier and left shift are QM(min(beta *
 * scale * 2^26, 2^31 - 1)); diff_min = -floor(31 * 2^26 / 2^input_left_shift).   x, y [rows, cols],
 * cols <= 4095; y may be x. */
struct hdk_softmax {
    uint32_t rows, cols;
    int32_t input_multiplier, input_left_shift, diff_min;
};
void hdk_softmax(const struct hdk_softmax *p, const int8_t *x, int8_t *y);
/* The same with output scale 1/65536 and zero point -32768; y is not x. */
void hdk_softmax_wide(const struct hdk_softmax *p, const int8_t *x, int16_t *y);
/* The exponential of one difference, -255 to 0, Q0.31; 0 below diff_min. */
int32_t hdk_softmax_exp(const struct hdk_softmax *p, int32_t diff);
/* 1 / (1 + a), a from 0 to 1, both Q0.31. */
int32_t hdk_reciprocal_1p(int32_t a);

/* Any unary function: y = table[c][x + 128], c the channel, the last dimension. y may be x. */
struct hdk_lut {
    uint32_t n, channels; /* channels: tables; 1 for all */
    const int8_t *table;  /* [channels][256] */
};
void hdk_lut(const struct hdk_lut *p, const int8_t *x, int8_t *y);

/* QUANTIZE int8 to int8, RELU and RELU6 by themselves: y = clamp((x - z_in) * multiplier *
 * 2^(shift-31) + z_out). Where the bytes are uint8 the flip is 0x80 (else 0), and zero point and
 * clamps are less 128, as everywhere inside. y may be x. */
struct hdk_requantize {
    uint32_t n;
    int32_t z_in, z_out, act_min, act_max;
    int32_t multiplier, shift;
    uint32_t flip_in, flip_out;
};
void hdk_requantize(const struct hdk_requantize *p, const int8_t *x, int8_t *y);

/* QUANTIZE uint8 to int8 of the same scale whose zero point is 128 less, and back: the top bit of each
 * byte. y may be x. */
struct hdk_flip {
    uint32_t n;
};
void hdk_flip(const struct hdk_flip *p, const int8_t *x, int8_t *y);

/* QUANTIZE float to int8 (uint8 with flip 0x80): round_half_away(x / scale) + zero in float32,
 * clamped to the type; NaN gives zero. */
struct hdk_quantize {
    uint32_t n;
    float scale;
    int32_t zero; /* of int8: less 128 for uint8 */
    uint32_t flip;
};
void hdk_quantize(const struct hdk_quantize *p, const float *x, int8_t *y);

/* DEQUANTIZE int8 or uint8: y = (x - zero) * scale. */
struct hdk_dequantize {
    uint32_t n;
    float scale;
    int32_t zero; /* of int8: less 128 for uint8 */
    uint32_t flip;
    const float *value; /* y by byte of x, 256 of them; NULL: computed */
};
void hdk_dequantize(const struct hdk_dequantize *p, const int8_t *x, float *y);

/* PAD, PADV2, any type. x [shape0, .., shape5], y [before + shape + after in
 * each], the border filled with `value`, whose low bytes are the element's. */
#define HDK_DIMS 6
struct hdk_pad {
    uint32_t shape[HDK_DIMS], before[HDK_DIMS], after[HDK_DIMS];
    uint64_t value;
    uint32_t element_bytes;
};
void hdk_pad(const struct hdk_pad *p, const void *x, void *y);

/* GATHER, MIRROR_PAD, RESIZE_NEAREST_NEIGHBOR, any type. x [batch, outer, size, inner], index
 * [batch, n] int32, or int64 if `wide`, y [batch, outer, n, inner]: y[b, o, i] = x[b, o,
 * index[b, i]]. Indices below 0 count from the end; those outside are the next inside. */
struct hdk_gather {
    uint32_t batch, outer, size, n, inner_bytes, wide;
};
void hdk_gather(const struct hdk_gather *p, const void *x, const void *index, void *y);

/* GATHER_ND: x [size0, .., size(depth - 1), inner], index [n, depth], y [n, inner]. */
struct hdk_gather_nd {
    uint32_t n, depth, size[HDK_DIMS], inner_bytes, wide;
};
void hdk_gather_nd(const struct hdk_gather_nd *p, const void *x, const void *index, void *y);

/* Bytes before the one row that index, of which there is one, picks. */
uint32_t hdk_gather_at(const struct hdk_gather *p, const void *index);

/* DYNAMIC_UPDATE_SLICE, any type: y is x [size0, .., size(rank - 1)] with `part` [part0, ..] in it
 * from `start` on: of dimensions axis .. axis + n - 1, else 0; int32, or int64 if `wide`; a start
 * beyond the ends is the next inside. y may be x. */
struct hdk_update_slice {
    uint32_t rank, size[HDK_DIMS], part[HDK_DIMS], axis, n, element_bytes, wide;
};
void hdk_update_slice(const struct hdk_update_slice *p, const void *x, const void *part,
                      const void *start, void *y);
/* Bytes of x before part's first. */
uint32_t hdk_update_at(const struct hdk_update_slice *p, const void *start);

/* CONCATENATION, any type. Input i is [outer, bytes[i]], y [outer, sum of bytes]. */
struct hdk_concat {
    uint32_t n_inputs, outer;
    const uint32_t *bytes; /* [n_inputs]: bytes after the axis, the axis included */
};
void hdk_concat(const struct hdk_concat *p, const void *const *x, void *y);

/* TRANSPOSE, SLICE, STRIDED_SLICE, SPLIT, any type: y is dense in `shape` order, element (i0, ..,
 * i5) comes from byte offset + i0 * stride[0] + .. + i5 * stride[5] of x. Unused leading dimensions
 * have shape 1. */
struct hdk_transpose {
    uint32_t shape[HDK_DIMS];
    int32_t stride[HDK_DIMS]; /* bytes */
    uint32_t offset, element_bytes;
};
void hdk_transpose(const struct hdk_transpose *p, const void *x, void *y);

/* RESHAPE and other moves: n_bytes as they are. x and y do not overlap, or are the same. */
struct hdk_copy {
    uint32_t n_bytes;
};
void hdk_copy(const struct hdk_copy *p, const void *x, void *y);

/* A part of a tensor, any type: n[0] x n[1] x n[2] rows of row_bytes each, whose distances are
 * x_step and y_step bytes. */
struct hdk_part {
    uint32_t n[3], row_bytes, x_step[3], y_step[3];
};
void hdk_part(const struct hdk_part *p, const void *x, void *y);

/* --- ONNX's rounding: float32 and half to even (heddle --onnx-rounding=onnx). Plain C, no libm;
 * every operation rounds to float32, none may be contracted or reordered. rint is half to even. */

/* y = clamp(rint(acc * real[c]) + z_out), acc as the kernels above.
 *   w: conv2d [out_c, kernel_h, kernel_w, in_c / groups], depthwise [kernel_h, kernel_w, out_c],
 *   fully connected [out_c, in_c]   bias [out_c] or NULL   real [out_c], or [1] (per_channel 0) */
struct hdk_onnx_weights {
    const int8_t *w;
    const int32_t *bias;
    const float *real;
    uint32_t per_channel;
};
struct hdk_onnx_conv2d {
    struct hdk_conv2d layer;
    struct hdk_onnx_weights weights;
};
struct hdk_onnx_depthwise_conv2d {
    struct hdk_depthwise_conv2d layer;
    struct hdk_onnx_weights weights;
};
struct hdk_onnx_fully_connected {
    struct hdk_fully_connected layer;
    struct hdk_onnx_weights weights;
};
void hdk_onnx_conv2d(const struct hdk_onnx_conv2d *p, const int8_t *x, int8_t *y);
void hdk_onnx_depthwise_conv2d(const struct hdk_onnx_depthwise_conv2d *p, const int8_t *x,
                               int8_t *y);
void hdk_onnx_fully_connected(const struct hdk_onnx_fully_connected *p, const int8_t *x, int8_t *y);
/* LiteRT's (heddle --fc-scale=litert): acc * scale rounded once, half away from zero, in double;
 * the scale is real[3c] + real[3c + 1] + real[3c + 2]. */
void hdk_litert_fully_connected(const struct hdk_onnx_fully_connected *p, const int8_t *x,
                                int8_t *y);

/* ADD, SUB: rint((a' +- b') / real[2]) + z_out, MUL: rint(a' * b' / real[2]) + z_out with
 * a' = real[0] * (a - z_a), b' = real[1] * (b - z_b). */
struct hdk_onnx_binary {
    struct hdk_walk2 walk;
    int32_t z_a, z_b, z_out, act_min, act_max;
    float real[4];
};
void hdk_onnx_add(const struct hdk_onnx_binary *p, const int8_t *a, const int8_t *b, int8_t *y);
void hdk_onnx_sub(const struct hdk_onnx_binary *p, const int8_t *a, const int8_t *b, int8_t *y);
void hdk_onnx_mul(const struct hdk_onnx_binary *p, const int8_t *a, const int8_t *b, int8_t *y);
/* QLinearAdd: rint(fma(real[0], a + real[3], fma(real[1], b + real[3], real[2]))) - real[3];
 * QLinearMul: rint((a - z_a) * (b - z_b) * real[0]) + z_out. */
void hdk_onnx_qlinear_add(const struct hdk_onnx_binary *p, const int8_t *a, const int8_t *b,
                          int8_t *y);
void hdk_onnx_qlinear_mul(const struct hdk_onnx_binary *p, const int8_t *a, const int8_t *b,
                          int8_t *y);

/* Average: rint(sum of s_in * (x - z_in), row by row / n / s_out) + z_out, n cells inside the
 * image; `qlinear`: rint((integer sum) * (s_in / (s_out * n))) + z_out. Mean alike over reduced
 * axes. */
struct hdk_onnx_average {
    float s_in, s_out;
    int32_t z_in, z_out, act_min, act_max;
    uint32_t qlinear;
};
struct hdk_onnx_pool {
    struct hdk_pool pool;
    struct hdk_onnx_average average;
};
void hdk_onnx_avg_pool(const struct hdk_onnx_pool *p, const int8_t *x, int8_t *y);
struct hdk_onnx_mean {
    uint32_t shape[4], reduce[4];
    struct hdk_onnx_average average;
};
void hdk_onnx_mean(const struct hdk_onnx_mean *p, const int8_t *x, int8_t *y);

/* rint(e[max - x] / sum / s_out) + z_out; e[256] by the compiler. */
struct hdk_onnx_softmax {
    uint32_t rows, cols;
    float s_out;
    int32_t z_out;
    const float *e;
};
void hdk_onnx_softmax(const struct hdk_onnx_softmax *p, const int8_t *x, int8_t *y);

/* rint(x / scale) + zero, clamped to the type; NaN gives zero. */
void hdk_onnx_quantize(const struct hdk_quantize *p, const float *x, int8_t *y);

#include "hdk_f32.h" /* float32 */
#include "hdk_ops.h" /* operators beyond the core of convolutional networks */

#include "hdk_int16.h" /* int16 activations */

#endif
