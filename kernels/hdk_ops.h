/* hdk_ops.h - further host kernels, part of hdk.h: include that. The same rules hold. */
#ifndef HDK_OPS_H
#define HDK_OPS_H

#include "hdk.h"

/* One multiplier and shift for all channels (per_channel 0: element 0) or one each. */
struct hdk_scale {
    const int32_t *multiplier;
    const int8_t *shift;
    uint32_t per_channel;
    uint32_t narrow; /* int16: sums of 32 bits */
};

/* PRELU. d = x - z_a; y = clamp(d * (multiplier_a, shift_a) + z_out) where d >= 0, else
 * clamp(d * (alpha - z_b) * (multiplier_b, shift_b) + z_out). y may be x. */
void hdk_prelu(const struct hdk_add *p, const int8_t *x, const int8_t *alpha, int8_t *y);

/* SQUARED_DIFFERENCE. As SUB with 7 bits of headroom instead of 20, and the difference squared
 * before the last scale. y may be a or b where that one is not broadcast. */
void hdk_squared_difference(const struct hdk_add *p, const int8_t *a, const int8_t *b, int8_t *y);

/* LOG_SOFTMAX over the last dimension; output scale 1/16, zero point 127. exp and its sum as
 * SOFTMAX with beta 1; y = clamp((x - max) * multiplier - log(sum) in Q5.26, rounded to 1/16).
 * reverse: one over the multiplier; differences that log(sum) leaves no room for give -128.   x, y
 * [rows, cols]; y may be x. */
struct hdk_log_softmax {
    struct hdk_softmax exp;
    int32_t reverse_multiplier, reverse_shift;
};
void hdk_log_softmax(const struct hdk_log_softmax *p, const int8_t *x, int8_t *y);

/* REDUCE_MAX, REDUCE_MIN over the axes of `reduce`; the numbers of hdk_mean are not used. */
void hdk_reduce_max(const struct hdk_mean *p, const int8_t *x, int8_t *y);
void hdk_reduce_min(const struct hdk_mean *p, const int8_t *x, int8_t *y);

/* ARG_MAX, ARG_MIN: the first place of the largest (smallest). x [outer, n, inner]
 * y [outer, inner] int32, or int64 if `wide`. */
struct hdk_arg {
    uint32_t outer, n, inner, wide;
};
void hdk_arg_max(const struct hdk_arg *p, const int8_t *x, void *y);
void hdk_arg_min(const struct hdk_arg *p, const int8_t *x, void *y);
void hdk_f32_arg_max(const struct hdk_arg *p, const float *x, void *y);
void hdk_f32_arg_min(const struct hdk_arg *p, const float *x, void *y);

/* UNIDIRECTIONAL_SEQUENCE_LSTM. In each step gate = clamp16(rescale(x w + bias) + rescale(h r +
 * bias)) with scale 2^-12; the input, forget and output gates through the sigmoid, the cell's
 * through tanh; c = clamp16(forget * c / 2^15 + in * value / 2^(15 + cell_bits)); h = y = clamp(out
 * * tanh(c) scaled + z_out). Zero points are in the biases. scale: of x by gates, of h by gates, of
 * the output. x [batch, steps, in_c]   w [4, cells, x_parts, in_c], the sum of its parts
 *   r [4, cells, h_parts, cells]   bias [8, cells]
 *   h [batch, cells], c [batch, cells]: kept   y [batch, steps, cells]; time_major: [steps, batch,
 * ..]. reset: h and c begin as z_out and 0. digits: x is that of the sums of x w + bias [4, cells],
 * `each` at a time as hdk_join_digits has them; 0: x itself. */
struct hdk_lstm {
    uint32_t batch, steps, in_c, cells, x_parts, h_parts, time_major, reset, digits, each;
    int32_t cell_bits, clip; /* integer bits of c; bound of c, 0: none */
    int32_t z_out;
    const int8_t *w, *r;
    const int32_t *bias;
    struct hdk_scale scale;
};
void hdk_lstm(const struct hdk_lstm *p, const int8_t *x, int8_t *h, int16_t *c, int8_t *y);

/* SVDF. Each filter's state moves a step on and takes clamp16((sum (x - z_in) * feature) scaled);
 * y = clamp(bias + sum of state * time over the filters / units filters of a unit, scaled, +
 * z_out). scale: to the state, to the output. x [batch, in_c]   feature [filters, in_c] time
 * [filters, memory]   bias [units]   state [batch, filters, memory]: kept   y [batch, units] */
struct hdk_svdf {
    uint32_t batch, in_c, filters, memory, units;
    int32_t z_in, z_out;
    const int8_t *feature;
    const int16_t *time;
    const int32_t *bias;
    struct hdk_scale scale;
};
void hdk_svdf(const struct hdk_svdf *p, const int8_t *x, int16_t *state, int8_t *y);

/* TRANSPOSE_CONV. y[oy, ox] = clamp((sum (x - z_in) * (w - z_w) + bias) * scale + z_out) over the x
 * and taps with oy = iy * stride_y - pad_top + ky, ox alike.  x [batch, in_h, in_w, in_c]
 * w [out_c, kernel_h, kernel_w, in_c]   bias [out_c] or NULL   y [batch, out_h, out_w, out_c] */
struct hdk_transpose_conv {
    uint32_t batch, in_h, in_w, in_c, out_h, out_w, out_c;
    uint32_t kernel_h, kernel_w, stride_y, stride_x;
    int32_t pad_top, pad_left;
    int32_t z_in, z_w, z_out, act_min, act_max;
    struct hdk_scale scale;
};
void hdk_transpose_conv(const struct hdk_transpose_conv *p, const int8_t *x, const int8_t *w,
                        const int32_t *bias, int8_t *y);

/* BATCH_MATMUL, and FULLY_CONNECTED with computed weights. y[i, j] = clamp((sum (a - z_a) * (b -
 * z_b) + bias[j]) * scale + z_out). Element (i, l) of a matrix of `a` is at i * a_row + l * a_col,
 * (l, j) of `b` at l * b_row + j * b_col. Matrix t of the output reads those at a_at, b_at of the
 * walk over batch[0..3] with the strides a_batch, b_batch (0: broadcast). */
struct hdk_matmul {
    uint32_t rows, cols, depth;
    uint32_t a_row, a_col, b_row, b_col;
    uint32_t batch[4], a_batch[4], b_batch[4];
    int32_t z_a, z_b, z_out, act_min, act_max;
    int32_t multiplier, shift;
};
void hdk_matmul(const struct hdk_matmul *p, const int8_t *a, const int8_t *b, const int32_t *bias,
                int8_t *y);

/* MatMulInteger, ConvInteger: the same sums without bias as int32. x: both operands as above (conv
 * w [out_c, kernel_h, kernel_w, in_c / groups]), then a zero point of each, one int8;
 * MatMulInteger: one for each row of a where p->z_a is 1, for each column of b where p->z_b is 1.
 * ConvInteger: one for each image of x where p->z_in is 1. */
void hdk_matmul_integer(const struct hdk_matmul *p, const void *const *x, int32_t *y);
void hdk_conv_integer(const struct hdk_conv2d *p, const void *const *x, int32_t *y);

/* JOIN_DIGITS. y = sum of digit * 128^i - (zero - z_in) * taps, wrapping.  x [batch, out_h, out_w,
 * ..]: digit 0 of `each` channels, digit 1 of these, ..; then of the next `each`; the last block is
 * filled up   zero: one value for each of `zeros` equal parts of y   taps [top + 1 + bottom, left + 1 + right, out_c]: rows and columns at
 * the borders of y have taps of their own   y [batch, out_h, out_w, out_c] */
struct hdk_join_digits {
    uint32_t batch, out_h, out_w, out_c, digits, each, top, left, bottom, right, zeros;
    int32_t z_in;
    const int32_t *taps;
};
void hdk_join_digits(const struct hdk_join_digits *p, const int8_t *x, const int8_t *zero,
                     int32_t *y);

/* BATCH_MATMUL in ONNX's rounding: rint(sum * real) + z_out, clamped. */
struct hdk_onnx_matmul {
    struct hdk_matmul layer;
    float real;
};
void hdk_onnx_matmul(const struct hdk_onnx_matmul *p, const int8_t *a, const int8_t *b,
                     const int32_t *bias, int8_t *y);

/* Numbers of one type to another: to float32 rounded to even, from it towards zero, saturated, NaN
 * as 0; to 8 and 16 bits the low ones (of float32 beyond int32: 0); to bool whether they are not 0.
 * add_in, less_out: 128 where int8 was uint8. */
enum hdk_number { HDK_F32, HDK_I32, HDK_I64, HDK_BOOL, HDK_I16, HDK_I8 };
struct hdk_cast {
    uint32_t n;
    enum hdk_number from, to;
    int32_t add_in, less_out;
};
void hdk_cast(const struct hdk_cast *p, const void *x, void *y);

/* Two operands of int32 or int64, wrapping; y = clamp(a op b, low, high). FLOOR_DIV rounds down,
 * the rest of FLOOR_MOD has b's sign; 0 where b is 0. y may be a or b where that one is not
 * broadcast. */
enum hdk_arithmetic_op {
    HDK_ADD,
    HDK_SUB,
    HDK_MUL,
    HDK_DIV,
    HDK_FLOOR_DIV,
    HDK_FLOOR_MOD,
    HDK_BIT_AND,
    HDK_BIT_OR,
    HDK_BIT_XOR,
    HDK_RIGHT_SHIFT,
    HDK_MAXIMUM,
    HDK_MINIMUM,
    HDK_SQUARED_DIFFERENCE
};
struct hdk_arithmetic {
    struct hdk_walk2 walk;
    enum hdk_number type;
    enum hdk_arithmetic_op op;
    int64_t low, high;
};
void hdk_arithmetic(const struct hdk_arithmetic *p, const void *a, const void *b, void *y);

/* SUM, REDUCE_PROD, REDUCE_MAX, REDUCE_MIN of int32 or int64, wrapping, over the axes of `reduce`. */
struct hdk_fold {
    enum hdk_number type;
    enum hdk_arithmetic_op op; /* HDK_ADD, HDK_MUL, HDK_MAXIMUM or HDK_MINIMUM */
    uint32_t shape[4], reduce[4];
};
void hdk_fold(const struct hdk_fold *p, const void *x, void *y);

/* CUMSUM of int32 or int64, wrapping. x, y [outer, n, inner] */
struct hdk_scan {
    enum hdk_number type;
    enum hdk_arithmetic_op op; /* HDK_ADD */
    uint32_t outer, n, inner, reverse, exclusive;
};
void hdk_scan(const struct hdk_scan *p, const void *x, void *y);

/* Comparisons, LOGICAL_AND, LOGICAL_OR: y is bool. Values of 8 bits as real values,
 * ((a - z_a) << 8) * multiplier_a * 2^(shift_a-31), shifts <= 0. */
enum hdk_relation {
    HDK_EQUAL,
    HDK_NOT_EQUAL,
    HDK_LESS,
    HDK_LESS_EQUAL,
    HDK_GREATER,
    HDK_GREATER_EQUAL,
    HDK_AND,
    HDK_OR
};
struct hdk_compare {
    struct hdk_walk2 walk;
    enum hdk_number type; /* of a and b */
    enum hdk_relation relation;
    int32_t z_a, z_b, multiplier_a, multiplier_b, shift_a, shift_b;
};
void hdk_compare(const struct hdk_compare *p, const void *a, const void *b, void *y);
/* n bools; the types are not used. y may be x. */
void hdk_logical_not(const struct hdk_cast *p, const void *x, void *y);

/* SELECT: element (i0, .., i5) of y is that of a where the condition's is not 0, else of b. Strides
 * in bytes of condition, a and b; 0 broadcasts. Unused leading dimensions have shape 1. */
struct hdk_select {
    uint32_t shape[HDK_DIMS], stride[3][HDK_DIMS];
    uint32_t element_bytes;
};
void hdk_select(const struct hdk_select *p, const void *condition, const void *a, const void *b,
                void *y);

/* RESIZE_BILINEAR, one scale and zero point. Output row i is at i * step_y + start_y in the
 * input, 10 bits of fraction, halves away from zero. x [batch, in_h, in_w, channels]   y [batch,
 * out_h, out_w, channels] */
struct hdk_resize_bilinear {
    uint32_t batch, in_h, in_w, channels, out_h, out_w;
    int32_t step_y, step_x, start_y, start_x;
};
void hdk_resize_bilinear(const struct hdk_resize_bilinear *p, const int8_t *x, int8_t *y);

/* y[o, i, k] = sum over t of weight[i, t] * (x[o, index[i, t], k] - z_in), requantised.
 *   x [outer, size, inner]   y [outer, n, inner] */
struct hdk_interpolate {
    uint32_t outer, size, inner, n, taps;
    const int32_t *index; /* [n, taps] */
    const int16_t *weight;
    int32_t z_in, z_out, act_min, act_max, multiplier, shift;
};
void hdk_interpolate(const struct hdk_interpolate *p, const int8_t *x, int8_t *y);

/* RESIZE_BILINEAR for int8 that was uint8 (128 more), in float32: an output's place is i * scale, with
 * half_pixel (i + 1/2) * scale - 1/2; halves up. */
struct hdk_resize_u8 {
    uint32_t batch, in_h, in_w, channels, out_h, out_w;
    float scale_y, scale_x;
    uint32_t half_pixel;
};
void hdk_resize_u8(const struct hdk_resize_u8 *p, const int8_t *x, int8_t *y);

/* x[0]: an ONNX model of n_bytes; x[1], ..: its n_in inputs. Ends the process if ONNX Runtime does
 * not compute it. */
struct hdk_onnx_node {
    uint32_t n_bytes, n_in, y_bytes;
};
void hdk_onnx_node(const struct hdk_onnx_node *p, const void *const *x, void *y);

/* L2_NORMALIZATION over the last dimension; output scale 1/128, zero point 0. x, y [rows, cols]; y
 * may be x. */
struct hdk_l2_normalization {
    uint32_t rows, cols;
    int32_t z_in;
};
void hdk_l2_normalization(const struct hdk_l2_normalization *p, const int8_t *x, int8_t *y);

#endif
